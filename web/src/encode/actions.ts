// The actions of encoding.

import { register } from "../state/actions";
import { dockTab, pane } from "../state/view";

register({
  id: "card-encode",
  label: "Card: encode and compare",
  group: "Look",
  keys: ["w"],
  run: () => {
    dockTab.value = "encode";
    pane.value = "dock";
  },
});
