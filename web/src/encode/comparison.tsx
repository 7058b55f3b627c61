// Compares a value across all protocols: its size by part, and what a protocol cannot express.

import type { Comparison as Compared } from "../generated/types";
import { load } from "../state/document";
import { counted } from "../words/chars";
import { WIRE_MODES } from "./wires";

type Wire = Compared["wires"][number];

/** The parts of a cost, in the order of the bars. */
const PARTS = [
  { id: "payload", label: "payload", what: "the content itself" },
  { id: "framing", label: "framing", what: "type bytes, operations, fixed fields" },
  { id: "digits", label: "digits", what: "lengths and counts written as digits" },
  { id: "crlf", label: "line ends", what: "CR and LF" },
] as const;

function percent(part: number, whole: number): string {
  return whole === 0 ? "0 %" : `${Math.round((100 * part) / whole)} %`;
}

function Bar({ wire, most }: { wire: Wire; most: number }) {
  return (
    <div class="cost-bar" aria-hidden="true">
      {PARTS.map(({ id }) => (
        <span key={id} class={`cost-${id}`} style={{ width: `${(100 * wire.cost[id]) / most}%` }} />
      ))}
    </div>
  );
}

/** An encoding and the protocols that share its bytes. */
interface Same {
  labels: readonly string[];
  wire: Wire;
}

/** Each distinct encoding, with its protocols. */
function distinct(wires: readonly Wire[]): Same[] {
  return [...Map.groupBy(wires, ({ bytes, total, lost }) => `${total} ${bytes.join()} ${lost.length}`).values()].map((same) => ({
    labels: same.map(({ label }) => label),
    wire: same[0]!,
  }));
}

/** The names in a sentence: `RESP2 and RESP3`. */
function named({ labels }: Same): string {
  return labels.join(" and ");
}

function WireRow({ same, most, best, request }: { same: Same; most: number; best: Same; request: boolean }) {
  const { wire } = same;
  const mode = WIRE_MODES[wire.wire];
  const open = () => void load(Uint8Array.from(wire.bytes), `${wire.label} ${request ? "request" : "reply"}`, mode && (request ? mode.request : mode.reply));
  const whole = wire.bytes.length === wire.total;
  return (
    <li class="wire">
      <div class="wire-head">
        <b class="wire-name">{named(same)}</b>
        <span>{counted(wire.total, "byte")}</span>
        <span class="dim" title="Beside the least">{wire.total > best.wire.total ? `+${percent(wire.total - best.wire.total, best.wire.total)}` : "the least"}</span>
        <span class="grow" />
        <button type="button" class="btn" disabled={!whole} onClick={open}>
          Open<span class="sr-only"> as {named(same)}</span>
        </button>
      </div>
      <Bar wire={wire} most={most} />
      <dl class="cost">
        {PARTS.map(({ id, label, what }) => (
          <div key={id} title={what}>
            <dt>
              <span class={`cost-key cost-${id}`} aria-hidden="true" />
              {label}
            </dt>
            <dd>
              {wire.cost[id]} <span class="dim percent">{percent(wire.cost[id], wire.total)}</span>
            </dd>
          </div>
        ))}
      </dl>
      {wire.lost.length > 0 && (
        <ul class="lost" aria-label={`What ${named(same)} cannot say`}>
          {wire.lost.slice(0, 20).map(({ path, what }) => (
            <li key={path + what}>
              <span class="badge">{what}</span> <code>{path}</code>
            </li>
          ))}
          {wire.lost.length > 20 && <li class="dim">and {wire.lost.length - 20} more</li>}
        </ul>
      )}
    </li>
  );
}

export function Comparison({ compared, request }: { compared: Compared; request: boolean }) {
  const rows = distinct(compared.wires);
  const most = Math.max(1, ...rows.map(({ wire }) => wire.total));
  const best = rows.reduce((least, row) => (row.wire.total < least.wire.total ? row : least));
  return (
    <>
      <p class="cost-summary">
        {rows.map((row, index) => (
          <span key={row.wire.wire}>
            {index > 0 && ", "}
            <b>{counted(row.wire.total, "byte")}</b> as {named(row)}
          </span>
        ))}
        .
      </p>
      <ul class="wires">
        {rows.map((row) => (
          <WireRow key={row.wire.wire} same={row} most={most} best={best} request={request} />
        ))}
      </ul>
    </>
  );
}
