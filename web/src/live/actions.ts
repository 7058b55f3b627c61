// The actions of the live view, if the server offers one.

import { register } from "../state/actions";
import { dockTab, pane } from "../state/view";
import { tapAddress } from "./tap";

if (tapAddress !== undefined) {
  // A user who starts a server with a tap wants to watch it.
  dockTab.value = "live";
  register({
    id: "card-live",
    label: "Card: live",
    group: "Look",
    keys: ["Shift+l"],
    run: () => {
      dockTab.value = "live";
      pane.value = "dock";
    },
  });
}
