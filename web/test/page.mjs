// Helpers of the tests: a server for the built page, a browser, and a page whose errors are
// collected.
//
// The system's Chromium is used: CHROMIUM names another one. EXPLORER_DIST names another build.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

export const DIST = process.env.EXPLORER_DIST ?? fileURLToPath(new URL("../dist/", import.meta.url));
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/** Serves the built page on loopback. */
export async function serve() {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname).replace(/\/$/, "/index.html");
    try {
      const body = await readFile(join(DIST, path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "x-content-type-options": "nosniff" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => new Promise((resolve) => server.close(resolve)) };
}

/** A browser and a server for all tests of a file. */
export function suite() {
  const shared = {};
  before(async () => {
    assert.ok(existsSync(join(DIST, "index.html")), "nothing is built: run `cargo xtask web` first");
    shared.server = await serve();
    shared.browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  });
  after(async () => {
    await shared.browser?.close();
    shared.server?.close();
  });
  return shared;
}

/** Opens the page and waits until the first sample is decoded. Errors of the page fail the test. */
export async function open(shared, { width = 1280, height = 800, path = "", ...options } = {}) {
  const context = await shared.browser.newContext({ viewport: { width, height }, serviceWorkers: "block", reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(new URL(path, shared.server.url).href);
  await ready(page);
  return {
    page,
    errors,
    async close() {
      await context.close();
      assert.deepEqual(errors, []);
    },
  };
}

/** Waits until bytes and words are shown. */
export async function ready(page) {
  await page.locator(".words-frame").filter({ hasNotText: "…" }).first().waitFor();
  await page.locator(".hex-grid [aria-selected=true]").waitFor();
}

/** Opens a sample by its name. */
export async function sample(page, name) {
  await page.locator(".sample", { has: page.locator(`.sample-name:text-is("${name}")`) }).click();
  await page.locator(".doc-title", { hasText: name }).waitFor({ state: "attached" });
  await settled(page);
}

/** Pastes text, as the clipboard would. */
export async function paste(page, text) {
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
}

/** Pastes `bytes` of requests, and returns after how many milliseconds they were painted and decoded. */
export async function pasteRequests(page, bytes) {
  return page.evaluate(async (bytes) => {
    const one = "*3\r\n$3\r\nSET\r\n$10\r\nkey:000001\r\n$10\r\nvalue00001\r\n";
    const text = one.repeat(Math.ceil(bytes / one.length));
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    const begun = performance.now();
    document.body.dispatchEvent(event);
    const total = () => document.querySelector(".status-total").textContent;
    const wanted = text.length.toLocaleString("en");
    const until = async (met) => {
      while (!met()) await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now() - begun;
    };
    const painted = await until(() => total().includes(wanted));
    const frames = `of ${(text.length / one.length).toLocaleString("en")}`;
    const decoded = await until(() => document.querySelector(".frame-count").textContent.includes(frames));
    return { painted, decoded, length: text.length };
  }, bytes);
}

/** Drops a file, as a desktop would. */
export async function drop(page, name, bytes) {
  await page.evaluate(
    ([name, packed]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(packed), (char) => char.charCodeAt(0))], name));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [name, Buffer.from(bytes).toString("base64")],
  );
}

/** Waits until the page has painted twice and the Worker has replied: two round trips. */
export async function settled(page) {
  for (let turn = 0; turn < 3; turn += 1) await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 30))));
}

/** The position of the cursor. */
export async function cursorAt(page) {
  return Number(await page.locator(".scrubber input").inputValue());
}

/** Waits until the cursor is at a byte. */
export async function cursorComesTo(page, at) {
  await page.waitForFunction((at) => Number(document.querySelector(".scrubber input").value) === at, at).catch(async () => {
    assert.equal(await cursorAt(page), at, "the cursor");
  });
}

/** The document's bytes that the hex pane shows, as Latin-1. */
export async function shownBytes(page) {
  const cells = await page.locator(".hex-grid [role=gridcell].b:not(.none)").evaluateAll((cells) => cells.filter((cell) => cell.checkVisibility()).map((cell) => cell.textContent.trim()));
  return Buffer.from(cells.filter((cell) => /^[0-9A-F]{2}$/.test(cell)).join(""), "hex").toString("latin1");
}

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Fails on every violation that axe finds. */
export async function checkAxe(page, where) {
  await settled(page);
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${where}: ${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join(" | ")}`),
    [],
  );
}
