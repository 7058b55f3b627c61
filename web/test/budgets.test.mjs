// Checks the size of the page against its budgets and against the table of docs/explorer.md.

import assert from "node:assert/strict";
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { DIST } from "./page.mjs";

/** How far a size may be from the table: compilers differ. */
const SLACK = 0.04;

/** The entries over their budget; docs/explorer.md says what that costs. */
const OVER = new Set(["scripts and styles, all", "module `document`", "modules, all", "single file"]);

/** The built files of a kind. */
async function assets(kind) {
  return (await readdir(join(DIST, "assets"))).filter((file) => kind.test(file));
}

/** The size of these files in bytes as a browser downloads them. */
async function packed(files) {
  const sizes = files.map(async (file) => gzipSync(await readFile(join(DIST, "assets", file)), { level: 9 }).length);
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

/** The files that are loaded before any document is opened: those named by the page, their imports, the Worker. */
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

/** The measured sizes, by their name in the table. */
const WEIGHED = {
  "scripts and styles, at first": async () => packed(await firstLoad()),
  "scripts and styles, all": async () => packed(await assets(/\.(js|css)$/)),
  "module `document`": () => module("document"),
  "module `capture`": () => module("capture"),
  "module `server`": () => module("server"),
  "modules, all": async () => packed(await assets(/\.wasm$/)),
  "single file": async () => (await stat(join(DIST, "respire-explorer.html"))).size,
};

/** The rows of the table: name, budget and measured size in KB. */
async function table() {
  const text = await readFile(new URL("../../docs/explorer.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| (.+?) \| (\d+|-) KB \| (\d+) KB \|/gm)];
  return new Map(rows.map(([, what, budget, measured]) => [what, { budget: budget === "-" ? Infinity : Number(budget), measured: Number(measured) }]));
}

const rows = await table();

test("the table has a row for every measured size", () => {
  assert.deepEqual([...rows.keys()], Object.keys(WEIGHED));
});

for (const [what, weigh] of Object.entries(WEIGHED)) {
  test(`${what}: the size matches the table and its budget`, async () => {
    const { budget, measured } = rows.get(what);
    const kilobytes = (await weigh()) / 1024;
    console.log(`${what}: ${kilobytes.toFixed(1)} KB`);
    const drift = Math.abs(kilobytes - measured);
    assert.ok(drift <= measured * SLACK, `the table says ${measured} KB, it is ${kilobytes.toFixed(1)} KB`);
    assert.equal(kilobytes > budget, OVER.has(what), `${kilobytes.toFixed(1)} KB of a budget of ${budget} KB`);
  });
}
