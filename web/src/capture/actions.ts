// The actions of captures.

import { register } from "../state/actions";
import { dockTab, pane } from "../state/view";

register({
  id: "card-capture",
  label: "Card: capture",
  group: "Look",
  keys: ["c"],
  run: () => {
    dockTab.value = "capture";
    pane.value = "dock";
  },
});
