// Tests that the notation of pasted or dropped bytes is guessed, and that the other notations are
// one click away.

import assert from "node:assert/strict";
import { test } from "node:test";
import { drop, open, paste, settled, shownBytes, suite } from "./page.mjs";

const shared = suite();

const SET = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n";
const HEX = Buffer.from(SET).toString("hex");
const spaced = HEX.match(/../g).join(" ");
const XXD = [
  "00000000: 2a33 0d0a 2433 0d0a 5345 540d 0a24 310d  *3..$3..SET..$1.",
  "00000010: 0a6b 0d0a 2431 0d0a 760d 0a              .k..$1..v..",
].join("\n");
const CANONICAL = [
  "00000000  2a 33 0d 0a 24 33 0d 0a  53 45 54 0d 0a 24 31 0d  |*3..$3..SET..$1.|",
  "00000010  0a 6b 0d 0a 24 31 0d 0a  76 0d 0a                 |.k..$1..v..|",
  "0000001b",
].join("\n");
const ESCAPED = "*3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nk\\r\\n$1\\r\\nv\\r\\n";

/** The pasted text, the guessed notation, and the decoded bytes. */
const PASTES = [
  ["a frame as it is", SET, null, SET],
  ["hexadecimal digits", HEX, /hex/i, SET],
  ["the same with blanks", spaced, /hex/i, SET],
  ["the same with 0x and commas", HEX.match(/../g).map((digits) => `0x${digits}`).join(", "), /hex/i, SET],
  ["xxd", XXD, /dump/i, SET],
  ["hexdump -C", CANONICAL, /dump/i, SET],
  ["Base64", Buffer.from(SET).toString("base64"), /base64/i, SET],
  ["a string with escapes", ESCAPED, /escapes/i, SET],
  ["a literal of Python", `b'${ESCAPED}'`, /escapes/i, SET],
  ["a literal of Rust", `b"${ESCAPED}"`, /escapes/i, SET],
  ["a literal of C, in two lines", `"*3\\r\\n$3\\r\\nSET\\r\\n"\n"$1\\r\\nk\\r\\n$1\\r\\nv\\r\\n"`, /escapes/i, SET],
  ["a request as it is typed", "SET k v", /lines/i, "SET k v\r\n"],
  ["a frame whose line ends were lost", SET.replaceAll("\r", ""), /lines/i, SET],
  ["bytes of the binary protocol, in hex", "03010000006b0100000076", /hex/i, "\x03\x01\0\0\0k\x01\0\0\0v"],
];

async function comesTo(page, wanted) {
  const deadline = Date.now() + 5000;
  let got = await shownBytes(page);
  while (got !== wanted && Date.now() < deadline) {
    await settled(page);
    got = await shownBytes(page);
  }
  assert.equal(JSON.stringify(got), JSON.stringify(wanted));
}

test("pasted samples are guessed and decoded", async (t) => {
  const { page, close } = await open(shared);
  for (const [name, text, guess, bytes] of PASTES) {
    await t.test(name, async () => {
      await paste(page, "+other\r\n");
      await page.locator(".words-frame", { hasText: "other" }).waitFor();
      await paste(page, text);
      await comesTo(page, bytes);
      if (guess) assert.match(await page.locator(".guess-bar [aria-pressed=true]").textContent(), guess);
    });
  }
  await close();
});

test("another notation is one click away", async () => {
  const { page, close } = await open(shared);
  await paste(page, "2b4f4b0d0a");
  await comesTo(page, "+OK\r\n");
  await page.locator(".guess-bar .chip", { hasText: "bytes as they are" }).click();
  await comesTo(page, "2b4f4b0d0a");
  assert.equal(await page.locator(".guess-bar [aria-pressed=true]").textContent(), "bytes as they are");
  await page.locator(".guess-bar .chip", { hasText: /hex/i }).click();
  await comesTo(page, "+OK\r\n");
  await page.locator(".guess-bar .chip", { hasText: "Done" }).click();
  await page.locator(".guess-bar").waitFor({ state: "detached" });
  await comesTo(page, "+OK\r\n");
  await close();
});

test("the bar disappears when something else is opened", async () => {
  const { page, close } = await open(shared);
  await paste(page, "2b4f4b0d0a");
  await page.locator(".guess-bar").waitFor();
  await page.locator(".sample").first().click();
  await page.locator(".guess-bar").waitFor({ state: "detached" });
  await close();
});

test("the dialog takes text, and files are dropped", async () => {
  const { page, close } = await open(shared);
  await page.keyboard.press("o");
  await page.locator("dialog textarea").fill(Buffer.from(SET).toString("base64"));
  await page.locator("dialog .primary").click();
  await comesTo(page, SET);
  await drop(page, "dump.txt", Buffer.from(XXD));
  await page.locator(".doc-title", { hasText: "dump.txt" }).waitFor();
  await comesTo(page, SET);
  await close();
});

test("pasting anything neither hangs nor loses bytes", async () => {
  const { page, close } = await open(shared);
  const pastes = ["\0", "====", "0x", "b'", '"'.repeat(50_000), "A".repeat(200_000), "\\".repeat(99_999), "0: ".repeat(30_000)];
  for (const [at, text] of pastes.entries()) {
    await paste(page, text);
    await page.locator(".doc-title", { hasText: "Pasted" }).waitFor();
    await paste(page, `+still here ${at}\r\n`);
    await page.locator(".words-frame", { hasText: `still here ${at}` }).waitFor({ timeout: 5000 });
  }
  await close();
});
