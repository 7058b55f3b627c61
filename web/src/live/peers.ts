// The connections of the server that is watched.

import { type Signal, signal } from "@preact/signals";
import type { Direction } from "../capture/state";
import type { Row } from "./rows";

/** What was seen of a connection. */
export interface Seen {
  /** Why it ended, if it did. */
  readonly closed: string | null;
  /** Frames and bytes of each direction. */
  readonly frames: readonly [number, number];
  readonly bytes: readonly [number, number];
}

const NOTHING: Seen = { closed: null, frames: [0, 0], bytes: [0, 0] };

/** A connection of a client to the server. */
export interface Peer {
  /** Its number, as the server counts. */
  readonly id: number;
  /** The same for rows. */
  readonly name: string;
  readonly address: string;
  readonly seen: Signal<Seen>;
  /**
   * Requests whose replies have not come, oldest first; none once replies can no longer be told
   * to belong to requests.
   */
  waiting: Row[] | null;
}

/** Connections that are listed after they ended. */
const CLOSED_MAX = 100;

/** All that are open, and those that ended last. */
export const peers = signal<readonly Peer[]>([]);
const listed = new Set<Peer>();
const open = new Map<number, Peer>();

/** Whether a connection has not ended, as far as is known. */
export function isOpen({ seen }: Peer): boolean {
  return seen.value.closed === null;
}

/** Shows which connections there are. */
export function peersChanged(): void {
  const ended = [...listed].filter((peer) => !isOpen(peer));
  for (const peer of ended.slice(0, Math.max(0, ended.length - CLOSED_MAX))) listed.delete(peer);
  peers.value = [...listed];
}

/** The connection of a number, while it is open. */
export function peerOf(id: number): Peer | undefined {
  return open.get(id);
}

/** A connection is there, new or after the tap was away. */
export function opened(id: number, address: string): Peer {
  const peer = open.get(id) ?? { id, name: `#${id}`, address, seen: signal(NOTHING), waiting: [] };
  peer.seen.value = { ...peer.seen.value, closed: null };
  open.set(id, peer);
  listed.add(peer);
  return peer;
}

/** Counts what was seen of a direction. */
export function count({ seen }: Peer, direction: Direction, frames: number, bytes: number): void {
  const add = (counts: readonly [number, number], more: number): [number, number] => (direction === 0 ? [counts[0] + more, counts[1]] : [counts[0], counts[1] + more]);
  seen.value = { ...seen.value, frames: add(seen.value.frames, frames), bytes: add(seen.value.bytes, bytes) };
}

/** A connection ended. */
export function closed(peer: Peer, why: string): void {
  endSeen(peer, why);
  open.delete(peer.id);
}

/** The tap is away: of what is said now, nothing is known. */
export function outOfSight(): void {
  for (const peer of open.values()) endSeen(peer, "out of sight");
}

function endSeen(peer: Peer, why: string): void {
  peer.seen.value = { ...peer.seen.value, closed: why };
  peer.waiting = null;
}

/** Another server counts its connections anew. */
export function forgetOpen(): void {
  open.clear();
}

/** Takes those that ended off the list, and counts anew. */
export function clearPeers(): void {
  for (const peer of listed) {
    if (isOpen(peer)) peer.seen.value = NOTHING;
    else listed.delete(peer);
  }
  peersChanged();
}
