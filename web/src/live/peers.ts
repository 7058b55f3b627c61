// The connections of the watched server.

import { type Signal, signal } from "@preact/signals";
import type { Direction } from "../capture/state";
import type { Row } from "./rows";

/** The observed state of a connection. */
export interface Seen {
  /** Why it ended, if it did. */
  readonly closed: string | null;
  /** The numbers of frames and bytes of each direction. */
  readonly frames: readonly [number, number];
  readonly bytes: readonly [number, number];
}

const NOTHING: Seen = { closed: null, frames: [0, 0], bytes: [0, 0] };

/** A connection of a client to the server. */
export interface Peer {
  /** The server's number for the connection. */
  readonly id: number;
  /** The number in the form that rows use. */
  readonly name: string;
  readonly address: string;
  readonly seen: Signal<Seen>;
  /**
   * Requests without a reply yet, oldest first; null once replies can no longer be matched to
   * requests.
   */
  waiting: Row[] | null;
}

/** The most ended connections kept in the list. */
const CLOSED_MAX = 100;

/** All open connections, and those that ended last. */
export const peers = signal<readonly Peer[]>([]);
const listed = new Set<Peer>();
const open = new Map<number, Peer>();

/** Whether a connection is open, as far as is known. */
export function isOpen({ seen }: Peer): boolean {
  return seen.value.closed === null;
}

/** Publishes the list of connections. */
export function peersChanged(): void {
  const ended = [...listed].filter((peer) => !isOpen(peer));
  for (const peer of ended.slice(0, Math.max(0, ended.length - CLOSED_MAX))) listed.delete(peer);
  peers.value = [...listed];
}

/** The open connection with this number. */
export function peerOf(id: number): Peer | undefined {
  return open.get(id);
}

/** Adds a connection, a new one or one found after the tap reconnected. */
export function opened(id: number, address: string): Peer {
  const peer = open.get(id) ?? { id, name: `#${id}`, address, seen: signal(NOTHING), waiting: [] };
  peer.seen.value = { ...peer.seen.value, closed: null };
  open.set(id, peer);
  listed.add(peer);
  return peer;
}

/** Counts frames and bytes of a direction. */
export function count({ seen }: Peer, direction: Direction, frames: number, bytes: number): void {
  const add = (counts: readonly [number, number], more: number): [number, number] => (direction === 0 ? [counts[0] + more, counts[1]] : [counts[0], counts[1] + more]);
  seen.value = { ...seen.value, frames: add(seen.value.frames, frames), bytes: add(seen.value.bytes, bytes) };
}

/** Ends a connection. */
export function closed(peer: Peer, why: string): void {
  endSeen(peer, why);
  open.delete(peer.id);
}

/** The tap is disconnected: the traffic from now on is not known. */
export function markDisconnected(): void {
  for (const peer of open.values()) endSeen(peer, "out of sight");
}

function endSeen(peer: Peer, why: string): void {
  peer.seen.value = { ...peer.seen.value, closed: why };
  peer.waiting = null;
}

/** Another server numbers its connections from the start. */
export function forgetOpen(): void {
  open.clear();
}

/** Removes the ended connections from the list, and resets the counts. */
export function clearPeers(): void {
  for (const peer of listed) {
    if (isOpen(peer)) peer.seen.value = NOTHING;
    else listed.delete(peer);
  }
  peersChanged();
}
