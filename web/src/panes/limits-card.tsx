// The card of limits: the server's reply to the frame at the cursor, under each preset.

import { effect, signal } from "@preact/signals";
import type { Verdict } from "../generated/types";
import { LIMITS, MODES } from "../engine/tables";
import { here } from "../state/cursor";
import { engine, limits, readUnder, shape, version } from "../state/document";
import { dockTab } from "../state/view";

const verdicts = signal<readonly Verdict[] | null>(null);

// Requested only while the card is open: the frame is decoded once per preset.
effect(() => {
  const asked = version.value;
  const frame = here.value.frame?.index;
  if (dockTab.value !== "limits" || frame === undefined) {
    verdicts.value = null;
    return;
  }
  void engine.verdicts(frame).then(
    (answer) => {
      if (asked === version.peek() && frame === here.peek().frame?.index) verdicts.value = answer;
    },
    () => {},
  );
});

function Says({ verdict }: { verdict: Verdict }) {
  const { reply, closes } = verdict;
  return (
    <div class={`verdict ${reply === null ? "fine" : "refused"}`}>
      <dt>{verdict.label}</dt>
      <dd>
        {reply === null ? "takes it" : <code>{reply.replace(/\r\n$/, "")}</code>}
        {closes && <span class="dim"> and closes the connection</span>}
      </dd>
    </div>
  );
}

export function LimitsCard() {
  const isRequest = shape.value.mode === MODES.requests || shape.value.mode === MODES.binaryRequests;
  return (
    <section class="card limits" aria-label="Limits">
      <h2>What would the server say?</h2>
      {isRequest ? (
        <p class="dim">To the request at the cursor, before its command is even looked up:</p>
      ) : (
        <p class="dim">Whether a peer with these limits would read the frame at the cursor:</p>
      )}
      {verdicts.value === null ? (
        <p class="dim">No frame at the cursor.</p>
      ) : (
        <dl class="verdicts" aria-live="polite">
          {verdicts.value.map((verdict) => (
            <Says key={verdict.limits} verdict={verdict} />
          ))}
        </dl>
      )}
      <h3>Read the document under</h3>
      <div class="presets" role="radiogroup" aria-label="Limits in force">
        {LIMITS.map(({ label, what }, preset) => (
          <label key={label} class="chip choice" title={what}>
            <input type="radio" name="limits" class="sr-only" checked={limits.value === preset} onChange={() => void readUnder(preset)} />
            {label}
          </label>
        ))}
      </div>
      <p class="dim">{LIMITS[limits.value]!.what}</p>
    </section>
  );
}
