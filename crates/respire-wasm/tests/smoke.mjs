// Smoke test of the built modules in Node: `cargo xtask web` runs it after each build.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = `${pathToFileURL(process.argv[2])}/`;

/** Loads one of the modules. */
async function load(name) {
  const module = await import(`${folder}${name}.js`);
  await module.default({ module_or_path: readFileSync(new URL(`${folder}${name}_bg.wasm`)) });
  return module;
}

const bytes = (text) => new TextEncoder().encode(text);
const text = (bytes) => new TextDecoder().decode(bytes);

const document = await load("respire_document");
const doc = new document.Doc(4, 0);
doc.setBytes(bytes("%1\r\n+a\r\n:1\r\n+torn"));
while (doc.parse(1) < doc.length);
assert.equal(doc.mode, 1);
assert.equal(doc.frameCount, 2);
assert.equal(doc.path(9), "reply[0][0].value.digits");
assert.deepEqual([...doc.resolve("reply[0][0].value")], [8, 12]);
assert.equal(doc.state(9).open[0].left, 1);
assert.equal(doc.compare(0).wires[0].lost.length, 1);
assert.equal(doc.marks(0, doc.length).length % 6, 0);
assert.throws(() => doc.nodes(9), /no frame 9/);
doc.setMode(0);
doc.setBytes(bytes("*1\r\n$4\r\nPINGS\r\n"));
doc.parse(1 << 20);
const error = doc.error(0);
assert.equal(error.offset, 12);
doc.fix(0, 0);
doc.parse(1 << 20);
assert.equal(doc.errorCount, 0);
doc.free();
assert.equal(text(document.encodeCommand('SET k "a\\x41"', 0)), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\naA\r\n");
assert.equal(document.guesses(bytes("2b 4f 4b 0d 0a"))[0].format, "hex");
assert.ok(document.commandNames().includes("GET"));

const { Capture } = await load("respire_capture");
assert.throws(() => new Capture(bytes("no")), /neither pcap nor pcapng/);

const { Server, commandTable } = await load("respire_server");
const server = new Server(1_700_000_000_000);
const [one, two] = [server.connect(), server.connect()];
server.feed(one, bytes("SET k v EX 60\r\nSUBSCRIBE news\r\n"));
server.takeOutput(one);
assert.deepEqual(server.feed(two, bytes("PUBLISH news hi\r\n")).ready, [one, two]);
assert.match(text(server.takeOutput(one)), /message/);
server.takeOutput(two);
server.advance(60_000);
server.feed(two, bytes("GET k\r\n"));
assert.equal(text(server.takeOutput(two)), "$-1\r\n");
assert.ok(commandTable().some((command) => command.name === "SET" && command.syntax.startsWith("SET key value")));
console.log("the modules work");
