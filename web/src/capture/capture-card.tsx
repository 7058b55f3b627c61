// The streams of a capture, and one stream's segments in both directions by time.

import type { CaptureSummary } from "../generated/types";
import { arrived } from "../state/reads";
import { counted, grouped } from "../words/chars";
import { type Direction, type Segment, capture, openStream } from "./state";
import { StreamRow } from "./stream-row";

/** Segments that are listed. */
const LISTED_MAX = 1_000;

function Ends({ stream }: { stream: CaptureSummary["streams"][number] }) {
  return (
    <>
      <code>{stream.client}</code> <span aria-hidden="true">→</span>
      <span class="sr-only">to</span> <code>{stream.server}</code>
    </>
  );
}

/** What is unusual about a segment. */
function marksOf(segment: Segment): string[] {
  return [segment.gap && "bytes are missing in front", segment.retransmit && "sent again", segment.reordered && "out of order", segment.reset && "reset"].filter(
    (mark): mark is string => mark !== false,
  );
}

function SegmentRow({ segment, stream, shown }: { segment: Segment; stream: number; shown: Direction | null }) {
  const there = segment.direction === 0;
  return (
    <li class={`segment ${there ? "there" : "back"} ${shown === segment.direction ? "" : "other"}`}>
      <button type="button" class="row-link" onClick={() => void openStream(stream, segment.direction, segment)}>
        <span class="segment-time">{segment.time.toFixed(3)}</span>
        <span class="segment-way" aria-hidden="true">
          {there ? "→" : "←"}
        </span>
        <span class="sr-only">{there ? "request" : "reply"}</span>
        {segment.length > 0 && <span>{counted(segment.length, "byte")}</span>}
        <span class="dim">packet {segment.packet}</span>
        {segment.fin && <span>ends</span>}
        {marksOf(segment).map((mark) => (
          <span key={mark} class="badge">
            {mark}
          </span>
        ))}
      </button>
    </li>
  );
}

export function CaptureCard() {
  const opened = capture.value;
  if (!opened) {
    return (
      <section class="card" aria-label="Capture">
        <h2>Capture</h2>
        <p class="dim">
          Drop a <code>pcap</code> or <code>pcapng</code> file on the page: its TCP streams are put together here, and the segments' borders become cuts.
        </p>
      </section>
    );
  }
  const { summary, stream, segments, shown, name } = opened;
  void arrived.value;
  return (
    <section class="card capture" aria-label="Capture">
      <h2>
        {name} <span class="dim">{counted(summary.packets, "packet")}</span>
      </h2>
      {summary.skipped > 0 && (
        <p class="dim">
          {counted(summary.skipped, "packet")} passed over: {summary.why.join("; ")}.
        </p>
      )}
      {summary.streams.length === 0 && <p>No TCP stream with content.</p>}
      <ul class="streams" aria-label="Streams">
        {summary.streams.map((about, index) => (
          <StreamRow
            key={index}
            ends={<Ends stream={about} />}
            bytes={about.bytes}
            chosen={index === stream}
            shown={index === stream ? shown : null}
            open={(direction) => void openStream(index, direction)}
          >
            <span class="dim">{((about.endMs - about.startMs) / 1000).toFixed(3)} s</span>
            {about.gaps[0] + about.gaps[1] > 0 && <span class="badge">{counted(about.gaps[0] + about.gaps[1], "gap")}</span>}
          </StreamRow>
        ))}
      </ul>
      {segments.length > 0 && (
        <>
          <h3>Both directions by time, in ms</h3>
          <ol class="segments">
            {segments.slice(0, LISTED_MAX).map((segment) => (
              <SegmentRow key={`${segment.packet} ${segment.direction} ${segment.offset}`} segment={segment} stream={stream} shown={shown} />
            ))}
          </ol>
          {segments.length > LISTED_MAX && <p class="dim">Only the first {grouped(LISTED_MAX)} are listed.</p>}
        </>
      )}
    </section>
  );
}
