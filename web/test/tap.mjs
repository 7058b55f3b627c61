// A test server that serves the page as `respire-server --explorer` does, with a scripted tap.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { DIST } from "./page.mjs";

const SHUT = "connect-src 'none'";
const META = '<meta name="respire-tap" content="/tap">';

/** The page, changed as a server with a tap changes it. */
export async function tappedPage() {
  const page = await readFile(join(DIST, "respire-explorer.html"), "utf8");
  assert.equal(page.split(SHUT).length, 2, "the policy shuts the network in exactly one place");
  assert.equal(page.split("<head>").length, 2);
  return page.replace(SHUT, "connect-src 'self'").replace("<head>", `<head>${META}`);
}

/** Serves the page and a tap. `say` sends to all viewers; `begin` is sent to each new viewer. */
export class Tap {
  #viewers = new Set();
  #server;
  #since = 1_700_000_000_000_000;
  #at = this.#since;
  /** The open connections, sent to each new viewer. */
  #open = new Map();
  /** Whether requests to `/tap` are refused. */
  refuses = false;

  static async start(port = 0) {
    const tap = new Tap();
    await tap.#listen(port);
    return tap;
  }

  async #listen(port) {
    const page = await tappedPage();
    this.#server = createServer((request, response) => {
      if (request.url !== "/tap") {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
      } else if (this.refuses) {
        response.writeHead(503).end();
      } else {
        response.writeHead(200, { "content-type": "text/event-stream" });
        this.#viewers.add(response);
        response.on("close", () => this.#viewers.delete(response));
        response.write(event("hello", { server: "respire 0.1.0", flavour: "mio", since_us: this.#since }));
        for (const [id, peer] of this.#open) response.write(event("open", { id, peer, at_us: this.#at }));
      }
    });
    await new Promise((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.#server.address().port}/`;
  }

  get viewers() {
    return this.#viewers.size;
  }

  say(name, told) {
    for (const viewer of this.#viewers) viewer.write(event(name, told));
  }

  connects(id, peer = `127.0.0.1:${5000 + id}`) {
    this.#open.set(id, peer);
    this.say("open", { id, peer, at_us: this.#tick() });
  }

  closes(id, why = "Eof") {
    this.#open.delete(id);
    this.say("close", { id, at_us: this.#tick(), why });
  }

  sends(id, from, text, { cuts, protocol = "resp", at = this.#tick() } = {}) {
    const bytes = Buffer.from(text, "latin1");
    this.say("bytes", { id, from, protocol, at_us: at, base64: bytes.toString("base64"), cuts: cuts ?? [bytes.length] });
  }

  asks(id, text, more) {
    this.sends(id, "client", text, more);
  }

  answers(id, text, more) {
    this.sends(id, "server", text, more);
  }

  loses(id, from, bytes, why) {
    this.say("lost", { id, from, bytes, why });
  }

  #tick() {
    this.#at += 1_000;
    return this.#at;
  }

  async stop() {
    for (const viewer of this.#viewers) viewer.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Stops, and starts again as another run of the server, at the same address. */
  async restart() {
    await this.stop();
    this.#open.clear();
    this.#since += 60_000_000;
    await this.#listen(Number(new URL(this.url).port));
  }
}

function event(name, told) {
  return `event: ${name}\ndata: ${JSON.stringify(told)}\n\n`;
}

/** A request with these words. */
export function request(...words) {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
}
