// The scrubber: a slider over a picture of the whole document, a column of pixels for a run of bytes.

import { effect, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { FRAME_WORDS, STATUS } from "../engine/tables";
import { cursor, here, moveTo } from "../state/cursor";
import { length, shape } from "../state/document";
import { markAt, marksArrived, marksReady } from "../state/marks";
import { breakBytes } from "../state/play";
import { arrived, cuts } from "../state/reads";
import { theme } from "../state/view";
import { aloud } from "./byte-card";

/** Largest document whose marks are drawn one by one; of larger ones the frames are. */
const MARKS_MAX = 16 * 1024;

function draw(canvas: HTMLCanvasElement): void {
  const width = canvas.clientWidth * devicePixelRatio;
  const height = canvas.clientHeight * devicePixelRatio;
  if (width === 0) return;
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d")!;
  // A custom property is not resolved when it is read; a colour that uses it is.
  const colour = (name: string) => {
    canvas.style.color = `var(${name})`;
    return getComputedStyle(canvas).color;
  };
  const total = Math.max(1, length.value);
  const x = (offset: number) => (offset / total) * width;
  context.clearRect(0, 0, width, height);
  const bar = (from: number, to: number, fill: string, top = 0.3, bottom = 0.7) => {
    context.fillStyle = fill;
    context.fillRect(x(from), height * top, Math.max(1, x(to) - x(from)), height * (bottom - top));
  };
  if (total <= MARKS_MAX) {
    const colours = Array.from({ length: 17 }, (_, role) => colour(`--m${role}`));
    for (let at = 0; at < total; ) {
      const mark = markAt(at);
      if (!mark) break;
      bar(mark.start, mark.end, colours[mark.role]!);
      at = mark.end;
    }
  } else {
    bar(0, total, colour("--m5"));
  }
  const { frames } = shape.value;
  const step = Math.max(1, Math.floor(frames.length / FRAME_WORDS / 4000));
  for (let index = 0; index * FRAME_WORDS < frames.length; index += 1) {
    const at = index * FRAME_WORDS;
    const status = frames[at]! & 0xff;
    if (status === STATUS.bad) bar(frames[at + 1]!, frames[at + 2]!, colour("--bad"), 0.15, 0.85);
    else if (frames.length / FRAME_WORDS < width / 4 && index % step === 0 && index > 0) bar(frames[at + 1]!, frames[at + 1]!, colour("--muted"), 0.12, 0.88);
  }
  if (arrived.value < length.value) {
    context.globalAlpha = 0.75;
    bar(arrived.value, total, colour("--surface"), 0, 1);
    context.globalAlpha = 1;
  }
  for (const at of cuts.value.slice(0, 2000)) bar(at, at, colour("--ink"), 0, 1);
  for (const at of breakBytes.value) bar(at, at + 1, colour("--bad"), 0.8, 1);
}

export function Scrubber() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const resize = new ResizeObserver(() => draw(canvas.current!));
    resize.observe(canvas.current!);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => draw(canvas.current!);
    scheme.addEventListener("change", redraw);
    const stop = effect(() => {
      void marksArrived.value;
      void theme.value;
      if (length.value <= MARKS_MAX) void marksReady(0, length.value);
      draw(canvas.current!);
    });
    return () => {
      stop();
      resize.disconnect();
      scheme.removeEventListener("change", redraw);
    };
  }, []);
  useSignalEffect(() => {
    const slider = input.current!;
    slider.max = String(length.value);
    slider.value = String(cursor.value);
    slider.style.setProperty("--at", `${(cursor.value / Math.max(1, length.value)) * 100}%`);
    slider.setAttribute("aria-valuetext", aloud(here.value));
  });
  return (
    <div class="scrubber">
      <canvas ref={canvas} aria-hidden="true" />
      <input ref={input} type="range" min="0" step="1" aria-label="Byte" onInput={(event) => moveTo(Number(event.currentTarget.value))} />
    </div>
  );
}
