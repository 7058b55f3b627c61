// The search for bytes and frames: the query, the hits, and moving between them.

import { computed, effect, signal } from "@preact/signals";
import { unescape } from "../samples/samples";
import { counted } from "../words/chars";
import { cursor, moveTo, pinRange } from "./cursor";
import { engine, frameOf, length, onLoad, version } from "./document";
import { announce } from "./view";

/** The kinds of search. */
export const SEARCH_KINDS = [
  { id: "text", label: "Text", hint: "hello or \\r\\n" },
  { id: "hex", label: "Bytes", hint: "0d 0a" },
  { id: "frames", label: "Frames", hint: "get key:user:* bytes>64 is:bad" },
] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number]["id"];

/** The most hits requested. */
export const HITS_MAX = 10_000;

interface Found {
  kind: SearchKind;
  /** Offsets of bytes, or indices of frames; ascending. */
  at: Uint32Array;
  /** The length of a hit in bytes; 0 for frames, which have their own end. */
  len: number;
  /** Why the query is invalid. */
  error: string;
}

const NOTHING: Found = { kind: "text", at: new Uint32Array(), len: 0, error: "" };

export const searchKind = signal<SearchKind>("text");
export const query = signal("");
export const found = signal<Found>(NOTHING);

onLoad.add(() => {
  found.value = NOTHING;
});

/** The bytes of pairs of hexadecimal digits, with or without separators. */
export function bytesOfHex(text: string): Uint8Array {
  const digits = text.replace(/0x|[\s,:-]/gi, "");
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) throw new Error("two hexadecimal digits make a byte");
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16));
}

async function look(kind: SearchKind, text: string): Promise<Found> {
  if (text === "") return { ...NOTHING, kind };
  if (kind === "frames") return { ...NOTHING, kind, at: await engine.filter(text, HITS_MAX) };
  const needle = kind === "hex" ? bytesOfHex(text) : unescape(text);
  return { ...NOTHING, kind, at: await engine.find(needle, 0, HITS_MAX), len: needle.length };
}

let asked = 0;
effect(() => {
  void version.value;
  const id = ++asked;
  const kind = searchKind.value;
  void look(kind, query.value)
    .catch((error: unknown) => ({ ...NOTHING, kind, error: error instanceof Error ? error.message : String(error) }))
    .then((answer) => {
      if (id === asked) found.value = answer;
    });
});

/** The start and end of a hit. */
export function rangeOf(hit: number): readonly [number, number] {
  const { at, len, kind } = found.value;
  if (kind !== "frames") return [at[hit]!, at[hit]! + len];
  const { start, end } = frameOf(at[hit]!);
  return [start, end];
}

/** The hit at the cursor, or the last one before it; -1 before the first one. */
export const currentHit = computed(() => {
  let low = 0;
  let high = found.value.at.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rangeOf(middle)[0] <= cursor.value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
});

/** Moves to a hit. */
export function goToHit(hit: number): void {
  const [from, to] = rangeOf(hit);
  if (from >= length.peek()) moveTo(from);
  else pinRange(from, to);
  announce(`${hit + 1} of ${counted(found.value.at.length, "hit")}, byte ${from}`);
}

/** Moves to the next or previous hit, and wraps around at the ends. */
export function stepHit(forward: boolean): void {
  const count = found.value.at.length;
  if (count === 0) {
    announce(found.value.error || "nothing found");
    return;
  }
  const current = currentHit.value;
  const before = current >= 0 && rangeOf(current)[0] === cursor.value ? current - 1 : current;
  goToHit((forward ? current + 1 : before + count) % count);
}
