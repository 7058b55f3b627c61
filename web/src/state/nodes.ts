// A cache of the values of the frames in view, fetched frame by frame and kept until the document
// changes.

import { effect, signal } from "@preact/signals";
import type { FrameNodes } from "../engine/methods";
import { NODE_WORDS, type Node, nodeRow } from "../engine/tables";
import { engine, frameCount, version } from "./document";

/** The most frames whose values are kept. */
const FRAMES_MAX = 256;
/** The number of frames whose lines are fetched at once. */
const LINES_PAGE = 128;
/** The most pages of lines kept. */
const LINES_PAGES_MAX = 64;

const frames = new Map<number, FrameNodes>();
const lines = new Map<number, string[]>();
const wanted = new Set<string>();

/** Increases when values arrive or become stale; read it to be notified. */
export const nodesArrived = signal(0);

effect(() => {
  void version.value;
  frames.clear();
  lines.clear();
  wanted.clear();
  nodesArrived.value = nodesArrived.peek() + 1;
});

function fetchInto<T>(key: string, ask: () => Promise<T>, keep: (value: T) => void): void {
  if (wanted.has(key)) return;
  wanted.add(key);
  const asked = version.peek();
  void ask().then(
    (value) => {
      if (asked !== version.peek()) return;
      wanted.delete(key);
      keep(value);
      nodesArrived.value += 1;
    },
    () => {},
  );
}

/** The values of a frame, if they are cached; otherwise fetches them. */
export function nodesOf(frame: number): FrameNodes | undefined {
  const kept = frames.get(frame);
  if (!kept && frame < frameCount.peek()) {
    fetchInto(
      `nodes ${frame}`,
      () => engine.nodes(frame),
      (value) => {
        if (frames.size >= FRAMES_MAX) frames.delete(frames.keys().next().value!);
        frames.set(frame, value);
      },
    );
  }
  return kept;
}

/** The values of a frame, if they are cached; does not fetch them. */
export function keptNodes(frame: number): FrameNodes | undefined {
  return frames.get(frame);
}

/** A frame in one line, if it is cached; otherwise fetches it with its neighbours. */
export function lineOf(frame: number): string | undefined {
  const page = Math.floor(frame / LINES_PAGE);
  const kept = lines.get(page);
  if (!kept) {
    const from = page * LINES_PAGE;
    fetchInto(
      `lines ${page}`,
      () => engine.frameTexts(from, Math.min(from + LINES_PAGE, frameCount.peek())),
      (value) => {
        if (lines.size >= LINES_PAGES_MAX) lines.delete(lines.keys().next().value!);
        lines.set(page, value);
      },
    );
  }
  return kept?.[frame - page * LINES_PAGE];
}

/** The innermost value that holds a byte: the last one in pre-order that begins before it and ends after it. */
export function nodeHolding(nodes: Uint32Array, offset: number): Node | undefined {
  let low = 0;
  let high = nodes.length / NODE_WORDS;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (nodes[middle * NODE_WORDS + 1]! <= offset) low = middle + 1;
    else high = middle;
  }
  for (let index = low - 1; index >= 0; ) {
    const node = nodeRow(nodes, index);
    if (offset < node.end || node.parent === 0xffff_ffff) return node;
    index = node.parent;
  }
  return undefined;
}
