// The live view: the requests and replies of the server that served the page, frame by frame.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { StreamRow } from "../capture/stream-row";
import { Transcript } from "../console/transcript";
import { counted } from "../words/chars";
import { asked, frozen, onlyPeer, query, queryError, quiet, shown } from "./filter";
import { type Peer, isOpen, peers } from "./peers";
import { BYTES_MAX, ROWS_MAX, type Row, dropped, rows } from "./rows";
import { type Watching, clear, connect, disconnect, hello, opened, openDirection, pause, resume, watching } from "./watch";

const MIB = 1 << 20;
/** The rows on the page at a time. */
const PAGE_ROWS = 200;
/** The most connections listed. */
const LISTED_MAX = 50;

const STATES: Record<Watching, string> = {
  off: "Not connected",
  connecting: "Connecting…",
  on: "Connected",
  gone: "The server is gone, or has as many viewers as it takes. Trying again…",
};

function Status() {
  const server = hello.value;
  const isOn = watching.value === "on";
  return (
    <>
      <p class={`live-state ${watching.value}`} role="status">
        <span class="live-dot" aria-hidden="true" />
        {STATES[watching.value]}
        {isOn && server && ` to ${server.server}, ${server.flavour}`}
        {frozen.value && ", paused"}
      </p>
      {rows.value.length === 0 && (
        <p class="dim">Every request and reply of this server's clients, as it comes. Passwords are hidden before they leave the server; a row opens in the panes, cut where the server's reads ended.</p>
      )}
      <div class="row">
        {watching.value === "off" ? (
          <button type="button" class="btn primary" onClick={connect}>
            Connect
          </button>
        ) : (
          <button type="button" class="btn" onClick={disconnect}>
            Disconnect
          </button>
        )}
        <button type="button" class="btn" disabled={rows.value.length === 0} onClick={frozen.value ? resume : pause}>
          {frozen.value ? "Resume" : "Pause"}
        </button>
        <button type="button" class="btn" disabled={rows.value.length === 0} onClick={clear}>
          Clear
        </button>
        <span class="grow" />
        {watching.value === "gone" && (
          <button type="button" class="btn" onClick={connect}>
            Try now
          </button>
        )}
      </div>
    </>
  );
}

function PeerRow({ peer }: { peer: Peer }) {
  const only = onlyPeer.value === peer;
  const { closed, frames, bytes } = peer.seen.value;
  return (
    <StreamRow
      ends={
        <>
          <button
            type="button"
            class="chip"
            aria-pressed={only}
            title={only ? "Show all connections" : "Show this connection alone"}
            onClick={() => {
              onlyPeer.value = only ? null : peer;
            }}
          >
            {peer.name}
          </button>{" "}
          <code>{peer.address}</code> <span class={closed === null ? "live-open" : "dim"}>{closed ?? "open"}</span>
        </>
      }
      bytes={bytes}
      chosen={only}
      shown={opened.value?.peer === peer ? opened.value.direction : null}
      open={(direction) => void openDirection(peer, direction)}
    >
      <span class="dim">
        {frames[0].toLocaleString("en")} + {frames[1].toLocaleString("en")} frames
      </span>
    </StreamRow>
  );
}

function Peers() {
  const all = peers.value;
  if (all.length === 0) return null;
  // The newest connections come first: users look for them most.
  const listed = all.slice(-LISTED_MAX).reverse();
  const open = all.filter(isOpen).length;
  return (
    <details class="live-peers" open>
      <summary>
        <h3>{counted(all.length, "connection")}</h3> <span class="dim">{open.toLocaleString("en")} open</span>
      </summary>
      <ul class="streams" aria-label="Connections">
        {listed.map((peer) => (
          <PeerRow key={peer.name} peer={peer} />
        ))}
      </ul>
      {all.length > LISTED_MAX && <p class="dim">and {counted(all.length - LISTED_MAX, "older one")}</p>}
    </details>
  );
}

function Filter() {
  return (
    <div class="live-filter">
      <input
        class="field grow"
        aria-label="Show frames of"
        aria-invalid={queryError.value !== ""}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        placeholder="get key:user:* is:bad"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={quiet.value}
          onChange={(event) => {
            quiet.value = event.currentTarget.checked;
          }}
        />
        Hide PING, INFO, CLIENT, COMMAND
      </label>
      {queryError.value !== "" && <p class="wrong">{queryError}</p>}
    </div>
  );
}

function open(row: Row): void {
  if (row.frame) void openDirection(row.frame.chunk.peer, row.frame.chunk.direction, row);
}

/** The number of rows that came after the frozen ones. */
function cameSince(held: readonly Row[] | null): number {
  return held === null ? 0 : (rows.value.at(-1)?.key ?? 0) - (held.at(-1)?.key ?? 0);
}

function Frames() {
  /** The number of pages back from the newest. */
  const back = useSignal(0);
  const all = shown.value;
  const held = frozen.value;
  useEffect(() => {
    if (held === null) back.value = 0;
  }, [held]);
  useEffect(() => {
    back.value = 0;
  }, [asked.value, quiet.value, onlyPeer.value]);
  const turn = (step: number) => {
    // Rows must not move while the user reads them.
    if (!held) pause();
    back.value += step;
  };
  const to = all.length - back.value * PAGE_ROWS;
  const from = Math.max(0, to - PAGE_ROWS);
  const later = cameSince(held);
  return (
    <>
      <Transcript entries={all.slice(from, to)} open={open} announced={false} />
      <div class="row live-pages">
        <span class="dim">
          {all.length === 0 ? (rows.value.length === 0 ? "Nothing was said yet." : "Nothing fits the filter.") : `Rows ${(from + 1).toLocaleString("en")} to ${to.toLocaleString("en")} of ${all.length.toLocaleString("en")}`}
          {later > 0 && `, ${later.toLocaleString("en")} came since`}
        </span>
        <span class="grow" />
        <button type="button" class="chip" disabled={from === 0} onClick={() => turn(1)}>
          Older
        </button>
        <button type="button" class="chip" disabled={back.value === 0} onClick={() => turn(-1)}>
          Newer
        </button>
      </div>
      {dropped.value > 0 && (
        <p class="dim live-dropped">
          The oldest {counted(dropped.value, "frame")} are no longer kept: at most {BYTES_MAX / MIB} MiB of each direction and {ROWS_MAX.toLocaleString("en")} rows are.
        </p>
      )}
    </>
  );
}

export function LiveCard() {
  return (
    <section class="card live" aria-label="Live">
      <h2>
        Live <span class="dim">what this server reads and writes</span>
      </h2>
      <Status />
      <Peers />
      <Filter />
      <Frames />
    </section>
  );
}
