// Reads the engine's rows by the names of the tables generated from Rust.

export * from "../generated/tables";
export { FrameStatus as STATUS, Kind as KIND, Mode as MODES, Role as ROLE } from "../generated/tables";
import { FRAME_WORDS, MARK_WORDS, NODE_WORDS } from "../generated/tables";

/** A run of bytes with one role. */
export interface Mark {
  role: number;
  errorKind: number;
  start: number;
  end: number;
  depth: number;
  node: number;
  frame: number;
}

export function markRow(rows: Uint32Array, index: number): Mark {
  const at = index * MARK_WORDS;
  const word = rows[at]!;
  return {
    role: word & 0xff,
    errorKind: word >>> 8,
    start: rows[at + 1]!,
    end: rows[at + 2]!,
    depth: rows[at + 3]!,
    node: rows[at + 4]!,
    frame: rows[at + 5]!,
  };
}

/** A request or reply. */
export interface Frame {
  index: number;
  status: number;
  kind: number;
  inline: boolean;
  secret: boolean;
  start: number;
  end: number;
  /** One more than the index of a request's command in the table, or 0. */
  command: number;
}

export function frameRow(rows: Uint32Array, index: number): Frame {
  const at = index * FRAME_WORDS;
  const word = rows[at]!;
  return {
    index,
    status: word & 0xff,
    kind: (word >>> 8) & 0xff,
    inline: (word & 0x1_0000) !== 0,
    secret: (word & 0x2_0000) !== 0,
    start: rows[at + 1]!,
    end: rows[at + 2]!,
    command: rows[at + 3]!,
  };
}

/** A value of a frame. */
export interface Node {
  index: number;
  kind: number;
  streamed: boolean;
  incomplete: boolean;
  isKey: boolean;
  isValue: boolean;
  secret: boolean;
  start: number;
  end: number;
  depth: number;
  parent: number;
  sibling: number;
  /** The announced number of elements, pairs or bytes; `NONE` if none is announced. */
  count: number;
}

export function nodeRow(rows: Uint32Array, index: number): Node {
  const at = index * NODE_WORDS;
  const word = rows[at]!;
  const flags = word >>> 8;
  return {
    index,
    kind: word & 0xff,
    streamed: (flags & 1) !== 0,
    incomplete: (flags & 2) !== 0,
    isKey: (flags & 4) !== 0,
    isValue: (flags & 8) !== 0,
    secret: (flags & 16) !== 0,
    start: rows[at + 1]!,
    end: rows[at + 2]!,
    depth: rows[at + 3]!,
    parent: rows[at + 4]!,
    sibling: rows[at + 5]!,
    count: rows[at + 6]!,
  };
}

/**
 * The index of the last row that begins at or before `offset`. Rows have no gaps between them;
 * `start` is the word with their offset.
 */
export function rowAt(rows: Uint32Array, words: number, start: number, offset: number): number {
  let low = 0;
  let high = rows.length / words;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle * words + start]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

/** The names of the modes, by number. */
export const MODE_LABELS = ["Requests", "Replies", "Binary requests", "Binary replies", "Auto"] as const;
