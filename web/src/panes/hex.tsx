// The hex pane: a grid of bytes with their characters. Rows are virtual and filled by hand; no
// object is created per byte.

import { effect, signal, untracked, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { anchor, cursor, moveTo, preview, revealed } from "../state/cursor";
import { bytes, length, replace } from "../state/document";
import { markAt, marksReady } from "../state/marks";
import { torn } from "../state/problems";
import { toggleCut } from "../state/reads";
import { announce, narrow } from "../state/view";
import { glyph, hex, offsetHex } from "../words/chars";
import { type Brush, classesOf, put, takeBrush } from "./paint";
import { VirtualRows, keepFocus } from "./virtual";

/** The number of bytes per row. */
export const columns = signal(16);
/** The edit state: null if typing does not edit, the first digit typed for a byte, or -1 before it. */
export const editing = signal<number | null>(null);

/** The number of rows that fit into the pane, for steps of a page. */
export const view = { rows: 16 };

/** The height of a row and the least width for sixteen bytes, in CSS pixels. */
const ROW_HEIGHT = 26;
const ROW_HEIGHT_NARROW = 58;
const WIDE_MIN = 560;

interface RowParts {
  offset: HTMLElement;
  cells: HTMLElement[];
  chars: HTMLElement[];
}
const parts = new WeakMap<HTMLElement, RowParts>();

function createRow(count: number): HTMLElement {
  const row = document.createElement("div");
  row.className = "hex-row";
  row.setAttribute("role", "row");
  const part = (role: string, className: string, parent: HTMLElement) => {
    const element = document.createElement("span");
    if (role) element.setAttribute("role", role);
    element.className = className;
    parent.append(element);
    return element;
  };
  const offset = part("rowheader", "hex-offset", row);
  const cells = Array.from({ length: count }, (_, column) => {
    const cell = part("gridcell", "b", row);
    cell.dataset.column = String(column);
    cell.setAttribute("aria-colindex", String(column + 2));
    cell.tabIndex = -1;
    return cell;
  });
  const text = part("", "hex-chars", row);
  text.setAttribute("aria-hidden", "true");
  const chars = cells.map((_, column) => {
    const char = part("", "b", text);
    char.dataset.column = String(column);
    return char;
  });
  parts.set(row, { offset, cells, chars });
  return row;
}

/** The most missing bytes shown. */
const MISSING_MAX = 64;

function missingShown(): number {
  return Math.min(torn.value?.need ?? 0, MISSING_MAX);
}

function fillRow(row: HTMLElement, index: number, count: number, brush: Brush): void {
  const { offset, cells, chars } = parts.get(row)!;
  const from = index * count;
  const data = bytes.peek();
  put(offset, offsetHex(from), "hex-offset");
  row.setAttribute("aria-rowindex", String(index + 1));
  for (let column = 0; column < count; column += 1) {
    const at = from + column;
    const cell = cells[column]!;
    const char = chars[column]!;
    const here = at === brush.cursor;
    if (at < data.length) {
      const classes = classesOf(at, markAt(at), brush, from, from + count);
      const digit = editing.peek();
      put(cell, here && digit !== null && digit >= 0 ? `${digit.toString(16).toUpperCase()}_` : hex(data[at]!), here && digit !== null ? `${classes} edit` : classes);
      put(char, glyph(data[at]!), classes);
    } else {
      // The cursor may be after the last byte: bytes are added there. The missing bytes of an
      // incomplete frame are shown there.
      const missing = at < data.length + missingShown();
      put(cell, here || missing ? "··" : "", here ? "b cur end" : missing ? "b missing" : "b none");
      put(char, "", "b none");
    }
    cell.tabIndex = here ? 0 : -1;
    if (here) cell.setAttribute("aria-selected", "true");
    else cell.removeAttribute("aria-selected");
  }
}

/** The offset of the byte that an event belongs to. */
function byteOf(event: Event, count: number): number | undefined {
  const cell = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>("[data-column]") : null;
  const row = cell?.closest<HTMLElement>(".hex-row");
  if (!cell || !row) return undefined;
  const at = Number(row.dataset.row) * count + Number(cell.dataset.column);
  return at < length.peek() ? at : undefined;
}

/** Types a digit over the byte at the cursor; two digits make a byte. */
export function typeDigit(digit: number): void {
  const first = editing.peek();
  if (first === null) return;
  if (first < 0) {
    editing.value = digit;
    return;
  }
  const at = cursor.peek();
  const old = at < length.peek() ? 1 : 0;
  editing.value = -1;
  void replace(at, old, Uint8Array.of(first * 16 + digit)).then(() => moveTo(at + 1));
}

function onEditKey(event: KeyboardEvent): void {
  if (editing.peek() === null || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[0-9a-fA-F]$/.test(event.key)) {
    typeDigit(Number.parseInt(event.key, 16));
  } else if (event.key === "Escape" || event.key === "Enter") {
    editing.value = null;
    announce("editing ended");
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

function mount(host: HTMLElement): () => void {
  let rows: VirtualRows | undefined;
  let count = 0;
  let brush: Brush;
  let dragging = false;

  const cellAt = (offset: number) => {
    const row = rows!.element(Math.floor(offset / count));
    return row && parts.get(row)?.cells[offset % count];
  };
  const measure = new ResizeObserver(() => {
    columns.value = host.clientWidth >= WIDE_MIN ? 16 : 8;
    if (rows) view.rows = rows.rowsInView;
  });
  measure.observe(host);

  const build = effect(() => {
    const wanted = columns.value;
    if (wanted !== count) {
      rows?.destroy();
      count = wanted;
      host.style.setProperty("--columns", String(count));
      host.setAttribute("aria-colcount", String(count + 1));
      rows = new VirtualRows(host, {
        create: () => createRow(count),
        fill: (element, row) => fillRow(element, row, count, brush),
        viewed: (first, last) => {
          void marksReady(first * count, Math.min((last + 1) * count, length.peek()));
          view.rows = rows!.rowsInView;
        },
        rendered: () => keepFocus(host, cellAt(brush.cursor)),
      });
    }
    // One position more than there are bytes.
    const total = Math.floor((length.value + Math.max(0, missingShown() - 1)) / count) + 1;
    host.setAttribute("aria-rowcount", String(total));
    rows!.size(total, narrow.value ? ROW_HEIGHT_NARROW : ROW_HEIGHT);
  });
  const paint = effect(() => {
    void bytes.value;
    void editing.value;
    void torn.value;
    void columns.value;
    brush = takeBrush();
    rows!.refresh();
  });
  const reveal = effect(() => {
    void revealed.value;
    void columns.value;
    const row = Math.floor(cursor.peek() / count);
    rows!.reveal(row);
    if (host.contains(document.activeElement)) {
      brush = untracked(takeBrush);
      rows!.refreshNow();
    }
  });

  const listeners: [string, (event: never) => void][] = [
    ["pointerdown", (event: PointerEvent) => {
      const at = byteOf(event, count);
      if (at === undefined || event.button !== 0) return;
      if (event.altKey) {
        toggleCut(at);
        return;
      }
      editing.value = null;
      dragging = event.pointerType === "mouse";
      if (event.pointerType === "mouse") moveTo(at, event.shiftKey);
    }],
    ["click", (event: MouseEvent) => {
      const at = byteOf(event, count);
      if (at !== undefined && !event.altKey && !dragging && anchor.peek() === null && at !== cursor.peek()) moveTo(at, event.shiftKey);
      dragging = false;
    }],
    ["pointermove", (event: PointerEvent) => {
      if (event.pointerType === "touch") return;
      const at = byteOf(event, count);
      if (dragging && event.buttons === 1 && at !== undefined && at !== cursor.peek()) moveTo(at, true);
      else if (event.buttons === 0) preview(at ?? null);
    }],
    ["pointerleave", () => preview(null)],
    ["dblclick", () => {
      editing.value = -1;
    }],
    ["keydown", onEditKey],
  ];
  for (const [name, listener] of listeners) host.addEventListener(name, listener as EventListener);

  rows!.refreshNow();
  return () => {
    for (const [name, listener] of listeners) host.removeEventListener(name, listener as EventListener);
    measure.disconnect();
    build();
    paint();
    reveal();
    rows?.destroy();
  };
}

/** Puts the keyboard's focus on the byte at the cursor. */
export function focusHex(): void {
  const grid = document.querySelector<HTMLElement>(".hex-grid");
  (grid?.querySelector<HTMLElement>(".hex-row:not([hidden]) [tabindex='0']") ?? grid)?.focus({ preventScroll: true });
}

export function HexPane() {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => mount(host.current!), []);
  useSignalEffect(() => {
    host.current?.classList.toggle("editing", editing.value !== null);
  });
  return <div ref={host} class="hex-grid rows" role="grid" aria-label="Bytes" aria-describedby="hex-help" />;
}
