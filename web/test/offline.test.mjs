// Tests that the page opens without a network, that the single file opens without a server, and
// that neither can reach another host.

import assert from "node:assert/strict";
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

test("a missing engine is reported, and the page still opens", async () => {
  const context = await shared.browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.route("**/worker-*.js", (route) => route.abort());
  await page.goto(shared.server.url);
  await page.locator(".failure", { hasText: "the engine could not be loaded" }).waitFor();
  await page.locator(".sample", { hasText: "Push" }).waitFor();
  await context.close();
});

for (const file of ["index.html", "respire-explorer.html"]) {
  test(`${file} can reach no other host`, async () => {
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
