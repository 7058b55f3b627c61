// Turns the tap's events into rows: the engine decodes them in batches, at its own pace.

import { batch } from "@preact/signals";
import type { Skimmed } from "../engine/skim";
import { engine } from "../state/document";
import { announce } from "../state/view";
import { size } from "../words/chars";
import { asked } from "./filter";
import { closed, forgetOpen, opened, markDisconnected, peerOf, peersChanged } from "./peers";
import { type Chunk, type Row, add, modeOf, noteRow, rowsOf } from "./rows";
import type { TapEvent } from "./tap";

/** The most bytes decoded in one batch. */
const BATCH_BYTES_MAX = 1 << 20;
/** The most events taken in one batch. */
const BATCH_EVENTS_MAX = 2_000;
/** The most bytes that wait to be decoded; if a server sends more than the page can decode, the rest is skipped. */
const WAITING_BYTES_MAX = 8 << 20;
/** The time between two batches: no reader needs updates more often. */
const BATCH_MS = 60;

/** An event of the tap, or a row about the tap itself. */
type Turn = TapEvent | (() => Row);

/** The queue of waiting events, in order. */
let waiting: Turn[] = [];
let waitingBytes = 0;
let running = false;
/** The number of bytes skipped since the last batch. */
let skippedBytes = 0;

const WHYS: Record<string, string> = {
  "began in the middle": "the view began in the middle of them",
  "too fast": "more was said than the tap could follow",
  "too large": "larger than the tap shows",
  "may hold a password": "what is wrong or torn there may hold a password",
};

/** Queues an event; it becomes rows in its batch. */
export function take(event: Turn): void {
  if ("kind" in event && event.kind === "bytes") {
    if (waitingBytes + event.bytes.length > WAITING_BYTES_MAX) {
      skippedBytes += event.bytes.length;
      const peer = peerOf(event.id);
      if (peer) peer.waiting = null;
      return;
    }
    waitingBytes += event.bytes.length;
  }
  waiting.push(event);
  if (!running) void run();
}

/** Clears the queue. */
export function forgetWaiting(): void {
  waiting = [];
  waitingBytes = 0;
  skippedBytes = 0;
}

/** Adds a row, in order, that the tap is disconnected. */
export function takeAway(why: string): void {
  take(() => {
    markDisconnected();
    return noteRow(why, null, { isError: true });
  });
}

/** Adds a row, in order, that another server has replaced the previous one. */
export function takeRestart(): void {
  take(() => {
    forgetOpen();
    return noteRow("the server was started again", null);
  });
}

async function run(): Promise<void> {
  running = true;
  while (waiting.length > 0) {
    await show(next());
    await new Promise((resolve) => setTimeout(resolve, BATCH_MS));
  }
  running = false;
}

function next(): Turn[] {
  let bytes = 0;
  let count = 0;
  while (count < waiting.length && count < BATCH_EVENTS_MAX && bytes < BATCH_BYTES_MAX) {
    bytes += length(waiting[count]!);
    count += 1;
  }
  waitingBytes -= bytes;
  return waiting.splice(0, count);
}

function length(turn: Turn): number {
  return "kind" in turn && turn.kind === "bytes" ? turn.bytes.length : 0;
}

/** Turns events into rows. */
async function show(turns: readonly Turn[]): Promise<void> {
  const chunks = turns.filter((turn) => "kind" in turn && turn.kind === "bytes").map(({ bytes, direction, protocol }) => ({ bytes, mode: modeOf(direction, protocol) }));
  const skimmed = (await engine.skim(chunks, asked.peek())).values();
  batch(() => {
    add(turns.flatMap((turn) => rowsTold(turn, () => skimmed.next().value!)));
    if (skippedBytes > 0) {
      add([noteRow(`${size(skippedBytes)} passed over: more came than this page can read`, null, { isError: true })]);
      skippedBytes = 0;
    }
    peersChanged();
  });
}

function rowsTold(turn: Turn, skimmed: () => Skimmed): Row[] {
  if (!("kind" in turn)) return [turn()];
  switch (turn.kind) {
    case "bytes":
      return rowsOf(chunkOf(turn), skimmed());
    case "open": {
      const isKnown = peerOf(turn.id) !== undefined;
      const peer = opened(turn.id, turn.peer);
      return isKnown ? [] : [noteRow(`connected from ${turn.peer}`, peer, { at: turn.at })];
    }
    case "close": {
      const peer = peerOf(turn.id);
      if (!peer) return [];
      closed(peer, turn.why);
      return [noteRow(`ended: ${turn.why}`, peer, { at: turn.at })];
    }
    case "lost":
      return lost(turn);
  }
}

function chunkOf({ id, direction, protocol, at, bytes, cuts }: TapEvent & { kind: "bytes" }): Chunk {
  return { peer: peerOf(id) ?? opened(id, "not announced"), direction, mode: modeOf(direction, protocol), at, bytes, cuts, rows: 0 };
}

function lost({ id, direction, bytes, why }: TapEvent & { kind: "lost" }): Row[] {
  const peer = peerOf(id);
  if (!peer) return [];
  // From here on, replies can no longer be matched to requests.
  peer.waiting = null;
  const what = `${size(bytes)} of ${direction === 0 ? "requests" : "replies"} not shown: ${WHYS[why] ?? why}`;
  announce(`${peer.name}: ${what}`);
  return [noteRow(what, peer, { isError: true })];
}
