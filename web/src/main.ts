// The entry point: loads the styles, and starts the engine while the scripts of the page load.
//
// The folders:
//   page.tsx  the page: actions, the first document, the service worker
//   engine/   the WASM in its Worker, and its methods as promises
//   state/    signals: the document, the cursor, reads, problems, play, the tree's rows, actions
//   panes/    the visible panes: hex, text and tree fill their rows by hand, everything else is
// Preact
//   input/    ways to open bytes
//   capture/  streams reassembled from packets
//   console/  the server in the page: its Worker, connections, transcript, clock
//   live/     the traffic of the server that served the page
//   encode/   commands as bytes, and the size of values in every protocol
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
import "./engine/first";

void import("./page");
