// All actions of the core page, with their keys.

import { cursor, moveTo, preview, step } from "./state/cursor";
import { canRedo, canUndo, length, redo, replace, undo } from "./state/document";
import { playing, toggleBreakByte } from "./state/play";
import { goToProblem } from "./state/problems";
import { feedNext, fed, toggleCut, unfeed } from "./state/reads";
import { register } from "./state/actions";
import { type PaneId, THEMES, announce, dialog, dockTab, galleryOpen, narrow, pane, secretsShown, theme } from "./state/view";
import { columns, editing, focusHex, view } from "./panes/hex";
import { focusTree } from "./panes/tree";

const STEP = "Step";
const LOOK = "Look";
const CHANGE = "Change";
const PAGE = "Page";

const notAtStart = () => cursor.value > 0;
const notAtEnd = () => cursor.value < length.value;

function show(id: PaneId, focus: () => void): () => void {
  return () => {
    const shown = !narrow.value || pane.value === id;
    pane.value = id;
    // A pane that was hidden has nothing to focus before its layout.
    if (shown) focus();
    else requestAnimationFrame(() => requestAnimationFrame(focus));
  };
}

function restore(at: Promise<number | undefined>): void {
  void at.then((offset) => {
    if (offset !== undefined) moveTo(offset);
  });
}

function openDock(tab: string): void {
  dockTab.value = tab;
  pane.value = "dock";
}

register(
  { id: "byte-on", label: "Next byte", group: STEP, keys: ["ArrowRight"], run: () => void step("byte", true), enabled: notAtEnd },
  { id: "byte-back", label: "Previous byte", group: STEP, keys: ["ArrowLeft"], run: () => void step("byte", false), enabled: notAtStart },
  { id: "token-on", label: "Next token", group: STEP, keys: ["."], run: () => void step("token", true), enabled: notAtEnd },
  { id: "token-back", label: "Previous token", group: STEP, keys: [","], run: () => void step("token", false), enabled: notAtStart },
  { id: "frame-on", label: "Next frame", group: STEP, keys: ["PageDown"], run: () => void step("frame", true), enabled: notAtEnd },
  { id: "frame-back", label: "Previous frame", group: STEP, keys: ["PageUp"], run: () => void step("frame", false), enabled: notAtStart },
  { id: "row-on", label: "One row down", group: STEP, keys: ["ArrowDown"], run: () => moveTo(cursor.value + columns.value) },
  { id: "row-back", label: "One row up", group: STEP, keys: ["ArrowUp"], run: () => moveTo(cursor.value - columns.value) },
  { id: "view-on", label: "One view down", group: STEP, keys: ["Ctrl+ArrowDown"], run: () => moveTo(cursor.value + columns.value * view.rows) },
  { id: "view-back", label: "One view up", group: STEP, keys: ["Ctrl+ArrowUp"], run: () => moveTo(cursor.value - columns.value * view.rows) },
  { id: "first", label: "First byte", group: STEP, keys: ["Home"], run: () => moveTo(0), enabled: notAtStart },
  { id: "last", label: "After the last byte", group: STEP, keys: ["End"], run: () => moveTo(length.value), enabled: notAtEnd },
  { id: "select-on", label: "Select a byte more", group: STEP, keys: ["Shift+ArrowRight"], run: () => void step("byte", true, true), enabled: notAtEnd },
  { id: "select-back", label: "Select a byte less", group: STEP, keys: ["Shift+ArrowLeft"], run: () => void step("byte", false, true), enabled: notAtStart },
  {
    id: "play",
    label: "Play or pause",
    group: STEP,
    keys: ["Space"],
    run: () => {
      playing.value = !playing.value;
    },
    enabled: () => length.value > 0,
  },
  { id: "break", label: "Breakpoint at this byte", group: STEP, keys: ["b"], run: () => toggleBreakByte(cursor.value), enabled: notAtEnd },

  { id: "problem-on", label: "Next problem", group: LOOK, keys: ["e"], run: () => goToProblem(true) },
  { id: "problem-back", label: "Previous problem", group: LOOK, keys: ["Shift+e"], run: () => goToProblem(false) },
  { id: "go-hex", label: "To the hex pane", group: LOOK, keys: ["1"], run: show("hex", focusHex) },
  { id: "go-text", label: "To the text pane", group: LOOK, keys: ["2"], run: show("text", () => document.querySelector<HTMLElement>(".text-lines")?.focus()) },
  { id: "go-tree", label: "To the tree", group: LOOK, keys: ["3"], run: show("tree", focusTree) },
  { id: "go-dock", label: "To the cards", group: LOOK, keys: ["4"], run: show("dock", () => document.getElementById("dock-panel")?.focus()) },
  { id: "card-byte", label: "Card: byte and decoder", group: LOOK, keys: ["y"], run: () => openDock("byte") },
  { id: "card-reads", label: "Card: reads", group: LOOK, keys: ["r"], run: () => openDock("reads") },
  { id: "card-problems", label: "Card: problems", group: LOOK, keys: ["p"], run: () => openDock("problems") },
  {
    id: "secrets",
    label: "Show or hide passwords",
    group: LOOK,
    keys: ["s"],
    run: () => {
      secretsShown.value = !secretsShown.value;
      announce(secretsShown.value ? "passwords shown" : "passwords hidden");
    },
  },

  { id: "cut", label: "Cut before this byte, or join", group: CHANGE, keys: ["k"], run: () => toggleCut(cursor.value), enabled: () => notAtStart() && notAtEnd() },
  {
    id: "feed",
    label: "Feed next chunk",
    group: CHANGE,
    keys: ["f"],
    run: () => {
      feedNext();
      dockTab.value = "reads";
    },
    enabled: () => length.value > 0,
  },
  { id: "unfeed", label: "Take a chunk back", group: CHANGE, keys: ["Shift+f"], run: unfeed, enabled: () => fed.value !== null && fed.value > 0 },
  {
    id: "edit",
    label: "Type over bytes in hex",
    group: CHANGE,
    keys: ["Enter", "F2"],
    run: () => {
      pane.value = "hex";
      editing.value = editing.value === null ? -1 : null;
      announce(editing.value === null ? "editing ended" : "editing: type two hexadecimal digits for a byte");
      requestAnimationFrame(focusHex);
    },
  },
  { id: "insert", label: "Insert a zero byte", group: CHANGE, keys: ["Insert"], run: () => void replace(cursor.value, 0, Uint8Array.of(0)).then(() => moveTo(cursor.value)) },
  { id: "delete", label: "Delete this byte", group: CHANGE, keys: ["Delete"], run: () => void replace(cursor.value, 1, new Uint8Array()).then(() => moveTo(cursor.value)), enabled: notAtEnd },
  { id: "undo", label: "Undo", group: CHANGE, keys: ["Ctrl+z"], run: () => restore(undo()), enabled: () => canUndo.value },
  { id: "redo", label: "Redo", group: CHANGE, keys: ["Ctrl+y", "Ctrl+Shift+z"], run: () => restore(redo()), enabled: () => canRedo.value },

  {
    id: "open",
    label: "Open bytes or a file",
    group: PAGE,
    keys: ["o"],
    run: () => {
      dialog.value = "open";
    },
  },
  {
    id: "gallery",
    label: "Show or hide samples",
    group: PAGE,
    keys: ["g"],
    run: () => {
      galleryOpen.value = !galleryOpen.value;
    },
  },
  {
    id: "theme",
    label: "Change theme",
    group: PAGE,
    keys: ["t"],
    run: () => {
      theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
      announce(`theme: ${theme.value}`);
    },
  },
  {
    id: "keys",
    label: "Keyboard map",
    group: PAGE,
    keys: ["?"],
    run: () => {
      dialog.value = "keys";
    },
  },
  {
    id: "escape",
    label: "Close, or select nothing",
    group: PAGE,
    keys: ["Escape"],
    run: () => {
      editing.value = null;
      playing.value = false;
      preview(null);
      for (const menu of document.querySelectorAll("details[open].menu")) menu.removeAttribute("open");
    },
  },
);
