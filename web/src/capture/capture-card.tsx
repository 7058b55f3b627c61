// The card with the streams of a capture, and one stream's segments in both directions by time.

import { useEffect, useRef } from "preact/hooks";
import type { CaptureSummary } from "../generated/types";
import { FilePicker } from "../input/open";
import { arrived } from "../state/reads";
import { counted, escaped, grouped } from "../words/chars";
import { type Direction, type Segment, capture, openStream } from "./state";
import { StreamRow } from "./stream-row";

/** The most segments listed. */
const LISTED_MAX = 1_000;
/** The most bytes of a segment shown. */
const PEEK_BYTES_MAX = 40;

function Ends({ stream }: { stream: CaptureSummary["streams"][number] }) {
  return (
    <>
      <code>{stream.client}</code> <span aria-hidden="true">→</span>
      <span class="sr-only">to</span> <code>{stream.server}</code> <span class="dim stream-time">{((stream.endMs - stream.startMs) / 1000).toFixed(3)} s</span>
    </>
  );
}

/** The unusual properties of a segment. */
function marksOf(segment: Segment): string[] {
  return [segment.missing > 0 && `${counted(segment.missing, "byte")} missing in front`, segment.retransmit && "sent again", segment.reordered && "out of order", segment.reset && "reset"].filter(
    (mark): mark is string => mark !== false,
  );
}

interface SegmentRowProps {
  segment: Segment;
  stream: number;
  shown: Direction | null;
  /** The bytes of the segment. */
  bytes: Uint8Array;
}

function SegmentRow({ segment, stream, shown, bytes }: SegmentRowProps) {
  const there = segment.direction === 0;
  return (
    <li class={`segment ${there ? "there" : "back"} ${shown === segment.direction ? "" : "other"}`}>
      <button type="button" class="row-link" onClick={() => void openStream(stream, segment.direction, segment)}>
        <span class="segment-time">{segment.time.toFixed(3)}</span>
        <span class="segment-way" aria-hidden="true">
          {there ? "→" : "←"}
        </span>
        <span class="sr-only">{there ? "request" : "reply"}</span>
        {segment.length > 0 ? <code class="segment-peek">{escaped(bytes, PEEK_BYTES_MAX)}</code> : <span class="segment-peek dim">{segment.fin ? "ends" : ""}</span>}
        {segment.length > 0 && <span class="segment-size">{counted(segment.length, "byte")}</span>}
        <span class="dim segment-packet" title="Its number in the file">
          <span class="sr-only">packet </span>#{segment.packet}
        </span>
        {segment.length > 0 && segment.fin && <span class="dim">ends</span>}
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
  const streams = useRef<HTMLUListElement>(null);
  // The list scrolls by itself, so that the segments below stay reachable; the open stream is in
  // view.
  useEffect(() => {
    const chosen = streams.current?.querySelector<HTMLElement>(".chosen");
    if (chosen) streams.current!.scrollTop = chosen.offsetTop - streams.current!.offsetTop - chosen.offsetHeight / 2;
  }, [opened?.name, opened?.summary]);
  if (!opened) {
    return (
      <section class="card" aria-label="Capture">
        <h2>Capture</h2>
        <p class="dim">
          Open a <code>pcap</code> or <code>pcapng</code> file, of tcpdump or Wireshark: its TCP streams are put together here, and where segments end becomes cuts.
        </p>
        <div class="row">
          <FilePicker />
          <span class="dim">or drop one anywhere</span>
        </div>
      </section>
    );
  }
  const { summary, stream, bytes, segments, shown, name } = opened;
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
      <ul ref={streams} class="streams" aria-label="Streams">
        {summary.streams.map((about, index) => (
          <StreamRow
            key={index}
            ends={<Ends stream={about} />}
            bytes={about.bytes}
            chosen={index === stream}
            shown={index === stream ? shown : null}
            open={(direction) => void openStream(index, direction)}
          >
            {about.isMidway && (
              <span class="badge mild" title="The connection was open before the capture began: the first bytes may stand amid a frame">
                begins midway
              </span>
            )}
            {about.gaps[0] + about.gaps[1] > 0 && <span class="badge">{counted(about.gaps[0] + about.gaps[1], "gap")}</span>}
          </StreamRow>
        ))}
      </ul>
      {segments.length > 0 && (
        <>
          <h3>Both directions by time, in ms</h3>
          <ol class="segments">
            {segments.slice(0, LISTED_MAX).map((segment) => (
              <SegmentRow key={`${segment.packet} ${segment.direction} ${segment.offset}`} segment={segment} stream={stream} shown={shown} bytes={bytes[segment.direction].subarray(segment.offset, segment.offset + segment.length)} />
            ))}
          </ol>
          {segments.length > LISTED_MAX && <p class="dim">Only the first {grouped(LISTED_MAX)} are listed.</p>}
        </>
      )}
    </section>
  );
}
