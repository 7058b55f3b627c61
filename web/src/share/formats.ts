// The formats for export: an annotated hexdump, the tokens, and test vectors.

import { FRAME_WORDS, KINDS, LIMITS, MARK_WORDS, MODE_LABELS, ROLES, STATUS, frameRow, markRow } from "../engine/tables";
import type { EngineClient } from "../engine/client";
import type { Shape } from "../engine/methods";
import { escapedByte, hex, offsetHex } from "../words/chars";

/** The most bytes that an export explains: beyond that, a program should read the original. */
export const EXPORT_BYTES_MAX = 1024 * 1024;

const STATUS_IDS = Object.keys(STATUS) as (keyof typeof STATUS)[];
const MODE_IDS = ["requests", "replies", "binary-requests", "binary-replies"];

/** The data to export. */
export interface Exported {
  /** The engine that decoded these bytes. */
  engine: EngineClient;
  bytes: Uint8Array;
  shape: Shape;
  title: string;
  limits: number;
}

/** An export format. */
export interface Format {
  id: string;
  label: string;
  extension: string;
  type: string;
  write(what: Exported): Promise<string>;
}

interface Line {
  start: number;
  end: number;
  depth: number;
  what: string;
}

/** The number of bytes per line of the hexdump. */
const LINE_BYTES = 8;

async function lines({ engine, shape }: Exported): Promise<Line[]> {
  const marks = await engine.marks(0, Math.min(shape.decoded, EXPORT_BYTES_MAX));
  return Array.from({ length: marks.length / MARK_WORDS }, (_, index) => {
    const { role, start, end, depth } = markRow(marks, index);
    return { start, end, depth, what: ROLES[role]!.label };
  });
}

function text(bytes: Uint8Array): string {
  return Array.from(bytes, escapedByte).join("");
}

async function hexdump(what: Exported, row: (offset: string, digits: string, meaning: string, text: string) => string): Promise<string[]> {
  const out = [];
  for (const line of await lines(what)) {
    for (let at = line.start; at === line.start || at < line.end; at += LINE_BYTES) {
      const piece = what.bytes.subarray(at, Math.min(at + LINE_BYTES, line.end));
      const meaning = at === line.start ? `${"  ".repeat(line.depth)}${line.what}` : "";
      out.push(row(offsetHex(at), Array.from(piece, hex).join(" "), meaning, text(piece)));
    }
  }
  return out;
}

async function plain(what: Exported): Promise<string> {
  const rows = await hexdump(what, (offset, digits, meaning, text) => `${offset}  ${digits.padEnd(LINE_BYTES * 3)} ${meaning.padEnd(20)} ${text}`.trimEnd());
  return `${rows.join("\n")}\n`;
}

async function markdown(what: Exported): Promise<string> {
  const cell = (value: string) => value.replaceAll("|", "\\|").replaceAll("`", "ˋ");
  const code = (value: string) => (value === "" ? "" : `\`${cell(value)}\``);
  const rows = await hexdump(what, (offset, digits, meaning, text) => `| \`${offset}\` | ${code(digits)} | ${cell(meaning.replaceAll("  ", "· "))} | ${code(text)} |`);
  return `**${cell(what.title)}**\n\n| offset | bytes | meaning | text |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

/** The frames with their marks; offsets count from the document's start. */
async function tokens(what: Exported): Promise<string> {
  const { engine, shape } = what;
  const frames = [];
  for (let index = 0; index < shape.frames.length / FRAME_WORDS; index += 1) {
    const { start, end, status, kind } = frameRow(shape.frames, index);
    if (end > EXPORT_BYTES_MAX) break;
    const marks = await engine.marks(start, end);
    const rows = Array.from({ length: marks.length / MARK_WORDS }, (_, at) => markRow(marks, at)).filter((mark) => mark.frame === index);
    frames.push({
      start,
      end,
      status: STATUS_IDS[status],
      kind: KINDS[kind]!.id,
      tokens: rows.map((mark) => ({ role: ROLES[mark.role]!.id, start: mark.start, end: mark.end, depth: mark.depth, text: text(what.bytes.subarray(mark.start, mark.end)) })),
    });
  }
  return `${JSON.stringify({ title: what.title, mode: MODE_LABELS[shape.mode], frames }, null, 1)}\n`;
}

/** Test vectors: `cargo test` compares the codec with files of this form. */
async function vectors(what: Exported): Promise<string> {
  const { engine, shape } = what;
  const frames = [];
  for (let index = 0; index < shape.frames.length / FRAME_WORDS; index += 1) {
    const { start, end, status } = frameRow(shape.frames, index);
    if (end > EXPORT_BYTES_MAX) break;
    const marks = await engine.marks(start, end);
    const rows = Array.from({ length: marks.length / MARK_WORDS }, (_, at) => markRow(marks, at)).filter((mark) => mark.frame === index);
    const error = status === STATUS.bad ? await engine.error(index) : undefined;
    frames.push({
      bytes: Array.from(what.bytes.subarray(start, end), hex).join("").toLowerCase(),
      status: STATUS_IDS[status],
      ...(error && { error: { offset: error.offset - start, reply: error.reply } }),
      marks: rows.map((mark) => [ROLES[mark.role]!.id, mark.start - start, mark.end - start, mark.depth]),
    });
  }
  const head = { format: "respire-vectors", version: 1, title: what.title, mode: MODE_IDS[shape.mode], limits: LIMITS[what.limits]!.id };
  const rows = frames.map((frame) => ` ${JSON.stringify(frame)}`).join(",\n");
  return `${JSON.stringify(head).slice(0, -1)},"frames":[\n${rows}\n]}\n`;
}

export const FORMATS: readonly Format[] = [
  { id: "hexdump", label: "Annotated hexdump", extension: "txt", type: "text/plain", write: plain },
  { id: "markdown", label: "Markdown table", extension: "md", type: "text/markdown", write: markdown },
  { id: "tokens", label: "Tokens as JSON", extension: "json", type: "application/json", write: tokens },
  { id: "vectors", label: "Test vectors", extension: "vectors.json", type: "application/json", write: vectors },
];
