// The card of the console: sends typed requests on connections of the real engine, and shows the
// replies.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { MODES } from "../engine/tables";
import { load } from "../state/document";
import { CommandHelp } from "../panes/command-help";
import { Offers } from "../panes/offers";
import { Clock } from "./clock";
import { line, offers, typedCommand } from "./complete";
import { CONNECTIONS_MAX, type Connection, type Entry, SPEAKS, clear, close, connections, conversation, current, entries, failure, history, open, send, start } from "./state";
import { Transcript } from "./transcript";

function Connections() {
  return (
    <div class="connections">
      <div class="presets" role="radiogroup" aria-label="Connection typed into">
        {connections.value.map((connection, index) => (
          <label key={connection.id} class={`chip choice ${connection.closed === null ? "" : "closed"}`}>
            <input
              type="radio"
              name="connection"
              class="sr-only"
              checked={current.value === index}
              onChange={() => {
                current.value = index;
              }}
            />
            <b>{connection.name}</b> {connection.speaks}
            {connection.closed !== null && <span class="dim">ended</span>}
          </label>
        ))}
      </div>
      <details class="menu">
        <summary class="chip">Connect</summary>
        <div class="menu-items">
          {SPEAKS.map((speaks) => (
            <button
              key={speaks}
              type="button"
              class="btn"
              disabled={connections.value.filter(({ closed }) => closed === null).length >= CONNECTIONS_MAX}
              onClick={(event) => {
                event.currentTarget.closest("details")!.open = false;
                void open(speaks);
              }}
            >
              {speaks}
            </button>
          ))}
        </div>
      </details>
    </div>
  );
}

/** Shows the bytes of a row in the panes. */
function show({ connection, way, lines, bytes, mode }: Entry): void {
  void load(bytes, `${connection!.name}: ${way === "request" ? lines[0]! : `${way} to ${connection!.name}`}`, mode);
}

function Prompt({ connection }: { connection: Connection | undefined }) {
  const back = useSignal(0);
  /** The text that was typed before the history keys replaced it. */
  const draft = useRef("");
  const submit = async () => {
    const typed = line.value;
    line.value = draft.current = "";
    back.value = 0;
    // A line that could not be sent is put back, so that it can be corrected.
    if (!(await send(typed)) && line.value === "") line.value = typed;
  };
  const goBack = (step: number) => {
    const to = back.value + step;
    if (to < 0 || to > history.value.length) return;
    if (back.value === 0) draft.current = line.value;
    back.value = to;
    line.value = to === 0 ? draft.current : history.value.at(-to)!;
  };
  const onKey = (event: KeyboardEvent) => {
    const [offer] = offers.value;
    if (event.key === "Tab" && !event.shiftKey && offer !== undefined) {
      event.preventDefault();
      line.value = `${offer} `;
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      goBack(event.key === "ArrowUp" ? 1 : -1);
    }
  };
  const help = typedCommand.value;
  return (
    <form
      class="prompt"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div class="row">
        <label class="prompt-name" for="console-line">
          {connection?.name ?? ""}
          <span class="sr-only">: command</span> ›
        </label>
        <input
          id="console-line"
          class="field grow"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          placeholder="SET greeting hello EX 60"
          disabled={!connection || connection.closed !== null}
          aria-describedby="console-help"
          value={line.value}
          onInput={(event) => {
            line.value = event.currentTarget.value;
          }}
          onKeyDown={onKey}
        />
        {/* Never disabled: otherwise Enter would do nothing until the typed text is rendered. */}
        <button type="submit" class="btn primary">
          Send
        </button>
      </div>
      <div id="console-help" class="console-help">
        <Offers
          names={offers.value}
          take={(name) => {
            line.value = `${name} `;
            document.getElementById("console-line")?.focus();
          }}
        />
        {help && <CommandHelp command={help} />}
      </div>
      {failure.value !== "" && (
        <p class="wrong" role="alert">
          {failure}
        </p>
      )}
    </form>
  );
}

export function ConsoleCard() {
  useEffect(() => void start(), []);
  const connection = connections.value[current.value];
  const openAll = (way: "request" | "reply", mode: number) => () => void load(conversation(connection!, way), `${connection!.name}: all ${way === "request" ? "requests" : "replies"}`, mode);
  const binary = connection?.speaks === "binary";
  return (
    <section class="card console" aria-label="Console">
      <h2>
        Server <span class="dim">the real engine and store, in this tab</span>
      </h2>
      <Connections />
      <Transcript entries={entries.value} open={show} announced />
      <Prompt connection={connection} />
      {connection && (
        <div class="row conversation">
          <span class="dim">See all</span>
          <button type="button" class="chip" title="See all of them in the panes" onClick={openAll("request", binary ? MODES.binaryRequests : MODES.requests)}>
            requests<span class="sr-only"> of {connection.name} in the panes</span>
          </button>
          <button type="button" class="chip" title="See all of them in the panes" onClick={openAll("reply", binary ? MODES.binaryReplies : MODES.replies)}>
            replies<span class="sr-only"> to {connection.name} in the panes</span>
          </button>
          <span class="grow" />
          <button type="button" class="chip" disabled={connection.closed !== null} onClick={() => void close(connection)}>
            Disconnect
          </button>
          <button type="button" class="chip" onClick={clear}>
            Clear
          </button>
        </div>
      )}
      <Clock />
    </section>
  );
}
