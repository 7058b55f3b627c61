// The layout of the page: which pane is where.

import { Dock } from "./panes/dock";
import { WordsCard } from "./panes/byte-card";
import { OpenedDialog } from "./panes/dialogs";
import { Gallery } from "./panes/gallery";
import { Header } from "./panes/header";
import { HexPane } from "./panes/hex";
import { Announcer, StatusLine } from "./panes/status";
import { Legend } from "./panes/legend";
import { TextPane } from "./panes/text";
import { Transport } from "./panes/transport";
import { TreePane } from "./panes/tree";
import { GuessBar } from "./input/guess-bar";
import { ActionButton } from "./panes/button";
import { cancel, failure, progress } from "./state/document";
import { problemCount } from "./state/problems";
import { PANES, galleryOpen, narrow, pane } from "./state/view";
import { size } from "./words/chars";

const PANE_NAMES = { hex: "Hex", text: "Text", tree: "Tree", dock: "Cards" };

function PaneTabs() {
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    pane.value = PANES[(PANES.indexOf(pane.value) + step + PANES.length) % PANES.length]!;
    document.getElementById(`pane-tab-${pane.value}`)?.focus();
  };
  return (
    <div class="pane-tabs" role="tablist" aria-label="Panes" onKeyDown={onKey}>
      {PANES.map((id) => (
        <button
          key={id}
          type="button"
          role="tab"
          id={`pane-tab-${id}`}
          class="tab"
          aria-selected={pane.value === id}
          aria-controls={id}
          tabIndex={pane.value === id ? 0 : -1}
          onClick={() => {
            pane.value = id;
          }}
        >
          {PANE_NAMES[id]}
          {id === "dock" && problemCount.value > 0 && <span class="count">{problemCount.value}</span>}
        </button>
      ))}
    </div>
  );
}

function Decoding() {
  const { decoded, total } = progress.value!;
  return (
    <div class="decoding" role="status">
      <progress max={total} value={decoded} aria-label="Decoding" />
      <span>
        {size(decoded)} of {size(total)}
      </span>
      <button type="button" class="btn" onClick={cancel}>
        Cancel
      </button>
    </div>
  );
}

function Failure() {
  return (
    <div class="failure" role="alert">
      {failure}
      <button
        type="button"
        class="btn"
        onClick={() => {
          failure.value = "";
        }}
      >
        Close
      </button>
    </div>
  );
}

export function App() {
  return (
    <div class={`page show-${pane.value}`}>
      <Header />
      {galleryOpen.value && <Gallery />}
      <GuessBar />
      {progress.value && <Decoding />}
      {failure.value !== "" && <Failure />}
      <main class="main">
        <Transport />
        {narrow.value && <PaneTabs />}
        <section class="pane pane-hex" id="hex" aria-label="Hex pane">
          <div class="pane-head">
            <h2>Hex</h2>
            <span class="dim pane-help" id="hex-help">
              Enter types over bytes
            </span>
            <ActionButton id="edit" icon="edit" class="quiet" />
          </div>
          <HexPane />
          <Legend />
        </section>
        <section class="pane pane-text" id="text" aria-label="Text pane">
          <div class="pane-head">
            <h2>Text</h2>
          </div>
          <TextPane />
        </section>
        <section class="pane pane-tree" id="tree" aria-label="Tree pane">
          <div class="pane-head">
            <h2>Values</h2>
            <ActionButton id="secrets" icon="eye" class="quiet" />
          </div>
          <TreePane />
        </section>
        <div class="side">
          <section class="words-slot" aria-label="In plain words" tabIndex={0}>
            <WordsCard />
          </section>
          <aside class="pane pane-dock" id="dock" aria-label="Cards">
            <Dock />
          </aside>
        </div>
      </main>
      <StatusLine />
      <Announcer />
      <OpenedDialog />
    </div>
  );
}
