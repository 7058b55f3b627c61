// Errors are pinned to their byte, fixes are shown as differences and mend them in one click; torn
// frames say what they lack; reads tell the same frames for any cuts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorComesTo, open, paste, sample, settled, suite } from "./page.mjs";

const shared = suite();

test("a wrong length: the byte, what was expected, the fix as a difference, and the way back", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Wrong length");
  await page.keyboard.press("p");
  const problem = page.locator(".problem.bad");
  await problem.waitFor();
  assert.match(await problem.textContent(), /Byte 31 is .*Expected: CR/s);
  await page.keyboard.press("e");
  await cursorComesTo(page, 31);
  const fix = problem.locator(".fixes li").first();
  assert.equal(await fix.locator("del").textContent(), "4");
  assert.equal(await fix.locator("ins").textContent(), "5");
  await fix.locator("button").click();
  await page.locator(".all-well").waitFor();
  await page.locator(".words-frame", { hasText: "SET" }).waitFor();
  await page.keyboard.press("Control+z");
  await problem.waitFor();
  await close();
});

test("decoding goes on behind an error", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Attack");
  await page.keyboard.press("p");
  await page.locator(".problem.bad").waitFor();
  assert.match(await page.locator(".problem.bad").textContent(), /Reading goes on at byte \d+/);
  assert.match(await page.locator(".tree-rows").textContent(), /PING/);
  assert.ok((await page.locator(".hex-grid [role=gridcell].r15").count()) > 0, "bytes are marked wrong");
  await close();
});

test("a torn frame says where it broke off and what it lacks", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Torn frame");
  await page.keyboard.press("p");
  await page.locator(".problem.torn", { hasText: "At least 5 bytes" }).waitFor();
  await page.keyboard.press("End");
  await page.keyboard.press("y");
  const card = page.locator(".card.state");
  await card.filter({ hasText: "1 of 3 left" }).waitFor();
  assert.match(await card.textContent(), /at least 5 bytes/);
  await close();
});

test("cuts: what the decoder needs after each read, and the same frames for any cuts", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Pipeline");
  await page.keyboard.press("r");
  const frames = async () => {
    const reads = await page.locator(".read-words").allTextContents();
    return reads.map((text) => Number(/(\d+) frames? complete/.exec(text)?.[1] ?? 0)).reduce((sum, frames) => sum + frames, 0);
  };
  for (const preset of ["1 B", "7 B", "random"]) {
    await page.locator(".chip", { hasText: preset }).click();
    await page.locator(".read").nth(1).waitFor();
    await settled(page);
    assert.equal(await frames(), 3, preset);
  }
  await page.locator(".chip", { hasText: "7 B" }).click();
  await page.keyboard.press("f");
  await page.keyboard.press("f");
  await page.locator(".fed", { hasText: /Incomplete, need ≥ \d+ more/ }).waitFor();
  assert.ok((await page.locator(".hex-grid [role=gridcell].late").count()) > 0, "what has not arrived is pale");
  assert.ok((await page.locator(".hex-grid [role=gridcell].wait").count()) > 0, "what waits is hatched");
  await close();
});

test("bytes are inserted, deleted and set from the card", async () => {
  const { page, close } = await open(shared);
  await paste(page, ":12\r\n");
  await page.locator(".words-frame", { hasText: "An integer 12" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await cursorComesTo(page, 1);
  await page.locator(".edit-byte input").fill("39");
  await page.locator(".edit-byte button", { hasText: "Set" }).click();
  await page.locator(".words-frame", { hasText: "An integer 92" }).waitFor();
  await page.keyboard.press("Delete");
  await page.locator(".words-frame", { hasText: "An integer 2" }).waitFor();
  await close();
});
