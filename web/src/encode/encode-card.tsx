// The card that encodes a command typed as in redis-cli: its bytes, its size in every protocol, and
// literals.

import { computed, effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { commands, learnCommands } from "../console/state";
import type { Comparison as Compared } from "../generated/types";
import { COMMANDS, MODES, STATUS } from "../engine/tables";
import { cursor, here } from "../state/cursor";
import { bytes, engine, load, replace, shape, version } from "../state/document";
import { announce, dockTab } from "../state/view";
import { counted, escaped } from "../words/chars";
import { commandIn, completions } from "../words/commands";
import { CommandHelp } from "../panes/command-help";
import { Offers } from "../panes/offers";
import { Comparison } from "./comparison";
import { LANGUAGES } from "./literals";
import { REQUEST_WIRES, WIRE_MODES } from "./wires";

/** The most bytes of the result shown. */
const SHOWN_BYTES_MAX = 600;

/** The initial command. */
const EXAMPLE = "SET greeting hello";

const line = signal("");
const wire = signal<number>(REQUEST_WIRES[0].wire);
const language = signal(LANGUAGES[0]!.id);

interface Encoded {
  bytes: Uint8Array;
  compared: Compared | null;
  /** Why there are no bytes. */
  error: string;
}
const NOTHING: Encoded = { bytes: new Uint8Array(), compared: null, error: "" };
const typed = signal<Encoded>(NOTHING);
const atCursor = signal<Encoded>(NOTHING);

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const NAMES = COMMANDS.map(([name]) => name);
const offers = computed(() => completions(NAMES, line.value));
const help = computed(() => commandIn(commands.value, line.value));

let typing = 0;
effect(() => {
  const id = ++typing;
  const text = line.value;
  const into = wire.value;
  if (text.trim() === "") {
    typed.value = NOTHING;
    return;
  }
  void Promise.all([engine.encodeCommand(text, into), engine.compareCommand(text)])
    .then(
      ([encoded, compared]): Encoded => ({ bytes: encoded, compared, error: "" }),
      (error: unknown): Encoded => ({ ...NOTHING, error: words(error) }),
    )
    .then((encoded) => {
      if (id === typing) typed.value = encoded;
    });
});

effect(() => {
  const asked = version.value;
  const frame = here.value.frame;
  if (dockTab.value !== "encode" || !frame || frame.status !== STATUS.whole) {
    atCursor.value = NOTHING;
    return;
  }
  void engine
    .compare(frame.index)
    .then(
      (compared): Encoded => ({ ...NOTHING, compared }),
      (error: unknown): Encoded => ({ ...NOTHING, error: words(error) }),
    )
    .then((encoded) => {
      if (asked === version.peek() && here.peek().frame?.index === frame.index) atCursor.value = encoded;
    });
});

const literal = computed(() => {
  const chosen = LANGUAGES.find(({ id }) => id === language.value)!;
  return typed.value.bytes.length === 0 ? "" : chosen.write(typed.value.bytes);
});

function openTyped(): void {
  void load(typed.value.bytes, line.value.trim().split(/\s+/, 1)[0]!.toUpperCase(), WIRE_MODES[wire.value]!.request);
}

function addTyped(): void {
  const at = here.value.frame?.end ?? bytes.value.length;
  void replace(cursor.value >= bytes.value.length ? bytes.value.length : at, 0, typed.value.bytes).then(() => announce("request inserted"));
}

function Literal() {
  return (
    <div class="literal">
      <div class="row">
        <label class="select">
          <span class="sr-only">Language</span>
          <select
            value={language.value}
            onChange={(event) => {
              language.value = event.currentTarget.value;
            }}
          >
            {LANGUAGES.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="btn" onClick={() => void navigator.clipboard.writeText(literal.value).then(() => announce("literal copied"))}>
          Copy literal
        </button>
      </div>
      <pre class="bytes-text" tabIndex={0} aria-label="Literal">
        {literal.value.length > 4 * SHOWN_BYTES_MAX ? `${literal.value.slice(0, 4 * SHOWN_BYTES_MAX)}…` : literal.value}
      </pre>
    </div>
  );
}

function Typed() {
  const { bytes: encoded, compared, error } = typed.value;
  if (error !== "") return <p class="wrong">{error}</p>;
  if (encoded.length === 0) {
    return (
      <p class="dim">
        Type a command, quoted as in redis-cli, or take{" "}
        <button
          type="button"
          class="link"
          onClick={() => {
            line.value = EXAMPLE;
          }}
        >
          <code>{EXAMPLE}</code>
        </button>
        : its bytes, and what it costs in each protocol.
      </p>
    );
  }
  const inDocument = WIRE_MODES[wire.value]!.request === shape.value.mode;
  return (
    <>
      <pre class="bytes-text" tabIndex={0} aria-label="Bytes of the request">
        {escaped(encoded, SHOWN_BYTES_MAX)}
      </pre>
      <div class="row">
        <span class="dim">{counted(encoded.length, "byte")}</span>
        <span class="grow" />
        <button type="button" class="btn" disabled={!inDocument} title={inDocument ? undefined : "The document holds something else"} onClick={addTyped}>
          Insert here
        </button>
        <button type="button" class="btn primary" onClick={openTyped}>
          Open
        </button>
      </div>
      {compared && (
        <>
          <h3>What it costs</h3>
          <Comparison compared={compared} request />
        </>
      )}
      <h3>As a literal</h3>
      <Literal />
    </>
  );
}

function AtCursor() {
  const { compared, error } = atCursor.value;
  const isRequest = shape.value.mode === MODES.requests || shape.value.mode === MODES.binaryRequests;
  return (
    <section class="card" aria-label="The frame at the cursor in every protocol">
      <h2>The frame at the cursor</h2>
      {compared ? <Comparison compared={compared} request={isRequest} /> : <p class="dim">{error || "A whole frame can be compared; the cursor is on none."}</p>}
    </section>
  );
}

export function EncodeCard() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus({ preventScroll: true });
    void learnCommands();
  }, []);
  const complete = (name: string) => {
    line.value = `${name} `;
    field.current?.focus();
  };
  return (
    <>
      <section class="card encode" aria-label="Encode">
        <h2>Encode a command</h2>
        <input
          ref={field}
          class="field wide-field"
          aria-label="Command, quoted as in redis-cli"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          placeholder={'SET k "a\\x00b" EX 60'}
          value={line.value}
          onInput={(event) => {
            line.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            const [offer] = offers.value;
            if (event.key !== "Tab" || event.shiftKey || offer === undefined) return;
            event.preventDefault();
            line.value = `${offer} `;
          }}
        />
        <Offers names={offers.value} take={complete} />
        {help.value && <CommandHelp command={help.value} />}
        <div class="presets" role="radiogroup" aria-label="Protocol">
          {REQUEST_WIRES.map(({ wire: number, label }) => (
            <label key={number} class="chip choice">
              <input
                type="radio"
                name="encode-wire"
                class="sr-only"
                checked={wire.value === number}
                onChange={() => {
                  wire.value = number;
                }}
              />
              {label}
            </label>
          ))}
        </div>
        <Typed />
      </section>
      <AtCursor />
    </>
  );
}
