// The engine's methods that the page calls. Runs in the Worker, beside the WASM.
//
// The page calls every method by its name through `client.ts`; arguments and results are cloned or
// transferred, so they are plain data. There is one document, and only these methods change it.

import type { CaptureSummary, Comparison, DocError, Guess, MsgPack, State, Verdict } from "../generated/types";
import { type Skimmed, type Small, TEXT_BYTES_MAX, lineOf, operationOf, skim } from "./skim";
import { MODES, NODE_WORDS } from "./tables";
import initCapture, { Capture } from "../wasm/respire_capture.js";
import { unpacked } from "./unpacked";
import type { Wasm } from "./wire";
import * as wasm from "../wasm/respire_document.js";

/** A decoded document, without its bytes. */
export interface Shape {
  /** The current mode, never `auto`. */
  mode: number;
  /** The number of decoded bytes: fewer than all if decoding was cancelled. */
  decoded: number;
  /** Rows of frames, see `FRAME_WORDS`. */
  frames: Uint32Array;
  errorCount: number;
  cancelled: boolean;
}

/** The values of a frame. */
export interface FrameNodes {
  /** Rows of nodes, see `NODE_WORDS`. */
  nodes: Uint32Array;
  /** One line for each of the first `texts.length` nodes. */
  texts: string[];
  /** The command of a binary request whose first byte is its operation. */
  operation?: string | undefined;
}

/** Called while a document is decoded. */
export type Progress = (decoded: number, total: number, errors: number) => void;

/** The number of bytes decoded between two checks for a cancellation. */
const SLICE_BYTES = 1 << 20;
/** The most values of a frame whose lines are made at once. */
const TEXTS_MAX = 2_000;

export class Engine {
  readonly #progress: Progress;
  #doc = new wasm.Doc(MODES.auto, 0);
  #capture: Capture | undefined;
  #generation = 0;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** Replaces the document and decodes it. */
  async load(bytes: Uint8Array, mode: number, limits: number): Promise<Shape> {
    this.#doc.free();
    this.#doc = new wasm.Doc(mode, limits);
    this.#doc.setBytes(bytes);
    return this.#decode();
  }

  /** Decodes the same bytes in another mode. */
  async read(mode: number, limits: number): Promise<Shape> {
    if (this.#doc.limits !== limits) this.#doc.setLimits(limits);
    this.#doc.setMode(mode);
    return this.#decode();
  }

  /** Replaces a run of bytes; decoding continues from the frame that contains it. */
  async replace(at: number, len: number, bytes: Uint8Array): Promise<Shape> {
    this.#doc.replace(at, len, bytes);
    return this.#decode();
  }

  /** Appends bytes. */
  async append(bytes: Uint8Array): Promise<Shape> {
    this.#doc.append(bytes);
    return this.#decode();
  }

  /** Stops decoding at the next slice. */
  cancel(): void {
    this.#generation += 1;
  }

  async #decode(): Promise<Shape> {
    const doc = this.#doc;
    const generation = ++this.#generation;
    const total = doc.length;
    let decoded = 0;
    let cancelled = false;
    while (decoded < total && !cancelled) {
      decoded = doc.parse(SLICE_BYTES);
      if (decoded < total) {
        this.#progress(decoded, total, doc.errorCount);
        await turn();
        if (doc !== this.#doc) throw new Error("superseded");
        cancelled = generation !== this.#generation;
      }
    }
    return { mode: doc.mode, decoded, frames: doc.frames(0, doc.frameCount), errorCount: doc.errorCount, cancelled };
  }

  /** The document's bytes. */
  bytes(from: number, to: number): Uint8Array {
    return this.#doc.bytes(from, to);
  }

  marks(from: number, to: number): Uint32Array {
    return this.#doc.marks(from, to);
  }

  nodes(frame: number): FrameNodes {
    const nodes = this.#doc.nodes(frame);
    return { nodes, texts: this.texts(frame, 0, Math.min(nodes.length / NODE_WORDS, TEXTS_MAX)), operation: operationOf(this.#doc, frame) };
  }

  /** One line for each of the nodes `from..to` of a frame. */
  texts(frame: number, from: number, to: number): string[] {
    const texts = [];
    for (let node = from; node < to; node += 1) texts.push(this.#doc.text(frame, node, TEXT_BYTES_MAX));
    return texts;
  }

  /** One line for each of the frames `from..to`. */
  frameTexts(from: number, to: number): string[] {
    const texts = [];
    for (let frame = from; frame < to; frame += 1) texts.push(lineOf(this.#doc, frame));
    return texts;
  }

  payload(frame: number, node: number): Uint8Array {
    return this.#doc.payload(frame, node);
  }

  path(offset: number): string {
    return this.#doc.path(offset);
  }

  resolve(path: string): Uint32Array {
    return this.#doc.resolve(path);
  }

  state(offset: number): State {
    return this.#doc.state(offset);
  }

  error(frame: number): DocError | undefined {
    return this.#doc.error(frame);
  }

  async fix(frame: number, index: number): Promise<Shape> {
    this.#doc.fix(frame, index);
    return this.#decode();
  }

  reads(cuts: Uint32Array): Uint32Array {
    return this.#doc.reads(cuts);
  }

  verdicts(frame: number): Verdict[] {
    return this.#doc.verdicts(frame);
  }

  find(needle: Uint8Array, from: number, max: number): Uint32Array {
    return this.#doc.find(needle, from, max);
  }

  filter(query: string, max: number): Uint32Array {
    return this.#doc.filter(query, max);
  }

  secrets(from: number, to: number): Uint32Array {
    return this.#doc.secrets(from, to);
  }

  compare(frame: number): Comparison {
    return this.#doc.compare(frame);
  }

  msgpack(from: number, to: number): MsgPack {
    return this.#doc.msgpack(from, to);
  }

  guesses(bytes: Uint8Array): Guess[] {
    return wasm.guesses(bytes);
  }

  decodeAs(format: string, bytes: Uint8Array): Uint8Array {
    return wasm.decodeAs(format, bytes);
  }

  /** Reads a capture, which replaces the previous one. `module` is the module for captures: few pages need it. */
  async openCapture(module: Wasm, bytes: Uint8Array): Promise<CaptureSummary> {
    await initCapture({ module_or_path: unpacked(module) });
    this.#capture?.free();
    this.#capture = undefined;
    this.#capture = new Capture(bytes);
    return this.#capture.summary();
  }

  captureBytes(stream: number, direction: number): Uint8Array {
    return this.#capture!.bytes(stream, direction);
  }

  /** The mode that a direction of a stream seems to have; the capture module cannot guess it. */
  captureMode(stream: number, direction: number): number {
    return wasm.guessMode(this.captureBytes(stream, direction));
  }

  captureSegments(stream: number, direction: number): Float64Array {
    return this.#capture!.segments(stream, direction);
  }

  /** The contents of many small documents, none of which is kept. */
  skim(documents: readonly Small[], query: string): Skimmed[] {
    return skim(documents, query);
  }

  encodeCommand(line: string, wire: number): Uint8Array {
    return wasm.encodeCommand(line, wire);
  }

  compareCommand(line: string): Comparison {
    return wasm.compareCommand(line);
  }
}

/** Lets messages in, without the 4 ms delay of timers. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}
