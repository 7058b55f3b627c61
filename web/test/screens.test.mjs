// Takes pictures at three widths, in light and dark, into test/shots, for manual review. Checks
// that nothing is wider than the page, and that no text of a control is cut.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { open, sample, settled, suite } from "./page.mjs";

const shared = suite();
const SHOTS = fileURLToPath(new URL("./shots/", import.meta.url));

const VIEWS = [
  ["Map", []],
  ["Nested array", [".", ".", ".", ".", ".", ".", "."]],
  ["Wrong length", ["p", "e"]],
  ["Pipeline", ["r", "f"]],
];

for (const [width, height] of [
  [1280, 800],
  [768, 1024],
  [360, 740],
]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`pictures at ${width} px, ${colorScheme}`, async () => {
      await mkdir(SHOTS, { recursive: true });
      const { page, close } = await open(shared, { width, height, colorScheme });
      for (const [name, keys] of VIEWS) {
        await sample(page, name);
        for (const key of keys) await page.keyboard.press(key);
        await settled(page);
        await page.screenshot({ path: `${SHOTS}${width}-${colorScheme}-${name.replaceAll(" ", "-").toLowerCase()}.png` });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, "nothing is wider than the page");
        const cut = await page.evaluate(() =>
          [...document.querySelectorAll(".btn, .tab, .chip")].filter((element) => element.offsetParent !== null && element.scrollWidth > element.clientWidth + 1).map((element) => element.textContent),
        );
        assert.deepEqual(cut, [], "no control's text is cut");
      }
      await close();
    });
  }
}
