// Tests forty invalid documents with common mistakes: in each the error is at the right byte, and
// in most a suggested fix corrects it. Runs the module itself, without a browser.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Doc, initSync } from "../src/wasm/respire_document.js";

initSync({ module: await readFile(new URL("../src/wasm/respire_document_bg.wasm", import.meta.url)) });

const REQUESTS = 0;
const REPLIES = 1;
const SERVER = 0;
const CLIENT = 2;

/** A description of the mistake, the mode, and the bytes; `‸` precedes the wrong byte. */
const BROKEN = [
  ["the length is one too small", REQUESTS, "*1\r\n$3\r\nPIN‸G\r\n"],
  ["the length is one too large", REQUESTS, "*1\r\n$5\r\nPING\r‸\n"],
  ["characters were counted, not bytes", REQUESTS, "*2\r\n$3\r\nGET\r\n$3\r\nZo\xc3‸\xab\r\n"],
  ["a simple string as an argument", REQUESTS, "*1\r\n‸+PING\r\n"],
  ["an integer as an argument", REQUESTS, "*2\r\n$3\r\nGET\r\n‸:5\r\n"],
  ["the header of an argument is missing", REQUESTS, "*1\r\n‸PING\r\n"],
  ["no count", REQUESTS, "*‸\r\n$4\r\nPING\r\n"],
  ["lines end with LF", REQUESTS, "*1‸\n$4\nPING\n"],
  ["a count with a leading zero", REQUESTS, "*0‸1\r\n$4\r\nPING\r\n"],
  ["a null as an argument", REQUESTS, "*2\r\n$3\r\nGET\r\n$‸-1\r\n"],
  ["letters as a length", REQUESTS, "*2\r\n$3\r\nGET\r\n$‸abc\r\nabc\r\n"],
  ["line ends spelled out", REQUESTS, "*1‸\\r\\n$4\\r\\nPING\\r\\n"],
  ["CR without LF behind a length", REQUESTS, "*1\r\n$4\r‸PING\r\n"],
  ["no line end behind the payload", REQUESTS, "*1\r\n$4\r\nPING‸*1\r\n$4\r\nPING\r\n"],
  ["CR without LF behind the payload", REQUESTS, "*1\r\n$4\r\nPING\r‸*1\r\n$4\r\nPING\r\n"],
  ["a blank behind a length", REQUESTS, "*1\r\n$4‸ \r\nPING\r\n"],
  ["a blank before a count", REQUESTS, "*‸ 1\r\n$4\r\nPING\r\n"],
  ["a plus sign before a count", REQUESTS, "*‸+1\r\n$4\r\nPING\r\n"],
  ["a plus sign before a length", REQUESTS, "*1\r\n$‸+4\r\nPING\r\n"],
  ["a quote within a word", REQUESTS, 'SET "k"‸v\r\n'],
  ["a key longer than announced", REQUESTS, "*2\r\n$3\r\nGET\r\n$1\r\nk‸ey\r\n*1\r\n$4\r\nPING\r\n"],
  ["a length beyond the limit", REQUESTS, "*1\r\n$‸99999999999\r\n"],
  ["a count beyond the limit", REQUESTS, "*‸3000000000\r\n$4\r\nPING\r\n"],
  ["a stray byte before the line end", REPLIES, "$5\r\nhello‸x\r\n+OK\r\n"],
  ["a negative length that is no null", REPLIES, "$‸-2\r\n"],
  ["a negative count of pairs", REPLIES, "%‸-1\r\n"],
  ["true spelled out", REPLIES, "#t‸rue\r\n"],
  ["a boolean that is none", REPLIES, "#‸1\r\n"],
  ["a null with text", REPLIES, "_‸nil\r\n"],
  ["a letter in a number", REPLIES, ":12‸a\r\n"],
  ["no digits", REPLIES, ":‸\r\n"],
  ["a fraction without a digit before it", REPLIES, ",‸.5\r\n"],
  ["a verbatim string without a colon", REPLIES, "=5\r\ntxt‸xy\r\n"],
  ["a push within an array", REPLIES, "*1\r\n‸>1\r\n+x\r\n"],
  ["a push that is named by a number", REPLIES, ">1\r\n‸:1\r\n"],
  ["LF alone within a line", REPLIES, "+a‸\nb\r\n"],
  ["a map that ends behind a key", REPLIES, "%?\r\n+a\r\n‸.\r\n"],
  ["an end of what was not begun", REPLIES, "*1\r\n‸.\r\n"],
  ["a chunk outside a string", REPLIES, "‸;1\r\na\r\n"],
  ["text without a type", REPLIES, "‸hello\r\n+OK\r\n"],
];

const latin1 = (text) => Uint8Array.from(text, (char) => char.charCodeAt(0));

function decoded(bytes, mode) {
  const doc = new Doc(mode, mode === REQUESTS ? SERVER : CLIENT);
  doc.setBytes(bytes);
  while (doc.length > 0 && doc.parse(1 << 20) < doc.length);
  return doc;
}

/** The first frame with an error. */
function firstBad(doc) {
  for (let frame = 0; frame < doc.frameCount; frame += 1) if ((doc.frames(frame, frame + 1)[0] & 0xff) === 1) return frame;
  return -1;
}

test("forty mistakes: the error is at the right byte, and a fix corrects at least 32", async (t) => {
  assert.equal(BROKEN.length, 40);
  let mended = 0;
  const left = [];
  for (const [name, mode, text] of BROKEN) {
    const [before, after] = text.split("‸");
    const bytes = latin1(before + after);
    await t.test(name, () => {
      const doc = decoded(bytes, mode);
      const frame = firstBad(doc);
      assert.ok(frame >= 0, "it is wrong");
      const error = doc.error(frame);
      assert.equal(error.offset, before.length, `byte ${error.offset}: ${error.text}`);
      assert.ok(error.rule.length > 10 && error.text.length > 3);
      const fixed = error.fixes.some((_, index) => {
        const copy = decoded(bytes, mode);
        copy.fix(firstBad(copy), index);
        while (copy.parse(1 << 20) < copy.length);
        return firstBad(copy) < 0;
      });
      if (fixed) mended += 1;
      else left.push(name);
    });
  }
  console.log(`${mended} of 40 are mended by one change; not: ${left.join(", ")}`);
  assert.ok(mended >= 32, `${mended} of 40`);
});
