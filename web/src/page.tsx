// Starts the page: its actions, the first document, and the service worker.

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
import { known } from "./state/cursor";

/**
 * How long the page waits for the first document, in milliseconds. Everything that arrives by then
 * is laid out once, and not again with every reply.
 */
const FIRST_DOCUMENT_WAIT_MS = 250;

/** Opens the document of the address, or the first sample. */
async function openFirst(): Promise<void> {
  if (!(await openLink())) await openSample(SAMPLES[0]!);
}

function show(): void {
  render(<App />, document.getElementById("app")!);
  document.addEventListener("keydown", onKeyDown);
  document.addEventListener("pointerdown", ({ target }) => {
    for (const menu of document.querySelectorAll("details[open].menu")) if (!menu.contains(target as Node)) menu.removeAttribute("open");
  });
  listenForInput();
  listenForLinks();
}

function keepOffline(): void {
  if (__SINGLE__ || !import.meta.env.PROD || !("serviceWorker" in navigator) || !location.protocol.startsWith("http")) return;
  void navigator.serviceWorker.register("./offline.js").catch(() => {
    // The browser refused: the page works, but not offline.
  });
}

void Promise.race([openFirst().then(known), new Promise((resolve) => setTimeout(resolve, FIRST_DOCUMENT_WAIT_MS))]).then(() => {
  show();
  // After the first paint, since it fetches all files.
  requestAnimationFrame(() => setTimeout(keepOffline));
});
