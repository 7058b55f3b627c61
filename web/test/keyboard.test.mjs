// Tests that the keyboard alone reaches everything.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorAt, cursorComesTo, open, ready, sample, settled, suite } from "./page.mjs";

const shared = suite();

test("a tour with the keyboard alone", async () => {
  const { page, close } = await open(shared);
  const press = (...keys) => keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve());

  // %1\r\n+a\r\n:1\r\n
  await press("1");
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "gridcell");
  for (const [key, at] of [
    ["ArrowRight", 1], [".", 2], [".", 4], [".", 5], [",", 4], ["ArrowLeft", 3], ["PageDown", 12], ["PageUp", 0], ["End", 12], ["Home", 0], ["ArrowDown", 12], ["ArrowUp", 0],
  ]) {
    await press(key);
    await cursorComesTo(page, at);
  }
  assert.equal(await page.locator(".hex-grid [tabindex='0']").count(), 1, "one byte takes the focus");
  await press("ArrowRight", "ArrowRight");
  await page.locator("#said", { hasText: "byte 2, 0D, CR, ends the count of a map" }).waitFor({ state: "attached" });

  // The tree.
  await press("3");
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "treeitem");
  await press("ArrowDown", "ArrowDown");
  await cursorComesTo(page, 8);
  await press("ArrowLeft");
  await cursorComesTo(page, 0);
  await press("ArrowLeft");
  await settled(page);
  assert.equal(await page.locator(".tree-row:not([hidden])").count(), 1, "the frame is closed");
  await press("ArrowRight");
  await settled(page);
  assert.equal(await page.locator(".tree-row:not([hidden])").count(), 3, "and open again");

  // Type over a byte, and undo.
  await press("1", "End", "ArrowLeft", "ArrowLeft", "ArrowLeft");
  await cursorComesTo(page, 9);
  await settled(page);
  await press("Enter", "3", "7");
  await page.locator(".words-frame", { hasText: "integer 7" }).waitFor();
  await press("Escape", "Control+z");
  await page.locator(".words-frame", { hasText: "integer 1" }).waitFor();

  // The chunk knives.
  await press("Home", "ArrowRight", "ArrowRight", "ArrowRight", "k", "f", "f");
  await page.locator(".fed", { hasText: "1 of 2 fed" }).waitFor();
  assert.match(await page.locator(".fed").textContent(), /Incomplete, need ≥ \d+ more byte/);

  // The keyboard map.
  await press("?");
  await page.locator("dialog[open]", { hasText: "Next token" }).waitFor();
  await press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  await close();
});

test("every action has a button or is in the map, and no key has two actions", async () => {
  const { page, close } = await open(shared);
  await page.keyboard.press("?");
  const keys = await page.locator("dialog kbd").allTextContents();
  assert.ok(keys.length >= 35, `${keys.length} keys`);
  assert.equal(new Set(keys).size, keys.length);
  await close();
});

test("Tab reaches every pane and is never trapped", async () => {
  const { page, close } = await open(shared);
  const seen = new Set();
  for (let tab = 0; tab < 90; tab += 1) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement.closest(".header, .gallery, .transport, .pane-hex, .pane-text, .pane-tree, .pane-dock, .status")?.className.split(" ").at(-1) ?? "body"));
  }
  for (const pane of ["header", "gallery", "transport", "pane-hex", "pane-text", "pane-tree", "pane-dock"]) assert.ok(seen.has(pane), `${pane} is reached`);
  await close();
});

test("play stops at kinds of tokens and at bytes; with reduced motion it jumps", async () => {
  const { page, close } = await open(shared);
  await page.locator(".breaks summary").click();
  await page.locator(".breaks label", { hasText: "length" }).locator("input").check();
  await page.keyboard.press("Escape");
  await page.locator("h1").click();
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await cursorComesTo(page, 1);
  for (let step = 0; step < 4; step += 1) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("b");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Space");
  await cursorComesTo(page, 5);
  await page.keyboard.press("Space");
  await cursorComesTo(page, 12);
  await close();
});

test("play moves the cursor step by step without reduced motion, and pauses", async () => {
  const { page, close } = await open(shared, { reducedMotion: "no-preference" });
  await page.locator(".transport select").selectOption("100");
  await page.keyboard.press("Home");
  await page.locator("button.play").click();
  await cursorComesTo(page, 12);
  assert.equal(await page.locator("button.play").getAttribute("aria-pressed"), "false");
  await close();
});

test("the scrubber moves the cursor, and selecting works with Shift", async () => {
  const { page, close } = await open(shared);
  await page.locator(".scrubber input").focus();
  await page.locator(".scrubber input").fill("6");
  await cursorComesTo(page, 6);
  await page.keyboard.press("1");
  await settled(page);
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await page.locator(".status", { hasText: "3 bytes selected" }).waitFor();
  assert.equal(await cursorAt(page), 8);
  await close();
});

test("on a phone one pane is shown at a time, with eight bytes per row and large targets", async () => {
  const { page, close } = await open(shared, { width: 360, height: 740, hasTouch: true });
  await ready(page);
  await sample(page, "Nested array");
  assert.equal(await page.locator('.hex-row[data-row="0"] [role=gridcell]').count(), 8);
  for (const name of ["Text", "Tree", "Cards", "Hex"]) {
    await page.locator(".pane-tabs .tab", { hasText: name }).tap();
    assert.equal(await page.locator(".pane:visible").count(), 1, name);
  }
  const small = await page.evaluate(() =>
    [...document.querySelectorAll("button, summary, select, [role=gridcell]:not(.none)")]
      .filter((element) => element.offsetParent !== null)
      .map((element) => ({ name: element.getAttribute("aria-label") ?? element.textContent, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.width < 43.5 || box.height < 43.5))
      .map(({ name, box }) => `${name}: ${box.width}x${box.height}`),
  );
  assert.deepEqual(small, []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360), "nothing is wider than the phone");
  await close();
});
