// The card of the byte at the cursor: its value, its role, and the state of the decoder there.

import { useComputed, useSignal } from "@preact/signals";
import { KIND, KINDS, MODES, NONE, ROLE, ROLES } from "../engine/tables";
import { type Place, decoderState, here, moveTo, pinRange, shownPath, there } from "../state/cursor";
import { bytes, frameCount, length, onLoad, replace, shape } from "../state/document";
import { markAt } from "../state/marks";
import { byteAloud, byteInWords } from "../words/bytes";
import { byteName, counted, glyph, grouped, hex } from "../words/chars";
import { commandSummary } from "../words/commands";
import { frameInWords, sentence, valueInWords } from "../words/values";

/** The facts about a byte, for its description in words. */
export function factsOf(place: Place) {
  const before = place.mark && place.mark.start > 0 ? markAt(place.mark.start - 1)?.role : undefined;
  return { byte: place.byte ?? 0, offset: place.offset, mark: place.mark, before, node: place.node, mode: shape.value.mode };
}

/** The text that screen readers get for a byte. */
export function spokenText(place: Place): string {
  if (place.byte === undefined) return length.value === 0 ? "no bytes" : `after the last byte, ${length.value}`;
  return byteAloud(factsOf(place));
}

/** The innermost value in words, and the whole frame in words if it is another value. */
export function meanings(place: Place): { value: string; frame: string } {
  const { values, node, frame } = place;
  if (!values || !node || !frame) return { value: "", frame: "" };
  const whole = frameInWords(values);
  const alone = node.parent === NONE && node.kind !== KIND.attribute;
  return { value: alone ? "" : valueInWords(values, node), frame: whole };
}

/** The text shown last: it stays until the next frame's values have arrived, so that it does not flicker. */
let shownWords = { value: "", frame: "" };
onLoad.add(() => {
  shownWords = { value: "", frame: "" };
});

function Words() {
  const place = there.value;
  const now = meanings(place);
  if (now.frame !== "") shownWords = now;
  const { value, frame } = shownWords;
  const summary = commandSummary(place.frame?.command ?? 0);
  if (length.value === 0) return <p class="words-frame">There are no bytes. Choose a sample, or paste some.</p>;
  return (
    <>
      <p class="words-frame">{frame === "" ? "…" : sentence(frame)}</p>
      {summary !== "" && <p class="words-summary">{summary}</p>}
      {value !== "" && (
        <p class="words-value">
          <span class="eyebrow">here</span> {sentence(value)}
        </p>
      )}
    </>
  );
}

/** The frame at the cursor in plain words, for newcomers to read first. */
export function WordsCard() {
  const place = there.value;
  const which = place.frame && frameCount.value > 1 ? `${frameNoun()} ${place.frame.index + 1} of ${grouped(frameCount.value)}` : "";
  return (
    <div class="card words">
      <h2>
        In plain words <span class="dim">{which}</span>
      </h2>
      <Words />
    </div>
  );
}

function frameNoun(): string {
  return shape.value.mode === MODES.requests || shape.value.mode === MODES.binaryRequests ? "request" : "reply";
}

function EditByte({ at, byte }: { at: number; byte: number }) {
  const text = useSignal(hex(byte));
  const valid = useComputed(() => /^[0-9a-f]{1,2}$/i.test(text.value));
  const save = (event: Event) => {
    event.preventDefault();
    const value = Number.parseInt(text.value, 16);
    if (valid.value && value !== byte) void replace(at, 1, Uint8Array.of(value)).then(() => moveTo(at));
  };
  return (
    <form class="edit-byte" onSubmit={save}>
      <label>
        Change to
        <input
          value={text.value}
          maxLength={2}
          size={3}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={!valid.value}
          aria-label="New value of the byte, hexadecimal"
          onInput={(event) => {
            text.value = event.currentTarget.value.trim();
          }}
        />
      </label>
      <button type="submit" class="btn" disabled={!valid.value || Number.parseInt(text.value, 16) === byte}>
        Set
      </button>
      <button type="button" class="btn" onClick={() => void replace(at, 0, Uint8Array.of(byte)).then(() => moveTo(at))}>
        Insert
      </button>
      <button type="button" class="btn" onClick={() => void replace(at, 1, new Uint8Array()).then(() => moveTo(at))}>
        Delete
      </button>
    </form>
  );
}

/** The byte at the cursor. */
export function ByteCard() {
  const place = there.value;
  const { byte, mark, offset } = place;
  if (byte === undefined) {
    return (
      <section class="card byte" aria-label="Byte">
        <h2>{length.value === 0 ? "No bytes" : "After the last byte"}</h2>
        <p class="byte-words">The decoder has read {counted(length.value, "byte")}.</p>
      </section>
    );
  }
  const role = ROLES[mark?.role ?? ROLE.payload]!;
  return (
    <section class="card byte" aria-label="Byte">
      <h2>
        Byte {offset} <span class="dim">of {grouped(length.value)}</span>
      </h2>
      <div class="byte-head">
        <span class={`byte-glyph b r${mark?.role ?? ROLE.payload}`} aria-hidden="true">
          {glyph(byte)}
        </span>
        <dl class="byte-facts">
          <div>
            <dt>hex</dt>
            <dd>{hex(byte)}</dd>
          </div>
          <div>
            <dt>dec</dt>
            <dd>{byte}</dd>
          </div>
          <div>
            <dt>bin</dt>
            <dd>{byte.toString(2).padStart(8, "0")}</dd>
          </div>
          <div>
            <dt>is</dt>
            <dd>{byteName(byte)}</dd>
          </div>
        </dl>
      </div>
      <p class="byte-words">
        <span class={`tag r${mark?.role ?? ROLE.payload}`}>
          <b>{role.letter}</b> {role.label}
        </span>{" "}
        {sentence(byteInWords(factsOf(place)))}
      </p>
      {shownPath.value !== "" && <code class="path">{shownPath.value}</code>}
      {here.value.offset === offset && <EditByte key={`${offset}:${byte}`} at={offset} byte={byte} />}
    </section>
  );
}

/** The state of the decoder before the byte at the cursor. */
export function StateCard() {
  const state = decoderState.value;
  if (!state) return <section class="card state" aria-label="Decoder" />;
  return (
    <section class="card state" aria-label="Decoder">
      <h2>
        Decoder <span class="dim">{state.offset === 0 ? "at the start" : `after ${counted(state.offset, "byte")}`}</span>
      </h2>
      <p class="state-name">
        <code>{state.state}</code> {sentence(state.text)}
      </p>
      <dl class="state-facts">
        <div>
          <dt>may come next</dt>
          <dd>{state.expected === "" ? "nothing" : state.expected}</dd>
        </div>
        <div>
          <dt>the frame lacks</dt>
          <dd>{state.need === 0 ? "nothing" : `at least ${counted(state.need, "byte")}`}</dd>
        </div>
        {state.number !== null && (
          <div>
            <dt>number so far</dt>
            <dd>
              <code>{state.number === "" ? "no digit yet" : state.number}</code>
            </dd>
          </div>
        )}
        {state.payloadLeft !== null && (
          <div>
            <dt>content left</dt>
            <dd>{counted(state.payloadLeft, "byte")}</dd>
          </div>
        )}
      </dl>
      <OpenFrames />
    </section>
  );
}

/** The open aggregates, outermost first. */
function OpenFrames() {
  const open = decoderState.value?.open ?? [];
  if (open.length === 0) return <p class="dim">Nothing is open: a frame begins here.</p>;
  return (
    <ol class="stack" aria-label="Open values, outermost first">
      {open.map((level) => (
        <li key={level.start}>
          <button type="button" class="stack-level" onClick={() => pinRange(level.start, bytes.value.length === 0 ? 0 : level.start + 1)}>
            <span class={`type-badge k${level.kind}`} aria-hidden="true">
              {KINDS[level.kind]?.letter ?? "?"}
            </span>
            <span class="stack-name">{level.label}</span>
            <span class="stack-left">{leftOf(level)}</span>
            {level.of !== null && level.of > 0 && <progress max={level.of} value={level.done} aria-label={`${level.done} of ${level.of} read`} />}
          </button>
        </li>
      ))}
    </ol>
  );
}

function leftOf(level: { kind: number; done: number; of: number | null; left: number | null }): string {
  if (level.of === null || level.left === null) return level.kind === KIND.unknown ? "" : `${level.done} so far`;
  return `${level.left} of ${level.of} left`;
}
