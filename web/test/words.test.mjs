// Tests that every sample is decoded, and described in plain words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, paste, sample, settled, suite } from "./page.mjs";

const shared = suite();

/** The text expected for a sample's first frame, and its number of problems. */
const TOLD = {
  Map: [/^A map with 1 pair: key simple string a, value integer 1\.$/, 0],
  "SET request": [/^A request to run SET with 2 arguments: "greeting", "hello world"\.$/, 0],
  Pipeline: [/^A request to run INCR with 1 argument: "visits"\.$/, 0],
  "Typed by hand": [/run SET with 4 arguments: "?note"?, "two words\\n", "?EX"?, "?60"?\.$/, 0],
  "Simple, error, integer": [/^A simple string "?OK"?\.$/, 0],
  "Bulk string": [/^A bulk string "hello\\r\\nworld"\.$/, 0],
  "Three nulls": [/^Nothing \(null\)\.$/, 0],
  "Nested array": [/^An array with 3 elements: integer 1, array with 2 elements: .*"two".*deep, integer 3\.$/, 0],
  "Booleans, numbers": [/^A boolean true\.$/, 0],
  "Blob error": [/^A blob error .*SYNTAX/, 0],
  "Verbatim string": [/^A verbatim string .*Some string/, 0],
  Set: [/^A set with 4 members: .*red.*green.*blue.*integer 7\.$/, 0],
  Push: [/^A push with 3 elements: .*message.*news.*hello/, 0],
  Attributes: [/^An attributes? with 1 pair: key .*ttl.*value integer 3600; it describes an array with 2 elements/, 0],
  Streamed: [/^A bulk string .*Hello/, 0],
  "Binary requests": [/run SET with 2 arguments: "hello", "world"\.$/, 0],
  "Binary replies": [/^A map with 1 pair: key simple string "?a"?, value integer 1\.$/, 0],
  "Torn frame": [/^An array with 3 elements: .*"first".*"second".*not all of it is here/, 1],
  "Wrong length": [/./, 1],
  Attack: [/./, 2],
};

test("every sample is described in plain words", async (t) => {
  const { page, close } = await open(shared);
  const names = await page.locator(".sample-name").allTextContents();
  assert.deepEqual(names.sort(), Object.keys(TOLD).sort());
  for (const [name, [words, problems]] of Object.entries(TOLD)) {
    await t.test(name, async () => {
      await sample(page, name);
      await page.locator(".words-frame", { hasText: words }).waitFor({ timeout: 3000 }).catch(async () => assert.match(await page.locator(".words-frame").textContent(), words));
      await settled(page);
      const shown = await page.locator("#dock-tab-problems .count").allTextContents();
      assert.equal(Number(shown[0] ?? 0), problems, "problems");
      assert.ok((await page.locator(".hex-grid [role=gridcell].b:not(.none)").count()) > 4);
    });
  }
  await close();
});

test("a word that is not a name is quoted, and a long value is shortened", async () => {
  const { page, close } = await open(shared);
  await paste(page, "\\x01\\xabc d\\r\\n".replace("\\x01", "q\\xfe"));
  await page.locator(".words-frame", { hasText: 'A request to run "q\\xfe\\xabc" with 1 argument: "d".' }).waitFor();
  await paste(page, `get ${"a".repeat(300)}\r\n`);
  await page.locator(".words-frame", { hasText: new RegExp(`^A request to run GET with 1 argument: "a{30,60}…"\\.$`) }).waitFor();
  await close();
});

test("requests without words are described as such", async () => {
  const { page, close } = await open(shared);
  await paste(page, "*0\\r\\n*-1\\r\\n\\r\\n*1\\r\\n$4\\r\\nPING\\r\\n");
  await page.locator(".words-frame", { hasText: /^3 empty requests, which servers pass over\.$/ }).waitFor();
  await close();
});
