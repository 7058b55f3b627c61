// The tree pane: frames and their values, as virtual rows. The rows are filled by hand, like those
// of the hex pane.

import { effect, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { KIND, KINDS, NONE, type Node, STATUS } from "../engine/tables";
import { cursor, hover, hoverRange, pinRange, preview, revealed } from "../state/cursor";
import { frameOf } from "../state/document";
import { lineOf, nodesArrived, nodesOf } from "../state/nodes";
import { arrived } from "../state/reads";
import { type TreeRow, hasInside, indexOf, isOpen, levelOf, parentRow, rangeOf, rowHolding, setOpen, treeRow, treeRowCount, treeRows, valueOf } from "../state/tree";
import { narrow, secretsShown } from "../state/view";
import { plain } from "../words/values";
import { put } from "./paint";
import { VirtualRows, keepFocus } from "./virtual";

const ROW_HEIGHT = 28;
const ROW_HEIGHT_NARROW = 44;

/** The texts of a row. */
interface RowText {
  badge: string;
  label: string;
  text: string;
  className: string;
}

const HIDDEN = "••••••••";

function say(row: TreeRow): RowText {
  const values = row.node === NONE ? undefined : nodesOf(row.frame);
  const node = values && valueOf(row);
  if (!values || !node) {
    const frame = frameOf(row.frame);
    const kind = frame.kind;
    const status = frame.status === STATUS.bad ? " bad" : frame.status === STATUS.torn ? " torn" : "";
    const text = frame.secret && !secretsShown.value ? HIDDEN : plain(lineOf(row.frame) ?? "…");
    return { badge: KINDS[kind]?.letter ?? "?", label: `[${row.frame}]`, text, className: `frame k${kind}${status}` };
  }
  const text = node.secret && !secretsShown.value ? HIDDEN : plain(values.texts[row.node] ?? "…");
  const bad = node.kind === KIND.unknown ? " bad" : node.incomplete ? " torn" : "";
  return { badge: KINDS[node.kind]?.letter ?? "?", label: labelOf(node, values.operation === undefined), text, className: `k${node.kind}${bad}` };
}

function labelOf(node: Node, named: boolean): string {
  if (node.isKey) return "key";
  if (node.isValue) return "value";
  if (node.kind === KIND.arg) return named && node.sibling === 0 ? "command" : `arg ${named ? node.sibling : node.sibling + 1}`;
  if (node.kind === KIND.unknown) return "wrong";
  if (node.kind === KIND.end) return "end";
  if (node.kind === KIND.attribute) return "attributes";
  if (node.kind === KIND.chunk) return `chunk ${node.sibling}`;
  return node.depth === 0 ? "value" : `${node.sibling}`;
}

function createRow(): HTMLElement {
  const row = document.createElement("div");
  row.className = "tree-row";
  row.setAttribute("role", "treeitem");
  row.tabIndex = -1;
  for (const name of ["twist", "type-badge", "label", "value", "range"]) {
    const part = document.createElement("span");
    part.className = name;
    if (name === "twist" || name === "type-badge") part.setAttribute("aria-hidden", "true");
    row.append(part);
  }
  return row;
}

interface Look {
  current: number;
  pointed: number;
  arrived: number;
}

function fillRow(element: HTMLElement, index: number, look: Look): void {
  const row = treeRow(index);
  const said = say(row);
  const [from, to] = rangeOf(row);
  const level = levelOf(row);
  const inside = hasInside(row);
  const current = index === look.current;
  const late = to > look.arrived ? " late" : "";
  const className = `tree-row ${said.className}${current ? " cur" : ""}${index === look.pointed ? " hov" : ""}${late}`;
  if (element.className !== className) element.className = className;
  element.style.setProperty("--level", String(level - 1));
  element.setAttribute("aria-level", String(level));
  element.setAttribute("aria-selected", String(current));
  if (inside) element.setAttribute("aria-expanded", String(isOpen(row)));
  else element.removeAttribute("aria-expanded");
  element.tabIndex = current || (look.current < 0 && index === 0) ? 0 : -1;
  const [twist, badge, label, value, range] = element.children as unknown as HTMLElement[];
  put(twist!, inside ? (isOpen(row) ? "▾" : "▸") : "", "twist");
  put(badge!, said.badge, "type-badge");
  put(label!, said.label, "label");
  put(value!, said.text, "value");
  put(range!, to - from === 1 ? `${from}` : `${from}–${to - 1}`, "range");
}

function mount(host: HTMLElement): () => void {
  let look: Look = { current: -1, pointed: -1, arrived: 0 };
  /** The row with the keyboard's focus, if it is not the deepest one at the cursor. */
  let chosen: TreeRow | undefined;
  const rows = new VirtualRows(host, {
    create: createRow,
    fill: (element, row) => fillRow(element, row, look),
    rendered: () => keepFocus(host, rows.element(Math.max(0, look.current))),
  });
  const rowOf = (event: Event) => {
    const element = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>(".tree-row") : null;
    return element ? Number(element.dataset.row) : undefined;
  };
  const currentRow = () => {
    const index = chosen ? indexOf(chosen) : -1;
    if (index >= 0) return index;
    return rowHolding(cursor.peek());
  };
  const choose = (index: number, focus: boolean) => {
    if (index < 0 || index >= treeRowCount.peek()) return;
    const row = treeRow(index);
    pinRange(...rangeOf(row));
    chosen = row;
    look = { ...look, current: index };
    rows.reveal(index);
    rows.refreshNow();
    if (focus) rows.element(index)?.focus({ preventScroll: true });
  };
  const size = effect(() => rows.size(treeRowCount.value, narrow.value ? ROW_HEIGHT_NARROW : ROW_HEIGHT));
  const paint = effect(() => {
    void treeRows.value;
    void nodesArrived.value;
    void secretsShown.value;
    void cursor.value;
    const pointed = hover.value === null ? -1 : hoverRange.value ? look.pointed : rowHolding(hover.value);
    look = { current: currentRow(), pointed, arrived: arrived.value };
    rows.refresh();
  });
  const reveal = effect(() => {
    void revealed.value;
    chosen = undefined;
    const row = rowHolding(cursor.peek());
    look = { ...look, current: row };
    if (row >= 0) rows.reveal(row);
    rows.refresh();
  });
  const toggle = (index: number) => {
    const row = treeRow(index);
    if (hasInside(row)) setOpen(row, !isOpen(row));
  };
  const onClick = (event: MouseEvent) => {
    const index = rowOf(event);
    if (index === undefined) return;
    if ((event.target as HTMLElement).classList.contains("twist")) toggle(index);
    else choose(index, true);
  };
  const onMove = (event: PointerEvent) => {
    if (event.pointerType === "touch") return;
    const index = rowOf(event);
    const range = index === undefined ? null : rangeOf(treeRow(index));
    look = { ...look, pointed: index ?? -1 };
    preview(range && range[0], range);
    rows.refresh();
  };
  const onLeave = () => preview(null);
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const index = look.current;
    const row = index >= 0 ? treeRow(index) : undefined;
    const open = row !== undefined && hasInside(row) && isOpen(row);
    if (event.key === "ArrowDown") choose(index + 1, true);
    else if (event.key === "ArrowUp") choose(index - 1, true);
    else if (event.key === "ArrowRight" && row && hasInside(row)) open ? choose(index + 1, true) : setOpen(row, true);
    else if (event.key === "ArrowLeft" && row) open ? setOpen(row, false) : choose(parentRow(index), true);
    else if (event.key === "Enter" || event.key === " ") choose(index, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  host.addEventListener("click", onClick);
  host.addEventListener("pointermove", onMove);
  host.addEventListener("pointerleave", onLeave);
  host.addEventListener("keydown", onKey);
  rows.refreshNow();
  return () => {
    host.removeEventListener("click", onClick);
    host.removeEventListener("pointermove", onMove);
    host.removeEventListener("pointerleave", onLeave);
    host.removeEventListener("keydown", onKey);
    size();
    paint();
    reveal();
    rows.destroy();
  };
}

/** Puts the keyboard's focus on the row at the cursor. */
export function focusTree(): void {
  const tree = document.querySelector<HTMLElement>(".tree-rows");
  (tree?.querySelector<HTMLElement>(".tree-row[tabindex='0']:not([hidden])") ?? tree)?.focus({ preventScroll: true });
}

export function TreePane() {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => mount(host.current!), []);
  useSignalEffect(() => {
    host.current?.classList.toggle("empty", treeRowCount.value === 0);
  });
  return <div ref={host} class="tree-rows rows" role="tree" aria-label="Values" />;
}
