// What was pasted or dropped may be written in many ways: the guess taken, and the others.

import { signal } from "@preact/signals";
import { isCapture, openCapture } from "../capture/state";
import type { Guess } from "../generated/types";
import { engine, failure, load, onLoad } from "../state/document";
import { announce, galleryOpen, narrow } from "../state/view";

interface Opened {
  /** The bytes as they came. */
  bytes: Uint8Array;
  name: string;
  /** Best first. */
  guesses: readonly Guess[];
  taken: number;
}

/** What was opened last, while the document is what was made of it. */
export const opened = signal<Opened | null>(null);

let taking = false;
onLoad.add(() => {
  if (!taking) opened.value = null;
});

/** Bytes that are looked at to guess: a multiple of 4, so that hex and base64 are not cut within a byte. */
const LOOKED_AT_MAX = 64 * 1024;

/** Opens bytes, read in the way that fits them best. */
export async function openBytes(bytes: Uint8Array, name: string): Promise<void> {
  // What is opened matters more than what else there is, where there is little room.
  if (narrow.peek()) galleryOpen.value = false;
  try {
    const guesses = await engine.guesses(bytes.slice(0, LOOKED_AT_MAX));
    opened.value = { bytes, name, guesses, taken: -1 };
    await take(0);
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
  }
}

/** Reads what was opened in another way. */
export async function take(index: number): Promise<void> {
  const what = opened.value;
  const guess = what?.guesses[index];
  if (!what || !guess) return;
  const taken = { ...what, taken: index };
  opened.value = taken;
  if (isCapture(guess.format)) {
    await openCapture(what.bytes, what.name);
    return;
  }
  const decoded = guess.format === "raw" ? what.bytes : await engine.decodeAs(guess.format, what.bytes);
  // Whatever was opened meanwhile was asked for later.
  if (opened.value !== taken) return;
  taking = true;
  try {
    const loading = load(decoded, what.name, guess.mode);
    // The document is replaced before `load` first waits.
    taking = false;
    await loading;
  } finally {
    taking = false;
  }
  if (guess.format !== "raw") announce(`read as ${guess.label}`);
}
