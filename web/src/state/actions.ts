// The actions of the page, each defined once: the buttons, the keys and the keyboard map use them.

import { signal } from "@preact/signals";

export interface Action {
  id: string;
  /** Its name on buttons. */
  label: string;
  group: string;
  /** Its keys, such as `Ctrl+Shift+ArrowLeft`, in the order of the map. */
  keys: readonly string[];
  run(): void;
  enabled?(): boolean;
}

const byId = new Map<string, Action>();
const byKey = new Map<string, Action>();

/** Whether keys without Ctrl or Alt trigger actions: some input methods need them. */
export const singleKeys = signal(true);

/** Adds actions. A key that is already taken is an error. */
export function register(...actions: readonly Action[]): void {
  for (const action of actions) {
    if (byId.has(action.id)) throw new Error(`two actions are called ${action.id}`);
    byId.set(action.id, action);
    for (const key of action.keys) {
      const other = byKey.get(key);
      if (other) throw new Error(`${key} is the key of ${other.id} and ${action.id}`);
      byKey.set(key, action);
    }
  }
}

export function action(id: string): Action {
  const found = byId.get(id);
  if (!found) throw new Error(`no action is called ${id}`);
  return found;
}

/** All actions in the order they were added. */
export function allActions(): Action[] {
  return [...byId.values()];
}

export function perform(id: string): void {
  const found = action(id);
  if (found.enabled?.() ?? true) found.run();
}

/** The name of a pressed key with its modifiers. */
function keyName(event: KeyboardEvent): string {
  const modifiers = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "");
  // Shift is already part of a character, but not of an arrow or of a letter with Ctrl.
  const shift = event.shiftKey && (event.key.length > 1 || modifiers !== "" || /[A-Z]/.test(event.key)) ? "Shift+" : "";
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return modifiers + shift + key;
}

/** Whether the element handles its keys, so that the page must not. */
function takesKeys(target: EventTarget | null, event: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog[open]")) return true;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement) {
    if (target.type === "range") return /^(Arrow|Home|End|Page)/.test(event.key) && !event.shiftKey;
    return target.type !== "checkbox" || event.key === " ";
  }
  return (event.key === " " || event.key === "Enter") && target.closest("button, a, summary, [role=tab], [role=treeitem]") !== null;
}

/** Runs the action of a key. */
export function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || takesKeys(event.target, event)) return;
  const name = keyName(event);
  if (!singleKeys.value && !name.includes("Ctrl+") && !name.includes("Alt+") && event.key.length === 1) return;
  const found = byKey.get(name);
  if (!found || !(found.enabled?.() ?? true)) return;
  event.preventDefault();
  found.run();
}

const SHOWN: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  PageUp: "PgUp",
  PageDown: "PgDn",
  Escape: "Esc",
  Delete: "Del",
  Insert: "Ins",
};

/** A key as printed on keyboards. */
export function keyLabel(key: string): string {
  const parts = key.split(/\+(?=.)/);
  const last = parts.pop()!;
  return [...parts, SHOWN[last] ?? (last.length === 1 ? last.toUpperCase() : last)].join(" ");
}
