// The controls for steps, play and breakpoints.

import { useSignal } from "@preact/signals";
import { ROLES } from "../engine/tables";
import { frameOfCursor } from "../state/cursor";
import { SPEEDS, breakBytes, breakOnError, breakRoles, playing, speed, toggleBreakByte, toggleBreakRole } from "../state/play";
import { narrow, reducedMotion } from "../state/view";
import { ActionButton } from "./button";
import { Icon } from "./icons";
import { Scrubber } from "./scrubber";
import { grouped } from "../words/chars";

/** The roles that play can stop at, in the order of the menu. */
const STOPS = [0, 2, 3, 4, 5, 8, 9, 10, 14];

function Speed() {
  return (
    <label class="select">
      <span class="sr-only">Speed</span>
      <select
        value={String(speed.value)}
        disabled={reducedMotion.value}
        title={reducedMotion.value ? "Motion is reduced: play jumps to the next stop" : "Speed"}
        onChange={(event) => {
          speed.value = Number(event.currentTarget.value);
        }}
      >
        {SPEEDS.map((bytes) => (
          <option key={bytes} value={String(bytes)}>
            {bytes} B/s
          </option>
        ))}
      </select>
    </label>
  );
}

function Breakpoints() {
  const isOpen = useSignal(false);
  const count = breakBytes.value.size + breakRoles.value.size + (breakOnError.value ? 1 : 0);
  return (
    <details
      class="menu breaks"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary class="btn" title="Where play stops">
        <Icon name="stop" />
        <span>Stops</span>
        <span class="count">{count}</span>
      </summary>
      {isOpen.value && <Stops />}
    </details>
  );
}

function Stops() {
  return (
    <div class="menu-body">
      {narrow.value && <Speed />}
      <p class="menu-title">Play stops at</p>
      <label class="check">
        <input
          type="checkbox"
          checked={breakOnError.value}
          onChange={(event) => {
            breakOnError.value = event.currentTarget.checked;
          }}
        />
        an error
      </label>
      {STOPS.filter((role) => ROLES[role]).map((role) => (
        <label class="check" key={role}>
          <input type="checkbox" checked={breakRoles.value.has(role)} onChange={() => toggleBreakRole(role)} />
          <span class={`tag r${role}`}>
            <b>{ROLES[role]!.letter}</b> {ROLES[role]!.label}
          </span>
        </label>
      ))}
      {[...breakBytes.value].map((at) => (
        <button type="button" class="chip" key={at} aria-label={`Remove the breakpoint at byte ${at}`} onClick={() => toggleBreakByte(at)}>
          byte {at} <Icon name="close" />
        </button>
      ))}
      <ActionButton id="break" icon="stop">
        Stop at this byte
      </ActionButton>
    </div>
  );
}

function Play() {
  return (
    <div class="group" role="group" aria-label="Play">
      <ActionButton id="play" icon={playing.value ? "pause" : "play"} class="play" pressed={playing.value} />
      {!narrow.value && <Speed />}
      <Breakpoints />
    </div>
  );
}

export function Transport() {
  const { index, count } = frameOfCursor.value;
  return (
    <div class="transport" role="toolbar" aria-label="Steps">
      <div class="group steps" role="group" aria-label="Step back">
        <ActionButton id="first" icon="first" class="edge" />
        <ActionButton id="frame-back" icon="frame-back" />
        <ActionButton id="token-back" icon="token-back" />
        <ActionButton id="byte-back" icon="byte-back" />
      </div>
      <div class="group steps" role="group" aria-label="Step on">
        <ActionButton id="byte-on" icon="byte-on">
          byte
        </ActionButton>
        <ActionButton id="token-on" icon="token-on">
          token
        </ActionButton>
        <ActionButton id="frame-on" icon="frame-on">
          frame
        </ActionButton>
        <ActionButton id="last" icon="last" class="edge" />
      </div>
      <Scrubber />
      <span class="frame-count" title="Frame at the cursor">
        {count === 0 ? "no frames" : `frame ${index + 1} of ${grouped(count)}`}
      </span>
      <Play />
    </div>
  );
}
