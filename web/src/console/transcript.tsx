// A transcript: one row for each request, reply, push and note.

import { useEffect, useRef } from "preact/hooks";
import { counted } from "../words/chars";

/** A row of a transcript. */
export interface TranscriptRow {
  key: number;
  /** Null for a row that belongs to no single connection. */
  connection: { readonly name: string } | null;
  way: "request" | "reply" | "push" | "note";
  /** The time as text, where it matters. */
  time?: string;
  lines: readonly string[];
  /** What is unusual about it. */
  badge?: string;
  bytes: Uint8Array;
  isError: boolean;
}

const WAYS = { request: "›", reply: "", push: "push", note: "" };

function Row<T extends TranscriptRow>({ entry, open }: { entry: T; open(entry: T): void }) {
  const { connection, way, time, lines, badge, bytes, isError } = entry;
  return (
    <li class={`entry ${way} ${isError ? "is-error" : ""}`}>
      <span class="entry-name">{connection?.name ?? ""}</span>
      <div class="entry-words">
        {way !== "note" && <span class="entry-way">{WAYS[way]}</span>}
        {lines.map((text, index) => (
          <div key={index} class="entry-line">
            {text}
          </div>
        ))}
        {badge !== undefined && <span class="badge">{badge}</span>}
      </div>
      {time !== undefined && <span class="entry-time">{time}</span>}
      {bytes.length > 0 && (
        <button type="button" class="link entry-bytes" onClick={() => open(entry)} title="See these bytes in the panes">
          <span aria-hidden="true">{bytes.length.toLocaleString("en")} B</span>
          <span class="sr-only">{counted(bytes.length, "byte")}</span>
        </button>
      )}
    </li>
  );
}

interface TranscriptProps<T extends TranscriptRow> {
  entries: readonly T[];
  /** Shows a row's bytes in the panes. */
  open(entry: T): void;
  /** Whether screen readers announce new rows automatically. */
  announced: boolean;
}

/** The rows, laid out from the end and scrolled to the end. */
export function Transcript<T extends TranscriptRow>({ entries, open, announced }: TranscriptProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const last = entries.at(-1)?.key;
  useEffect(() => {
    // The list is laid out from its end, to which it is scrolled.
    list.current!.scrollTop = 0;
  }, [last]);
  return (
    <div ref={list} class="transcript" role="log" aria-live={announced ? "polite" : "off"} aria-label="What was said" tabIndex={0}>
      <ol>
        {entries.map((entry) => (
          <Row key={entry.key} entry={entry} open={open} />
        ))}
      </ol>
    </div>
  );
}
