// Actions of the live view, where the server offers one.

import { register } from "../state/actions";
import { dockTab, pane } from "../state/view";
import { tapAddress } from "./tap";

if (tapAddress !== undefined) {
  // Whoever starts a server with a tap has come to watch it.
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
