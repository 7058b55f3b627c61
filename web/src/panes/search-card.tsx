// The card that finds bytes and text, and filters frames by command, type, key and size.

import { useEffect, useRef } from "preact/hooks";
import { HITS_MAX, SEARCH_KINDS, currentHit, found, goToHit, query, rangeOf, searchKind } from "../state/search";
import { frameOf, version } from "../state/document";
import { lineOf, nodesArrived } from "../state/nodes";
import { secretsShown } from "../state/view";
import { counted, grouped } from "../words/chars";
import { ActionButton } from "./button";

/** The most hits listed. */
const LISTED_MAX = 100;

function Kinds() {
  return (
    <div class="presets" role="radiogroup" aria-label="Look for">
      {SEARCH_KINDS.map(({ id, label }) => (
        <label key={id} class="chip choice">
          <input
            type="radio"
            name="search-kind"
            class="sr-only"
            checked={searchKind.value === id}
            onChange={() => {
              searchKind.value = id;
            }}
          />
          {label}
        </label>
      ))}
    </div>
  );
}

function Count() {
  const { at, error } = found.value;
  if (error !== "") return <p class="search-count wrong">{error}</p>;
  if (query.value === "") return <p class="search-count dim">Nothing asked yet.</p>;
  if (at.length === 0) return <p class="search-count">Not found.</p>;
  const capped = at.length >= HITS_MAX ? " (no more are looked for)" : "";
  return (
    <p class="search-count">
      {currentHit.value < 0 ? "" : `${grouped(currentHit.value + 1)} of `}
      {counted(at.length, "hit")}
      {capped}
    </p>
  );
}

function Hit({ hit }: { hit: number }) {
  const [from] = rangeOf(hit);
  const { kind, at } = found.value;
  const frame = kind === "frames" ? at[hit]! : undefined;
  const hidden = frame !== undefined && frameOf(frame).secret && !secretsShown.value;
  return (
    <li>
      <button type="button" class="row-link hit" aria-current={hit === currentHit.value ? "true" : undefined} onClick={() => goToHit(hit)}>
        <span class="hit-at">byte {grouped(from)}</span>
        {frame !== undefined && <span class="hit-line">{hidden ? "••••" : (lineOf(frame) ?? "")}</span>}
      </button>
    </li>
  );
}

export function SearchCard() {
  void version.value;
  void nodesArrived.value;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const { at } = found.value;
  const hint = SEARCH_KINDS.find((kind) => kind.id === searchKind.value)!.hint;
  const from = Math.max(0, Math.min(currentHit.value - LISTED_MAX / 2, at.length - LISTED_MAX));
  const listed = Math.min(at.length, LISTED_MAX);
  return (
    <section class="card search" aria-label="Find">
      <h2>Find</h2>
      <Kinds />
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (at.length > 0) goToHit((currentHit.value + 1) % at.length);
        }}
      >
        <input
          ref={field}
          class="field grow"
          type="search"
          id="search-field"
          aria-label="What to find"
          spellcheck={false}
          autocomplete="off"
          placeholder={hint}
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
          }}
        />
        <ActionButton id="hit-back" icon="byte-back" />
        <ActionButton id="hit-on" icon="byte-on" />
      </form>
      <div role="status">
        <Count />
      </div>
      {searchKind.value === "frames" && (
        <p class="dim">
          All words must hold: a command or type (<code>get</code>, <code>map</code>, <code>push</code>), <code>key:glob</code>, <code>bytes&gt;n</code>, <code>bytes&lt;n</code>,{" "}
          <code>is:bad</code>, <code>is:torn</code>.
        </p>
      )}
      {at.length > 0 && (
        <ol class="hits" start={from + 1} aria-label="Hits">
          {Array.from({ length: listed }, (_, index) => (
            <Hit key={from + index} hit={from + index} />
          ))}
        </ol>
      )}
    </section>
  );
}
