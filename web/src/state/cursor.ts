// The position of the user: the pinned byte, the byte under the pointer, and the steps between
// bytes.

import { batch, computed, effect, signal } from "@preact/signals";
import type { State } from "../generated/types";
import { bytes, engine, frameAt, frameCount, frameOf, length, onLoad, version } from "./document";
import { markAt, marksArrived, marksReady } from "./marks";
import { nodeHolding, nodesArrived, nodesOf } from "./nodes";

/** The pinned byte; the document's length if it is after the last byte. */
export const cursor = signal(0);
/** The byte under the pointer: it is shown without scrolling. */
export const hover = signal<number | null>(null);
/** The value under the pointer, if it is one; otherwise the byte's mark is shown. */
export const hoverRange = signal<readonly [number, number] | null>(null);

/** Shows a byte, or the value that begins there; hides it with `null`. Never scrolls. */
export function preview(at: number | null, range: readonly [number, number] | null = null): void {
  batch(() => {
    hover.value = at;
    hoverRange.value = range;
  });
}
/** The range of a value that was pinned in the tree; null if a byte was pinned. */
export const pinnedRange = signal<readonly [number, number] | null>(null);
/** The end of a selection of bytes opposite to the cursor. */
export const anchor = signal<number | null>(null);
/** The selected bytes, if there are more than the one at the cursor. */
export const selection = computed<readonly [number, number] | null>(() => {
  if (anchor.value === null || anchor.value === cursor.value) return null;
  const [from, to] = anchor.value < cursor.value ? [anchor.value, cursor.value] : [cursor.value, anchor.value];
  return [from, Math.min(to + 1, length.value)];
});
/** Increases when panes must bring the cursor into view. */
export const revealed = signal(0);

onLoad.add(() => {
  cursor.value = 0;
  preview(null);
  pinnedRange.value = null;
  anchor.value = null;
  revealed.value += 1;
});

effect(() => {
  if (cursor.value > length.value) cursor.value = length.value;
});

/** The shown byte: the one under the pointer, or else the pinned one. */
export const shown = computed(() => hover.value ?? cursor.value);

/** The mark, frame and value of a byte, as far as they have arrived. */
function place(offset: number) {
  void version.value;
  void marksArrived.value;
  void nodesArrived.value;
  const frame = length.value === 0 ? undefined : frameAt(Math.min(offset, length.value - 1));
  const values = frame && nodesOf(frame.index);
  return {
    offset,
    byte: bytes.value[offset],
    mark: markAt(offset),
    frame,
    values,
    node: values && nodeHolding(values.nodes, Math.min(offset, length.value - 1)),
  };
}

export type Place = ReturnType<typeof place>;

/** The mark, frame and value at the cursor. */
export const here = computed(() => place(cursor.value));
/** The mark, frame and value at the shown byte. */
export const there = computed(() => (hover.value === null ? here.value : place(hover.value)));

/** The state of the decoder before the byte at the cursor. */
export const decoderState = signal<State | null>(null);
/** The path of the shown byte. */
export const shownPath = signal("");

latest(
  () => [cursor.value, version.value],
  () => engine.state(cursor.peek()),
  (state) => {
    decoderState.value = state;
  },
);
latest(
  () => [shown.value, version.value],
  () => engine.path(Math.min(shown.peek(), Math.max(0, length.peek() - 1))),
  (path) => {
    shownPath.value = shown.peek() >= length.peek() ? "" : path;
  },
);

/** Settles when everything shown about the byte at the cursor has arrived. */
export function known(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = effect(() => {
    const { mark, values } = here.value;
    if (mark && values && decoderState.value) resolve();
  });
  return promise.then(stop);
}

/** Calls `ask` when `on` changes, one call at a time, and keeps the result of the last one. */
function latest<T>(on: () => unknown, ask: () => Promise<T>, keep: (answer: T) => void): void {
  let asking = false;
  let again = false;
  const run = async () => {
    if (asking) {
      again = true;
      return;
    }
    // No document is open yet.
    if (version.peek() === 0) return;
    asking = true;
    do {
      again = false;
      try {
        const answer = await ask();
        if (!again) keep(answer);
      } catch {
        // The document was replaced during the call; the next change calls again.
      }
    } while (again);
    asking = false;
  };
  effect(() => {
    on();
    void run();
  });
}

/** Pins a byte and brings it into view in every pane. */
export function moveTo(offset: number, select = false): void {
  batch(() => {
    anchor.value = select ? (anchor.value ?? cursor.value) : null;
    cursor.value = Math.max(0, Math.min(offset, length.value));
    pinnedRange.value = null;
    preview(null);
    revealed.value += 1;
  });
}

/** Pins a whole value. */
export function pinRange(from: number, to: number): void {
  batch(() => {
    anchor.value = null;
    cursor.value = from;
    pinnedRange.value = [from, to];
    preview(null);
    revealed.value += 1;
  });
}

/** The units of a step. */
export type Unit = "byte" | "token" | "frame";

/** The offset that a step leads to. */
export async function target(unit: Unit, forward: boolean): Promise<number> {
  const at = cursor.peek();
  const end = length.peek();
  switch (unit) {
    case "byte":
      return forward ? Math.min(at + 1, end) : Math.max(at - 1, 0);
    case "token": {
      const probe = forward ? at : at - 1;
      if (probe < 0 || probe >= end) return forward ? end : 0;
      await marksReady(probe, probe + 1);
      const mark = markAt(probe);
      return mark ? (forward ? mark.end : mark.start) : probe + (forward ? 1 : 0);
    }
    case "frame": {
      const frame = frameAt(forward ? at : Math.max(0, at - 1));
      if (!frame) return at;
      if (!forward) return at >= end && frame.end < end ? frame.end : frame.start;
      return at >= frame.end ? end : frame.end;
    }
  }
}

/** Makes a step; steps requested during another one follow it. */
export function step(unit: Unit, forward: boolean, select = false): Promise<void> {
  steps = steps.then(async () => moveTo(await target(unit, forward), select));
  return steps;
}
let steps: Promise<void> = Promise.resolve();

/** The index of the frame at the cursor, and the number of frames. */
export const frameOfCursor = computed(() => ({ index: here.value.frame?.index ?? 0, count: frameCount.value }));

/** The next or previous frame with this status. */
export function frameWith(status: number, from: number, forward: boolean): number | undefined {
  const count = frameCount.peek();
  for (let index = from; index >= 0 && index < count; index += forward ? 1 : -1) {
    if (frameOf(index).status === status) return index;
  }
  return undefined;
}
