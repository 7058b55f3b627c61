// What two sides said to each other: a row for each request, reply, push and note.

import { useEffect, useRef } from "preact/hooks";
import { counted } from "../words/chars";

/** A row of a transcript. */
export interface Said {
  key: number;
  /** None for what concerns no connection by itself. */
  connection: { readonly name: string } | null;
  way: "request" | "reply" | "push" | "note";
  /** When, for people; where it matters. */
  time?: string;
  lines: readonly string[];
  /** What is unusual about it. */
  badge?: string;
  bytes: Uint8Array;
  isError: boolean;
}

const WAYS = { request: "›", reply: "", push: "push", note: "" };

function Row<T extends Said>({ entry, open }: { entry: T; open(entry: T): void }) {
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

interface TranscriptProps<T extends Said> {
  entries: readonly T[];
  /** Shows a row's bytes in the panes. */
  open(entry: T): void;
  /** Whether screen readers tell of new rows by themselves. */
  told: boolean;
}

/** The rows, laid out from the end and kept there. */
export function Transcript<T extends Said>({ entries, open, told }: TranscriptProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const last = entries.at(-1)?.key;
  useEffect(() => {
    // The list is laid out from its end, which is where it is scrolled to.
    list.current!.scrollTop = 0;
  }, [last]);
  return (
    <div ref={list} class="transcript" role="log" aria-live={told ? "polite" : "off"} aria-label="What was said" tabIndex={0}>
      <ol>
        {entries.map((entry) => (
          <Row key={entry.key} entry={entry} open={open} />
        ))}
      </ol>
    </div>
  );
}
