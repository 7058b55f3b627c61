// The gallery of samples, one card each. Open on the first visit.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { load, title } from "../state/document";
import { galleryOpen } from "../state/view";
import { SAMPLES, type Sample, unescape } from "../samples/samples";
import { Icon } from "./icons";

/** The distance from one card to the next, in pixels. */
const CARD_STEP = 204;

export function openSample(sample: Sample): Promise<void> {
  return load(unescape(sample.text), sample.name, sample.mode);
}

function Card({ sample }: { sample: Sample }) {
  const current = title.value === sample.name;
  return (
    <li>
      <button type="button" class={`sample ${current ? "current" : ""}`} aria-current={current ? "true" : undefined} onClick={() => void openSample(sample)}>
        <span class="sample-head">
          <span class="sample-name">{sample.name}</span>
          <span class={`sample-tag t-${sample.tag}`}>{sample.tag}</span>
        </span>
        <span class="sample-note">{sample.note}</span>
        <code class="sample-text" aria-hidden="true">
          {sample.text.length > 40 ? `${sample.text.slice(0, 40)}…` : sample.text}
        </code>
      </button>
    </li>
  );
}

export function Gallery() {
  const list = useRef<HTMLUListElement>(null);
  const isFirst = title.peek() === SAMPLES[0]!.name;
  // Cards out of view are created after the visible ones are painted.
  const count = useSignal(isFirst ? Math.ceil(innerWidth / CARD_STEP) : SAMPLES.length);
  useEffect(() => {
    count.value = SAMPLES.length;
    // The first one is in view; asking for its position would force a layout of the whole page.
    if (isFirst) return;
    const current = list.current?.querySelector<HTMLElement>(".current");
    if (current && list.current) list.current.scrollLeft = Math.max(0, current.offsetLeft - list.current.offsetLeft - 40);
  }, []);
  return (
    <section class="gallery" aria-label="Samples">
      <ul class="samples" ref={list}>
        {SAMPLES.slice(0, count.value).map((sample) => (
          <Card key={sample.id} sample={sample} />
        ))}
      </ul>
      <button
        type="button"
        class="btn icon-only gallery-close"
        aria-label="Close the samples"
        title="Close the samples  (G)"
        onClick={() => {
          galleryOpen.value = false;
        }}
      >
        <Icon name="close" />
      </button>
    </section>
  );
}
