// The classes of a byte's cell, shared by the hex and text panes.

import type { Mark } from "../engine/tables";
import { anchor, cursor, hover, hoverRange, pinnedRange, selection } from "../state/cursor";
import { markAt, marksArrived } from "../state/marks";
import { breakBytes } from "../state/play";
import { arrived, cuts, waitingFrom } from "../state/reads";

/** Everything that decides how bytes look, read once for a whole view. */
export interface Brush {
  cursor: number;
  pinned: readonly [number, number] | undefined;
  hovered: readonly [number, number] | undefined;
  hover: number;
  selection: readonly [number, number] | null;
  cuts: ReadonlySet<number>;
  breaks: ReadonlySet<number>;
  arrived: number;
  waiting: number;
}

let cutSet: ReadonlySet<number> = new Set();
let cutsSeen: readonly number[] = [];

function span(mark: Mark | undefined): readonly [number, number] | undefined {
  return mark && [mark.start, mark.end];
}

/** Reads the state. Inside an effect, this reruns the effect when the look changes. */
export function takeBrush(): Brush {
  void marksArrived.value;
  void anchor.value;
  if (cutsSeen !== cuts.value) {
    cutsSeen = cuts.value;
    cutSet = new Set(cutsSeen);
  }
  return {
    cursor: cursor.value,
    pinned: pinnedRange.value ?? span(markAt(cursor.value)),
    hovered: hover.value === null ? undefined : (hoverRange.value ?? span(markAt(hover.value))),
    hover: hover.value ?? -1,
    selection: selection.value,
    cuts: cutSet,
    breaks: breakBytes.value,
    arrived: arrived.value,
    waiting: waitingFrom.value,
  };
}

function within(range: readonly [number, number] | undefined | null, offset: number): boolean {
  return range !== undefined && range !== null && offset >= range[0] && offset < range[1];
}

/** The classes of a byte. `left` and `right` are the edges of its row, where runs of bytes are split. */
export function classesOf(offset: number, mark: Mark | undefined, brush: Brush, left: number, right: number): string {
  let classes = mark ? `b r${mark.role}` : "b";
  if (mark) {
    if (offset === mark.start || offset === left) classes += offset === mark.start ? " s" : " sl";
    if (offset === mark.end - 1 || offset === right - 1) classes += offset === mark.end - 1 ? " e" : " el";
  }
  if (within(brush.pinned, offset)) classes += edges(" pin", brush.pinned!, offset, left, right);
  if (within(brush.hovered, offset)) classes += edges(" hov", brush.hovered!, offset, left, right);
  if (within(brush.selection, offset)) classes += " sel";
  if (offset === brush.cursor) classes += " cur";
  if (offset === brush.hover) classes += " ptr";
  if (brush.cuts.has(offset)) classes += " cut";
  if (brush.breaks.has(offset)) classes += " stop";
  if (offset >= brush.arrived) classes += " late";
  else if (offset >= brush.waiting) classes += " wait";
  return classes;
}

/** The class of a range, and where its outline begins and ends. */
function edges(name: string, range: readonly [number, number], offset: number, left: number, right: number): string {
  let classes = name;
  if (offset === range[0] || offset === left) classes += `${name}-s`;
  if (offset === range[1] - 1 || offset === right - 1) classes += `${name}-e`;
  return classes;
}

/** Sets only changed properties: most cells of most rows stay the same. */
export function put(element: HTMLElement, text: string, className: string): void {
  if (element.textContent !== text) element.textContent = text;
  if (element.className !== className) element.className = className;
}
