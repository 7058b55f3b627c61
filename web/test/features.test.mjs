// Tests the cards for exploring and sharing: axe finds no violation, nothing is wider than the
// page, and no text is cut. Writes pictures into test/shots.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { checkAxe, drop, open, paste, sample, settled, suite } from "./page.mjs";

const shared = suite();
const SHOTS = fileURLToPath(new URL("./shots/", import.meta.url));

async function say(page, line) {
  const before = await page.locator(".entry.reply, .entry.push").count();
  await page.locator("#console-line").fill(line);
  await page.keyboard.press("Enter");
  await page.waitForFunction((before) => document.querySelectorAll(".entry.reply, .entry.push").length > before, before);
}

const VIEWS = {
  async console(page) {
    await page.keyboard.press("v");
    await page.locator(".entry.reply").first().waitFor();
    await say(page, "SET greeting hello EX 60");
    await page.locator(".connections .choice").nth(1).click();
    await say(page, "SUBSCRIBE news");
    await page.locator(".connections .choice").first().click();
    await say(page, 'PUBLISH news "two words"');
    await page.locator(".clock button", { hasText: "+1 s" }).click();
    await page.locator(".expiring li").waitFor();
    await page.locator("#console-line").fill("client l");
    await page.locator(".console-help .chip").first().waitFor();
  },
  async guess(page) {
    await paste(page, "JTENCithDQo6MQ0K");
    await page.locator(".guess-bar").waitFor();
  },
  async encode(page) {
    await page.keyboard.press("w");
    await page.locator(".encode .wide-field").fill('SET k "a\\x00b" EX 60');
    await page.locator(".encode .wire").first().waitFor();
  },
  async cost(page) {
    await sample(page, "Attributes");
    await page.keyboard.press("w");
    await page.locator(".wire .badge").first().waitFor();
  },
  async find(page) {
    await sample(page, "Pipeline");
    await page.keyboard.press("/");
    await page.locator(".search .choice", { hasText: "Frames" }).click();
    await page.locator("#search-field").fill("key:visits");
    await page.locator(".hit").first().waitFor();
  },
  async limits(page) {
    await sample(page, "Attack");
    await page.keyboard.press("l");
    await page.locator(".verdict.refused").first().waitFor();
  },
  async msgpack(page) {
    await paste(page, "$13\\r\\n\\x82\\xa1a\\x01\\xa4list\\x93\\xc0\\xc3\\x05\\r\\n");
    await page.keyboard.press("m");
    await page.locator(".token").first().waitFor();
  },
  async share(page) {
    await paste(page, "AUTH hunter2\r\n");
    await page.locator(".words-frame", { hasText: "AUTH" }).waitFor();
    await page.keyboard.press("x");
    await page.locator("dialog .check").waitFor();
  },
  async capture(page) {
    await drop(page, "redis-py.pcap", await readFile(new URL("./captures/redis-py.pcap", import.meta.url)));
    await page.locator(".segment").first().waitFor();
  },
};

for (const [width, height, colorScheme] of [
  [1280, 900, "light"],
  [768, 1024, "dark"],
  [360, 740, "dark"],
]) {
  test(`cards at ${width} px, ${colorScheme}`, async (t) => {
    await mkdir(SHOTS, { recursive: true });
    for (const [name, show] of Object.entries(VIEWS)) {
      await t.test(name, async () => {
        const { page, close } = await open(shared, { width, height, colorScheme });
        await show(page);
        await settled(page);
        await page.screenshot({ path: `${SHOTS}${width}-${colorScheme}-${name}.png` });
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, "nothing is wider than the page");
        const cut = await page.evaluate(() =>
          [...document.querySelectorAll(".btn, .tab, .chip")].filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1).map((element) => element.textContent),
        );
        assert.deepEqual(cut, [], "no control's text is cut");
        if (width === 360) {
          const small = await page.evaluate(() =>
            [...document.querySelectorAll("button, select, summary, .chip, input:not(.sr-only):not([type=checkbox])")]
              .filter((element) => element.checkVisibility() && !element.classList.contains("link") && element.getBoundingClientRect().height < 43.5)
              .map((element) => `${element.className} ${element.textContent} ${element.getBoundingClientRect().height}`),
          );
          assert.deepEqual(small, [], "controls are as large as a thumb");
        }
        await checkAxe(page, name);
        await close();
      });
    }
  });
}
