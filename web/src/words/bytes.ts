// Describes a byte in plain words: what it is for.

import { KIND, type Mark, MODES, NONE, type Node, ROLE } from "../engine/tables";
import { byteName, counted, hex } from "./chars";
import { kindName, withArticle } from "./values";

/** What the first byte of a value announces. */
const TYPES: Record<string, string> = {
  "+": "a simple string follows: a line of text",
  "-": "an error follows: a line of text, its first word a code",
  ":": "an integer follows",
  $: "a bulk string follows: its length in bytes, then so many bytes of anything",
  _: "nothing: the null",
  "#": "a boolean follows: t for true, f for false",
  ",": "a double follows: a number with a fraction",
  "(": "a big number follows: an integer of any size",
  "!": "a blob error follows: its length in bytes, then its text",
  "=": "a verbatim string follows: its length, then three letters of format, a colon and the text",
  "*": "an array follows: how many elements, then the elements",
  "%": "a map follows: how many pairs, then key, value, key, value",
  "~": "a set follows: how many members, then the members",
  ">": "a push follows: data the server sends without being asked",
  "|": "attributes follow: pairs that describe the value after them",
  ";": "a chunk of a streamed string follows: its length, then the bytes",
  ".": "the streamed values end here",
};

const OPERATIONS: Record<number, string> = {
  1: "GET: a key follows",
  2: "DELETE: a key follows",
  3: "SET: a key and a value follow",
  16: "CALL: the number of words follows, then the words of any command",
};

/** The facts about a byte. */
export interface ByteFacts {
  byte: number;
  offset: number;
  mark: Mark | undefined;
  /** The role of the mark before it. */
  before: number | undefined;
  node: Node | undefined;
  mode: number;
}

/** The purpose of the byte, as the end of "byte 14, 0D, CR, …". */
export function byteInWords(facts: ByteFacts): string {
  const { mark, node, byte, offset } = facts;
  if (!mark) return "not decoded yet";
  const name = node && node.kind !== KIND.unknown ? kindName(node.kind) : "value";
  const at = offset - mark.start;
  const len = mark.end - mark.start;
  const nth = len > 1 ? ` (byte ${at + 1} of ${len})` : "";
  switch (mark.role) {
    case ROLE.type:
      return `says that ${announced(facts)}`;
    case ROLE.sign:
      return `the sign of ${withArticle(name)}`;
    case ROLE.len:
      return `${len > 1 ? "part of " : ""}${lengthWords(node, name)}${nth}`;
    case ROLE.digits:
      return `${len > 1 ? "part of " : ""}the text of ${withArticle(name)}${nth}`;
    case ROLE.crlf:
      return crlfWords(facts, name);
    case ROLE.payload:
      return `the content of ${withArticle(name)}${nth}`;
    case ROLE.format:
      return `the format of ${withArticle(name)}: txt is plain text, mkd is Markdown${nth}`;
    case ROLE.colon:
      return "parts the format from the text";
    case ROLE.stream:
      return "says that the size is not known in advance: an end will be marked";
    case ROLE.end:
      return "marks the end of what was streamed";
    case ROLE.word:
      return `a word of a request typed by hand${nth}`;
    case ROLE.space:
      return "parts two words";
    case ROLE.quote:
      return "a quote: what is within is one word";
    case ROLE.escape:
      return `part of an escape, which stands for a byte${nth}`;
    case ROLE.field:
      return `part of a number in binary, lowest byte first${nth}`;
    case ROLE.bad:
      return at === 0 ? "is wrong here: decoding stops" : "skipped: it stands after an error";
    default:
      return "without a meaning";
  }
  function announced({ mode }: ByteFacts): string {
    if (mode === MODES.binaryRequests) return `the operation is ${OPERATIONS[byte] ?? hex(byte)}`;
    const char = String.fromCharCode(byte);
    if (mode === MODES.requests && char === "*") return "a request follows: how many words, then the words, the command's name first";
    if (mode === MODES.requests && char === "$") return "a word follows: its length in bytes, then so many bytes";
    return TYPES[char] ?? `${withArticle(name)} follows`;
  }
}

function lengthWords(node: Node | undefined, name: string): string {
  if (!node || node.count === NONE) return `the length or count of ${withArticle(name)}`;
  switch (node.kind) {
    case KIND.map:
    case KIND.attribute:
      return `the count: ${counted(node.count, "pair")} follow${node.count === 1 ? "s" : ""}`;
    case KIND.array:
    case KIND.set:
    case KIND.push:
      return `the count: ${counted(node.count, "element")} follow${node.count === 1 ? "s" : ""}`;
    case KIND.command:
      return `the count: ${counted(node.count, "word")} follow${node.count === 1 ? "s" : ""}`;
    default:
      return `the length: ${counted(node.count, "byte")} follow${node.count === 1 ? "s" : ""}`;
  }
}

function crlfWords({ before, byte, node }: ByteFacts, name: string): string {
  const ends = before === ROLE.len || before === ROLE.stream;
  const aggregate = node && (node.kind >= KIND.array && node.kind <= KIND.attribute || node.kind === KIND.command);
  const what = ends ? `the ${aggregate ? "count" : "length"} of ${withArticle(name)}` : withArticle(name);
  return byte === 0x0d ? `ends ${what}: the first half of a line end` : `ends ${what}: the second half of a line end`;
}

/** The text for a byte in screen readers: `byte 14, 0D, CR, ends the length of a bulk string`. */
export function byteAloud(facts: ByteFacts): string {
  const words = byteInWords(facts).replace(/: the (first|second) half of a line end$/, "");
  return `byte ${facts.offset}, ${hex(facts.byte)}, ${byteName(facts.byte)}, ${words}`;
}
