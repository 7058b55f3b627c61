// The state of the server in the page: its connections, the transcript, its clock, and the keys
// that will expire.

import { batch, signal } from "@preact/signals";
import { type Remote, remote } from "../engine/remote";
import { MODES } from "../engine/tables";
import type { CommandInfo } from "../generated/types";
import { announce } from "../state/view";
import { counted } from "../words/chars";
import type { ServerOutput, Host } from "./host";
import { type Shown, encode, framesOf, integers, scanned } from "./lines";
import { spawn } from "./spawn-console";
import type { TranscriptRow } from "./transcript";

/** The protocol of a connection. */
export const SPEAKS = ["RESP2", "RESP3", "binary"] as const;
export type Speaks = (typeof SPEAKS)[number];

export interface Connection {
  id: number;
  /** `A`, `B`, … */
  name: string;
  speaks: Speaks;
  /** Why the connection ended, if it did. */
  closed: string | null;
}

export interface Entry extends TranscriptRow {
  connection: Connection | null;
  mode: number;
}

/** The most entries kept. */
const ENTRIES_MAX = 500;
/** The most connections: as many as there are names. */
export const CONNECTIONS_MAX = 8;
/** The most keys that are checked for their expiry after every request. */
export const KEYS_MAX = 5_000;
/** The most lines kept for the history keys. */
const HISTORY_MAX = 200;
const encoder = new TextEncoder();

let host: Remote<Host> | undefined;
/** A connection of the page itself, to examine keys with. */
let watcher: number | undefined;

export const connections = signal<readonly Connection[]>([]);
/** The connection that the typed lines go to. */
export const current = signal(0);
export const entries = signal<readonly Entry[]>([]);
export const commands = signal<readonly CommandInfo[]>([]);
export const unixMs = signal(0);
/** The keys that will expire, the next one first. */
export const expiring = signal<readonly { key: string; ttlMs: number }[]>([]);
/** Whether all keys were examined. */
export const allKeysSeen = signal(true);
export const failure = signal("");
/** The typed lines, oldest first. */
export const history = signal<readonly string[]>([]);

/** The commands that need Lua, which is C and so not in the page. */
const OF_SCRIPTS = /^\s*(eval(sha)?(_ro)?|fcall(_ro)?|script|function)(\s|$)/i;

let nextKey = 0;

function add(...more: Omit<Entry, "key">[]): void {
  entries.value = [...entries.value, ...more.map((entry) => ({ ...entry, key: nextKey++ }))].slice(-ENTRIES_MAX);
}

function note(text: string, connection: Connection | null = null): void {
  add({ connection, way: "note", lines: [text], bytes: new Uint8Array(), mode: MODES.replies, isError: false });
  announce(text);
}

/** The server, started at the first call. */
function server(): Remote<Host> {
  host ??= remote<Host>(spawn());
  return host;
}

/** Requests the server's command table, once. */
export async function learnCommands(): Promise<void> {
  if (commands.value.length === 0) commands.value = await server().commands();
}

let starting = false;

/** Opens two connections, once. */
export async function start(): Promise<void> {
  if (starting) return;
  starting = true;
  try {
    await learnCommands();
    watcher = await server().connect();
    unixMs.value = await server().now();
    await open("RESP2");
    await open("RESP3");
    current.value = 0;
  } catch (error) {
    starting = false;
    host = undefined;
    failure.value = error instanceof Error ? error.message : String(error);
  }
}

/** Opens a connection; a RESP3 one sends HELLO at once. */
export async function open(speaks: Speaks): Promise<void> {
  const free = Array.from("ABCDEFGH").find((name) => connections.value.every((other) => other.name !== name || other.closed !== null));
  if (!host || free === undefined) return;
  const connection = { id: await host.connect(), name: free, speaks, closed: null };
  connections.value = [...connections.value.filter((other) => other.name !== free), connection];
  current.value = connections.value.length - 1;
  note(`${free} connected, ${speaks}`, connection);
  if (speaks === "RESP3") await send("HELLO 3", connection, false);
}

/** Closes a connection. */
export async function close(connection: Connection): Promise<void> {
  await host?.close(connection.id);
  ended(connection, "closed by you");
}

function ended(connection: Connection, why: string): void {
  connections.value = connections.value.map((other) => (other.id === connection.id ? { ...other, closed: why } : other));
  note(`${connection.name} ended: ${why}`, connection);
}

/** Sends a line in the connection's protocol; returns `false` if it cannot be sent. */
export async function send(line: string, connection: Connection | undefined = connections.value[current.value], keep = true): Promise<boolean> {
  if (!host || !connection || connection.closed !== null || line.trim() === "") return false;
  try {
    const binary = connection.speaks === "binary";
    const bytes = await encode(line, binary ? 2 : 0);
    const mode = binary ? MODES.binaryRequests : MODES.requests;
    if (keep && history.value.at(-1) !== line) history.value = [...history.value, line].slice(-HISTORY_MAX);
    add({ connection, way: "request", lines: [line], bytes, mode, isError: false });
    await receive(await host.feed(connection.id, bytes), connection);
    if (OF_SCRIPTS.test(line)) note("Scripts and functions are off in this page. respire-server has them.");
    failure.value = "";
    return true;
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}

async function receive(output: ServerOutput, asking: Connection | null): Promise<void> {
  unixMs.value = output.unixMs;
  for (const { conn, bytes } of output.outputs) {
    const connection = connections.value.find((other) => other.id === conn);
    if (connection) await show(bytes, connection);
  }
  if (asking && output.closed !== null) ended(asking, output.closed);
  await checkKeys();
}

async function show(bytes: Uint8Array, connection: Connection): Promise<void> {
  const mode = connection.speaks === "binary" ? MODES.binaryReplies : MODES.replies;
  const frames = await framesOf(bytes, mode);
  batch(() => {
    for (const frame of frames) add(entryOf(frame, connection, mode));
  });
  const first = frames[0]?.lines[0] ?? "";
  announce(`${connection.name}: ${frames.length === 1 ? first : counted(frames.length, "frame")}`);
}

function entryOf({ lines, bytes, isPush, isError }: Shown, connection: Connection, mode: number): Omit<Entry, "key"> {
  return { connection, way: isPush ? "push" : "reply", lines, bytes, mode, isError };
}

/** Advances the server's clock. */
export async function advance(ms: number): Promise<void> {
  if (!host) return;
  const before = expiring.value.length;
  const said = await host.advance(ms);
  note(`the clock moved ${ms % 1000 === 0 ? `${(ms / 1000).toLocaleString("en")} s` : `${ms} ms`}`);
  await receive(said, null);
  const gone = before - expiring.value.length;
  if (gone > 0) note(`${counted(gone, "key")} expired`);
}

let looks = 0;

/** Requests the keys that will expire, on a separate connection. */
async function checkKeys(): Promise<void> {
  if (!host || watcher === undefined) return;
  const look = ++looks;
  const ask = async (bytes: Uint8Array) => {
    const output = await host!.feed(watcher!, bytes);
    return output.outputs.find(({ conn }) => conn === watcher)?.bytes ?? new Uint8Array();
  };
  const keys: Uint8Array[] = [];
  let next = "0";
  do {
    const page = await scanned(await ask(request(["SCAN", next, "COUNT", "1000"])));
    keys.push(...page.keys);
    next = page.next;
  } while (next !== "0" && keys.length < KEYS_MAX);
  const ttls = keys.length === 0 ? [] : await integers(await ask(joined(keys.map((key) => request(["PTTL", key])))));
  // A later check has newer results, even if its reply comes first.
  if (look !== looks) return;
  allKeysSeen.value = next === "0";
  const decoder = new TextDecoder();
  expiring.value = keys
    .map((key, index) => ({ key: decoder.decode(key), ttlMs: ttls[index]! }))
    .filter(({ ttlMs }) => ttlMs >= 0)
    .sort((a, b) => a.ttlMs - b.ttlMs);
}

function request(words: readonly (string | Uint8Array)[]): Uint8Array {
  const parts = words.map((word) => (typeof word === "string" ? encoder.encode(word) : word));
  return joined([encoder.encode(`*${parts.length}\r\n`), ...parts.flatMap((part) => [encoder.encode(`$${part.length}\r\n`), part, encoder.encode("\r\n")])]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** All bytes of one side of a connection, in order. */
export function conversation(connection: Connection, way: "request" | "reply"): Uint8Array {
  const own = entries.value.filter((entry) => entry.connection?.id === connection.id && (way === "request" ? entry.way === "request" : entry.way === "reply" || entry.way === "push"));
  return joined(own.map(({ bytes }) => bytes));
}

/** Clears the transcript. */
export function clear(): void {
  entries.value = [];
}
