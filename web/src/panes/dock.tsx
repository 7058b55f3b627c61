// The dock: cards beside the bytes, one tab per card. Add a card by adding a row here.

import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { capture } from "../capture/state";
import { tapAddress } from "../live/tap";
import { problemCount } from "../state/problems";
import { cuts } from "../state/reads";
import { dockTab, narrow } from "../state/view";
import { found, query } from "../state/search";
import { ByteCard, StateCard } from "./byte-card";
import { LimitsCard } from "./limits-card";
import { lazy } from "./lazy";
import { ProblemsCard } from "./problems-card";
import { ReadsCard } from "./reads-card";
import { SearchCard } from "./search-card";
import { grouped } from "../words/chars";

interface DockTab {
  id: string;
  label: string;
  card: ComponentType;
  /** A number beside the label; nothing if it is 0. */
  count?: () => number;
  /** Whether the number counts problems. */
  alarm?: boolean;
}

function Byte() {
  return (
    <>
      <ByteCard />
      <StateCard />
    </>
  );
}

/**
 * The tabs in their order. Rarely used cards are fetched when opened; the live view exists only if
 * a server offers it.
 */
export const DOCK_TABS: DockTab[] = [
  { id: "byte", label: "Byte", card: Byte },
  { id: "reads", label: "Reads", card: ReadsCard, count: () => (cuts.value.length === 0 ? 0 : cuts.value.length + 1) },
  { id: "problems", label: "Problems", card: ProblemsCard, count: () => problemCount.value, alarm: true },
  { id: "search", label: "Find", card: SearchCard, count: () => (query.value === "" ? 0 : found.value.at.length) },
  { id: "console", label: "Server", card: lazy(() => import("../console/console-card").then((module) => module.ConsoleCard)) },
  ...(tapAddress === undefined ? [] : [{ id: "live", label: "Live", card: lazy(() => import("../live/live-card").then((module) => module.LiveCard)) }]),
  { id: "encode", label: "Encode & cost", card: lazy(() => import("../encode/encode-card").then((module) => module.EncodeCard)) },
  { id: "capture", label: "Capture", card: lazy(() => import("../capture/capture-card").then((module) => module.CaptureCard)), count: () => capture.value?.summary.streams.length ?? 0 },
  { id: "limits", label: "Limits", card: LimitsCard },
  { id: "msgpack", label: "MsgPack", card: lazy(() => import("./msgpack-card").then((module) => module.MsgPackCard)) },
];

function onKey(event: KeyboardEvent): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  event.stopPropagation();
  const at = DOCK_TABS.findIndex((tab) => tab.id === dockTab.value);
  const next = DOCK_TABS[(at + step + DOCK_TABS.length) % DOCK_TABS.length]!;
  dockTab.value = next.id;
  document.getElementById(`dock-tab-${next.id}`)?.focus();
}

export function Dock() {
  const current = DOCK_TABS.find((tab) => tab.id === dockTab.value) ?? DOCK_TABS[0]!;
  const Card = current.card;
  // Where tabs scroll, the tab of a card that was opened by its key may be out of view. Elsewhere
  // they are in rows, and asking for their positions would force a layout of the whole page.
  useEffect(() => {
    if (narrow.value) document.getElementById(`dock-tab-${current.id}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current.id]);
  return (
    <div class="dock">
      <div class="tabs" role="tablist" aria-label="Cards" onKeyDown={onKey}>
        {DOCK_TABS.map(({ id, label, count, alarm }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`dock-tab-${id}`}
            class={`tab ${alarm && count && count() > 0 ? "alarm" : ""}`}
            aria-selected={id === current.id}
            aria-controls="dock-panel"
            tabIndex={id === current.id ? 0 : -1}
            onClick={() => {
              dockTab.value = id;
            }}
          >
            {label}
            {count && count() > 0 && <span class="count">{grouped(count())}</span>}
          </button>
        ))}
      </div>
      <div class="dock-panel" id="dock-panel" role="tabpanel" aria-labelledby={`dock-tab-${current.id}`} tabIndex={0}>
        <Card />
      </div>
    </div>
  );
}
