// From the tap's news to rows: decoded in turns by the engine, never faster than it can.

import { batch } from "@preact/signals";
import type { Skimmed } from "../engine/skim";
import { engine } from "../state/document";
import { announce } from "../state/view";
import { size } from "../words/chars";
import { asked } from "./filter";
import { closed, forgetOpen, opened, outOfSight, peerOf, peersChanged } from "./peers";
import { type Chunk, type Row, add, modeOf, noteRow, rowsOf } from "./rows";
import type { News } from "./tap";

/** Bytes decoded in one turn. */
const TURN_BYTES_MAX = 1 << 20;
/** News taken in one turn. */
const TURN_NEWS_MAX = 2_000;
/** Bytes that wait to be decoded; a server that says more than this page can read is passed over. */
const WAITING_BYTES_MAX = 8 << 20;
/** Between two turns: nobody reads faster than this. */
const TURN_MS = 60;

/** What the tap tells, or what happens to the tap itself. */
type Turn = News | (() => Row);

/** What waits for its turn, in order. */
let waiting: Turn[] = [];
let waitingBytes = 0;
let running = false;
/** Bytes that were passed over since the last turn. */
let passedOver = 0;

const WHYS: Record<string, string> = {
  "began in the middle": "the view began in the middle of them",
  "too fast": "more was said than the tap could follow",
  "too large": "larger than the tap shows",
  "may hold a password": "what is wrong or torn there may hold a password",
};

/** Takes news; they become rows in their turn. */
export function take(news: Turn): void {
  if ("kind" in news && news.kind === "bytes") {
    if (waitingBytes + news.bytes.length > WAITING_BYTES_MAX) {
      passedOver += news.bytes.length;
      const peer = peerOf(news.id);
      if (peer) peer.waiting = null;
      return;
    }
    waitingBytes += news.bytes.length;
  }
  waiting.push(news);
  if (!running) void run();
}

/** Forgets what waits. */
export function forgetWaiting(): void {
  waiting = [];
  waitingBytes = 0;
  passedOver = 0;
}

/** Notes, in turn, that the tap is away. */
export function takeAway(why: string): void {
  take(() => {
    outOfSight();
    return noteRow(why, null, { isError: true });
  });
}

/** Notes, in turn, that another server has taken the place of the one before. */
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
    await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  }
  running = false;
}

function next(): Turn[] {
  let bytes = 0;
  let count = 0;
  while (count < waiting.length && count < TURN_NEWS_MAX && bytes < TURN_BYTES_MAX) {
    bytes += length(waiting[count]!);
    count += 1;
  }
  waitingBytes -= bytes;
  return waiting.splice(0, count);
}

function length(turn: Turn): number {
  return "kind" in turn && turn.kind === "bytes" ? turn.bytes.length : 0;
}

/** Turns news into rows. */
async function show(turns: readonly Turn[]): Promise<void> {
  const chunks = turns.filter((turn) => "kind" in turn && turn.kind === "bytes").map(({ bytes, direction, protocol }) => ({ bytes, mode: modeOf(direction, protocol) }));
  const skimmed = (await engine.skim(chunks, asked.peek())).values();
  batch(() => {
    add(turns.flatMap((turn) => rowsTold(turn, () => skimmed.next().value!)));
    if (passedOver > 0) {
      add([noteRow(`${size(passedOver)} passed over: more came than this page can read`, null, { isError: true })]);
      passedOver = 0;
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

function chunkOf({ id, direction, protocol, at, bytes, cuts }: News & { kind: "bytes" }): Chunk {
  return { peer: peerOf(id) ?? opened(id, "not announced"), direction, mode: modeOf(direction, protocol), at, bytes, cuts, rows: 0 };
}

function lost({ id, direction, bytes, why }: News & { kind: "lost" }): Row[] {
  const peer = peerOf(id);
  if (!peer) return [];
  // Which reply belongs to which request is not known from here on.
  peer.waiting = null;
  const what = `${size(bytes)} of ${direction === 0 ? "requests" : "replies"} not shown: ${WHYS[why] ?? why}`;
  announce(`${peer.name}: ${what}`);
  return [noteRow(what, peer, { isError: true })];
}
