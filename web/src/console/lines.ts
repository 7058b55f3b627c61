// Prints frames like redis-cli, with the same decoder that fills the panes.

import { createEngine } from "../engine/client";
import { FRAME_WORDS, KIND, MODES, NODE_WORDS, NONE, STATUS, frameRow, nodeRow } from "../engine/tables";
import { escaped } from "../words/chars";

/** The most bytes of a frame that is shown as bytes. */
const RAW_BYTES_MAX = 200;
/** The texts for empty aggregates. */
const EMPTY: Record<number, string> = { [KIND.array]: "(empty array)", [KIND.set]: "(empty set)", [KIND.push]: "(empty push)", [KIND.map]: "(empty hash)" };
/** The number of bytes in CR and LF. */
const LINE_END = 2;

/** The engine holds one document at a time; all calls here use it. */
const engine = createEngine();

let last: Promise<unknown> = Promise.resolve();

/** Runs `work` while no other work uses the engine's document: two lines may be in flight. */
function alone<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
}

/** A frame on the console. */
export interface Shown {
  bytes: Uint8Array;
  /** One line per value, indented by depth. */
  lines: string[];
  isPush: boolean;
  isError: boolean;
}

/** The frames in the bytes of one side. */
export function framesOf(bytes: Uint8Array, mode: number): Promise<Shown[]> {
  return alone(() => decoded(bytes, mode));
}

async function decoded(bytes: Uint8Array, mode: number): Promise<Shown[]> {
  const shape = await engine.load(bytes, mode, 0);
  const frames: Shown[] = [];
  for (let index = 0; index < shape.frames.length / FRAME_WORDS; index += 1) {
    const frame = frameRow(shape.frames, index);
    const own = bytes.slice(frame.start, frame.end);
    const whole = frame.status === STATUS.whole;
    frames.push({
      bytes: own,
      lines: whole ? await linesOf(index) : [escaped(own, RAW_BYTES_MAX)],
      isPush: whole && frame.kind === KIND.push,
      isError: whole && (frame.kind === KIND.error || frame.kind === KIND.blobError),
    });
  }
  return frames;
}

async function linesOf(index: number): Promise<string[]> {
  const { nodes, texts } = await engine.nodes(index);
  const lines: string[] = [];
  texts.forEach((text, at) => {
    const node = nodeRow(nodes, at);
    const shown = node.count === 0 ? (EMPTY[node.kind] ?? text) : text;
    const indent = "   ".repeat(Math.max(0, node.depth - 1));
    if (node.parent === NONE) lines.push(shown);
    // Keys and values are numbered by pairs, and share a line.
    else if (node.isKey) lines.push(`${indent}${(node.sibling >> 1) + 1}# ${shown} =>`);
    else if (node.isValue && nodeRow(nodes, at - 1).isKey) lines.push(`${lines.pop()!} ${shown}`);
    else lines.push(node.isValue ? `${indent}   ${shown}` : `${indent}${node.sibling + 1}) ${shown}`);
  });
  return lines;
}

/** The keys in a reply to `SCAN`, and the next cursor. */
export function scanned(bytes: Uint8Array): Promise<{ keys: Uint8Array[]; next: string }> {
  return alone(async () => {
    await engine.load(bytes, MODES.replies, 0);
    const { nodes } = await engine.nodes(0);
    const keys: Uint8Array[] = [];
    for (let at = 0; at < nodes.length / NODE_WORDS; at += 1) {
      const node = nodeRow(nodes, at);
      // A payload precedes the line end that closes its string.
      if (node.depth === 2) keys.push(bytes.slice(node.end - LINE_END - node.count, node.end - LINE_END));
    }
    return { keys, next: new TextDecoder().decode(await engine.payload(0, 1)) };
  });
}

/** The integers of a run of replies. */
export function integers(bytes: Uint8Array): Promise<number[]> {
  return alone(async () => {
    const shape = await engine.load(bytes, MODES.replies, 0);
    const texts = await engine.frameTexts(0, shape.frames.length / FRAME_WORDS);
    return texts.map((text) => Number(text.replace(/^\(integer\) /, "")));
  });
}

export function encode(line: string, wire: number): Promise<Uint8Array> {
  return engine.encodeCommand(line, wire);
}
