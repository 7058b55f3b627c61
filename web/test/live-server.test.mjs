// Tests the live view of `respire-server --explorer`: the real binary, in both flavours.
//
// RESPIRE_SERVER names the binary. Without it, one is built, which includes the page in `web/dist`.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cursorComesTo, open, shownBytes, suite } from "./page.mjs";
import { request } from "./tap.mjs";

const shared = suite();
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
let binary = process.env.RESPIRE_SERVER;

before(() => {
  if (binary) return;
  const build = ["build", "--package", "respire", "--bin", "respire-server", "--message-format", "json-render-diagnostics"];
  const told = execFileSync("cargo", build, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 << 20, stdio: ["ignore", "pipe", "inherit"] });
  const built = told.split("\n").map((line) => /"executable":"([^"]*respire-server[^"]*)"/.exec(line)?.[1]);
  binary = built.findLast((path) => path);
});

/** Starts a server with a tap, on a separate socket and on a free port for the page. */
async function start(flavour) {
  const folder = mkdtempSync(join(tmpdir(), "respire-live-"));
  const socket = join(folder, "respire.sock");
  const child = spawn(binary, ["--port", "0", "--unixsocket", socket, "--flavour", flavour, "--explorer", "127.0.0.1:0", "--explorer-tap"]);
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (bytes) => {
      said += bytes;
      const shows = /on (http:\S+)/.exec(said)?.[1];
      if (shows && /listens on/.test(said)) resolve(shows);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  return {
    url,
    socket,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** A client that waits for a given number of bytes. */
async function client(path) {
  const socket = connect(path);
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let got = Buffer.alloc(0);
  let wake = () => {};
  socket.on("data", (bytes) => {
    got = Buffer.concat([got, bytes]);
    wake();
  });
  return {
    socket,
    async says(text, reply) {
      socket.write(Buffer.from(text, "latin1"));
      while (got.length < reply.length) {
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
      assert.equal(got.subarray(0, reply.length).toString("latin1"), reply);
      got = got.subarray(reply.length);
    },
  };
}

for (const flavour of ["tokio", "mio"]) {
  test(`the ${flavour} flavour is shown frame by frame, without passwords`, async () => {
    const server = await start(flavour);
    const { page, errors, close } = await open(shared, { path: server.url });
    await page.locator(".live .btn", { hasText: /^Connect$/ }).click();
    await page.locator(".live-state.on", { hasText: flavour }).waitFor();
    const row = (way, text) => page.locator(`.live .entry.${way}`, { hasText: text });

    const one = await client(server.socket);
    await row("note", "connected").waitFor();
    await one.says(request("SET", "user:1", "Ada"), "+OK\r\n");
    await one.says("GET user:1\r\n", "$3\r\nAda\r\n");
    await row("request", "SET user:1 Ada").waitFor();
    await row("reply", '"Ada"').waitFor();
    await one.says(request("AUTH", "open sesame"), "-");
    await row("request", "AUTH").waitFor();
    assert.doesNotMatch(await page.locator(".transcript").textContent(), /sesame/);

    const two = await client(server.socket);
    await two.says(request("SUBSCRIBE", "news"), "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    const three = await client(server.socket);
    await three.says("\x03\x01\0\0\0k\x01\0\0\0v", "\0");
    await row("request", "SET k v").waitFor();

    await page.locator(".live-filter .field").fill("get key:user:*");
    await row("request", "SET k v").waitFor({ state: "detached" });
    assert.equal(await page.locator(".live .entry:not(.note)").count(), 2, "GET and its reply");
    await page.locator(".live-filter .field").fill("");
    await row("request", "GET user:1").locator(".entry-bytes").click();
    await cursorComesTo(page, request("SET", "user:1", "Ada").length);
    assert.ok((await shownBytes(page)).startsWith(`${request("SET", "user:1", "Ada")}GET user:1\r\n${request("AUTH", "*".repeat(11))}`));
    assert.equal(await page.locator("#dock-tab-reads .count").textContent(), "3", "each request was a read of its own");

    two.socket.destroy();
    await row("note", "ended").waitFor();
    await server.stop();
    await page.locator(".live-state.gone", { hasText: "Trying again" }).waitFor();
    // The browser itself reports refused connections.
    assert.ok(errors.every((error) => /ERR_/.test(error)), errors.join("\n"));
    errors.length = 0;
    await close();
    for (const { socket } of [one, three]) socket.destroy();
  });
}
