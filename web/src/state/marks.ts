// A cache of the marks of the bytes in view, fetched page by page and kept until the document
// changes.

import { effect, signal } from "@preact/signals";
import { type Mark, MARK_WORDS, markRow, rowAt } from "../engine/tables";
import { engine, length, version } from "./document";

/** The number of bytes per page. */
const PAGE_BYTES = 4096;
/** The most pages kept. */
const PAGES_MAX = 64;

const pages = new Map<number, Uint32Array>();
const wanted = new Map<number, Promise<void>>();

/** Increases when marks arrive or become stale; read it to be notified. */
export const marksArrived = signal(0);

/** The roles that have occurred in this document, as bits. */
export const rolesSeen = signal(0);

effect(() => {
  void version.value;
  rolesSeen.value = 0;
  pages.clear();
  wanted.clear();
  marksArrived.value = marksArrived.peek() + 1;
});

function fetchPage(page: number): Promise<void> {
  const under = wanted.get(page);
  if (under) return under;
  const asked = version.peek();
  const from = page * PAGE_BYTES;
  const fetched = engine.marks(from, Math.min(from + PAGE_BYTES, length.peek())).then((rows) => {
    if (asked !== version.peek()) return;
    wanted.delete(page);
    if (pages.size >= PAGES_MAX) pages.delete(pages.keys().next().value!);
    pages.set(page, rows);
    let seen = rolesSeen.peek();
    for (let at = 0; at < rows.length; at += MARK_WORDS) seen |= 1 << (rows[at]! & 0xff);
    rolesSeen.value = seen;
    marksArrived.value += 1;
  });
  const settled = fetched.catch(() => {
    // The document was replaced; its successor fetches again.
    wanted.delete(page);
  });
  wanted.set(page, settled);
  return settled;
}

/** Fetches the marks of a range; settles when they have arrived. */
export async function marksReady(from: number, to: number): Promise<void> {
  const first = Math.floor(from / PAGE_BYTES);
  const last = Math.floor(Math.max(from, to - 1) / PAGE_BYTES);
  const missing = [];
  for (let page = first; page <= last; page += 1) if (!pages.has(page)) missing.push(fetchPage(page));
  await Promise.all(missing);
}

/** The mark that holds a byte, if it is cached; otherwise fetches it. */
export function markAt(offset: number): Mark | undefined {
  if (offset < 0 || offset >= length.peek()) return undefined;
  const rows = pages.get(Math.floor(offset / PAGE_BYTES));
  if (!rows) {
    void fetchPage(Math.floor(offset / PAGE_BYTES));
    return undefined;
  }
  const mark = rows.length === 0 ? undefined : markRow(rows, rowAt(rows, MARK_WORDS, 1, offset));
  return mark && mark.start <= offset && offset < mark.end ? mark : undefined;
}
