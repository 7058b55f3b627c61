// The rows of the live view, by time. Their number is bounded; the oldest are dropped first.

import { signal } from "@preact/signals";
import type { Direction } from "../capture/state";
import type { TranscriptRow } from "../console/transcript";
import type { Skimmed } from "../engine/skim";
import { COMMANDS, type Frame, FRAME_WORDS, KIND, MODES, STATUS, frameRow } from "../engine/tables";
import { type Peer, count } from "./peers";
import type { Protocol } from "./tap";

/** The most bytes kept per direction. */
export const BYTES_MAX = 4 << 20;
/** The most rows kept. */
export const ROWS_MAX = 20_000;

/** The bytes of an event of the tap: whole frames of one direction. */
export interface Chunk {
  peer: Peer;
  direction: Direction;
  mode: number;
  at: number;
  bytes: Uint8Array;
  /** The offsets at which reads or writes of the server ended, within the bytes or at their end. */
  cuts: readonly number[];
  /** The number of rows that show it. */
  rows: number;
}

/** A frame, or a note. */
export interface Row extends TranscriptRow {
  connection: Peer | null;
  at: number;
  /** Null for a note. */
  frame: { chunk: Chunk; index: number; start: number } | null;
  /** The reply to this request, or the request of this reply. */
  partner: Row | null;
  /** Whether it matches the filter. */
  hit: boolean;
  /** Whether it is a request with little information about an application. */
  isNoise: boolean;
}

/** Ordered by time; never changed in place. */
export const rows = signal<readonly Row[]>([]);
/** Frames that were dropped to keep the bounds. */
export const dropped = signal(0);

const kept: [number, number] = [0, 0];
let nextKey = 0;
let lastAt = 0;

/** Requests of tools and connection pools. */
const NOISE = new Set(["PING", "INFO", "CLIENT", "COMMAND"]);
/** Requests that do not get exactly one reply. */
const UNPAIRED = new Set(["SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR"]);
const SILENCED = /^CLIENT REPLY/i;

/** The mode in which some bytes are decoded. */
export function modeOf(direction: Direction, protocol: Protocol): number {
  if (protocol === "binary") return direction === 0 ? MODES.binaryRequests : MODES.binaryReplies;
  return direction === 0 ? MODES.requests : MODES.replies;
}

/** Minutes, seconds and milliseconds: enough to distinguish rows. */
function clock(at: number): string {
  return new Date(at / 1000).toISOString().slice(14, 23);
}

function row(connection: Peer | null, at: number, way: Row["way"], line: string, more: Partial<Row> = {}): Row {
  lastAt = Math.max(lastAt, at);
  return { key: nextKey++, connection, way, time: clock(at), lines: [line], bytes: new Uint8Array(), isError: false, at, frame: null, partner: null, hit: true, isNoise: false, ...more };
}

/** A note; its time is that of the last event unless it has its own. */
export function noteRow(text: string, connection: Peer | null, { at = lastAt || Date.now() * 1000, isError = false } = {}): Row {
  return row(connection, at, "note", text, { isError });
}

function wayOf(direction: Direction, frame: Frame): Row["way"] {
  if (direction === 0) return "request";
  return frame.kind === KIND.push ? "push" : "reply";
}

function badgeOf(frame: Frame): string | undefined {
  if (frame.status === STATUS.bad) return "cannot be read";
  if (frame.status === STATUS.torn) return "broke off";
  return frame.secret ? "secret hidden" : undefined;
}

/** The rows for the frames that the engine found in a chunk. */
export function rowsOf(chunk: Chunk, { frames, lines, hits }: Skimmed): Row[] {
  const { peer, direction, at, bytes } = chunk;
  const found: Row[] = [];
  const hit = new Set(hits);
  for (let index = 0; index < frames.length / FRAME_WORDS; index += 1) {
    const frame = frameRow(frames, index);
    if (frame.status === STATUS.blank) continue;
    const command = COMMANDS[frame.command - 1]?.[0] ?? "";
    const badge = badgeOf(frame);
    const made = row(peer, at, wayOf(direction, frame), lines[index]!, {
      ...(badge === undefined ? {} : { badge }),
      bytes: bytes.subarray(frame.start, frame.end),
      isError: frame.status !== STATUS.whole || frame.kind === KIND.error || frame.kind === KIND.blobError,
      frame: { chunk, index, start: frame.start },
      hit: hit.has(index),
      isNoise: NOISE.has(command),
    });
    pair(made, peer, UNPAIRED.has(command) || SILENCED.test(made.lines[0]!));
    found.push(made);
  }
  chunk.rows = found.length;
  if (found.length > 0) kept[direction] += bytes.length;
  count(peer, direction, found.length, bytes.length);
  return found;
}

/** Matches a reply to its request: replies come in the order of requests, one each. */
function pair(made: Row, peer: Peer, isUnpaired: boolean): void {
  if (isUnpaired) peer.waiting = null;
  if (made.way === "request") peer.waiting?.push(made);
  if (made.way !== "reply") return;
  const request = peer.waiting?.shift();
  if (!request) return;
  made.partner = request;
  request.partner = made;
}

/** Adds rows in order of time, and drops the oldest beyond the limits. */
export function add(more: readonly Row[]): void {
  const next = [...rows.value];
  for (const made of more) {
    let at = next.length;
    while (at > 0 && next[at - 1]!.at > made.at) at -= 1;
    if (at === next.length) next.push(made);
    else next.splice(at, 0, made);
  }
  let first = 0;
  while (first < next.length && (next.length - first > ROWS_MAX || kept[0] > BYTES_MAX || kept[1] > BYTES_MAX)) {
    drop(next[first]!);
    first += 1;
  }
  rows.value = first === 0 ? next : next.slice(first);
}

function drop({ frame, connection }: Row): void {
  if (!frame) return;
  dropped.value += 1;
  frame.chunk.rows -= 1;
  if (frame.chunk.rows === 0) kept[frame.chunk.direction] -= frame.chunk.bytes.length;
  // A request that was dropped cannot be matched to its reply.
  if (connection?.waiting?.[0]?.frame === frame) connection.waiting = null;
}

/** Removes all rows. */
export function clearRows(): void {
  for (const { connection } of rows.value) if (connection?.waiting?.length) connection.waiting = null;
  kept.fill(0);
  dropped.value = 0;
  rows.value = [];
}
