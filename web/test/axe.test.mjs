// Checks the page with axe at three widths, in every theme, with every card and dialog.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAxe as check, open, sample, suite } from "./page.mjs";

const shared = suite();

for (const [width, height, colorScheme, dialogs] of [
  [1280, 800, "light", true],
  [1280, 800, "dark", false],
  [768, 1024, "light", false],
  [768, 1024, "dark", false],
  [360, 740, "light", false],
  [360, 740, "dark", true],
]) {
  test(`axe at ${width} px, ${colorScheme}`, async () => {
    const { page, close } = await open(shared, { width, height, colorScheme });
    await check(page, "first load");
    await sample(page, "Wrong length");
    await page.keyboard.press("p");
    await page.locator(".problem.bad").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("k");
    await page.keyboard.press("f");
    await page.keyboard.press("f");
    await check(page, "reads");
    await page.keyboard.press("p");
    await check(page, "problems");
    if (dialogs) {
      await page.keyboard.press("?");
      await check(page, "keyboard map");
      await page.keyboard.press("Escape");
      await page.keyboard.press("o");
      await check(page, "open");
    }
    await close();
  });
}

test("axe in high contrast", async () => {
  const { page, close } = await open(shared, { contrast: "more" });
  await check(page, "by the system's wish");
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("t");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "contrast");
  await check(page, "by the switch");
  await close();
});
