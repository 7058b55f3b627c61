// A row for a stream of a capture or of a live server; each of its two directions opens in the
// panes.

import type { ComponentChildren } from "preact";
import { size } from "../words/chars";
import type { Direction } from "./state";

const WAYS = ["requests", "replies"] as const;

interface StreamRowProps {
  /** The names of client and server. */
  ends: ComponentChildren;
  /** The number of bytes of each direction. */
  bytes: readonly [number, number];
  chosen: boolean;
  /** The direction that is the document. */
  shown: Direction | null;
  open(direction: Direction): void;
  children: ComponentChildren;
}

export function StreamRow({ ends, bytes, chosen, shown, open, children }: StreamRowProps) {
  return (
    <li class={`stream ${chosen ? "chosen" : ""}`}>
      <div class="stream-ends">{ends}</div>
      <div class="row">
        {([0, 1] as const).map((direction) => (
          <button key={direction} type="button" class="chip" aria-pressed={shown === direction} disabled={bytes[direction] === 0} onClick={() => open(direction)}>
            {WAYS[direction]} {size(bytes[direction])}
          </button>
        ))}
        {children}
      </div>
    </li>
  );
}
