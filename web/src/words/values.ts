// Describes values in plain words, for newcomers to the protocol.

import { KIND, KINDS, NODE_WORDS, NONE, type Node, nodeRow } from "../engine/tables";
import { counted } from "./chars";

/** The most elements of an aggregate that are listed. */
const ELEMENTS_MAX = 6;
/** The most levels that are described. */
const DEPTH_MAX = 4;
/** The most characters of a value that are shown. */
const LINE_CHARS_MAX = 40;

/** The noun with `a` or `an`. */
export function withArticle(noun: string): string {
  return /^[aeio]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** The name of a kind of value. */
export function kindName(kind: number): string {
  return KINDS[kind]?.label ?? "value";
}

/** The rows of a frame, and its lines. */
interface Values {
  nodes: Uint32Array;
  texts: readonly string[];
  /** The command of a binary request whose first byte is its operation. */
  operation?: string | undefined;
}

/** The children of a node, at most `max` of them. */
export function childrenOf(nodes: Uint32Array, parent: Node, max = Infinity): Node[] {
  const children: Node[] = [];
  const count = nodes.length / NODE_WORDS;
  for (let index = parent.index + 1; index < count && children.length < max; ) {
    const node = nodeRow(nodes, index);
    if (node.depth <= parent.depth) break;
    if (node.parent === parent.index) children.push(node);
    index += 1;
  }
  return children;
}

/** A value in words: `a map with 1 pair: key simple string "a", value integer 1`. */
export function valueInWords(values: Values, node: Node): string {
  const text = describe(values, node, 0);
  return node.kind === KIND.null || node.kind === KIND.unknown ? text : withArticle(text);
}

/** A frame in words: its value, and the attributes before it. */
export function frameInWords(values: Values): string {
  const roots: Node[] = [];
  for (let index = 0; index * NODE_WORDS < values.nodes.length; index += 1) {
    if (values.nodes[index * NODE_WORDS + 4] === NONE) roots.push(nodeRow(values.nodes, index));
  }
  const isEmpty = ({ kind, incomplete }: Node) => !incomplete && (kind === KIND.command || kind === KIND.null);
  if (roots.length > 1 && roots.every(isEmpty)) return `${counted(roots.length, "empty request")}, which servers pass over`;
  let text = "";
  for (const root of roots) {
    if (root.kind === KIND.unknown) text += `${text === "" ? "something" : "; then something"} that is wrong, from byte ${root.start} on`;
    else text += (text === "" ? "" : "; it describes ") + valueInWords(values, root);
  }
  return text;
}

/** A line, shortened so that it fits a sentence. */
function shortened(text: string): string {
  return text.length <= LINE_CHARS_MAX ? text : `${text.slice(0, LINE_CHARS_MAX).replace(/\\x?\w?$/, "")}…${text.startsWith('"') ? '"' : ""}`;
}

function describe(values: Values, node: Node, depth: number): string {
  switch (node.kind) {
    case KIND.array:
    case KIND.set:
    case KIND.push:
    case KIND.map:
    case KIND.attribute:
      return aggregate(values, node, depth);
    case KIND.command:
      return command(values, node);
    case KIND.null:
      return "nothing (null)";
    case KIND.end:
      return "end of the values";
    case KIND.unknown:
      return "something that cannot be told yet";
    default:
      return `${kindName(node.kind)} ${shortened(plain(values.texts[node.index] ?? ""))}${node.incomplete ? " (not all of it is here)" : ""}`;
  }
}

/** A line without the type at its start, if the type is shown elsewhere. */
export function plain(text: string): string {
  return text.replace(/^\([a-z ]+\) /, "").replace(/^\((.*)\)$/, "$1").replace(/, not complete$/, "");
}

function aggregate(values: Values, node: Node, depth: number): string {
  const paired = node.kind === KIND.map || node.kind === KIND.attribute;
  const unit = paired ? ["pair", "pairs"] : node.kind === KIND.set ? ["member", "members"] : ["element", "elements"];
  const name = kindName(node.kind);
  const size = node.streamed || node.count === NONE ? `of a size not told in advance` : `with ${counted(node.count, unit[0]!, unit[1]!)}`;
  if (node.count === 0) return `${name} with nothing in it`;
  if (depth >= DEPTH_MAX) return `${name} ${size}`;
  const children = childrenOf(values.nodes, node, paired ? ELEMENTS_MAX * 2 : ELEMENTS_MAX + 1).filter((child) => child.kind !== KIND.end);
  const parts = children.slice(0, paired ? ELEMENTS_MAX * 2 : ELEMENTS_MAX).map((child) => {
    const text = describe(values, child, depth + 1);
    return child.isKey ? `key ${text}` : child.isValue ? `value ${text}` : text;
  });
  const shown = paired ? Math.ceil(parts.length / 2) : parts.length;
  const rest = node.count === NONE ? 0 : node.count - shown;
  const torn = node.incomplete && !children.at(-1)?.incomplete;
  if (rest > 0 && !node.incomplete) parts.push(`and ${counted(rest, "more", "more")}`);
  else if (rest > 0 && torn) parts.push(`and ${counted(rest, "that has", "that have")} not arrived`);
  return parts.length === 0 ? `${name} ${size}` : `${name} ${size}: ${parts.join(", ")}`;
}

function command(values: Values, node: Node): string {
  const words = childrenOf(values.nodes, node, ELEMENTS_MAX + 1);
  const args = words.map((word) => shortened(values.texts[word.index] ?? "") + (word.incomplete ? " (not all of it is here)" : ""));
  const named = values.operation === undefined;
  const name = named ? args.shift() : values.operation;
  if (name === undefined) return node.incomplete ? "request whose first word has not arrived" : "request with no words, which servers pass over";
  // A word is a command's name; other bytes keep their quotes.
  const bare = name.replace(/^"?([\w.-]+)"?(?= |$)/, (_, word: string) => word.toUpperCase());
  const count = (node.count === NONE ? words.length : node.count) - (named ? 1 : 0);
  if (count <= 0) return `request to run ${bare}`;
  const more = count - args.length;
  if (more > 0) args.push(`and ${counted(more, node.incomplete ? "that has" : "more", node.incomplete ? "that have" : "more")}${node.incomplete ? " not arrived" : ""}`);
  return `request to run ${bare} with ${counted(count, "argument")}: ${args.join(", ")}`;
}

/** A sentence: with a capital letter at the start and a full stop at the end. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}
