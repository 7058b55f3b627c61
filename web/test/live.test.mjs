// Tests the live view: the events of a server's tap as rows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAxe, cursorComesTo, open, settled, shownBytes, suite } from "./page.mjs";
import { Tap, request } from "./tap.mjs";

const shared = suite();

/** Opens a page with a tap. */
async function beside(options = {}) {
  const tap = await Tap.start();
  const opened = await open(shared, { path: tap.url, ...options });
  return {
    tap,
    ...opened,
    async close() {
      await opened.close();
      await tap.stop();
    },
  };
}

async function connect(page) {
  await page.locator(".live .btn", { hasText: /^Connect$/ }).click();
  await page.locator(".live-state.on").waitFor();
}

const rows = (page, name, way, text) => page.locator(`.live .entry.${way}`, { has: page.locator(`.entry-name:text-is("${name}")`) }).filter({ hasText: text });
const lines = (page) => page.locator(".live .entry").evaluateAll((entries) => entries.map((entry) => entry.querySelector(".entry-line").textContent));

/** One client that sends SET and GET, among pings. */
function chat(tap) {
  tap.connects(7);
  tap.asks(7, request("PING"));
  tap.answers(7, "+PONG\r\n");
  tap.asks(7, request("SET", "user:1", "Ada"));
  tap.answers(7, "+OK\r\n");
  tap.asks(7, request("GET", "user:1"));
  tap.answers(7, "$3\r\nAda\r\n");
}

test("without a tap there is no live view and no connection", async () => {
  const { page, close } = await open(shared);
  assert.equal(await page.locator("#dock-tab-live").count(), 0);
  await page.keyboard.press("?");
  assert.equal(await page.locator("dialog", { hasText: "Card: live" }).count(), 0);
  await close();
});

test("frames of both directions are in order of time, with their connection", async () => {
  const { tap, page, close } = await beside();
  assert.equal(tap.viewers, 0, "nothing is asked of the server before the reader wants it");
  await connect(page);
  assert.match(await page.locator(".live-state").textContent(), /respire 0\.1\.0, mio/);
  chat(tap);
  await rows(page, "#7", "reply", '"Ada"').waitFor();
  assert.deepEqual(await lines(page), ["connected from 127.0.0.1:5007", "PING", "PONG", "SET user:1 Ada", "OK", "GET user:1", '"Ada"']);
  const stream = page.locator(".live .stream", { hasText: "127.0.0.1:5007" });
  assert.match(await stream.textContent(), /open/);
  assert.match(await stream.textContent(), /3 \+ 3 frames/);

  // A late event is put in its place by time.
  tap.connects(8);
  tap.asks(8, request("GET", "early"), { at: 1_700_000_000_000_500 });
  await rows(page, "#8", "request", "GET early").waitFor();
  assert.equal((await lines(page))[0], "GET early");
  tap.closes(7);
  await rows(page, "#7", "note", "ended: Eof").waitFor();
  assert.match(await stream.textContent(), /Eof/);
  await close();
});

test("a row opens with its neighbours, with cuts where the server's reads ended", async () => {
  const { tap, page, close } = await beside();
  await connect(page);
  tap.connects(1);
  const first = request("SET", "a", "1");
  const second = request("GET", "a");
  tap.asks(1, first + second, { cuts: [10, first.length + 4, first.length + second.length] });
  tap.answers(1, "+OK\r\n$1\r\n1\r\n");
  tap.asks(1, request("DEL", "a"));
  await rows(page, "#1", "request", "GET a").locator(".entry-bytes").click();
  await page.locator(".words-frame", { hasText: 'A request to run GET with 1 argument: "a".' }).waitFor();
  await cursorComesTo(page, first.length);
  assert.equal(await shownBytes(page), first + second + request("DEL", "a"));
  assert.equal(await page.locator("#dock-tab-reads .count").textContent(), "4", "three cuts make four reads");
  await rows(page, "#1", "reply", '"1"').locator(".entry-bytes").click();
  await cursorComesTo(page, 5);
  assert.match(await page.locator(".mode option:checked").textContent(), /^Replies/);
  await page.locator(".live .stream .chip", { hasText: "requests" }).click();
  await page.locator(".doc-title", { hasText: "#1 requests" }).waitFor();
  assert.equal(await page.locator(".live .stream .chip[aria-pressed=true]", { hasText: "requests" }).count(), 1);
  await close();
});

test("pushes, the binary protocol, errors and invalid frames are shown", async () => {
  const { tap, page, close } = await beside();
  await connect(page);
  tap.connects(1);
  tap.answers(1, ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
  await rows(page, "#1", "push", '"message", "news", "hello"').waitFor();
  tap.connects(2);
  tap.asks(2, "\x03\x01\0\0\0k\x01\0\0\0v", { protocol: "binary" });
  await rows(page, "#2", "request", "SET k v").waitFor();
  tap.answers(2, "+\x02\0\0\0OK", { protocol: "binary" });
  await rows(page, "#2", "reply", "OK").waitFor();
  tap.connects(3);
  tap.asks(3, "*1\r\n+wrong\r\n");
  tap.answers(3, "-ERR Protocol error: expected '$', got '+'\r\n");
  await rows(page, "#3", "request", "cannot be read").first().waitFor();
  await page.locator(".live .entry.reply.is-error", { hasText: "Protocol error" }).waitFor();
  tap.connects(4);
  tap.asks(4, "*2\r\n$3\r\nGET\r\n$5\r\nab");
  tap.closes(4);
  await rows(page, "#4", "request", "broke off").waitFor();
  await close();
});

test("rows are filtered by connection, command, key and noise, with their replies", async () => {
  const { tap, page, close } = await beside();
  await connect(page);
  chat(tap);
  tap.connects(9);
  tap.asks(9, request("GET", "user:2") + request("GET", "other"));
  tap.answers(9, "$3\r\nBob\r\n$-1\r\n");
  await rows(page, "#9", "reply", "(nil)").waitFor();
  const shows = async (wanted) => {
    await page.waitForFunction((count) => document.querySelectorAll(".live .entry").length === count, wanted.length);
    assert.deepEqual(await lines(page), wanted);
  };
  const filter = page.locator(".live-filter .field");
  await filter.fill("get key:user:*");
  await shows(["GET user:1", '"Ada"', "GET user:2", '"Bob"']);
  await filter.fill("get key:user:* bytes");
  await page.locator(".live-filter .wrong, .live .live-pages", { hasText: /no command|Nothing fits/ }).waitFor();
  await filter.fill("set");
  await shows(["SET user:1 Ada", "OK"]);
  tap.asks(9, request("SET", "later", "1"));
  tap.answers(9, "+OK\r\n");
  await shows(["SET user:1 Ada", "OK", "SET later 1", "OK"]);
  await filter.fill("");
  await page.locator(".live-filter .check", { hasText: "Hide PING" }).click();
  await rows(page, "#7", "request", "PING").waitFor({ state: "detached" });
  await rows(page, "#7", "reply", "PONG").waitFor({ state: "detached" });
  await page.locator(".live .stream .chip", { hasText: "#9" }).click();
  await shows(["connected from 127.0.0.1:5009", "GET user:2", "GET other", '"Bob"', "(nil)", "SET later 1", "OK"]);
  await filter.fill("key:(");
  await filter.fill('"');
  await page.locator(".live-filter .wrong").waitFor();
  await close();
});

test("replies are matched to requests only while that is certain", async () => {
  const { tap, page, close } = await beside();
  await connect(page);
  tap.connects(1);
  tap.asks(1, request("SUBSCRIBE", "a", "b"));
  tap.answers(1, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n");
  tap.asks(1, request("PING"));
  tap.answers(1, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  tap.connects(2);
  tap.asks(2, request("PING"));
  tap.loses(2, "server", 5, "too fast");
  tap.asks(2, request("GET", "k"));
  tap.answers(2, "$1\r\nv\r\n");
  await rows(page, "#2", "reply", '"v"').waitFor();
  await page.locator(".live-filter .check", { hasText: "Hide PING" }).click();
  await page.locator(".live .entry.request", { hasText: "PING" }).first().waitFor({ state: "detached" });
  assert.equal(await rows(page, "#2", "reply", '"v"').count(), 1, "the reply to GET is not taken for that to PING");
  assert.equal(await rows(page, "#1", "reply", "subscribe").count(), 2);
  await close();
});

test("lost bytes are shown as a row with the reason", async () => {
  const { tap, page, close } = await beside();
  await connect(page);
  tap.connects(1);
  tap.loses(1, "client", 40, "began in the middle");
  tap.loses(1, "server", 123_456, "too large");
  tap.loses(1, "client", 9_000, "too fast");
  await rows(page, "#1", "note", "9,000 bytes of requests not shown: more was said than the tap could follow").waitFor();
  await rows(page, "#1", "note", "120.6 KiB of replies not shown: larger than the tap shows").waitFor();
  await rows(page, "#1", "note", "40 bytes of requests not shown: the view began in the middle of them").waitFor();
  assert.equal(await page.locator(".live .entry.note.is-error").count(), 3);
  await page.locator(".live-filter .field").fill("get");
  await rows(page, "#1", "note", "connected").waitFor({ state: "detached" });
  assert.equal(await page.locator(".live .entry.note.is-error").count(), 3, "no filter hides that something is missing");
  await close();
});

test("passwords hidden by the server are marked as hidden", async () => {
  const { tap, page, close } = await beside();
  await connect(page);
  tap.connects(1);
  tap.asks(1, request("AUTH", "*".repeat(12)));
  await rows(page, "#1", "request", "secret hidden").locator(".entry-bytes").click();
  await page.locator(".words-frame", { hasText: "AUTH" }).waitFor();
  await page.keyboard.press("s");
  await settled(page);
  assert.match(await shownBytes(page), /\$12\r\n\*{12}\r\n$/, "there is nothing but asterisks to be shown");
  await close();
});

test("a paused view does not change, and new rows are kept", async () => {
  const { tap, page, close } = await beside();
  await connect(page);
  chat(tap);
  await rows(page, "#7", "reply", '"Ada"').waitFor();
  await page.locator(".live .btn", { hasText: "Pause" }).click();
  tap.asks(7, request("GET", "unseen"));
  tap.answers(7, "$-1\r\n");
  await page.locator(".live-pages", { hasText: "2 came since" }).waitFor();
  assert.equal(await rows(page, "#7", "request", "unseen").count(), 0);
  await page.locator(".live .btn", { hasText: "Resume" }).click();
  await rows(page, "#7", "request", "GET unseen").waitFor();
  await page.locator(".live .btn", { hasText: "Clear" }).click();
  await page.locator(".live-pages", { hasText: "Nothing was said yet" }).waitFor();
  assert.equal(await page.locator(".live .stream", { hasText: "0 + 0 frames" }).count(), 1, "a connection that is open is listed still");
  await close();
});

test("a lost server is reported, and found again", async () => {
  const { tap, page, errors, close } = await beside();
  await connect(page);
  chat(tap);
  await rows(page, "#7", "reply", '"Ada"').waitFor();
  await tap.restart();
  await page.locator(".live-state.gone", { hasText: "Trying again" }).or(page.locator(".live-state.on")).waitFor();
  await page.locator(".live .entry.note", { hasText: "the server is gone" }).waitFor();
  await page.locator(".live-state.on").waitFor();
  await page.locator(".live .entry.note", { hasText: "the server was started again" }).waitFor();
  tap.connects(7, "127.0.0.1:6007");
  tap.asks(7, request("GET", "again"));
  await rows(page, "#7", "request", "GET again").waitFor();
  assert.equal(await page.locator(".live .stream").count(), 2, "number 7 of one run is not number 7 of the next");
  await page.locator(".live .stream", { hasText: "5007" }).filter({ hasText: "out of sight" }).waitFor();
  tap.refuses = true;
  await page.locator(".live .btn", { hasText: "Disconnect" }).click();
  await page.locator(".live-state.off").waitFor();
  await page.locator(".live .btn", { hasText: /^Connect$/ }).click();
  await page.locator(".live-state.gone", { hasText: "as many viewers as it takes" }).waitFor();
  tap.refuses = false;
  await page.locator(".live .btn", { hasText: "Try now" }).click();
  await page.locator(".live-state.on").waitFor();
  // The browser itself reports refused connections.
  assert.ok(errors.every((error) => /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|503/.test(error)), errors.join("\n"));
  errors.length = 0;
  await close();
});

test("memory is bounded: the oldest frames are dropped, and this is shown", async () => {
  const { tap, page, close } = await beside();
  await connect(page);
  tap.connects(1);
  const large = request("SET", "k", "x".repeat(60_000));
  for (let count = 0; count < 100; count += 1) tap.asks(1, large);
  await page.locator(".live-dropped", { hasText: /The oldest \d+ frames are no longer kept: at most 4 MiB of each direction/ }).waitFor();
  await page.locator(".live .stream", { hasText: "100 + 0 frames" }).waitFor();
  const kept = 100 - Number(/oldest (\d+)/.exec(await page.locator(".live-dropped").textContent())[1]);
  assert.ok(kept * large.length <= 4 << 20 && (kept + 1) * large.length > 4 << 20, `${kept} are kept`);
  await page.locator(".live .stream .chip", { hasText: "requests" }).click();
  await page.locator(".doc-title", { hasText: "#1 requests" }).waitFor();
  await page.locator(".status", { hasText: (kept * large.length).toLocaleString("en") }).waitFor();

  tap.connects(2);
  tap.asks(2, request("GET", "k"));
  await rows(page, "#2", "request", "GET k").waitFor();

  // Many small ones: as many rows as are kept, few of which are on the page.
  const ping = request("PING").repeat(1_000);
  for (let count = 0; count < 25; count += 1) tap.asks(1, ping);
  await page.locator(".live-pages", { hasText: "of 20,000" }).waitFor();
  assert.equal(await page.locator(".live .entry").count(), 200);
  await page.locator(".live .stream", { hasText: "5002" }).locator(".chip", { hasText: "requests" }).click();
  await page.locator(".failure", { hasText: "None of the requests of #2 are kept any more." }).waitFor();
  await page.locator(".live-pages .chip", { hasText: "Older" }).click();
  await page.locator(".live-pages", { hasText: "Rows 19,601 to 19,800 of 20,000" }).waitFor();
  assert.match(await page.locator(".live-state").textContent(), /paused/, "what is read stays where it is");
  await close();
});

test("a tour with the keyboard alone", async () => {
  const { tap, page, close } = await beside();
  await page.keyboard.press("Shift+L");
  await page.locator("#dock-tab-live[aria-selected=true]").waitFor();
  await page.keyboard.press("4");
  await settled(page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Connect");
  await page.keyboard.press("Enter");
  await page.locator(".live-state.on").waitFor();
  chat(tap);
  await rows(page, "#7", "reply", '"Ada"').waitFor();
  const seen = [];
  for (let tab = 0; tab < 30; tab += 1) {
    await page.keyboard.press("Tab");
    seen.push(await page.evaluate(() => document.activeElement.querySelector(".sr-only")?.textContent || document.activeElement.textContent || document.activeElement.getAttribute("aria-label") || document.activeElement.type));
    if (seen.at(-1) === "34 bytes") break;
  }
  for (const name of ["Pause", "Clear", "#7", "Show frames of"]) assert.ok(seen.includes(name), `${name} is reached: ${seen.join(", ")}`);
  await page.keyboard.press("Enter");
  await page.locator(".words-frame", { hasText: 'A request to run SET with 2 arguments: "user:1", "Ada".' }).waitFor();
  await close();
});

for (const [width, height, colorScheme] of [
  [1280, 800, "light"],
  [768, 1024, "dark"],
  [360, 740, "dark"],
]) {
  test(`axe at ${width} px, ${colorScheme}`, async () => {
    const { tap, page, close } = await beside({ width, height, colorScheme });
    await page.keyboard.press("Shift+L");
    await checkAxe(page, "not connected");
    await connect(page);
    chat(tap);
    tap.loses(7, "client", 40, "too fast");
    tap.asks(7, request("AUTH", "****"));
    await rows(page, "#7", "request", "AUTH").waitFor();
    await checkAxe(page, "frames");
    await page.locator(".live-filter .field").fill('"');
    await page.locator(".live-filter .wrong").waitFor();
    await page.locator(".live .btn", { hasText: "Pause" }).click();
    await checkAxe(page, "filter and pause");
    assert.ok(await page.evaluate((width) => document.documentElement.scrollWidth <= width, width), "nothing is wider than the page");
    await close();
  });
}
