// Measures times: of the built page in Chromium, and of the document module in Node. Prints medians
// of five runs, each as elapsed time / CPU time, since machines may be busy. The times are reported
// and never asserted; `budgets.test.mjs` asserts what does not depend on the machine.

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import init, { Doc } from "../src/wasm/respire_document.js";
import { CHROMIUM, pasteRequests, serve } from "./page.mjs";

const RUNS = 5;
const TEN_MEGABYTES = 10_000_000;

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function report(name, budget, runs) {
  const [wall, cpu] = ["wall", "cpu"].map((kind) => median(runs.map((run) => run[kind])).toFixed(1));
  console.log(`${name.padEnd(52)} ${wall.padStart(8)} ms / ${cpu.padStart(7)} ms of work   budget ${budget} ms`);
}

async function repeat(name, budget, run) {
  const runs = [];
  for (let count = 0; count < RUNS; count += 1) runs.push(await run());
  report(name, budget, runs);
}

/** The time of a call in Node. */
function timed(call) {
  const [begun, used] = [performance.now(), process.cpuUsage()];
  call();
  const { user, system } = process.cpuUsage(used);
  return { wall: performance.now() - begun, cpu: (user + system) / 1000 };
}

function decoded(bytes, mode) {
  const doc = new Doc(mode, 2);
  doc.setBytes(bytes);
  while (doc.parse(1 << 20) < doc.length);
  return doc;
}

async function measureModule() {
  await init({ module_or_path: readFileSync(new URL("../src/wasm/respire_document_bg.wasm", import.meta.url)) });
  const one = "*3\r\n$3\r\nSET\r\n$10\r\nkey:000001\r\n$10\r\nvalue00001\r\n";
  const requests = new TextEncoder().encode(one.repeat(Math.ceil(TEN_MEGABYTES / one.length)));
  await repeat("decode 10 MB of requests", 60, () => timed(() => decoded(requests, 0).free()));
  const values = 1_000_000;
  const array = new TextEncoder().encode(`*${values}\r\n${":123456\r\n".repeat(values)}`);
  await repeat("decode one array of 9 MB", 60, () => timed(() => decoded(array, 1).free()));
  const doc = decoded(array, 1);
  let at = array.length;
  report("state in the middle of it, asked first", 100, [timed(() => doc.state((at >>= 1)))]);
  await repeat("state in the middle of it, asked again", 2, () => timed(() => doc.state((at += 70_001))));
}

async function measurePage(browser, url) {
  const fresh = async (throttled, file = "index.html") => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const tools = await page.context().newCDPSession(page);
    await tools.send("Performance.enable");
    if (throttled) await tools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    const worked = async () => {
      const { metrics } = await tools.send("Performance.getMetrics");
      return 1000 * metrics.find(({ name }) => name === "ThreadTime").value;
    };
    await page.addInitScript(() => {
      const look = () => {
        const words = document.querySelector(".words-frame")?.textContent ?? "…";
        // The state at the start of a frame is painted when the next one starts.
        if (!words.includes("…") && document.querySelector(".hex-grid [aria-selected=true]")) requestAnimationFrame((now) => console.debug(now));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    // The page reports this itself: a question would make it compile code first.
    const told = page.waitForEvent("console", (message) => message.type() === "debug");
    await page.goto(new URL(file, url).href, { waitUntil: "commit" });
    return { page, worked, usable: Number((await told).text()) };
  };
  for (const file of ["index.html", "respire-explorer.html"]) {
    await repeat(`first step usable at a quarter of the speed, ${file}`, 1000, async () => {
      const { page, worked, usable } = await fresh(true, file);
      const run = { wall: usable, cpu: await worked() };
      await page.context().close();
      return run;
    });
  }
  const [painted, decoded, scrolled] = [[], [], []];
  for (let count = 0; count < RUNS; count += 1) {
    const { page, worked } = await fresh(false);
    const before = await worked();
    const times = await pasteRequests(page, TEN_MEGABYTES);
    const cpu = (await worked()) - before;
    painted.push({ wall: times.painted, cpu });
    decoded.push({ wall: times.decoded, cpu });
    scrolled.push(await scroll(page, worked));
    await page.context().close();
  }
  report("paste 10 MB, to the first paint", 500, painted);
  report("paste 10 MB, decoded and painted", 1000, decoded);
  report("scroll 10 MB, a frame", 16.7, scrolled);
}

/** Scrolls, and returns the time per frame. */
async function scroll(page, worked) {
  const box = await page.locator(".hex-grid").boundingBox();
  await page.mouse.move(box.x + 200, box.y + 100);
  await page.evaluate(() => {
    globalThis.frames = [];
    const tick = (now) => {
      globalThis.frames.push(now);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const before = await worked();
  for (let notch = 0; notch < 60; notch += 1) await page.mouse.wheel(0, 240);
  const frames = await page.evaluate(() => globalThis.frames);
  const gaps = frames.slice(1).map((now, at) => now - frames[at]);
  return { wall: median(gaps), cpu: ((await worked()) - before) / frames.length };
}

await measureModule();
const server = await serve();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
try {
  await measurePage(browser, server.url);
} finally {
  await browser.close();
  await server.close();
}
