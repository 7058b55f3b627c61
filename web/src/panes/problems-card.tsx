// The card of problems: each error, its byte, the expected bytes, and suggested fixes.

import type { DocError, State } from "../generated/types";
import { STATUS } from "../engine/tables";
import { moveTo } from "../state/cursor";
import { bytes, frameOf, length, version } from "../state/document";
import { lost } from "../capture/state";
import { PROBLEMS_MAX, apart, applyFix, foreign, problemCount, problemFrames, shownError, torn } from "../state/problems";
import { counted, escaped, hex } from "../words/chars";
import { sentence } from "../words/values";
import { Icon } from "./icons";

/** The number of bytes shown around a change. */
const AROUND = 12;
/** The most bytes of a change shown. */
const CHANGED_MAX = 48;
/** The most places shown per kind. */
const PLACES_MAX = 20;
/** The most announced sizes shown for an incomplete frame. */
const PROMISES_MAX = 3;

/** A change: the removed bytes, the inserted bytes, and some bytes around. */
function Diff({ at, len, put }: { at: number; len: number; put: Uint8Array }) {
  const data = bytes.value;
  const from = Math.max(0, at - AROUND);
  const to = Math.min(data.length, at + len + AROUND);
  const old = data.subarray(at, at + len);
  return (
    <code class="diff">
      {from > 0 && "…"}
      {escaped(data.subarray(from, at))}
      {old.length > 0 && <del aria-label={`remove ${escaped(old, CHANGED_MAX)}`}>{escaped(old, CHANGED_MAX)}</del>}
      {put.length > 0 && <ins aria-label={`put ${escaped(put, CHANGED_MAX)}`}>{escaped(put, CHANGED_MAX)}</ins>}
      {escaped(data.subarray(at + len, to))}
      {to < data.length && "…"}
    </code>
  );
}

function Fixes({ error }: { error: DocError }) {
  if (error.fixes.length === 0) return <p class="dim">No small change mends it.</p>;
  return (
    <ol class="fixes" aria-label="Changes that mend it">
      {error.fixes.map((fix, index) => (
        <li key={index}>
          <p class="fix-why">Perhaps {fix.why}.</p>
          <Diff at={fix.at} len={fix.len} put={Uint8Array.from(fix.with)} />
          <button type="button" class={`btn ${index === 0 ? "primary" : ""}`} onClick={() => void applyFix(error, index)}>
            Apply
          </button>
        </li>
      ))}
    </ol>
  );
}

function ErrorCard({ error }: { error: DocError }) {
  const byte = bytes.value[error.offset];
  return (
    <article class="problem bad">
      <h3>
        <Icon name="warn" /> {sentence(error.text)}
      </h3>
      <p>
        <button type="button" class="link" onClick={() => moveTo(error.offset)}>
          Byte {error.offset}
        </button>{" "}
        is {byte === undefined ? "missing" : <code>{`${hex(byte)} ${escaped(Uint8Array.of(byte))}`}</code>}. Expected: <b>{error.expected}</b>.
      </p>
      <p>{error.rule}</p>
      <p class="dim">
        A server answers <code>{error.reply.trimEnd()}</code> and hangs up.
        {error.resync < length.value && (
          <>
            {" "}
            Reading goes on at{" "}
            <button type="button" class="link" onClick={() => moveTo(error.resync)}>
              byte {error.resync}
            </button>
            , where the next frame seems to begin.
          </>
        )}
      </p>
      <Fixes error={error} />
    </article>
  );
}

/** What was announced and is missing: from the innermost values, and from the current payload. */
function promised({ open, payloadLeft, need }: State): string {
  const told = open.flatMap(({ label, done, of }) => (of === null ? [] : [`Of the ${label}'s ${counted(of, label === "request" ? "word" : "value")} ${done} ${done === 1 ? "is" : "are"} whole.`]));
  const line = need === (payloadLeft ?? 0) + 2 ? ", and CRLF after them" : "";
  if (payloadLeft !== null) told.push(`The length in front promises ${counted(payloadLeft, "more byte")}${line}.`);
  return told.slice(-PROMISES_MAX).join(" ");
}

function Torn({ frame }: { frame: number }) {
  const { start, end } = frameOf(frame);
  if (!torn.value) return null;
  const { need, text, path } = torn.value;
  const why = promised(torn.value);
  return (
    <article class="problem torn">
      <h3>
        <Icon name="warn" /> The last frame is torn.
      </h3>
      <p>
        It begins at{" "}
        <button type="button" class="link" onClick={() => moveTo(start)}>
          byte {start}
        </button>{" "}
        and breaks off after{" "}
        <button type="button" class="link" onClick={() => moveTo(end)}>
          byte {end - 1}
        </button>
        , {text}
        {path !== "" && (
          <>
            {" "}
            (<code>{path}</code>)
          </>
        )}
        . At least <b>{counted(need, "byte")}</b> more {need === 1 ? "is" : "are"} needed.
      </p>
      {why !== "" && <p>{why}</p>}
      <p class="dim">That is no error: a decoder keeps what it has and waits for the next read.</p>
    </article>
  );
}

function ForeignNote() {
  if (!foreign.value) return null;
  const { name, why } = foreign.value;
  return (
    <article class="problem bad">
      <h3>
        <Icon name="warn" /> This looks like {name}, not like RESP.
      </h3>
      <p>{why}</p>
    </article>
  );
}

/** Requests whose first line is damaged: not an error to a server, but never intended. */
function Apart() {
  const places = apart.value;
  if (places.length === 0) return null;
  return (
    <article class="problem torn">
      <h3>
        <Icon name="warn" /> {places.length === 1 ? "A request falls" : "Requests fall"} apart into lines.
      </h3>
      <p>
        At{" "}
        {places.slice(0, PLACES_MAX).map((at, index) => (
          <span key={at}>
            {index > 0 && ", "}
            <button type="button" class="link" onClick={() => moveTo(at)}>
              byte {at}
            </button>
          </span>
        ))}
        {places.length > PLACES_MAX && ` and ${counted(places.length - PLACES_MAX, "more place")}`}
        , a request does not begin with <code>*</code>: a stray byte stands in front of it, its first line is lost, or the request before it announces too few words.
      </p>
      <p class="dim">A server takes such lines for commands typed by hand. It answers each with an error, and replies no longer match requests.</p>
    </article>
  );
}

/** Places where a capture has no bytes: the frames around them are not as sent. */
function Lost() {
  const places = lost.value;
  if (places.length === 0) return null;
  return (
    <article class="problem torn">
      <h3>
        <Icon name="warn" /> Some bytes are not in the capture.
      </h3>
      <ul class="problem-list">
        {places.slice(0, PLACES_MAX).map(({ offset, missing, packet }) => (
          <li key={offset}>
            <b>{counted(missing, "byte")}</b> {missing === 1 ? "is" : "are"} missing before{" "}
            <button type="button" class="link" onClick={() => moveTo(offset)}>
              byte {offset}
            </button>{" "}
            <span class="dim">(packet {packet})</span>
          </li>
        ))}
        {places.length > PLACES_MAX && <li class="dim">and {counted(places.length - PLACES_MAX, "more place")}</li>}
      </ul>
      <p class="dim">A packet was not captured, or only its beginning was. What stands on both sides is joined, so a frame that spans the place is not what was sent.</p>
    </article>
  );
}

export function ProblemsCard() {
  void version.value;
  const frames = problemFrames.value;
  const last = frames.findLast((frame) => frameOf(frame).status === STATUS.torn);
  const bad = frames.filter((frame) => frameOf(frame).status === STATUS.bad);
  return (
    <section class="card problems" aria-label="Problems">
      <h2>
        Problems <span class="dim">{problemCount.value === 0 ? "none" : frames.length >= PROBLEMS_MAX ? `the first ${PROBLEMS_MAX}` : problemCount.value}</span>
      </h2>
      {problemCount.value === 0 && (
        <p class="all-well">
          <Icon name="check" /> Every byte has its place.
        </p>
      )}
      <ForeignNote />
      <Lost />
      <Apart />
      {shownError.value && <ErrorCard error={shownError.value} />}
      {last !== undefined && <Torn frame={last} />}
      {bad.length > 1 && (
        <ul class="problem-list" aria-label="Frames that are wrong">
          {bad.slice(0, 50).map((frame) => (
            <li key={frame}>
              <button type="button" class="link" onClick={() => moveTo(frameOf(frame).start)}>
                frame {frame}, byte {frameOf(frame).start}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
