// The guessed notation of pasted or dropped bytes, and the alternatives.

import { signal } from "@preact/signals";
import { isCapture, openCapture } from "../capture/state";
import type { Guess } from "../generated/types";
import { engine, failure, load, onLoad } from "../state/document";
import { announce, galleryOpen, narrow } from "../state/view";

interface Opened {
  /** The original bytes. */
  bytes: Uint8Array;
  name: string;
  /** The guesses, best first. */
  guesses: readonly Guess[];
  taken: number;
}

/** The bytes opened last, while the document was made from them. */
export const opened = signal<Opened | null>(null);

let taking = false;
onLoad.add(() => {
  if (!taking) opened.value = null;
});

/** The most bytes examined for a guess: a multiple of 4, so that hex and base64 are not cut within a byte. */
const LOOKED_AT_MAX = 64 * 1024;

/** Opens bytes in the notation that fits them best. */
export async function openBytes(bytes: Uint8Array, name: string): Promise<void> {
  // In little space, show what was opened rather than the gallery.
  if (narrow.peek()) galleryOpen.value = false;
  try {
    const guesses = await engine.guesses(bytes.slice(0, LOOKED_AT_MAX));
    opened.value = { bytes, name, guesses, taken: -1 };
    await take(0);
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
  }
}

/** Reads the opened bytes in another notation. */
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
  // If something else was opened meanwhile, it takes precedence.
  if (opened.value !== taken) return;
  taking = true;
  try {
    const loading = load(decoded, what.name, guess.mode);
    // `load` replaces the document before it first waits.
    taking = false;
    await loading;
  } finally {
    taking = false;
  }
  if (guess.format !== "raw") announce(`read as ${guess.label}`);
}
