// The text pane: the same bytes as lines of characters. A line ends after LF, or at the width of
// the pane.

import { computed, effect, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { cursor, moveTo, preview, revealed } from "../state/cursor";
import { bytes, length } from "../state/document";
import { markAt, marksReady } from "../state/marks";
import { narrow } from "../state/view";
import { escapedByte } from "../words/chars";
import { type Brush, classesOf, put, takeBrush } from "./paint";
import { VirtualRows } from "./virtual";

const ROW_HEIGHT = 24;
const ROW_HEIGHT_NARROW = 44;

/** The most columns of a line. */
const lineColumns = signal(64);

/** The number of columns of each byte. */
const COLUMNS = Uint8Array.from({ length: 256 }, (_, byte) => escapedByte(byte).length);

/** The offsets at which lines begin, and at last the document's length. */
const lines = computed(() => {
  const data = bytes.value;
  const most = lineColumns.value;
  let starts = new Uint32Array(1024);
  let count = 1;
  let start = 0;
  let column = 0;
  // A plain loop on purpose: it runs over every byte before the first paint.
  for (let at = 0; at < data.length; ) {
    const byte = data[at]!;
    const len = byte < 0x80 ? 1 : charBytes(data, at, data.length);
    // Characters of three bytes and more may be twice as wide as others.
    const columns = len === 1 ? COLUMNS[byte]! : len === 2 ? 1 : 2;
    const full = column + columns > most;
    if (!full) {
      at += len;
      column += columns;
      if (byte !== 0x0a) continue;
    }
    start = at;
    column = 0;
    if (count + 1 >= starts.length) {
      const grown = new Uint32Array(starts.length * 4);
      grown.set(starts);
      starts = grown;
    }
    starts[count++] = start;
  }
  if (start < data.length || count === 1) starts[count++] = data.length;
  return starts.subarray(0, count);
});

function lineOf(starts: Uint32Array, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

/** The length of the multi-byte UTF-8 character that begins at `at`; 1 if there is none. */
function charBytes(data: Uint8Array, at: number, end: number): number {
  const first = data[at]!;
  const len = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  if (first >= 0xf5 || len === 1 || at + len > end) return 1;
  for (let next = 1; next < len; next += 1) if ((data[at + next]! & 0xc0) !== 0x80) return 1;
  return len;
}

const decoder = new TextDecoder();

function fillLine(row: HTMLElement, index: number, brush: Brush): void {
  const starts = lines.peek();
  const data = bytes.peek();
  const from = starts[index]!;
  const to = starts[index + 1] ?? from;
  while (row.childElementCount < to - from) row.append(document.createElement("span"));
  let hidden = 0;
  for (let offset = 0; offset < row.childElementCount; offset += 1) {
    const cell = row.children[offset] as HTMLElement;
    const at = from + offset;
    if (at >= to) {
      put(cell, "", "none");
      continue;
    }
    const wide = hidden === 0 ? charBytes(data, at, to) : 1;
    const text = hidden > 0 ? "" : wide > 1 ? decoder.decode(data.subarray(at, at + wide)) : escapedByte(data[at]!);
    hidden = hidden > 0 ? hidden - 1 : wide - 1;
    put(cell, text, classesOf(at, markAt(at), brush, from, to));
  }
}

function byteOf(event: Event): number | undefined {
  const cell = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>(".text-row > span") : null;
  const row = cell?.parentElement;
  if (!cell || !row) return undefined;
  const at = lines.peek()[Number(row.dataset.row)]! + [...row.children].indexOf(cell);
  return at < length.peek() ? at : undefined;
}

function mount(host: HTMLElement): () => void {
  let brush: Brush;
  const rows = new VirtualRows(host, {
    create: () => {
      const row = document.createElement("div");
      row.className = "text-row";
      return row;
    },
    fill: (row, index) => fillLine(row, index, brush),
    viewed: (first, last) => {
      const starts = lines.peek();
      void marksReady(starts[first] ?? 0, starts[Math.min(last + 1, starts.length - 1)] ?? 0);
    },
  });
  const measure = new ResizeObserver(() => {
    if (host.clientWidth > 0) lineColumns.value = Math.max(16, Math.min(96, Math.floor((host.clientWidth - 28) / 9)));
  });
  measure.observe(host);
  const size = effect(() => rows.size(Math.max(1, lines.value.length - 1), narrow.value ? ROW_HEIGHT_NARROW : ROW_HEIGHT));
  const paint = effect(() => {
    void lines.value;
    brush = takeBrush();
    rows.refresh();
  });
  const reveal = effect(() => {
    void revealed.value;
    rows.reveal(lineOf(lines.peek(), cursor.peek()));
  });
  const onClick = (event: MouseEvent) => {
    const at = byteOf(event);
    if (at !== undefined) moveTo(at, event.shiftKey);
  };
  const onMove = (event: PointerEvent) => {
    if (event.pointerType !== "touch") preview(byteOf(event) ?? null);
  };
  const onLeave = () => preview(null);
  host.addEventListener("click", onClick);
  host.addEventListener("pointermove", onMove);
  host.addEventListener("pointerleave", onLeave);
  rows.refreshNow();
  return () => {
    host.removeEventListener("click", onClick);
    host.removeEventListener("pointermove", onMove);
    host.removeEventListener("pointerleave", onLeave);
    measure.disconnect();
    size();
    paint();
    reveal();
    rows.destroy();
  };
}

export function TextPane() {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => mount(host.current!), []);
  return <div ref={host} class="text-lines rows" tabIndex={0} role="group" aria-label="Text of the bytes" />;
}
