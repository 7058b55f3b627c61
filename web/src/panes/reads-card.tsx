// The card of chunk knives: cuts the bytes into reads, feeds them one by one, and shows the
// decoder's results.

import { computed, useSignal } from "@preact/signals";
import { moveTo } from "../state/cursor";
import { length } from "../state/document";
import { CUTS_MAX, cutAt, cutEvery, cutRandomly, cuts, describeRead, fed, readCount, readOf } from "../state/reads";
import { counted, grouped } from "../words/chars";
import { ActionButton } from "./button";

/** The most reads listed. */
const LISTED_MAX = 200;

/** The listed reads: those around the one fed last. */
const listed = computed(() => {
  const around = Math.max(0, (fed.value ?? 0) - LISTED_MAX / 2);
  const from = Math.min(around, Math.max(0, readCount.value - LISTED_MAX));
  return { from, to: Math.min(readCount.value, from + LISTED_MAX) };
});

function Presets() {
  const seed = useSignal(1);
  return (
    <div class="presets" role="group" aria-label="Cut into reads">
      <button type="button" class="chip" onClick={() => cutEvery(1)}>
        1 B
      </button>
      <button type="button" class="chip" onClick={() => cutEvery(7)}>
        7 B
      </button>
      <button type="button" class="chip" title="1460 bytes: what one TCP segment carries over Ethernet" onClick={() => cutEvery(1460)}>
        MSS 1460
      </button>
      <button
        type="button"
        class="chip"
        onClick={() => {
          cutRandomly(seed.value);
          seed.value += 1;
        }}
      >
        random, seed {seed}
      </button>
      <button type="button" class="chip" disabled={cuts.value.length === 0} onClick={() => cutAt([])}>
        none
      </button>
    </div>
  );
}

function ReadRow({ index }: { index: number }) {
  const read = readOf(index);
  const state = fed.value === null || index < fed.value ? "is-fed" : "un-fed";
  const last = fed.value === index + 1;
  return (
    <li class={`read ${read.outcome} ${state} ${last ? "last" : ""}`} aria-current={last ? "step" : undefined}>
      <button type="button" onClick={() => moveTo(read.from)}>
        <span class="read-number">{index + 1}</span>
        <span class="read-range">
          {read.to - read.from === 1 ? read.from : `${read.from}–${read.to - 1}`}
        </span>
        <span class="read-words">
          {state === "un-fed" ? `${counted(read.to - read.from, "byte")}, not fed yet` : describeRead(read)}
          {state === "is-fed" && read.tail > 0 && read.outcome === "more" && <span class="read-tail">{counted(read.tail, "byte")} wait in the buffer</span>}
        </span>
      </button>
    </li>
  );
}

export function ReadsCard() {
  const total = cuts.value.length + 1;
  const { from, to } = listed.value;
  return (
    <section class="card reads" aria-label="Reads">
      <h2>
        Reads <span class="dim">{cuts.value.length === 0 ? "one piece" : counted(total, "piece")}</span>
      </h2>
      <p class="dim">A socket hands bytes over in pieces of any size. Cut anywhere and see what the decoder makes of each piece.</p>
      <div class="row">
        <ActionButton id="cut" icon="knife">
          Cut here
        </ActionButton>
        <ActionButton id="feed" icon="feed">
          {fed.value === null ? "Feed from the start" : "Feed next chunk"}
        </ActionButton>
        <ActionButton id="unfeed" icon="undo" />
      </div>
      <Presets />
      {fed.value !== null && (
        <p class="fed" role="status">
          <b>{fed}</b> of {total} fed.{" "}
          {fed.value > 0 && fed.value <= readCount.value ? `${describeRead(readOf(fed.value - 1))}.` : "Nothing has arrived yet."}
        </p>
      )}
      {from > 0 && <p class="dim">{counted(from, "earlier piece")} not listed</p>}
      <ol class="read-list" aria-label="What the decoder says to each piece">
        {Array.from({ length: to - from }, (_, index) => (
          <ReadRow key={from + index} index={from + index} />
        ))}
      </ol>
      {to < readCount.value && <p class="dim">{counted(readCount.value - to, "later piece")} not listed</p>}
      {cuts.value.length >= CUTS_MAX && <p class="dim">Only the first {grouped(CUTS_MAX)} cuts are kept.</p>}
      {length.value < 2 && <p class="dim">There is nothing to cut.</p>}
    </section>
  );
}
