// The scrubber: a slider over a picture of the whole document. Each column of pixels shows a run of
// bytes.

import { effect, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { FRAME_WORDS, STATUS } from "../engine/tables";
import { cursor, here, moveTo } from "../state/cursor";
import { length, shape } from "../state/document";
import { markAt, marksArrived, marksReady } from "../state/marks";
import { breakBytes } from "../state/play";
import { arrived, cuts } from "../state/reads";
import { theme } from "../state/view";
import { spokenText } from "./byte-card";

/** The largest document whose marks are drawn one by one; for larger ones the frames are drawn. */
const MARKS_MAX = 16 * 1024;

/** The theme's colours by property. Read once: each read makes the browser search its styles. */
const colours = new Map<string, string>();

function draw(canvas: HTMLCanvasElement): void {
  const width = canvas.clientWidth * devicePixelRatio;
  const height = canvas.clientHeight * devicePixelRatio;
  if (width === 0) return;
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d")!;
  // Reading a custom property does not resolve it; reading a colour that uses it does.
  const colour = (name: string) => {
    if (!colours.has(name)) {
      canvas.style.color = `var(${name})`;
      colours.set(name, getComputedStyle(canvas).color);
    }
    return colours.get(name)!;
  };
  const total = Math.max(1, length.value);
  const x = (offset: number) => (offset / total) * width;
  context.clearRect(0, 0, width, height);
  const bar = (from: number, to: number, fill: string, top = 0.3, bottom = 0.7) => {
    context.fillStyle = fill;
    context.fillRect(x(from), height * top, Math.max(1, x(to) - x(from)), height * (bottom - top));
  };
  if (total <= MARKS_MAX) {
    for (let at = 0; at < total; ) {
      const mark = markAt(at);
      if (!mark) break;
      bar(mark.start, mark.end, colour(`--m${mark.role}`));
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
    let frame = 0;
    // Once per animation frame, after all other changes are known: drawing needs the width of the
    // element.
    const soon = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw(canvas.current!);
      });
    };
    const anew = () => {
      colours.clear();
      soon();
    };
    const resize = new ResizeObserver(soon);
    resize.observe(canvas.current!);
    const wishes = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"].map((wish) => matchMedia(wish));
    for (const wish of wishes) wish.addEventListener("change", anew);
    const stops = [
      effect(() => {
        void theme.value;
        anew();
      }),
      effect(() => {
        for (const shown of [marksArrived, shape, arrived, cuts, breakBytes]) void shown.value;
        if (length.value <= MARKS_MAX) void marksReady(0, length.value);
        soon();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      cancelAnimationFrame(frame);
      resize.disconnect();
      for (const wish of wishes) wish.removeEventListener("change", anew);
    };
  }, []);
  useSignalEffect(() => {
    const slider = input.current!;
    slider.max = String(length.value);
    slider.value = String(cursor.value);
    slider.style.setProperty("--at", `${(cursor.value / Math.max(1, length.value)) * 100}%`);
    slider.setAttribute("aria-valuetext", spokenText(here.value));
  });
  return (
    <div class="scrubber">
      <canvas ref={canvas} aria-hidden="true" />
      <input ref={input} type="range" min="0" step="1" aria-label="Byte" onInput={(event) => moveTo(Number(event.currentTarget.value))} />
    </div>
  );
}
