// Play: moves the cursor automatically, and stops at breakpoints.

import { effect, signal } from "@preact/signals";
import { ROLE, ROLES } from "../engine/tables";
import { cursor, moveTo } from "./cursor";
import { length, onLoad } from "./document";
import { markAt, marksReady } from "./marks";
import { announce, reducedMotion } from "./view";

export const SPEEDS = [1, 10, 100] as const;
/** Bytes per second. */
export const speed = signal<number>(10);
export const playing = signal(false);

/** The bytes to stop at. */
export const breakBytes = signal<ReadonlySet<number>>(new Set());
/** The roles of marks to stop at. */
export const breakRoles = signal<ReadonlySet<number>>(new Set());
/** Whether to stop at an error. */
export const breakOnError = signal(true);

onLoad.add(() => {
  playing.value = false;
  breakBytes.value = new Set();
});

function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

export function toggleBreakByte(at: number): void {
  breakBytes.value = toggled(breakBytes.value, at);
  announce(`breakpoint ${breakBytes.value.has(at) ? "at" : "removed from"} byte ${at}`);
}

export function toggleBreakRole(role: number): void {
  breakRoles.value = toggled(breakRoles.value, role);
}

/** Why play stops at the start of a mark; empty if it does not. */
function reasonAt(offset: number): string {
  const mark = markAt(offset);
  if (!mark || mark.start !== offset) return "";
  if (breakOnError.peek() && mark.role === ROLE.bad) return `error at byte ${offset}`;
  return breakRoles.peek().has(mark.role) ? `${ROLES[mark.role]!.label} at byte ${offset}` : "";
}

/** The first byte after `from`, up to `to`, at which play stops, and why. Checks mark by mark. */
async function firstStop(from: number, to: number): Promise<readonly [number, string] | undefined> {
  const stops = [...breakBytes.peek()].filter((at) => at > from && at <= to);
  const stop = Math.min(...stops);
  const byByte = stops.length > 0 ? ([stop, `breakpoint at byte ${stop}`] as const) : undefined;
  if (!breakOnError.peek() && breakRoles.peek().size === 0) return byByte;
  const last = Math.min(to, stop, length.peek() - 1);
  for (let at = from; at <= last && playing.peek(); ) {
    if (!markAt(at)) await marksReady(at, at + 1);
    const reason = at > from ? reasonAt(at) : "";
    if (reason !== "") return [at, reason];
    at = markAt(at)?.end ?? at + 1;
  }
  return byByte;
}

/** Moves by `count` bytes, or up to a reason to stop; returns that reason. */
async function walk(count: number): Promise<string> {
  const from = cursor.peek();
  const to = Math.min(from + count, length.peek());
  const stop = await firstStop(from, to);
  if (!playing.peek() || cursor.peek() !== from) return "";
  moveTo(stop?.[0] ?? to);
  return stop?.[1] ?? (to === length.peek() ? "end" : "");
}

/** Moves on until there is a reason to stop. */
async function run(): Promise<void> {
  let last = performance.now();
  let owed = 0;
  while (playing.peek()) {
    if (reducedMotion.peek()) {
      // Reduced motion: jump to where play would stop.
      owed = length.peek();
    } else {
      await new Promise((resolve) => setTimeout(resolve, 1000 / Math.min(speed.peek(), 30)));
      const now = performance.now();
      owed += ((now - last) / 1000) * speed.peek();
      last = now;
    }
    const count = Math.floor(owed);
    if (count < 1) continue;
    owed -= count;
    const why = await walk(count);
    if (why !== "") {
      playing.value = false;
      announce(`stopped: ${why}`);
    }
  }
}

effect(() => {
  if (playing.value) {
    if (cursor.peek() >= length.peek()) moveTo(0);
    void run();
  }
});
