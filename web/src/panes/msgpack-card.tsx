// The card for MessagePack within a value: its tokens, each linked to its bytes.

import { effect, signal } from "@preact/signals";
import type { MsgPack } from "../generated/types";
import { KIND } from "../engine/tables";
import { here, moveTo, pinRange, preview, selection } from "../state/cursor";
import { bytes, engine, version } from "../state/document";
import { markAt } from "../state/marks";
import { ROLE } from "../engine/tables";
import { dockTab } from "../state/view";
import { counted } from "../words/chars";

/** The bytes to decode: a range, and why this one. */
interface Subject {
  from: number;
  to: number;
  what: string;
}

const subject = signal<Subject | null>(null);
const answer = signal<MsgPack | null>(null);

/** The selected bytes, or else the content of the value at the cursor. */
function meant(): Subject | null {
  if (selection.value) return { from: selection.value[0], to: selection.value[1], what: "the selection" };
  const { node, mark } = here.value;
  if (!node || (node.kind !== KIND.bulk && node.kind !== KIND.arg && node.kind !== KIND.verbatim)) return null;
  const payload = mark?.role === ROLE.payload ? mark : payloadOf(node.start, node.end);
  return payload && { from: payload.start, to: payload.end, what: "the content of the value at the cursor" };
}

/** The mark of a value's content: the last mark except the closing line end. */
function payloadOf(start: number, end: number): { start: number; end: number } | null {
  for (let at = start; at < end; ) {
    const mark = markAt(at);
    if (!mark || mark.end <= at) return null;
    if (mark.role === ROLE.payload) return mark;
    at = mark.end;
  }
  return null;
}

effect(() => {
  const asked = version.value;
  const next = dockTab.value === "msgpack" ? meant() : null;
  subject.value = next;
  if (!next) {
    answer.value = null;
    return;
  }
  void engine.msgpack(next.from, next.to).then(
    (tokens) => {
      if (asked === version.peek() && subject.peek()?.from === next.from && subject.peek()?.to === next.to) answer.value = tokens;
    },
    () => {},
  );
});

type MsgPackToken = MsgPack["tokens"][number];

/** The text after a token's kind, which is shown separately. */
function textOf({ kind, text }: MsgPackToken): string {
  return text === kind ? "" : text.startsWith(`${kind} `) ? text.slice(kind.length + 1) : text;
}

function Token({ token }: { token: MsgPackToken }) {
  return (
    <li style={{ "--depth": token.depth }}>
      <button
        type="button"
        class="row-link token"
        onClick={() => pinRange(token.start, token.end)}
        onPointerEnter={() => preview(token.start, [token.start, token.end])}
        onPointerLeave={() => preview(null)}
      >
        <span class="token-kind">{token.kind}</span> <span class="token-text">{textOf(token)}</span>
        <span class="dim token-at">{token.end - token.start > 1 ? `${token.start}–${token.end - 1}` : token.start}</span>
      </button>
    </li>
  );
}

export function MsgPackCard() {
  const asked = subject.value;
  const found = answer.value;
  return (
    <section class="card msgpack" aria-label="MessagePack">
      <h2>MessagePack</h2>
      {!asked && <p class="dim">Put the cursor on a bulk string or select bytes: they are read as MessagePack here.</p>}
      {asked && found && (
        <>
          <p class="dim">
            {counted(asked.to - asked.from, "byte")}, {asked.what}.
          </p>
          {!found.ok && (
            <p class="wrong" role="status">
              Not MessagePack: {found.error}, at{" "}
              <button type="button" class="link" onClick={() => moveTo(found.at)}>
                byte {found.at}
              </button>
              {found.at < bytes.value.length ? "" : " (the end)"}
            </p>
          )}
          <ol class="tokens" aria-label="Tokens">
            {found.tokens.map((token) => (
              <Token key={token.start} token={token} />
            ))}
          </ol>
          {found.cut && <p class="dim">Only the first {counted(found.tokens.length, "token")} are listed.</p>}
        </>
      )}
    </section>
  );
}
