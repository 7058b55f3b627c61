// The same value in every protocol: what it costs, part by part, and what one of them cannot say.

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

function WireRow({ wire, most, best, request }: { wire: Wire; most: number; best: number; request: boolean }) {
  const mode = WIRE_MODES[wire.wire];
  const open = () => void load(Uint8Array.from(wire.bytes), `${wire.label} ${request ? "request" : "reply"}`, mode && (request ? mode.request : mode.reply));
  const whole = wire.bytes.length === wire.total;
  return (
    <li class="wire">
      <div class="wire-head">
        <b>{wire.label}</b>
        <span>{counted(wire.total, "byte")}</span>
        {wire.total > best && <span class="dim">+{percent(wire.total - best, best)}</span>}
        <span class="grow" />
        <button type="button" class="btn" disabled={!whole} onClick={open}>
          Open<span class="sr-only"> as {wire.label}</span>
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
              {wire.cost[id]} <span class="dim">{percent(wire.cost[id], wire.total)}</span>
            </dd>
          </div>
        ))}
      </dl>
      {wire.lost.length > 0 && (
        <ul class="lost" aria-label={`What ${wire.label} cannot say`}>
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
  const totals = compared.wires.map((wire) => wire.total);
  const most = Math.max(1, ...totals);
  const best = Math.min(...totals);
  return (
    <ul class="wires">
      {compared.wires.map((wire) => (
        <WireRow key={wire.wire} wire={wire} most={most} best={best} request={request} />
      ))}
    </ul>
  );
}
