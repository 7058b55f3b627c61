// The server's clock: it only moves on request, so that users can watch keys expire.

import { useSignal } from "@preact/signals";
import { KEYS_MAX, advance, allKeysSeen, expiring, unixMs } from "./state";

const STEPS = [
  { label: "+1 s", ms: 1_000 },
  { label: "+60 s", ms: 60_000 },
  { label: "+1 h", ms: 3_600_000 },
] as const;

/** The most keys listed. */
const LISTED_MAX = 12;
/** The longest step in seconds: a year. */
const STEP_SECONDS_MAX = 31_536_000;

function left(ms: number): string {
  return ms < 120_000 ? `${(ms / 1000).toLocaleString("en")} s` : ms < 3_600_000 ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

export function Clock() {
  const seconds = useSignal("");
  const wanted = Number(seconds.value);
  const valid = seconds.value !== "" && wanted > 0 && wanted <= STEP_SECONDS_MAX;
  return (
    <div class="clock" role="group" aria-label="The server's clock">
      <h3>
        Clock <time dateTime={new Date(unixMs.value).toISOString()}>{new Date(unixMs.value).toISOString().slice(0, 19).replace("T", " ")} UTC</time>
      </h3>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (valid) void advance(Math.round(wanted * 1000));
        }}
      >
        {STEPS.map(({ label, ms }) => (
          <button key={ms} type="button" class="btn" onClick={() => void advance(ms)}>
            {label}
          </button>
        ))}
        <input
          class="field seconds"
          inputMode="decimal"
          aria-label="Seconds to move the clock"
          placeholder="seconds"
          value={seconds.value}
          onInput={(event) => {
            seconds.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="btn" disabled={!valid}>
          Move
        </button>
      </form>
      {!allKeysSeen.value && <p class="dim">There are more keys than the {KEYS_MAX.toLocaleString("en")} that are looked at for when they expire.</p>}
      {expiring.value.length > 0 && (
        <ul class="expiring" aria-label="Keys that will expire">
          {expiring.value.slice(0, LISTED_MAX).map(({ key, ttlMs }) => (
            <li key={key}>
              <code>{key}</code> <span class="dim">expires in {left(ttlMs)}</span>
            </li>
          ))}
          {expiring.value.length > LISTED_MAX && <li class="dim">and {expiring.value.length - LISTED_MAX} more</li>}
        </ul>
      )}
    </div>
  );
}
