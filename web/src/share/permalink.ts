// Encodes a document as a link: readable keys in the fragment, the bytes deflated. No server
// receives it.

import { MODES } from "../engine/tables";

/** The contents of a link. */
export interface Linked {
  bytes: Uint8Array;
  title: string;
  /** A mode, or `auto`. */
  mode: number;
  limits: number;
  cursor: number;
  cuts: readonly number[];
}

/** Some programs truncate links of this length or more. */
export const LINK_CHARS_WARN = 8 * 1024;
/** Browsers refuse to open links that are much longer. */
export const LINK_CHARS_MAX = 1024 * 1024;
/** The most bytes that a link may unpack to, so that a short link cannot fill the tab. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
/** Longest name in a link. */
const TITLE_CHARS_MAX = 80;
const CUTS_MAX = 10_000;

const MODE_KEYS = ["requests", "replies", "binary-requests", "binary-replies", "auto"];
const LIMIT_KEYS = ["server", "unauthenticated", "client"];

async function through(bytes: Uint8Array, transform: CompressionStream | DecompressionStream, most = Infinity): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(transform).getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`the link holds more than ${most / 1024 / 1024} MB`);
    }
    pieces.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  // In pieces: the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64Url(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}

/** Ascending numbers as their differences, in base 36: short for cuts at regular distances. */
function packCuts(cuts: readonly number[]): string {
  let before = 0;
  return cuts
    .slice(0, CUTS_MAX)
    .map((cut) => {
      const step = cut - before;
      before = cut;
      return step.toString(36);
    })
    .join(".");
}

function unpackCuts(text: string): number[] {
  let at = 0;
  return text
    .split(".", CUTS_MAX)
    .map((step) => (at += Number.parseInt(step, 36)))
    .filter((cut) => Number.isSafeInteger(cut) && cut > 0);
}

/** The fragment for a document, without its `#`. */
export async function toFragment(linked: Linked): Promise<string> {
  const parts = new URLSearchParams();
  if (linked.title !== "") parts.set("name", linked.title.slice(0, TITLE_CHARS_MAX));
  if (linked.mode !== MODES.auto) parts.set("as", MODE_KEYS[linked.mode]!);
  if (linked.limits !== 0) parts.set("limits", LIMIT_KEYS[linked.limits]!);
  if (linked.cursor !== 0) parts.set("at", String(linked.cursor));
  if (linked.cuts.length > 0) parts.set("cuts", packCuts(linked.cuts));
  parts.set("z", toBase64Url(await through(linked.bytes, new CompressionStream("deflate-raw"))));
  return parts.toString();
}

/** The contents of a fragment; undefined if it has another form. Throws an error with a text if it is damaged. */
export async function fromFragment(fragment: string): Promise<Linked | undefined> {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const packed = parts.get("z");
  if (packed === null) return undefined;
  let bytes: Uint8Array;
  try {
    bytes = await through(fromBase64Url(packed), new DecompressionStream("deflate-raw"), UNPACKED_BYTES_MAX);
  } catch (error) {
    const why = error instanceof Error && error.message.startsWith("the link") ? error.message : "its end may be missing";
    throw new Error(`The link cannot be read: ${why}.`);
  }
  const mode = MODE_KEYS.indexOf(parts.get("as") ?? "auto");
  const at = Number(parts.get("at") ?? 0);
  return {
    bytes,
    title: (parts.get("name") ?? "Linked").slice(0, TITLE_CHARS_MAX),
    mode: mode < 0 ? MODES.auto : mode,
    limits: Math.max(0, LIMIT_KEYS.indexOf(parts.get("limits") ?? "server")),
    cursor: Number.isSafeInteger(at) ? Math.max(0, Math.min(at, bytes.length)) : 0,
    cuts: parts.has("cuts") ? unpackCuts(parts.get("cuts")!) : [],
  };
}
