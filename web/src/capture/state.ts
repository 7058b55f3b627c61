// The state of an open capture: its streams, and the direction that is the document.

import { computed, signal } from "@preact/signals";
import { captureWasm } from "virtual:engine-wasm";
import type { CaptureSummary } from "../generated/types";
import { MODES, SEGMENT_WORDS } from "../engine/tables";
import { moveTo } from "../state/cursor";
import { engine, load, onLoad } from "../state/document";
import { cutAt } from "../state/reads";
import { announce, dockTab, pane } from "../state/view";
import { counted } from "../words/chars";

/** From the client to the server, or back. */
export type Direction = 0 | 1;

/** A piece of one direction, as one packet carried it. */
export interface Segment {
  direction: Direction;
  /** The offset of its first byte in its direction. */
  offset: number;
  length: number;
  /** Milliseconds since the first packet of the capture. */
  time: number;
  packet: number;
  retransmit: boolean;
  reordered: boolean;
  /** The number of bytes before it that were not captured. */
  missing: number;
  fin: boolean;
  reset: boolean;
}

interface Capture {
  name: string;
  summary: CaptureSummary;
  stream: number;
  /** The bytes of both directions. */
  bytes: readonly [Uint8Array, Uint8Array];
  /** The segments of both directions by time. */
  segments: readonly Segment[];
  /** The direction that is the document, if one is. */
  shown: Direction | null;
}

export const capture = signal<Capture | null>(null);

/** The segments of the document with missing bytes before them. */
export const lost = computed(() => {
  const { segments, shown } = capture.value ?? { segments: [], shown: null };
  return shown === null ? [] : segments.filter(({ direction, missing }) => direction === shown && missing > 0);
});

const NO_BYTES: Capture["bytes"] = [new Uint8Array(), new Uint8Array()];

let loading = false;
onLoad.add(() => {
  if (!loading && capture.value) capture.value = { ...capture.value, shown: null };
});

/** Whether a format is a capture format. */
export function isCapture(format: string): boolean {
  return format === "pcap" || format === "pcapng";
}

function segmentsOf(rows: Float64Array, direction: Direction): Segment[] {
  return Array.from({ length: rows.length / SEGMENT_WORDS }, (_, index) => {
    const [offset, length, time, packet, flags, missing] = rows.subarray(index * SEGMENT_WORDS, (index + 1) * SEGMENT_WORDS) as unknown as [number, number, number, number, number, number];
    return {
      direction,
      offset,
      length,
      time,
      packet,
      retransmit: (flags & 1) !== 0,
      reordered: (flags & 2) !== 0,
      missing,
      fin: (flags & 8) !== 0,
      reset: (flags & 16) !== 0,
    };
  });
}

/** Reads a capture and shows the stream with the most bytes. */
export async function openCapture(bytes: Uint8Array, name: string): Promise<void> {
  const summary = await engine.openCapture(captureWasm, bytes);
  const weight = ({ bytes: [there, back] }: CaptureSummary["streams"][number]) => there + back;
  let largest = 0;
  summary.streams.forEach((stream, index) => {
    if (weight(stream) > weight(summary.streams[largest]!)) largest = index;
  });
  capture.value = { name, summary, stream: largest, bytes: NO_BYTES, segments: [], shown: null };
  dockTab.value = "capture";
  pane.value = "dock";
  announce(`a capture with ${counted(summary.streams.length, "stream")}`);
  if (summary.streams.length > 0) await openStream(largest, 0);
}

/** The mode of a direction: the side is known, and only the protocol is guessed. */
function modeOf(direction: Direction, guess: number): number {
  if (direction === 0) return guess === MODES.binaryRequests ? guess : MODES.requests;
  return guess === MODES.binaryReplies ? guess : MODES.replies;
}

/** Shows a direction of a stream in the panes, with cuts where its segments end. */
export async function openStream(stream: number, direction: Direction, segment?: Segment): Promise<void> {
  const before = capture.value;
  const about = before?.summary.streams[stream];
  if (!before || !about) return;
  const [requests, replies, guess, there, back] = await Promise.all([
    engine.captureBytes(stream, 0),
    engine.captureBytes(stream, 1),
    engine.captureMode(stream, direction),
    engine.captureSegments(stream, 0),
    engine.captureSegments(stream, 1),
  ]);
  const segments = [...segmentsOf(there, 0), ...segmentsOf(back, 1)].sort((a, b) => a.time - b.time || a.packet - b.packet);
  loading = true;
  const both = [requests, replies] as const;
  capture.value = { ...before, stream, bytes: both, segments, shown: direction };
  const [from, to] = direction === 0 ? [about.client, about.server] : [about.server, about.client];
  const decoding = load(both[direction], `${from} → ${to}`, modeOf(direction, guess));
  loading = false;
  cutAt(segments.filter((other) => other.direction === direction).map((other) => other.offset));
  await decoding;
  if (segment) moveTo(segment.offset);
}
