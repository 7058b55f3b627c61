// Tests problems: errors are pinned to their byte, fixes are shown as differences and applied with
// one click, incomplete frames list what is missing, and any cuts give the same frames.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorComesTo, open, paste, sample, settled, suite } from "./page.mjs";

const shared = suite();

test("a wrong length shows its byte, the expected bytes and a fix, which can be undone", async () => {
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

test("decoding continues after an error", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Attack");
  await page.keyboard.press("p");
  await page.locator(".problem.bad").waitFor();
  assert.match(await page.locator(".problem.bad").textContent(), /Reading goes on at byte \d+/);
  assert.match(await page.locator(".tree-rows").textContent(), /PING/);
  assert.ok((await page.locator(".hex-grid [role=gridcell].r15").count()) > 0, "bytes are marked wrong");
  await close();
});

test("another protocol at the port is named", async () => {
  const { page, close } = await open(shared);
  for (const [sent, name] of [
    ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP"],
    ["HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP"],
    ["\\x16\\x03\\x01\\x00\\x05\\x01\\x00\\x00\\x01\\x03", "TLS"],
    ["SSH-2.0-OpenSSH_9.2\r\n", "SSH"],
    ["PROXY TCP4 10.0.0.1 10.0.0.2 40000 6379\r\nPING\r\n", "the PROXY protocol"],
  ]) {
    await paste(page, sent);
    await page.locator(".problem h3", { hasText: `This looks like ${name}, not like RESP.` }).waitFor();
    await page.locator(".status .alarm", { hasText: /problem/ }).waitFor();
  }
  await paste(page, "GET HTTP/1.1\r\n");
  await page.locator(".words-frame", { hasText: "run GET with 1 argument" }).waitFor();
  assert.equal(await page.locator("#dock-tab-problems .count").count(), 0, "a key may be called so");
  await close();
});

test("requests that fall apart into lines are reported, although no line is an error", async () => {
  const { page, close } = await open(shared);
  const ping = "*1\\r\\n$4\\r\\nPING\\r\\n";
  await paste(page, `${ping}X${ping}${ping}`);
  await page.locator(".problem", { hasText: /A request falls apart into lines\.\s*At byte 14,/ }).waitFor();
  await page.locator("#hex").click();
  await page.keyboard.press("e");
  await cursorComesTo(page, 14);
  await paste(page, `*2\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nk\\r\\n$1\\r\\nv\\r\\n${ping}$4\\r\\nPING\\r\\n`);
  await page.locator(".problem", { hasText: /Requests fall apart into lines\.\s*At byte 20, byte 41,/ }).waitFor();
  await page.locator("#dock-tab-problems .count", { hasText: "2" }).waitFor();
  await close();
});

test("an incomplete frame shows where it ends and what is missing", async () => {
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

test("reads show what the decoder needs, and any cuts give the same frames", async () => {
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
