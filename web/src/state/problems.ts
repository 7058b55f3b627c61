// The problems of the document: frames with errors, and the incomplete one at its end.

import { computed, effect, signal } from "@preact/signals";
import type { DocError, State } from "../generated/types";
import { FRAME_WORDS, MODES, STATUS, frameRow } from "../engine/tables";
import { lost } from "../capture/state";
import { foreignTo } from "../words/foreign";
import { cursor, moveTo } from "./cursor";
import { bytes, engine, frameAt, length, onLoad, replace, shape, version } from "./document";
import { announce, dockTab } from "./view";

/** The most frames with errors in the list. */
export const PROBLEMS_MAX = 1000;

/** The frames that are incomplete or have an error, in order. */
export const problemFrames = computed(() => {
  const { frames } = shape.value;
  const found: number[] = [];
  for (let index = 0; index * FRAME_WORDS < frames.length && found.length < PROBLEMS_MAX; index += 1) {
    const status = frames[index * FRAME_WORDS]! & 0xff;
    if (status === STATUS.bad || status === STATUS.torn) found.push(index);
  }
  return found;
});

/** The other protocol that the bytes belong to, if there is one. */
export const foreign = computed(() => foreignTo(bytes.value));

/** The type byte of a length in a request, and that of a request. */
const [DOLLAR, STAR] = [0x24, 0x2a];
/** The most places kept at which requests fell apart. */
const APART_MAX = 100;

/**
 * Requests that fell apart: since the line with `*` is damaged, lines such as `$3` are decoded as
 * inline commands. The offset of each run of them.
 */
export const apart = computed(() => {
  const { frames, mode } = shape.value;
  const data = bytes.value;
  const places: number[] = [];
  if (mode !== MODES.requests) return places;
  let inRun = false;
  let before = 0;
  for (let at = 0; at < frames.length && places.length < APART_MAX; at += FRAME_WORDS) {
    const { start } = frameRow(frames, at / FRAME_WORDS);
    const digit = data[start + 1]! - 0x30;
    if (data[start] === STAR) inRun = false;
    else if (!inRun && data[start] === DOLLAR && digit >= 0 && digit <= 9) {
      places.push(at > 0 && data[before] !== STAR ? before : start);
      inRun = true;
    }
    before = start;
  }
  return places;
});

/** The number of problems: frames, requests in pieces, gaps of a capture, and another protocol. */
export const problemCount = computed(() => problemFrames.value.length + apart.value.length + lost.value.length + (foreign.value ? 1 : 0));

/** The shown error with its fixes: that of the frame at the cursor, or the first one. */
export const shownError = signal<DocError | null>(null);
/** The state of the decoder at the end of an incomplete frame. */
export const torn = signal<State | null>(null);

/** The frame whose error is shown. */
const errorFrame = computed(() => {
  void version.value;
  const at = frameAt(cursor.value);
  if (at?.status === STATUS.bad) return at.index;
  return problemFrames.value.find((index) => frameRow(shape.value.frames, index).status === STATUS.bad) ?? -1;
});

/** Whether the document was just opened: its problems are shown once without a request. */
let fresh = false;
onLoad.add(() => {
  fresh = true;
});
effect(() => {
  if (shape.value.decoded < length.value || !fresh) return;
  fresh = false;
  const wrong = problemCount.value > 0;
  if (wrong && dockTab.peek() === "byte") dockTab.value = "problems";
  else if (!wrong && dockTab.peek() === "problems") dockTab.value = "byte";
});

effect(() => {
  const asked = version.value;
  const frame = errorFrame.value;
  if (frame < 0) {
    shownError.value = null;
    return;
  }
  void engine.error(frame).then(
    (error) => {
      if (asked === version.peek() && frame === errorFrame.peek()) shownError.value = error ?? null;
    },
    () => {},
  );
});

effect(() => {
  const asked = version.value;
  const last = problemFrames.value.at(-1);
  if (last === undefined || frameRow(shape.value.frames, last).status !== STATUS.torn) {
    torn.value = null;
    return;
  }
  void engine.state(length.value).then(
    (state) => {
      if (asked === version.peek()) torn.value = state;
    },
    () => {},
  );
});

/** Applies a fix that the engine suggested, and moves to the position of the error. */
export async function applyFix(error: DocError, index: number): Promise<void> {
  const fix = error.fixes[index]!;
  await replace(fix.at, fix.len, Uint8Array.from(fix.with));
  moveTo(Math.min(fix.at, length.peek()));
  announce(`fixed: ${fix.why}`);
}

/** Moves to the next or previous problem that is not an error of a frame. */
function goToPlace(forward: boolean): void {
  const places = [...apart.peek(), ...lost.peek().map(({ offset }) => offset)].sort((a, b) => a - b);
  const at = cursor.peek();
  const next = forward ? (places.find((place) => place > at) ?? places[0]) : (places.findLast((place) => place < at) ?? places.at(-1));
  if (next === undefined) announce("no problems");
  else moveTo(next);
}

/** Moves to the next or previous error. */
export function goToProblem(forward: boolean): void {
  const { frames } = shape.peek();
  const at = frameAt(cursor.peek())?.index ?? 0;
  const list = problemFrames.peek();
  const next = forward ? (list.find((index) => index > at) ?? list[0]) : (list.findLast((index) => index < at) ?? list.at(-1));
  if (next === undefined) {
    goToPlace(forward);
    return;
  }
  const frame = frameRow(frames, next);
  if (frame.status === STATUS.torn) {
    moveTo(frame.end);
    return;
  }
  void engine.error(next).then((error) => {
    if (error) moveTo(error.offset);
  });
}
