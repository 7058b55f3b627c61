// The actions of the console.

import { register } from "../state/actions";
import { dockTab, pane } from "../state/view";

register({
  id: "card-console",
  label: "Card: the server in the page",
  group: "Look",
  keys: ["v"],
  run: () => {
    dockTab.value = "console";
    pane.value = "dock";
    requestAnimationFrame(() => document.getElementById("console-line")?.focus());
  },
});
