// The status line: the cursor's position as numbers and as a path, and the announcements for screen
// readers.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ROLES } from "../engine/tables";
import { cursor, here, hover, selection, shownPath, there } from "../state/cursor";
import { length, shape } from "../state/document";
import { problemCount } from "../state/problems";
import { announcement, dockTab, pane } from "../state/view";
import { byteName, counted, grouped, hex, offsetHex } from "../words/chars";
import { spokenText } from "./byte-card";
import { Icon } from "./icons";

/** How long the cursor must rest before it is announced, in milliseconds: several steps are announced once. */
const REST_MS = 200;

/** Announces the cursor's position to screen readers when it rests. */
export function Announcer() {
  const text = useSignal("");
  const timer = useRef(0);
  useSignalEffect(() => {
    const place = here.value;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      text.value = spokenText(place);
    }, REST_MS);
  });
  return (
    <>
      <div class="sr-only" id="said" aria-live="polite">
        {text}
      </div>
      <div class="sr-only" aria-live="polite">
        {announcement}
      </div>
    </>
  );
}

export function StatusLine() {
  const place = there.value;
  const problems = problemCount.value;
  const picked = selection.value;
  return (
    <footer class="status">
      <span class={`status-at ${hover.value === null ? "" : "preview"}`} title={hover.value === null ? "The byte pinned" : "The byte under the pointer"}>
        {offsetHex(place.offset)} <span class="dim">byte {place.offset}</span>
      </span>
      {place.byte !== undefined && (
        <span class="status-byte">
          {hex(place.byte)} {byteName(place.byte)}
        </span>
      )}
      {place.mark && <span class={`tag r${place.mark.role}`}>{ROLES[place.mark.role]!.label}</span>}
      <code class="status-path">{shownPath.value}</code>
      {picked && <span>{counted(picked[1] - picked[0], "byte")} selected</span>}
      <span class="grow" />
      {problems > 0 && (
        <button
          type="button"
          class="link alarm"
          onClick={() => {
            dockTab.value = "problems";
            pane.value = "dock";
          }}
        >
          <Icon name="warn" /> {counted(problems, "problem")}
        </button>
      )}
      <span class="status-total">
        {counted(length.value, "byte")}
        {shape.value.cancelled && `, ${grouped(shape.value.decoded)} decoded`}
      </span>
      <span class="status-private" title="The page's policy allows no connection to anywhere. What you paste stays in this tab.">
        <Icon name="lock" /> stays in this tab
      </span>
      <span class="sr-only">cursor at byte {cursor}</span>
    </footer>
  );
}
