// The document: its bytes, the decoded frames, and changes to them.

import { batch, computed, signal } from "@preact/signals";
import { engine, onProgress } from "../engine/first";
import type { Shape } from "../engine/methods";
import { FRAME_WORDS, type Frame, MODES, frameRow, rowAt } from "../engine/tables";

export { engine };
onProgress.add((decoded, total) => {
  progress.value = { decoded, total };
});

/** The largest document, which keeps offsets and the tab's memory small enough. */
export const DOCUMENT_BYTES_MAX = 256 * 1024 * 1024;
/** The most changes that can be undone. */
const UNDO_MAX = 200;

const NO_SHAPE: Shape = { mode: MODES.replies, decoded: 0, frames: new Uint32Array(), errorCount: 0, cancelled: false };

/** The bytes. Never changed in place: a change creates a new array. */
export const bytes = signal<Uint8Array>(new Uint8Array());
/** The decoded frames; older than `bytes` while `progress` is set. */
export const shape = signal<Shape>(NO_SHAPE);
/** Counts decoded documents, so that caches can detect that they are stale. */
export const version = signal(0);
/** The name of the document. */
export const title = signal("");
/** The requested mode: a mode, or `auto`. */
export const wantedMode = signal<number>(MODES.auto);
/** The limits for decoding, as a preset of the engine. */
export const limits = signal(0);
/** How far decoding has come, while it takes a noticeable time. */
export const progress = signal<{ decoded: number; total: number } | null>(null);
/** The last error, to be shown. */
export const failure = signal("");

export const length = computed(() => bytes.value.length);
export const frameCount = computed(() => shape.value.frames.length / FRAME_WORDS);

/** A frame by its index. */
export function frameOf(index: number): Frame {
  return frameRow(shape.value.frames, index);
}

/** The frame that holds a byte, or the last one; undefined in an empty document. */
export function frameAt(offset: number): Frame | undefined {
  const { frames } = shape.value;
  return frames.length === 0 ? undefined : frameRow(frames, rowAt(frames, FRAME_WORDS, 1, offset));
}

type Step = { at: number; removed: Uint8Array; put: Uint8Array };
const undone: Step[] = [];
const done: Step[] = [];
export const canUndo = signal(false);
export const canRedo = signal(false);

/** Called when another document replaces the current one. */
export const onLoad = new Set<() => void>();

/** Shows other bytes. */
export async function load(next: Uint8Array, name: string, mode: number = MODES.auto): Promise<void> {
  if (next.length > DOCUMENT_BYTES_MAX) {
    failure.value = `${name} has ${next.length} bytes; the explorer takes ${DOCUMENT_BYTES_MAX}.`;
    return;
  }
  done.length = undone.length = 0;
  batch(() => {
    bytes.value = next;
    shape.value = { ...NO_SHAPE, mode: mode === MODES.auto ? NO_SHAPE.mode : mode };
    version.value += 1;
    title.value = name;
    wantedMode.value = mode;
    failure.value = "";
    showUndo();
    for (const listener of onLoad) listener();
  });
  await settle(engine.load(next, mode, limits.value));
}

/** Decodes the same bytes in another mode. */
export async function readAs(mode: number): Promise<void> {
  wantedMode.value = mode;
  await settle(engine.read(mode, limits.value));
}

/** Decodes the same bytes under other limits. */
export async function readUnder(preset: number): Promise<void> {
  limits.value = preset;
  await settle(engine.read(wantedMode.value, preset));
}

/** Replaces `len` bytes by `put`. */
export async function replace(at: number, len: number, put: Uint8Array): Promise<void> {
  done.push({ at, removed: bytes.value.slice(at, at + len), put });
  if (done.length > UNDO_MAX) done.shift();
  undone.length = 0;
  await splice(at, len, put);
}

export async function undo(): Promise<number | undefined> {
  const step = done.pop();
  if (!step) return undefined;
  undone.push(step);
  await splice(step.at, step.put.length, step.removed);
  return step.at;
}

export async function redo(): Promise<number | undefined> {
  const step = undone.pop();
  if (!step) return undefined;
  done.push(step);
  await splice(step.at, step.removed.length, step.put);
  return step.at;
}

/** Stops decoding; the decoded frames stay. */
export function cancel(): void {
  void engine.cancel();
}

async function splice(at: number, len: number, put: Uint8Array): Promise<void> {
  const old = bytes.value;
  const next = new Uint8Array(old.length - len + put.length);
  next.set(old.subarray(0, at));
  next.set(put, at);
  next.set(old.subarray(at + len), at + put.length);
  bytes.value = next;
  showUndo();
  await settle(engine.replace(at, len, put));
}

function showUndo(): void {
  canUndo.value = done.length > 0;
  canRedo.value = undone.length > 0;
}

/** Waits for the engine and shows the result, unless a newer document is being decoded. */
async function settle(decoding: Promise<Shape>): Promise<void> {
  try {
    const next = await decoding;
    batch(() => {
      shape.value = next;
      version.value += 1;
      progress.value = null;
    });
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "superseded") {
      progress.value = null;
      failure.value = error instanceof Error ? error.message : String(error);
    }
  }
}
