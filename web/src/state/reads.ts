// Chunk knives: the cuts between reads, and the number of reads that were fed.

import { computed, effect, signal } from "@preact/signals";
import { READ_WORDS } from "../engine/tables";
import { engine, length, onLoad, version } from "./document";
import { announce } from "./view";

/** The most cuts kept: as many as a list can show and a person can use. */
export const CUTS_MAX = 100_000;

/** The offsets of cuts, ascending, without the ends. */
export const cuts = signal<readonly number[]>([]);
/** The number of reads fed so far; null for all. */
export const fed = signal<number | null>(null);
/** The rows of reads, see `READ_WORDS`: the results of a new decoder. */
export const reads = signal<Uint32Array>(new Uint32Array());

export interface Read {
  outcome: "more" | "error" | "all";
  from: number;
  to: number;
  frames: number;
  /** The number of bytes needed at least, or the offset of the error. */
  need: number;
  /** The number of bytes kept unread. */
  tail: number;
}

const OUTCOMES = ["more", "error", "all"] as const;

export function readOf(index: number): Read {
  const at = index * READ_WORDS;
  const row = reads.value.subarray(at, at + READ_WORDS);
  return { outcome: OUTCOMES[row[0]!]!, from: row[1]!, to: row[2]!, frames: row[3]!, need: row[4]!, tail: row[5]! };
}

export const readCount = computed(() => reads.value.length / READ_WORDS);

/** The end of the bytes that have arrived. */
export const arrived = computed(() => {
  if (fed.value === null) return length.value;
  return fed.value === 0 ? 0 : (cuts.value[fed.value - 1] ?? length.value);
});
/** The start of the bytes that have arrived and wait for more; equal to `arrived` if none wait. */
export const waitingFrom = computed(() => {
  if (fed.value === null || fed.value === 0 || fed.value > readCount.value) return arrived.value;
  return arrived.value - readOf(fed.value - 1).tail;
});

onLoad.add(() => {
  cuts.value = [];
  fed.value = null;
});

effect(() => {
  const asked = version.value;
  const at = cuts.value;
  if (at.length === 0 && fed.value === null) {
    reads.value = new Uint32Array();
    return;
  }
  void engine.reads(Uint32Array.from(at)).then(
    (rows) => {
      if (asked === version.peek() && at === cuts.peek()) reads.value = rows;
    },
    () => {},
  );
});

/** Sets the cuts, and starts again. */
export function cutAt(offsets: Iterable<number>): void {
  const end = length.peek();
  const sorted = [...new Set(offsets)].filter((at) => at > 0 && at < end).sort((a, b) => a - b);
  cuts.value = sorted.slice(0, CUTS_MAX);
  fed.value = null;
}

/** Adds or removes a cut before a byte. */
export function toggleCut(at: number): void {
  const had = cuts.peek().includes(at);
  cutAt(had ? cuts.peek().filter((other) => other !== at) : [...cuts.peek(), at]);
  announce(`${had ? "cut removed" : "cut"} before byte ${at}`);
}

/** Cuts every `size` bytes. */
export function cutEvery(size: number): void {
  const end = Math.min(length.peek(), size * CUTS_MAX);
  cutAt(Array.from({ length: Math.max(0, Math.ceil(end / size) - 1) }, (_, index) => (index + 1) * size));
}

/** Cuts at random offsets, which are the same for the same seed. */
export function cutRandomly(seed: number): void {
  const end = length.peek();
  const mean = Math.max(2, Math.min(64, end / 6));
  let state = seed >>> 0 || 1;
  const offsets = [];
  for (let at = 0; offsets.length < CUTS_MAX; ) {
    // xorshift32: short, and the same everywhere.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    at += 1 + Math.floor((state / 2 ** 32) * 2 * mean);
    if (at >= end) break;
    offsets.push(at);
  }
  cutAt(offsets);
}

/** The number of pieces for a document without cuts. */
const PIECES = 6;

/** Feeds one more read, beginning with none. */
export function feedNext(): void {
  if (cuts.peek().length === 0 && fed.peek() === null && length.peek() > 1) cutEvery(Math.ceil(length.peek() / PIECES));
  const total = cuts.peek().length + 1;
  const next = fed.peek() === null ? 0 : fed.peek()! + 1;
  fed.value = next > total ? null : next;
}

/** Takes back the last read. */
export function unfeed(): void {
  if (fed.peek() !== null && fed.peek()! > 0) fed.value = fed.peek()! - 1;
}

/** Describes one read in words. */
export function describeRead(read: Read): string {
  const got = read.frames === 1 ? "1 frame complete. " : read.frames > 1 ? `${read.frames} frames complete. ` : "";
  switch (read.outcome) {
    case "more":
      return `${got}Incomplete, need ≥ ${read.need} more ${read.need === 1 ? "byte" : "bytes"}`;
    case "error":
      return `${got}Error at byte ${read.need}`;
    case "all":
      return `${got}Nothing left over`;
  }
}
