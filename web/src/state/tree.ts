// The rows of the tree: frames, and the values of the open ones.

import { computed, effect, signal } from "@preact/signals";
import { KIND, NODE_WORDS, NONE, STATUS, type Node, nodeRow } from "../engine/tables";
import { cursor, revealed } from "./cursor";
import { frameAt, frameCount, frameOf, length, onLoad, version } from "./document";
import { keptNodes, nodeHolding, nodesArrived, nodesOf } from "./nodes";

/** Documents with at most this many frames are shown open. */
const OPEN_FRAMES_MAX = 40;
/** The largest frame, in bytes, that is shown open by default. */
const OPEN_BYTES_MAX = 4096;
/** The most rows of one frame; further values are reachable through the bytes. */
const FRAME_ROWS_MAX = 200_000;

/** The frames and values whose open state differs from the default: frames by index, values as `frame:node`. */
const turned = signal<ReadonlySet<string>>(new Set());

onLoad.add(() => {
  turned.value = new Set();
});

/** A row: a frame (`node` is `NONE`) or a value of it. */
export interface TreeRow {
  frame: number;
  node: number;
}

function opensByItself(frame: number): boolean {
  if (frameCount.peek() > OPEN_FRAMES_MAX) return false;
  const { start, end } = frameOf(frame);
  return end - start <= OPEN_BYTES_MAX;
}

const keyOf = ({ frame, node }: TreeRow) => (node === NONE ? `${frame}` : `${frame}:${node}`);

/** Whether a row shows its contents. */
export function isOpen(row: TreeRow): boolean {
  const byItself = row.node === NONE ? opensByItself(row.frame) : true;
  return byItself !== turned.peek().has(keyOf(row));
}

export function setOpen(row: TreeRow, open: boolean): void {
  if (isOpen(row) === open) return;
  const next = new Set(turned.peek());
  const key = keyOf(row);
  if (!next.delete(key)) next.add(key);
  turned.value = next;
}

/** Whether a frame is a single value, which then shares the frame's row. Errors after it do not count. */
function isSingleValue(nodes: Uint32Array): boolean {
  const count = nodes.length / NODE_WORDS;
  for (let index = 1; index < count; index += 1) {
    if (nodes[index * NODE_WORDS + 4] === NONE && (nodes[index * NODE_WORDS]! & 0xff) !== KIND.unknown) return false;
  }
  return count > 0;
}

/** Pairs of frame and node, one per row. */
export const treeRows = computed(() => {
  void version.value;
  void nodesArrived.value;
  void turned.value;
  const frames = frameCount.value;
  const opened = frames > OPEN_FRAMES_MAX ? new Set([...turned.value].filter((key) => !key.includes(":")).map(Number)) : undefined;
  let rows = new Uint32Array(Math.max(64, frames * 2));
  let count = 0;
  const add = (frame: number, node: number) => {
    if (count + 2 > rows.length) {
      const grown = new Uint32Array(rows.length * 2);
      grown.set(rows);
      rows = grown;
    }
    rows[count++] = frame;
    rows[count++] = node;
  };
  for (let frame = 0; frame < frames; frame += 1) {
    add(frame, NONE);
    if (opened ? !opened.has(frame) : !isOpen({ frame, node: NONE })) continue;
    const values = nodesOf(frame);
    if (values) addValues(frame, values.nodes, add);
  }
  return rows.subarray(0, count);
});

function addValues(frame: number, nodes: Uint32Array, add: (frame: number, node: number) => void): void {
  const total = Math.min(nodes.length / NODE_WORDS, FRAME_ROWS_MAX);
  let closedAt = NONE;
  for (let index = isSingleValue(nodes) ? 1 : 0; index < total; index += 1) {
    const depth = nodes[index * NODE_WORDS + 3]!;
    if (depth > closedAt) continue;
    closedAt = NONE;
    add(frame, index);
    if (turned.peek().size > 0 && !isOpen({ frame, node: index })) closedAt = depth;
  }
}

export const treeRowCount = computed(() => treeRows.value.length / 2);

export function treeRow(index: number): TreeRow {
  const rows = treeRows.peek();
  return { frame: rows[index * 2]!, node: rows[index * 2 + 1]! };
}

/** The value of a row; for a frame's row its root, if it has arrived. */
export function valueOf(row: TreeRow): Node | undefined {
  const values = row.node === NONE && !isOpen(row) ? undefined : nodesOf(row.frame);
  if (!values || values.nodes.length === 0) return undefined;
  return nodeRow(values.nodes, row.node === NONE ? 0 : row.node);
}

/** The range of a row's bytes. */
export function rangeOf(row: TreeRow): readonly [number, number] {
  const node = row.node === NONE ? undefined : valueOf(row);
  const whole = node ?? frameOf(row.frame);
  return [whole.start, whole.end];
}

/** The first of the rows `low..high` for which `met` is true, or `high`; it must be true for all rows after it, too. */
function firstRow(low: number, high: number, met: (index: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (met(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The rows of a frame, its own row first. */
function rowsOf(frame: number): readonly [number, number] {
  const rows = treeRows.peek();
  const from = firstRow(0, rows.length / 2, (index) => rows[index * 2]! >= frame);
  return [from, firstRow(from, rows.length / 2, (index) => rows[index * 2]! > frame)];
}

/** The current index of a row; -1 if it is within a closed one. */
export function indexOf({ frame, node }: TreeRow): number {
  const rows = treeRows.peek();
  const [from, to] = rowsOf(frame);
  if (node === NONE) return from < to ? from : -1;
  const index = firstRow(Math.min(from + 1, to), to, (index) => rows[index * 2 + 1]! >= node);
  return index < to && rows[index * 2 + 1] === node ? index : -1;
}

/** The deepest visible row that holds a byte. */
export function rowHolding(offset: number): number {
  const frame = frameAt(Math.min(offset, Math.max(0, length.peek() - 1)));
  if (!frame) return -1;
  const values = keptNodes(frame.index);
  let node = values && nodeHolding(values.nodes, offset);
  while (values && node) {
    const index = indexOf({ frame: frame.index, node: node.index });
    if (index >= 0) return index;
    node = node.parent === NONE ? undefined : nodeRow(values.nodes, node.parent);
  }
  return indexOf({ frame: frame.index, node: NONE });
}

/** The row that contains a row. */
export function parentRow(index: number): number {
  const row = treeRow(index);
  const depth = levelOf(row);
  for (let above = index - 1; above >= 0; above -= 1) if (levelOf(treeRow(above)) < depth) return above;
  return index;
}

/** 1 for frames, more for their contents. */
export function levelOf(row: TreeRow): number {
  if (row.node === NONE) return 1;
  const values = nodesOf(row.frame);
  if (!values) return 2;
  return Math.max(2, nodeRow(values.nodes, row.node).depth + (isSingleValue(values.nodes) ? 1 : 2));
}

/** Whether a row has contents. */
export function hasInside(row: TreeRow): boolean {
  const values = row.node === NONE ? keptNodes(row.frame) : nodesOf(row.frame);
  const count = (values?.nodes.length ?? 0) / NODE_WORDS;
  if (row.node === NONE) {
    if (values) return count > (isSingleValue(values.nodes) ? 1 : 0);
    const { kind, status } = frameOf(row.frame);
    return kind >= KIND.array || status === STATUS.bad;
  }
  if (!values) return false;
  return row.node + 1 < count && values.nodes[(row.node + 1) * NODE_WORDS + 3]! > values.nodes[row.node * NODE_WORDS + 3]!;
}

// Opens the frame of a pinned byte, so that the tree can show it, unless it was pinned in the tree.
effect(() => {
  void revealed.value;
  void version.value;
  if (document.activeElement?.closest("[role=tree]")) return;
  const frame = frameAt(cursor.peek());
  if (frame && frameCount.peek() > 0) setOpen({ frame: frame.index, node: NONE }, true);
});
