// Tests captures from the loopback: redis-py 8, redis-cli 7 and go-redis 9 with Redis 7; and
// clients with mistakes, against Redis 7.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { cursorAt, cursorComesTo, drop, open, sample, settled, suite } from "./page.mjs";

const shared = suite();
const file = (name) => readFile(new URL(`./captures/${name}`, import.meta.url));

async function opened(page, name) {
  await drop(page, name, await file(name));
  await page.locator(".capture h2", { hasText: name }).waitFor();
  await page.locator(".stream.chosen").waitFor();
  await settled(page);
}

test("a capture of redis-py has streams, both directions, and cuts at segment ends", async () => {
  const { page, close } = await open(shared);
  await opened(page, "redis-py.pcap");
  assert.equal(await page.locator(".stream").count(), 2);
  assert.equal(await page.locator(".capture .badge").count(), 0, "nothing is lost or sent again on the loopback");
  await page.locator(".stream").first().locator(".chip", { hasText: "requests" }).click();
  await page.locator(".words-frame", { hasText: 'A request to run HELLO with 1 argument: "3".' }).waitFor();
  assert.match(await page.locator(".mode option:checked").textContent(), /^Requests/);
  assert.equal(await page.locator("#dock-tab-problems .count").count(), 0, "every frame is read");
  const segments = await page.locator(".segment.there", { hasText: /\d bytes/ }).count();
  assert.ok(segments >= 6);
  assert.equal(await page.locator("#dock-tab-reads .count").textContent(), String(segments), "a read for each segment with bytes");
  await page.keyboard.press("/");
  await page.locator(".search .choice", { hasText: "Frames" }).click();
  await page.locator("#search-field").fill("exec");
  await page.locator(".search-count", { hasText: "1 hit" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#dock-tab-capture").click();
  await page.locator(".stream").first().locator(".chip", { hasText: "replies" }).click();
  await page.locator(".words-frame", { hasText: /A map with \d+ pairs/ }).waitFor();
  assert.equal(await page.locator("#dock-tab-problems .count").count(), 0);
  await close();
});

test("the open stream of many is in view, and so are its segments", async () => {
  const { page, close } = await open(shared);
  assert.equal(await page.locator("#dock-tab-capture .count").count(), 0);
  await page.keyboard.press("c");
  await page.locator(".card[aria-label=Capture] input[type=file]").setInputFiles({ name: "go-redis.pcap", mimeType: "", buffer: await file("go-redis.pcap") });
  await page.locator(".stream.chosen").waitFor();
  const seen = (locator) => locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    const list = element.closest(".streams, .dock-panel").getBoundingClientRect();
    return top >= list.top - 1 && top < list.bottom && bottom > list.top;
  });
  assert.ok(await seen(page.locator(".stream.chosen")));
  assert.ok(await seen(page.locator(".segment").first()), "the streams do not push the segments out of view");
  assert.match(await page.locator(".segment-peek").first().textContent(), /^\*\d\\r\\n\$5\\r\\n(?:hello|HELLO)/);
  assert.ok(await page.locator(".segments").evaluate((list) => list.scrollWidth <= list.clientWidth), "rows are no wider than the card");
  await close();
});

test("a click on a segment moves to its bytes", async () => {
  const { page, close } = await open(shared);
  await opened(page, "redis-py.pcap");
  const back = page.locator(".segment.back button");
  await back.nth(1).click();
  await page.waitForFunction(() => Number(document.querySelector(".scrubber input").value) > 0);
  const first = Number(/(\d+) bytes/.exec(await back.first().textContent())[1]);
  await cursorComesTo(page, first);
  assert.match(await page.locator(".mode option:checked").textContent(), /^Replies/);
  await page.locator(".segment.there button").first().click();
  await cursorComesTo(page, 0);
  assert.equal(await cursorAt(page), 0);
  await close();
});

test("a pcapng capture of redis-cli has a stream for each run", async () => {
  const { page, close } = await open(shared);
  await opened(page, "redis-cli.pcapng");
  assert.equal(await page.locator(".stream").count(), 4);
  for (const stream of await page.locator(".stream").all()) {
    for (const way of ["requests", "replies"]) {
      await stream.locator(".chip", { hasText: way }).click();
      await stream.locator(".chip[aria-pressed=true]", { hasText: way }).waitFor();
      await settled(page);
      assert.equal(await page.locator("#dock-tab-problems .count").count(), 0);
    }
  }
  await sample(page, "Map");
  assert.equal(await page.locator(".stream .chip[aria-pressed=true]").count(), 0, "another document is none of its streams");
  await page.locator(".stream").first().locator(".chip").first().click();
  await page.locator(".doc-title", { hasText: "→" }).waitFor();
  await close();
});

test("lost, doubled and truncated packets in reverse order are reported", async () => {
  const { page, close } = await open(shared);
  const whole = await file("redis-py.pcap");
  const packets = [];
  for (let at = 24; at < whole.length; ) {
    const end = at + 16 + whole.readUInt32LE(at + 8);
    packets.push(whole.subarray(at, end));
    at = end;
  }
  const payload = (packet) => packet.length - 16 - 14 - 20 - ((packet[16 + 14 + 20 + 12] >> 4) * 4);
  const withBytes = packets.filter((packet) => payload(packet) > 0);
  const [second, third] = [packets.indexOf(withBytes[1]), packets.indexOf(withBytes[2])];
  const doubled = packets.toSpliced(third + 1, 0, packets[third]);
  await drop(page, "doubled.pcap", Buffer.concat([whole.subarray(0, 24), ...doubled]));
  await page.locator(".capture h2", { hasText: "doubled.pcap" }).waitFor();
  assert.equal(await page.locator("#dock-tab-problems .count").count(), 0, "what was sent again is read once");
  const lost = packets.toSpliced(second, 1);
  await drop(page, "lost.pcap", Buffer.concat([whole.subarray(0, 24), ...lost]));
  await page.locator(".stream .badge", { hasText: "1 gap" }).waitFor();
  await page.locator(".stream", { hasText: "1 gap" }).locator(".chip").first().click();
  await page.locator(".segment .badge", { hasText: "bytes missing in front" }).waitFor();
  assert.equal(await page.locator(".segment .badge").count(), 1);
  const way = (await page.locator(".segment", { has: page.locator(".badge") }).getAttribute("class")).includes("there") ? "requests" : "replies";
  await page.locator(".stream", { hasText: "1 gap" }).locator(".chip", { hasText: way }).click();
  await page.locator("#dock-tab-problems").click();
  await page.locator(".problem", { hasText: /\d+ bytes are missing before byte \d+ \(packet \d+\)/ }).waitFor();
  const midway = packets.slice(withBytes.length > 2 ? packets.indexOf(withBytes[0]) : 0);
  await drop(page, "midway.pcap", Buffer.concat([whole.subarray(0, 24), ...midway]));
  await page.locator(".capture h2", { hasText: "midway.pcap" }).waitFor();
  await page.locator(".stream", { hasText: "begins midway" }).waitFor();
  const cut = whole.subarray(0, whole.length - 7);
  await drop(page, "cut.pcap", cut);
  await page.locator(".capture h2", { hasText: "cut.pcap" }).waitFor();
  await drop(page, "no.pcap", whole.subarray(0, 24));
  await page.locator(".capture, .failure", { hasText: /No TCP stream|no\.pcap/ }).first().waitFor();
  await close();
});

/** The hits that a filter of frames finds. */
async function finds(page, query, hits) {
  if (!(await page.locator(".search").isVisible())) await page.keyboard.press("/");
  await page.locator(".search .choice", { hasText: "Frames" }).click();
  await page.locator("#search-field").fill(query);
  await page.locator(".search-count", { hasText: hits }).waitFor();
}

test("a capture of go-redis has a pipeline, a transaction, and messages on a separate connection", async () => {
  const { page, close } = await open(shared);
  await opened(page, "go-redis.pcap");
  assert.equal(await page.locator(".stream").count(), 2);
  await page.locator(".words-frame", { hasText: 'A request to run HELLO with 1 argument: "3".' }).waitFor();
  await finds(page, "zadd key:player:*", "20 hits");
  await finds(page, "multi", "1 hit");
  await page.locator("#dock-tab-capture").click();
  await page.locator(".segment.there button", { hasText: "1,570 bytes" }).click();
  await page.locator(".words-frame", { hasText: 'A request to run INCR with 1 argument: "visits".' }).waitFor();
  const [commands, messages] = [page.locator(".stream").first(), page.locator(".stream").nth(1)];
  await commands.locator(".chip", { hasText: "replies" }).click();
  await page.locator(".words-frame", { hasText: /A map with \d+ pairs/ }).waitFor();
  await finds(page, ",", "Not found");
  await finds(page, "error", "3 hits");
  await page.locator("#dock-tab-capture").click();
  await messages.locator(".chip", { hasText: "replies" }).click();
  await messages.locator(".chip[aria-pressed=true]", { hasText: "replies" }).waitFor();
  await finds(page, ">", "5 hits");
  assert.equal(await page.locator("#dock-tab-problems .count").count(), 0);
  await close();
});

for (const { name, what, at, byte, reason, fix, whole } of [
  { name: "wrong-length.pcap", what: "a length that is one too small", at: 32, byte: "21 !", reason: "invalid bulk length", fix: "the length is that of the whole payload", whole: 2 },
  { name: "wrong-utf16.pcap", what: "a length in UTF-16 units", at: 33, byte: "F0 \\xf0", reason: "invalid bulk length", fix: "the length counts UTF-16 units", whole: 2 },
  { name: "wrong-lf.pcap", what: "lines that end with LF alone", at: 2, byte: "0A \\n", reason: "invalid multibulk length", fix: "every line ends with CRLF", whole: 1 },
]) {
  test(`a client with a mistake: ${what}`, async () => {
    const { page, close } = await open(shared);
    await opened(page, name);
    await page.keyboard.press("p");
    const problem = page.locator(".problem.bad");
    await problem.filter({ hasText: `Byte ${at} is ${byte}` }).waitFor();
    assert.match(await problem.textContent(), new RegExp(reason));
    await problem.locator("li", { hasText: fix }).locator("button", { hasText: "Apply" }).click();
    await page.locator("#dock-tab-problems .count").waitFor({ state: "detached" });
    await finds(page, "is:whole", `${whole} hit`);
    await close();
  });
}

test("a client that disconnected within a value", async () => {
  const { page, close } = await open(shared);
  await opened(page, "wrong-torn.pcap");
  await page.locator(".segment.there", { hasText: "ends" }).waitFor();
  await page.keyboard.press("p");
  await page.locator(".problem", { hasText: "Of the request's 3 words 2 are whole. The length in front promises 8 more bytes, and CRLF after them." }).waitFor();
  await page.locator(".problem", { hasText: "breaks off after byte 39, in the payload of argument 2 (cmd[0].arg[2]). At least 10 bytes more are needed." }).waitFor();
  await close();
});
