// The page opens without a network, as a single file without a server, and can reach nobody.

import assert from "node:assert/strict";
import { readFile, readdir, stat } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";
import { DIST, cursorComesTo, open, ready, sample, suite } from "./page.mjs";

const shared = suite();

test("after one visit the page opens without a network", async () => {
  const { page, close } = await open(shared, { serviceWorkers: "allow" });
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.context().setOffline(true);
  await page.reload();
  await ready(page);
  await sample(page, "Push");
  await page.locator(".words-frame", { hasText: "A push with 3 elements" }).waitFor();
  await close();
});

test("the single file opens by itself", async () => {
  const context = await shared.browser.newContext({ offline: true });
  const page = await context.newPage();
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(join(DIST, "respire-explorer.html")).href);
  await ready(page);
  await sample(page, "Nested array");
  await page.keyboard.press("PageDown");
  await cursorComesTo(page, 36);
  assert.deepEqual(
    asked.filter((url) => !/^(file|blob|data):/.test(url)),
    [],
  );
  await context.close();
});

for (const file of ["index.html", "respire-explorer.html"]) {
  test(`${file} can reach nobody`, async () => {
    const context = await shared.browser.newContext({ serviceWorkers: "block" });
    const page = await context.newPage();
    await page.goto(new URL(file, shared.server.url).href);
    await ready(page);
    const reached = await page.evaluate(async () => {
      const tries = {
        fetch: () => fetch("https://example.com/"),
        beacon: () => (navigator.sendBeacon("https://example.com/", "x") ? Promise.reject(new Error("queued")) : Promise.reject(new Error("refused"))),
        socket: () =>
          new Promise((resolve, reject) => {
            const socket = new WebSocket("wss://example.com/");
            socket.onopen = resolve;
            socket.onerror = () => reject(new Error("refused"));
          }),
        image: () =>
          new Promise((resolve, reject) => {
            const image = new Image();
            image.onload = resolve;
            image.onerror = () => reject(new Error("refused"));
            image.src = "https://example.com/x.png";
          }),
      };
      const violations = [];
      document.addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
      const open = [];
      for (const [name, attempt] of Object.entries(tries)) {
        try {
          await attempt();
          open.push(name);
        } catch {
          // Refused, as it must be.
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { open, violations };
    });
    assert.deepEqual(reached.open, []);
    assert.ok(reached.violations.filter((directive) => directive === "connect-src").length >= 2, `refused by the policy: ${reached.violations}`);
    assert.ok(reached.violations.includes("img-src"));
    await context.close();
  });
}

/** The files that are loaded before anything is opened: what the page names, what they import, the Worker. */
async function firstLoad() {
  const named = (text) => [...text.matchAll(/[\w-]+\.(?:js|css)\b/g)].map(([name]) => name);
  const assets = await readdir(join(DIST, "assets"));
  const html = await readFile(join(DIST, "index.html"), "utf8");
  const files = new Set(named(html).filter((name) => assets.includes(name)));
  for (const file of files) {
    if (!file.endsWith(".js")) continue;
    const code = await readFile(join(DIST, "assets", file), "utf8");
    for (const [, name] of code.matchAll(/from\s*["'`]\.\/([\w-]+\.js)/g)) files.add(name);
    for (const [name] of code.matchAll(/worker-[\w-]+\.js/g)) files.add(name);
  }
  return [...files];
}

test("sizes keep within their budgets", async () => {
  const size = async (file) => gzipSync(await readFile(join(DIST, "assets", file)), { level: 9 }).length;
  const sum = async (files) => (await Promise.all(files.map(size))).reduce((sum, bytes) => sum + bytes, 0);
  const assets = await readdir(join(DIST, "assets"));
  const first = await sum(await firstLoad());
  const all = await sum(assets.filter((file) => /\.(js|css)$/.test(file)));
  for (const file of assets.filter((file) => file.endsWith(".wasm"))) console.log(`${file}: ${await size(file)} bytes gzip`);
  console.log(`scripts and styles, gzip: ${first} bytes at first, ${all} with all that is opened later`);
  console.log(`single file: ${(await stat(join(DIST, "respire-explorer.html"))).size} bytes`);
  assert.ok(first > 20_000, "the files were found");
  assert.ok(first <= 60 * 1024, `${first} bytes of scripts and styles, gzip`);
});
