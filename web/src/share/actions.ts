// The actions of finding, sharing and the cards beside them.

import { register } from "../state/actions";
import { stepHit, found } from "../state/search";
import { dialog, dockTab, pane } from "../state/view";

function openDock(tab: string): void {
  dockTab.value = tab;
  pane.value = "dock";
}

const hasHits = () => found.value.at.length > 0;

register(
  {
    id: "find",
    label: "Find bytes or frames",
    group: "Look",
    keys: ["/", "Ctrl+f"],
    run: () => {
      openDock("search");
      requestAnimationFrame(() => document.getElementById("search-field")?.focus());
    },
  },
  { id: "hit-on", label: "Next hit", group: "Look", keys: ["n"], run: () => stepHit(true), enabled: hasHits },
  { id: "hit-back", label: "Previous hit", group: "Look", keys: ["Shift+n"], run: () => stepHit(false), enabled: hasHits },
  { id: "card-limits", label: "Card: limits", group: "Look", keys: ["l"], run: () => openDock("limits") },
  { id: "card-msgpack", label: "Card: MessagePack", group: "Look", keys: ["m"], run: () => openDock("msgpack") },
  {
    id: "share",
    label: "Share: link and export",
    group: "Page",
    keys: ["x"],
    run: () => {
      dialog.value = "share";
    },
  },
);
