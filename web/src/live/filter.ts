// The filter of the live view: one connection, frames that match a query, and no noise.

import { computed, effect, signal } from "@preact/signals";
import { engine } from "../state/document";
import type { Peer } from "./peers";
import { type Chunk, type Row, rows } from "./rows";

/** The most chunks examined in one batch. */
const BATCH_CHUNKS_MAX = 1_000;

/** The typed query. */
export const query = signal("");
/** The query in force: the last typed one that is valid. */
export const asked = signal("");
/** Why the typed query is invalid. */
export const queryError = signal("");
/** The connection whose rows are shown; null for all. */
export const onlyPeer = signal<Peer | null>(null);
/** Whether to hide requests with little information, and their replies. */
export const quiet = signal(false);

/** The rows at the time when the view was paused. */
export const frozen = signal<readonly Row[] | null>(null);

/** Increases when rows are checked again. */
const rechecked = signal(0);

function isShown(row: Row): boolean {
  if (onlyPeer.value && row.connection !== onlyPeer.value) return false;
  if (!row.frame) return row.isError || asked.value === "";
  if (quiet.value && (row.isNoise || row.partner?.isNoise)) return false;
  return row.hit || row.partner?.hit === true;
}

/** The rows to show. */
export const shown = computed(() => {
  void rechecked.value;
  return (frozen.value ?? rows.value).filter(isShown);
});

/** The chunks of some rows, each once, in order. */
export function chunksOf(some: readonly Row[]): Chunk[] {
  return [...new Set(some.flatMap(({ frame }) => (frame ? [frame.chunk] : [])))];
}

let asking = 0;
effect(() => {
  const id = ++asking;
  const typed = query.value.trim();
  void engine.filter(typed, 0).then(
    () => {
      if (id !== asking) return;
      queryError.value = "";
      asked.value = typed;
    },
    (error: unknown) => {
      if (id === asking) queryError.value = error instanceof Error ? error.message : String(error);
    },
  );
});

effect(() => void rerunQuery(asked.value));

/** Runs the query again on the kept chunks. */
async function rerunQuery(text: string): Promise<void> {
  const all = [...(frozen.peek() ?? []), ...rows.peek()];
  const byChunk = Map.groupBy(all.filter(({ frame }) => frame), ({ frame }) => frame!.chunk);
  const chunks = [...byChunk.keys()];
  for (let from = 0; from < chunks.length; from += BATCH_CHUNKS_MAX) {
    const some = chunks.slice(from, from + BATCH_CHUNKS_MAX);
    const skimmed = await engine.skim(some.map(({ bytes, mode }) => ({ bytes, mode })), text);
    if (asked.peek() !== text) return;
    some.forEach((chunk, index) => {
      const hits = new Set(skimmed[index]!.hits);
      for (const row of byChunk.get(chunk)!) row.hit = hits.has(row.frame!.index);
    });
    rechecked.value += 1;
  }
}
