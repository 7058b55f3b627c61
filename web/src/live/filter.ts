// Which rows are shown: of one connection, of what the engine finds for a query, without noise.

import { computed, effect, signal } from "@preact/signals";
import { engine } from "../state/document";
import type { Peer } from "./peers";
import { type Chunk, type Row, rows } from "./rows";

/** Chunks that are looked at in one turn. */
const TURN_CHUNKS_MAX = 1_000;

/** What was typed. */
export const query = signal("");
/** What is asked for: what was typed last and can be asked. */
export const asked = signal("");
/** Why what is typed cannot be asked. */
export const queryError = signal("");
/** The connection whose rows are shown; all of them if none. */
export const onlyPeer = signal<Peer | null>(null);
/** Whether requests that say little, and their replies, are left out. */
export const quiet = signal(false);

/** The rows as they stood when the view was paused. */
export const frozen = signal<readonly Row[] | null>(null);

/** Rises when rows are looked at anew. */
const looked = signal(0);

function isShown(row: Row): boolean {
  if (onlyPeer.value && row.connection !== onlyPeer.value) return false;
  if (!row.frame) return row.isError || asked.value === "";
  if (quiet.value && (row.isNoise || row.partner?.isNoise)) return false;
  return row.hit || row.partner?.hit === true;
}

/** The rows that are shown. */
export const shown = computed(() => {
  void looked.value;
  return (frozen.value ?? rows.value).filter(isShown);
});

/** The chunks of some rows, each once, in their order. */
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

effect(() => void lookAnew(asked.value));

/** Asks the engine again about what is kept. */
async function lookAnew(text: string): Promise<void> {
  const all = [...(frozen.peek() ?? []), ...rows.peek()];
  const byChunk = Map.groupBy(all.filter(({ frame }) => frame), ({ frame }) => frame!.chunk);
  const chunks = [...byChunk.keys()];
  for (let from = 0; from < chunks.length; from += TURN_CHUNKS_MAX) {
    const some = chunks.slice(from, from + TURN_CHUNKS_MAX);
    const skimmed = await engine.skim(some.map(({ bytes, mode }) => ({ bytes, mode })), text);
    if (asked.peek() !== text) return;
    some.forEach((chunk, index) => {
      const hits = new Set(skimmed[index]!.hits);
      for (const row of byChunk.get(chunk)!) row.hit = hits.has(row.frame!.index);
    });
    looked.value += 1;
  }
}
