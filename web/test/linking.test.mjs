// Tests that the panes are linked: the pointer previews and never scrolls, a click pins everywhere.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorComesTo, open, paste, sample, settled, suite } from "./page.mjs";

const shared = suite();

/** A document of `count` requests, larger than the view. */
const requests = (count) => Array.from({ length: count }, (_, at) => `*3\r\n$3\r\nSET\r\n$6\r\nkey${String(at).padStart(3, "0")}\r\n$5\r\nvalue\r\n`).join("");

const scrolls = (page) => page.evaluate(() => [".hex-grid", ".text-lines", ".tree-rows", ".dock-panel"].map((name) => document.querySelector(name).scrollTop));

test("the byte at the cursor is visible in every pane, also at a line end", async () => {
  const { page, close } = await open(shared);
  for (let byte = 0; byte < 12; byte += 1) {
    const cursors = await page.locator(".hex-row .cur, .text-row .cur").evaluateAll((cells) => cells.map((cell) => [cell.className, getComputedStyle(cell).backgroundColor]));
    assert.equal(cursors.length, 3, `byte ${byte}: hex, its character, text`);
    assert.equal(new Set(cursors.map(([, colour]) => colour)).size, 1, `byte ${byte}: ${cursors.join(" | ")}`);
    await page.keyboard.press("ArrowRight");
    await settled(page);
  }
  await close();
});

test("unprintable bytes are shown as escapes, in lines that fit", async () => {
  const { page, close } = await open(shared);
  const spelled = (bytes) => bytes.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  await paste(page, `$300\\r\\n${spelled(Array.from({ length: 300 }, (_, at) => (at * 7) % 256))}\\r\\n`);
  await page.locator(".status-total", { hasText: "308 bytes" }).waitFor();
  await settled(page);
  const rows = await page.locator(".text-row:not([hidden])").evaluateAll((rows) =>
    rows.map((row) => ({
      text: row.textContent,
      squeezed: [...row.children].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length,
      over: row.lastElementChild.getBoundingClientRect().right > row.closest(".text-lines").getBoundingClientRect().right,
    })),
  );
  assert.ok(rows.length > 3);
  for (const { text, squeezed, over } of rows) assert.ok(squeezed === 0 && !over, text);
  await close();
});

test("moving the pointer over 200 bytes scrolls nothing, and three panes agree", async () => {
  const { page, close } = await open(shared, { height: 1200 });
  await paste(page, requests(30));
  await page.locator(".frame-count", { hasText: "of 30" }).waitFor();
  await page.locator(".hex-grid").evaluate((grid) => {
    grid.scrollTop = 130;
  });
  await settled(page);
  const before = await scrolls(page);
  const cells = await page.evaluate(() => {
    const all = [...document.querySelectorAll(".hex-row [role=gridcell]")].map((cell) => ({ box: cell.getBoundingClientRect(), byte: Number(cell.parentElement.dataset.row) * 16 + Number(cell.dataset.column) }));
    const view = document.querySelector(".hex-grid").getBoundingClientRect();
    return all.filter(({ box }) => box.top >= view.top && box.bottom <= view.bottom).map(({ box, byte }) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2, byte })).slice(0, 200);
  });
  assert.ok(cells.length === 200, `${cells.length} bytes are in view`);
  // The page keeps the text for each byte, one frame later.
  await page.evaluate(() => {
    globalThis.shown = {};
    document.querySelector(".hex-grid").addEventListener("pointermove", () =>
      requestAnimationFrame(() => {
        const [, byte] = /byte (\d+)/.exec(document.querySelector(".status-at").textContent);
        globalThis.shown[byte] = {
          hex: [...document.querySelectorAll(".hex-grid [role=gridcell].hov")].map((cell) => Number.parseInt(cell.textContent, 16)),
          text: [...document.querySelectorAll(".text-row:not([hidden]) .hov")].map((cell) => cell.textContent).join(""),
          scrolled: [".hex-grid", ".text-lines", ".tree-rows", ".dock-panel"].map((name) => document.querySelector(name).scrollTop),
        };
      }),
    );
  });
  for (const { x, y } of cells) await page.mouse.move(x, y);
  await settled(page);
  const shown = await page.evaluate(() => globalThis.shown);
  // Moves may be merged into one frame; the last byte is always reported.
  assert.ok(Object.keys(shown).length >= 20, `${Object.keys(shown).length} bytes were reported`);
  assert.ok(String(cells.at(-1).byte) in shown);
  for (const [byte, { hex, text, scrolled }] of Object.entries(shown)) {
    assert.ok(hex.length >= 1, `byte ${byte} is framed`);
    // Lines out of view have no outline: the pane does not scroll.
    if (text !== "") assert.equal(text, String.fromCharCode(...hex).replaceAll("\r", "\\r").replaceAll("\n", "\\n"));
    assert.deepEqual(scrolled, before, `byte ${byte} scrolls nothing`);
  }
  assert.deepEqual(await scrolls(page), before);
  await close();
});

test("the value under the pointer is outlined in hex, text and tree", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Nested array");
  await page.locator(".tree-row", { hasText: '"two"' }).hover();
  await settled(page);
  const framed = (pane, selector) => page.locator(`${pane} ${selector}.hov`).allTextContents();
  assert.deepEqual(await framed(".hex-grid", "[role=gridcell]"), ["24", "33", "0D", "0A", "74", "77", "6F", "0D", "0A"]);
  assert.equal((await framed(".text-lines", "span")).join(""), "$3\\r\\ntwo\\r\\n");
  await page.locator(".text-row span", { hasText: "w" }).first().hover();
  await settled(page);
  assert.deepEqual(await framed(".hex-grid", "[role=gridcell]"), ["74", "77", "6F"]);
  assert.equal(await page.locator(".tree-row.hov .value").textContent(), '"two"');
  await close();
});

test("a click pins, and brings the byte into view in the other panes", async () => {
  const { page, close } = await open(shared);
  await paste(page, requests(300));
  await page.locator(".frame-count", { hasText: "of 300" }).waitFor();
  await page.locator(".tree-rows").evaluate((tree) => {
    tree.scrollTop = 200 * 28;
  });
  await settled(page);
  await page.locator('.tree-row[data-row="205"] .value').click();
  // The frame at the cursor is open: its three words come before.
  await cursorComesTo(page, (205 - 3) * 36);
  await settled(page);
  const cell = page.locator(".hex-grid [aria-selected=true]");
  const [box, view] = [await cell.boundingBox(), await page.locator(".hex-grid").boundingBox()];
  assert.ok(box.y >= view.y && box.y + box.height <= view.y + view.height, "the byte is in view");
  assert.equal(await page.locator(".text-row .cur").count(), 1);
  await close();
});

test("the path of a byte is in the status line", async () => {
  const { page, close } = await open(shared);
  await sample(page, "SET request");
  await page.locator('.hex-grid [data-row="0"] [role=gridcell][data-column="5"]').click();
  await page.locator(".status-path", { hasText: "cmd[0].arg[0].len" }).waitFor();
  await close();
});
