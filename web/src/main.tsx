// The entry: styles, actions, the page, the first sample, the service worker.
//
// Where what lives:
//   engine/   the WASM in its Worker, and its methods as promises
//   state/    signals: the document, the cursor, reads, problems, play, the tree's rows, actions
//   panes/    what is seen: hex, text and tree are filled by hand, everything else is Preact
//   input/    ways to bring bytes in
//   capture/  packets put together to streams
//   console/  the server in the page: its Worker, connections, transcript, clock
//   live/     what the server that served the page reads and writes
//   encode/   commands to bytes, and what values cost in every protocol
//   share/    links and exports
//   samples/  the gallery's documents
//   words/    bytes and values in plain English
//   theme/    colours and layout

import "./theme/fonts.css";
import "./theme/colours.css";
import "./theme/base.css";
import "./theme/layout.css";
import "./theme/bytes.css";
import "./theme/tree.css";
import "./theme/cards.css";
import "./theme/reads.css";
import "./theme/samples.css";
import "./theme/console.css";
import "./theme/live.css";
import "./theme/encode.css";
import "./theme/input.css";
import "./theme/features.css";
import "./theme/phone.css";
import "./actions";
import "./capture/actions";
import "./console/actions";
import "./encode/actions";
import "./live/actions";
import "./share/actions";
import { render } from "preact";
import { App } from "./app";
import { listenForInput } from "./input/open";
import { openSample } from "./panes/gallery";
import { SAMPLES } from "./samples/samples";
import { listenForLinks, openLink } from "./share/open";
import { onKeyDown } from "./state/actions";

render(<App />, document.getElementById("app")!);
document.addEventListener("keydown", onKeyDown);
document.addEventListener("pointerdown", ({ target }) => {
  for (const menu of document.querySelectorAll("details[open].menu")) if (!menu.contains(target as Node)) menu.removeAttribute("open");
});
listenForInput();
listenForLinks();
void openLink().then((opened) => (opened ? undefined : openSample(SAMPLES[0]!)));

if (!__SINGLE__ && import.meta.env.PROD && "serviceWorker" in navigator && location.protocol.startsWith("http")) {
  void navigator.serviceWorker.register("./offline.js").catch(() => {
    // Refused by the browser: the page works, only not without its server.
  });
}
