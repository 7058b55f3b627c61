// Connects to the tap, pauses the view, and opens directions of connections in the panes.

import { batch, signal } from "@preact/signals";
import type { Direction } from "../capture/state";
import { moveTo } from "../state/cursor";
import { failure, load, onLoad } from "../state/document";
import { cutAt } from "../state/reads";
import { announce } from "../state/view";
import { forgetWaiting, take, takeAway, takeRestart } from "./feed";
import { chunksOf, frozen, onlyPeer } from "./filter";
import { type Peer, clearPeers } from "./peers";
import { type Row, clearRows, rows } from "./rows";
import { type Hello, openTap, tapAddress } from "./tap";

/** The time between two attempts to reach the tap, in milliseconds. */
const RETRY_MS = 2_000;

/** The state of the connection to the tap. */
export type Watching = "off" | "connecting" | "on" | "gone";
export const watching = signal<Watching>("off");
/** The server's greeting, once it has arrived. */
export const hello = signal<Hello | null>(null);

/** The direction of a connection that is the document, if one is. */
export const opened = signal<{ peer: Peer; direction: Direction } | null>(null);
let loading = false;
onLoad.add(() => {
  if (!loading) opened.value = null;
});

let closeTap: (() => void) | undefined;
let again: ReturnType<typeof setTimeout> | undefined;

/** Connects to the tap, and keeps trying. */
export function connect(): void {
  stop();
  if (watching.value === "off") watching.value = "connecting";
  closeTap = openTap(tapAddress!, { hello: greeted, event: take, gone });
}

/** Closes the tap; the rows stay. */
export function disconnect(): void {
  stop();
  if (watching.value === "on") takeAway("disconnected by you");
  watching.value = "off";
}

function stop(): void {
  clearTimeout(again);
  closeTap?.();
  closeTap = undefined;
}

function greeted(said: Hello): void {
  // Another run of the server numbers its connections from the start.
  if (hello.value && hello.value.since_us !== said.since_us) takeRestart();
  hello.value = said;
  watching.value = "on";
  announce(`connected to ${said.server}`);
}

function gone(): void {
  closeTap = undefined;
  if (watching.value === "on") {
    takeAway("the server is gone");
    announce("the server is gone, trying again");
  }
  watching.value = "gone";
  again = setTimeout(connect, RETRY_MS);
}

/** Pauses the view; new rows are collected meanwhile. */
export function pause(): void {
  frozen.value = rows.value;
  announce("paused");
}

export function resume(): void {
  frozen.value = null;
  announce("resumed");
}

/** Removes all rows. */
export function clear(): void {
  batch(() => {
    forgetWaiting();
    clearRows();
    clearPeers();
    frozen.value = null;
    onlyPeer.value = null;
  });
}

/** The kept rows, those on view first. */
function seen(): readonly Row[] {
  return frozen.value ?? rows.value;
}

/** Opens the kept bytes of one direction of a connection in the panes, cut where its reads end. */
export async function openDirection(peer: Peer, direction: Direction, row?: Row): Promise<void> {
  const chunks = chunksOf(seen()).filter((chunk) => chunk.peer === peer && chunk.direction === direction);
  if (chunks.length === 0) {
    failure.value = `None of the ${direction === 0 ? "requests" : "replies"} of ${peer.name} are kept any more.`;
    return;
  }
  const whole = new Uint8Array(chunks.reduce((length, { bytes }) => length + bytes.length, 0));
  const cuts: number[] = [];
  let at = 0;
  let cursor = 0;
  for (const chunk of chunks) {
    whole.set(chunk.bytes, at);
    for (const cut of chunk.cuts) cuts.push(at + cut);
    if (chunk === row?.frame?.chunk) cursor = at + row.frame.start;
    at += chunk.bytes.length;
  }
  loading = true;
  opened.value = { peer, direction };
  const decoding = load(whole, `${peer.name} ${direction === 0 ? "requests" : "replies"}`, chunks[0]!.mode);
  loading = false;
  cutAt(cuts);
  await decoding;
  moveTo(cursor);
}
