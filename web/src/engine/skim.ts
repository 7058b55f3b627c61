// Shows a frame as one line, and decodes many small documents at once.

import { FRAME_WORDS, KIND, MODES, NODE_WORDS } from "./tables";
import { Doc } from "../wasm/respire_document.js";

/** The most bytes of a value that a line shows. */
export const TEXT_BYTES_MAX = 96;
/** The most words of a request, or values of a reply, that a line shows. */
const LINE_WORDS_MAX = 12;
/** Operations of the binary protocol that are commands themselves. */
const OPERATIONS: Record<number, string> = { 1: "GET", 2: "DELETE", 3: "SET" };

/** Some bytes and their mode. */
export interface Small {
  bytes: Uint8Array;
  mode: number;
}

/** The contents of some bytes. */
export interface Skimmed {
  /** Rows of frames, see `FRAME_WORDS`. */
  frames: Uint32Array;
  /** One line per frame. */
  lines: string[];
  /** The frames that match the query. */
  hits: Uint32Array;
}

/** The contents of each document, and the frames that match a query. */
export function skim(documents: readonly Small[], query: string): Skimmed[] {
  return documents.map(({ bytes, mode }) => {
    const doc = new Doc(mode, 0);
    try {
      doc.setBytes(bytes);
      doc.parse(bytes.length);
      const frames = doc.frames(0, doc.frameCount);
      const lines = Array.from({ length: frames.length / FRAME_WORDS }, (_, frame) => lineOf(doc, frame, true));
      return { frames, lines, hits: doc.filter(query, lines.length) };
    } finally {
      doc.free();
    }
  });
}

/** A frame as one line: a request as a user would type it; a reply, if `opened`, with its elements. */
export function lineOf(doc: Doc, frame: number, opened = false): string {
  const nodes = doc.nodes(frame);
  const count = nodes.length / NODE_WORDS;
  const texts = (from: number, wanted: (at: number) => boolean) => {
    const shown = [];
    const end = Math.min(count, from + LINE_WORDS_MAX);
    for (let node = from; node < end; node += 1) if (wanted(node * NODE_WORDS)) shown.push(doc.text(frame, node, TEXT_BYTES_MAX));
    return end < count ? [...shown, "…"] : shown;
  };
  const kind = (at: number) => nodes[at]! & 0xff;
  if (kind(0) === KIND.command) {
    const operation = operationOf(doc, frame);
    const words = texts(1, (at) => kind(at) === KIND.arg);
    // Words that need no quotes are shown without them.
    return [...(operation === undefined ? [] : [operation]), ...words.map((word) => word.replace(/^"([\w.:*?@/-]+)"$/, "$1"))].join(" ");
  }
  const root = valueRoot(nodes);
  const head = doc.text(frame, root, TEXT_BYTES_MAX);
  const inner = opened && root + 1 < count ? texts(root + 1, () => true) : [];
  return inner.length === 0 ? head : `${head}: ${inner.join(", ")}`;
}

/** The command of a binary request whose first byte is its operation. */
export function operationOf(doc: Doc, frame: number): string | undefined {
  if (doc.mode !== MODES.binaryRequests) return undefined;
  const start = doc.frames(frame, frame + 1)[1]!;
  return OPERATIONS[doc.bytes(start, start + 1)[0]!];
}

/** The value of a frame, without the attributes before it. */
function valueRoot(nodes: Uint32Array): number {
  for (let at = 0; at < nodes.length; at += NODE_WORDS) {
    if (nodes[at + 3] === 0 && (nodes[at]! & 0xff) !== KIND.attribute) return at / NODE_WORDS;
  }
  return 0;
}
