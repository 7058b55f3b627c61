// The dock: cards beside the bytes, a tab each. A card is added by a row here.

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
  /** A number beside the label; none if 0. */
  count?: () => number;
  /** Whether the number is of things that are wrong. */
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

/** The tabs in their order. Cards that few open are fetched when they are; the live view is there where a server offers one. */
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
  // Where tabs scroll, a card that was opened by its key may have its tab out of sight. Elsewhere they stand
  // in rows, and to ask where would have the whole page laid out at once.
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
