// What the page weighs, against its budgets and against the table of docs/explorer.md.

import assert from "node:assert/strict";
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { DIST } from "./page.mjs";

/** How much smaller or larger than the table says a thing may be: compilers differ. */
const SLACK = 0.04;

/** What does not keep within its budget; the page about the explorer says what that costs. */
const OVER = new Set(["scripts and styles, all", "module `document`", "modules, all", "single file"]);

/** The files of a kind among what was built. */
async function assets(kind) {
  return (await readdir(join(DIST, "assets"))).filter((file) => kind.test(file));
}

/** What these files are on the way to a browser, in bytes. */
async function packed(files) {
  const sizes = files.map(async (file) => gzipSync(await readFile(join(DIST, "assets", file)), { level: 9 }).length);
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

/** The files that are loaded before anything is opened: what the page names, what they import, the Worker. */
async function firstLoad() {
  const named = (text) => [...text.matchAll(/[\w-]+\.(?:js|css)\b/g)].map(([name]) => name);
  const there = await assets(/\.(js|css)$/);
  const html = await readFile(join(DIST, "index.html"), "utf8");
  const files = new Set(named(html).filter((name) => there.includes(name)));
  for (const file of files) {
    if (!file.endsWith(".js")) continue;
    const code = await readFile(join(DIST, "assets", file), "utf8");
    for (const [, name] of code.matchAll(/from\s*["'`]\.\/([\w-]+\.js)/g)) files.add(name);
    for (const [name] of code.matchAll(/worker-[\w-]+\.js/g)) files.add(name);
  }
  return [...files];
}

const module = async (name) => packed(await assets(new RegExp(`^respire_${name}_bg.*\\.wasm$`)));

/** What is weighed, by its name in the table. */
const WEIGHED = {
  "scripts and styles, at first": async () => packed(await firstLoad()),
  "scripts and styles, all": async () => packed(await assets(/\.(js|css)$/)),
  "module `document`": () => module("document"),
  "module `capture`": () => module("capture"),
  "module `server`": () => module("server"),
  "modules, all": async () => packed(await assets(/\.wasm$/)),
  "single file": async () => (await stat(join(DIST, "respire-explorer.html"))).size,
};

/** The rows of the table: what, budget and measured in KB. */
async function table() {
  const text = await readFile(new URL("../../docs/explorer.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| (.+?) \| (\d+|-) KB \| (\d+) KB \|/gm)];
  return new Map(rows.map(([, what, budget, measured]) => [what, { budget: budget === "-" ? Infinity : Number(budget), measured: Number(measured) }]));
}

const rows = await table();

test("the table of sizes has a row for whatever is weighed", () => {
  assert.deepEqual([...rows.keys()], Object.keys(WEIGHED));
});

for (const [what, weigh] of Object.entries(WEIGHED)) {
  test(`${what}: as the table says, and within its budget unless it is said`, async () => {
    const { budget, measured } = rows.get(what);
    const kilobytes = (await weigh()) / 1024;
    console.log(`${what}: ${kilobytes.toFixed(1)} KB`);
    const drift = Math.abs(kilobytes - measured);
    assert.ok(drift <= measured * SLACK, `the table says ${measured} KB, it is ${kilobytes.toFixed(1)} KB`);
    assert.equal(kilobytes > budget, OVER.has(what), `${kilobytes.toFixed(1)} KB of a budget of ${budget} KB`);
  });
}
