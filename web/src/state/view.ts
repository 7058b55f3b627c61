// The look of the page: theme, tabs, open parts. Kept between visits if the browser allows it.

import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];

/** Reads a setting; the page also works without storage. */
function kept(name: string): string | null {
  try {
    return localStorage.getItem(`respire-explorer.${name}`);
  } catch {
    return null;
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`respire-explorer.${name}`, value);
  } catch {
    // Private mode, or a file: the setting lasts as long as the tab.
  }
}

export const theme = signal<Theme>(THEMES.find((theme) => theme === kept("theme")) ?? "system");
effect(() => {
  document.documentElement.dataset.theme = theme.value;
  keep("theme", theme.value);
});

/** Whether the samples are shown, as on the first visit. */
export const galleryOpen = signal(kept("gallery") !== "closed");
effect(() => keep("gallery", galleryOpen.value ? "open" : "closed"));

/** The current tab of the dock. */
export const dockTab = signal("byte");

/** The pane shown if there is room for only one. */
export const PANES = ["hex", "text", "tree", "dock"] as const;
export type PaneId = (typeof PANES)[number];
export const pane = signal<PaneId>("hex");

/** The open dialog. */
export const dialog = signal<string | null>(null);

/** Whether passwords are shown. */
export const secretsShown = signal(false);

function media(query: string) {
  const list = matchMedia(query);
  const value = signal(list.matches);
  list.addEventListener("change", () => {
    value.value = list.matches;
  });
  return value;
}

export const reducedMotion = media("(prefers-reduced-motion: reduce)");
/** Whether one pane is shown at a time. */
export const narrow = media("(max-width: 719px)");
/** Whether there is room for sixteen bytes per row beside the other panes. */
export const wide = media("(min-width: 1100px)");

/** The text announced to screen readers, politely. */
export const announcement = signal("");
export function announce(text: string): void {
  announcement.value = text;
}
