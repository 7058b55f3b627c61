// Tests that the single file matches the build, and that it reports damage.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pack, toText } from "../pack.mjs";
import { LETTERS, fromText, sum, unpacker } from "../src/unpack.js";
import { DIST, open, settled, suite } from "./page.mjs";

const shared = suite();
const html = await readFile(join(DIST, "respire-explorer.html"), "utf8");

/** Pseudo-random numbers, the same for the same seed. */
function* chance(seed) {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state >>> 8;
  }
}

/** Bytes with patterns that packers use: runs, repeats near and far, and new bytes. */
function document(seed, length) {
  const numbers = chance(seed);
  const next = (below) => numbers.next().value % below;
  const bytes = [];
  while (bytes.length < length) {
    const run = 1 + next(1 << next(10));
    const back = 1 + next(Math.max(1, Math.min(bytes.length, 1 << next(18))));
    const isNew = bytes.length === 0 || next(4) === 0;
    for (let count = 0; count < run; count += 1) bytes.push(isNew ? next(256) : bytes[bytes.length - back]);
  }
  return Uint8Array.from(bytes.slice(0, length));
}

test("packed bytes are unpacked, at once or in small steps", () => {
  for (const [seed, length] of [0, 1, 2, 7, 300, 5_000, 70_000, 400_000].entries()) {
    const bytes = document(seed, length);
    const packed = pack(bytes);
    assert.deepEqual(unpacker(packed, length)(length), bytes, `${length} bytes`);
    const unpacked = unpacker(packed, length);
    for (let end = 0; end < length; end += 1 + (length >> 3)) assert.deepEqual(unpacked(end), bytes.subarray(0, end));
    assert.deepEqual(unpacked(length), bytes);
  }
});

test("bytes round-trip through text that HTML does not change", () => {
  assert.equal(new Set(LETTERS).size, 91);
  for (let length = 0; length < 40; length += 1) {
    const bytes = document(length, length);
    for (const filled of [bytes, bytes.map(() => 255)]) {
      const text = toText(filled);
      assert.match(text, /^[^<&"\s]*$/);
      assert.deepEqual(fromText(text).subarray(0, length), filled);
    }
  }
});

test("the single file holds the same modules as the page, byte by byte", async () => {
  const [, about, text] = /data-about='([^']*)'>([^<]*)</.exec(html);
  const { bytes, check, fonts, parts } = JSON.parse(about);
  const packed = fromText(text).subarray(0, bytes);
  assert.equal(sum(packed), check);
  const size = parts.reduce((before, [, length]) => before + length, 0);
  const unpacked = unpacker(packed.subarray(fonts.reduce((before, length) => before + length, 0)), size)(size);
  let at = 0;
  for (const [id, length] of parts) {
    const part = unpacked.subarray(at, (at += length));
    const name = /^(\w+)Wasm$/.exec(id)?.[1];
    if (!name) continue;
    const file = (await readdir(join(DIST, "assets"))).find((file) => file.startsWith(`respire_${name}_bg`));
    assert.ok((await readFile(join(DIST, "assets", file))).equals(part), id);
  }
  assert.equal(parts.filter(([id]) => id.endsWith("Wasm")).length, 3);
});

test("the single file looks like the page with several files", async () => {
  const looks = [];
  for (const path of ["index.html", "respire-explorer.html"]) {
    const { page, close } = await open(shared, { path });
    await settled(page);
    looks.push(
      await page.evaluate(async () => {
        await document.fonts.ready;
        const fonts = [...document.fonts].map(({ family, weight, status }) => `${family} ${weight} ${status}`);
        const elements = [...document.querySelectorAll("#app *")].map((element) => `${element.className} ${getComputedStyle(element).font}`);
        return { fonts, elements };
      }),
    );
    await close();
  }
  assert.deepEqual(looks[1], looks[0]);
  assert.ok(looks[1].fonts.every((font) => font.endsWith(" loaded")), looks[1].fonts.join());
});

for (const [what, damaged] of [
  ["cut short", html.slice(0, html.length >> 1)],
  ["changed in one letter", html.replace(/(data-about='[^']*'>.{100000})./, (all, before) => before + (all.endsWith("a") ? "b" : "a"))],
]) {
  test(`a single file that was ${what} reports it`, async () => {
    const page = await shared.browser.newPage();
    await page.route("**/*", (route) => route.fulfill({ contentType: "text/html", body: damaged }));
    await page.goto("http://damaged.test/");
    // If the file is truncated, its last element has no end, and browsers add one.
    await page.locator("#app", { hasText: "This file is damaged, or cut short on its way here" }).waitFor();
    await page.context().close();
  });
}
