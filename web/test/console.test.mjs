// Tests the server in the page: the real engine and store, without a network.

import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";
import { DIST, cursorComesTo, open, ready, suite } from "./page.mjs";

const shared = suite();

/** Opens the console and waits until its connections are open. */
async function openConsole(page) {
  await page.keyboard.press("v");
  await page.locator(".connections .choice").nth(1).waitFor();
  await page.locator("#console-line:enabled").waitFor();
  await page.locator(".entry.reply", { hasText: "proto" }).waitFor();
}

/** Types a line for the current connection. */
async function say(page, line) {
  await page.locator("#console-line").fill(line);
  await page.keyboard.press("Enter");
}

/** Selects the connection that gets the lines. */
async function choose(page, name) {
  await page.locator(".connections .choice", { has: page.locator(`b:text-is("${name}")`) }).click();
}

/** Waits for an entry of the transcript with a text that one connection sent or received. */
function entry(page, name, way, text) {
  return page.locator(`.entry.${way}`, { has: page.locator(`.entry-name:text-is("${name}")`) }).filter({ hasText: text });
}

async function tour(page) {
  await openConsole(page);
  await say(page, "SET greeting hello EX 60");
  await entry(page, "A", "reply", "OK").waitFor();
  await page.locator(".expiring li", { hasText: "greeting" }).waitFor();
  await say(page, "GET greeting");
  await entry(page, "A", "reply", '"hello"').waitFor();

  await choose(page, "B");
  await say(page, "SUBSCRIBE news");
  await entry(page, "B", "push", '"subscribe"').waitFor();
  await choose(page, "A");
  await say(page, 'PUBLISH news "two words"');
  await entry(page, "A", "reply", "(integer) 1").waitFor();
  await entry(page, "B", "push", '"two words"').waitFor();

  await page.locator(".clock button", { hasText: "+60 s" }).click();
  await entry(page, "", "note", "1 key expired").waitFor();
  assert.equal(await page.locator(".expiring").count(), 0);
  await say(page, "GET greeting");
  await entry(page, "A", "reply", "(nil)").waitFor();
}

test("two connections, a message and an expiring key work offline", async () => {
  const { page, close } = await open(shared, { serviceWorkers: "allow" });
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.context().setOffline(true);
  await tour(page);
  await close();
});

test("two connections work in a single file without a server", async () => {
  const context = await shared.browser.newContext({ offline: true, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(pathToFileURL(join(DIST, "respire-explorer.html")).href);
  await ready(page);
  await tour(page);
  await context.close();
});

test("rows of the transcript open in the panes", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  await say(page, "SET k v");
  await entry(page, "A", "reply", "OK").waitFor();
  await entry(page, "A", "request", "SET k v").locator(".entry-bytes").click();
  await page.locator(".words-frame", { hasText: 'A request to run SET with 2 arguments: "k", "v".' }).waitFor();
  await entry(page, "A", "reply", "OK").locator(".entry-bytes").click();
  await page.locator(".words-frame", { hasText: "A simple string" }).waitFor();
  await say(page, "INCR n");
  await entry(page, "A", "reply", "(integer) 1").waitFor();
  await page.locator("button", { hasText: "Requests of A in the panes" }).click();
  await page.locator(".doc-title", { hasText: "A: all requests" }).waitFor();
  await page.locator("#hex").click();
  await page.keyboard.press("Home");
  await page.keyboard.press("PageDown");
  await cursorComesTo(page, 27);
  await close();
});

test("maps are printed as by redis-cli: one numbered pair per line", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  await entry(page, "B", "reply", '2# "version" => ').filter({ hasText: '7# "modules" => (empty array)' }).waitFor();
  await close();
});

test("each connection uses its own protocol", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  for (const [name, wanted] of [
    ["A", "1) "],
    ["B", "1# "],
  ]) {
    await choose(page, name);
    await say(page, "CONFIG GET maxmemory");
    await entry(page, name, "reply", '"maxmemory"').filter({ hasText: wanted }).waitFor();
  }
  await page.locator("summary", { hasText: "Connect" }).click();
  await page.locator(".menu-items button", { hasText: "binary" }).click();
  await entry(page, "C", "note", "binary").waitFor();
  await say(page, "SET k v");
  await entry(page, "C", "reply", "OK").waitFor();
  await say(page, "GET k");
  await entry(page, "C", "reply", '"v"').waitFor();
  await entry(page, "C", "request", "SET k v").locator(".entry-bytes").click();
  await page.locator(".words-frame", { hasText: 'A request to run SET with 2 arguments: "k", "v".' }).waitFor();
  assert.match(await page.locator(".mode option:checked").textContent(), /Binary requests/);
  await page.locator("button", { hasText: "Disconnect" }).click();
  await entry(page, "C", "note", "closed by you").waitFor();
  await choose(page, "A");
  await say(page, "QUIT");
  await entry(page, "A", "note", "ended").waitFor();
  assert.ok(await page.locator("#console-line").isDisabled());
  await close();
});

test("names are completed, help is shown, and history returns lines", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  const line = page.locator("#console-line");
  await line.pressSequentially("expireat");
  await page.locator(".console-help code", { hasText: "EXPIREAT key" }).waitFor();
  await line.fill("");
  await line.pressSequentially("client li");
  await page.locator(".console-help .chip", { hasText: "CLIENT LIST" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await line.inputValue(), "CLIENT LIST ");
  await line.fill("PING");
  await page.keyboard.press("Enter");
  await entry(page, "A", "reply", "PONG").waitFor();
  await say(page, "ECHO hi");
  await entry(page, "A", "reply", '"hi"').waitFor();
  await line.pressSequentially("GET ha");
  await page.keyboard.press("ArrowUp");
  assert.equal(await line.inputValue(), "ECHO hi");
  await page.keyboard.press("ArrowUp");
  assert.equal(await line.inputValue(), "PING");
  await page.keyboard.press("ArrowUp");
  assert.equal(await line.inputValue(), "PING");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await line.inputValue(), "GET ha", "what was being typed is kept");
  await close();
});

test("a line that cannot be sent is reported and kept", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  await say(page, 'SET k "open');
  await page.locator(".prompt [role=alert]").waitFor();
  await page.waitForFunction(() => document.getElementById("console-line").value === 'SET k "open');
  await say(page, "NOSUCH");
  await entry(page, "A", "reply", "unknown command").waitFor();
  assert.equal(await page.locator(".entry.is-error").count(), 1);
  await close();
});

test("scripts and functions are said to be off in the page", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  const notes = page.locator(".entry.note", { hasText: "Scripts and functions are off in this page" });
  for (const [count, line] of ['EVAL "return 1" 0', "evalsha_ro x 0", "FCALL f 0", "SCRIPT LOAD x", "function list"].entries()) {
    await say(page, line);
    await notes.nth(count).waitFor();
    await entry(page, "A", "reply", "unknown command").nth(count).waitFor();
  }
  await say(page, "SET functional 1");
  await entry(page, "A", "reply", "OK").waitFor();
  assert.equal(await notes.count(), 5);
  await close();
});

test("lines sent before the first reply are each answered, in order", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  const words = Array.from({ length: 20 }, (_, nth) => `word${nth}`);
  await page.locator("#console-line").evaluate((input, words) => {
    for (const word of words) {
      input.value = `ECHO ${word}`;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      input.form.requestSubmit();
    }
  }, words);
  await entry(page, "A", "reply", `"${words.at(-1)}"`).waitFor();
  const replies = await entry(page, "A", "reply", "word").allInnerTexts();
  assert.deepEqual(
    replies.map((text) => /"(.*)"/.exec(text)[1]),
    words,
  );
  await close();
});

test("the clock advances by any number of seconds and wakes waiting clients", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  await say(page, "SET a 1 PX 1500");
  await page.locator(".expiring li", { hasText: "1.5 s" }).waitFor();
  await page.locator(".clock button", { hasText: "+1 s" }).click();
  await page.locator(".expiring li", { hasText: "0.5 s" }).waitFor();
  await page.locator(".seconds").fill("0.25");
  await page.keyboard.press("Enter");
  await page.locator(".expiring li", { hasText: "0.25 s" }).waitFor();
  await page.locator(".seconds").fill("nonsense");
  assert.ok(await page.locator(".clock button", { hasText: "Move" }).isDisabled());
  await close();
});

test("expiring keys are found among many, and a limit is reported", async () => {
  const { page, close } = await open(shared);
  await openConsole(page);
  const many = (from, to) => `MSET ${Array.from({ length: to - from }, (_, at) => `k${from + at} v`).join(" ")}`;
  await say(page, many(0, 1_500));
  await say(page, "SET needle v EX 60");
  await page.locator(".expiring li", { hasText: "needle expires in 60 s" }).waitFor();
  assert.equal(await page.locator(".clock", { hasText: "more keys than" }).count(), 0);
  await say(page, many(1_500, 6_000));
  await page.locator(".clock", { hasText: "There are more keys than the 5,000 that are looked at" }).waitFor();
  await say(page, "FLUSHALL");
  await page.locator(".clock", { hasText: "more keys than" }).waitFor({ state: "detached" });
  assert.equal(await page.locator(".expiring").count(), 0);
  await close();
});
