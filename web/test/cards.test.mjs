// Tests the cards for finding and filtering, limits, and MessagePack.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorComesTo, open, paste, sample, suite } from "./page.mjs";

const shared = suite();

async function look(page, kind, query) {
  if (!(await page.locator(".search").isVisible())) await page.keyboard.press("/");
  await page.locator(".search .choice", { hasText: kind }).click();
  await page.locator("#search-field").fill(query);
}

const count = (page, text) => page.locator(".search-count", { hasText: text }).waitFor();

test("bytes and text are found, and stepping wraps around", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Pipeline");
  await look(page, "Text", "visits");
  await count(page, /3 hits/);
  await page.locator("#search-field").press("Enter");
  await cursorComesTo(page, 18);
  await page.locator("#hex [role=grid]").focus();
  await page.keyboard.press("n");
  await cursorComesTo(page, 43);
  await page.keyboard.press("n");
  await cursorComesTo(page, 71);
  await page.keyboard.press("n");
  await cursorComesTo(page, 18);
  await page.keyboard.press("Shift+N");
  await cursorComesTo(page, 71);
  await look(page, "Text", "\\r\\n*");
  await count(page, /2 hits/);
  await look(page, "Bytes", "47 45 54");
  await count(page, /1 hit/);
  await look(page, "Bytes", "4");
  await count(page, /two hexadecimal digits/);
  await look(page, "Text", "nowhere");
  await count(page, /Not found/);
  await close();
});

test("frames are filtered by command, key, size and state", async () => {
  const { page, close } = await open(shared);
  const request = (...words) => `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
  const frames = [request("GET", "user:1"), request("SET", "user:2", "a value longer than the others"), "*1\r\n+wrong\r\n", request("DEL", "other"), request("GET", "user:3"), "*2\r\n$3\r\nGET\r\n$9\r\nus"];
  await paste(page, frames.join(""));
  await page.locator(".words-frame", { hasText: "GET" }).waitFor();
  for (const [query, hits] of [
    ["get", /2 hits/],
    ["key:user:*", /3 hits/],
    ["get key:user:3", /1 hit/],
    ["bytes>40", /1 hit/],
    ["is:bad", /1 hit/],
    ["is:torn", /1 hit/],
    ["set key:other", /Not found/],
  ]) {
    await look(page, "Frames", query);
    await count(page, hits);
  }
  await look(page, "Frames", "is:odd");
  await page.locator(".search-count.wrong").waitFor();
  await look(page, "Frames", "get key:user:3");
  await count(page, /1 hit/);
  await page.locator(".hit", { hasText: "GET user:3" }).click();
  await page.locator(".words-frame", { hasText: "user:3" }).waitFor();
  await close();
});

test("limits show the reply under each preset, and can be applied", async () => {
  const { page, close } = await open(shared);
  await paste(page, `*11\r\n$4\r\nPING\r\n${"$1\r\nx\r\n".repeat(10)}`);
  await page.locator(".words-frame", { hasText: "10 arguments" }).waitFor();
  await page.keyboard.press("l");
  await page.locator(".verdict.fine", { hasText: "server" }).waitFor();
  await page.locator(".verdict.refused", { hasText: "-ERR Protocol error: unauthenticated multibulk length" }).waitFor();
  assert.equal(await page.locator("#dock-tab-problems .count").count(), 0);
  await page.locator(".limits .choice", { hasText: "before AUTH" }).click();
  await page.locator("#dock-tab-problems .count").waitFor();
  await page.locator(".limits p", { hasText: "10 arguments" }).waitFor();
  await close();
});

test("MessagePack in a value has tokens linked to their bytes", async () => {
  const { page, close } = await open(shared);
  await paste(page, "$13\\r\\n\\x82\\xa1a\\x01\\xa4list\\x93\\xc0\\xc3\\x05\\r\\n");
  await page.locator(".words-frame", { hasText: "bulk string" }).waitFor();
  await page.keyboard.press("m");
  const tokens = page.locator(".tokens .token");
  await tokens.nth(7).waitFor();
  assert.deepEqual(
    (await tokens.allTextContents()).map((text) => text.replaceAll(/\s+/g, " ").trim()),
    ["map of 25–17", 'str "a"6–7', "int 18", 'str "list"9–13', "array of 314–17", "nil 15", "bool true16", "int 517"],
  );
  await tokens.nth(4).click();
  await cursorComesTo(page, 14);
  await paste(page, "$2\\r\\n\\x93\\xc1\\r\\n");
  await page.locator(".msgpack .wrong", { hasText: "Not MessagePack" }).waitFor();
  await page.locator(".msgpack .wrong button").click();
  await cursorComesTo(page, 5);
  await close();
});
