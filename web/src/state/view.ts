// How the page looks: theme, tabs, what is open. Kept between visits where the browser lets us.

import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];

/** Reads a setting; the page works as well where storage is refused. */
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

/** Whether the samples are shown; they are on the first visit. */
export const galleryOpen = signal(kept("gallery") !== "closed");
effect(() => keep("gallery", galleryOpen.value ? "open" : "closed"));

/** The tab of the dock. */
export const dockTab = signal("byte");

/** The pane shown where there is room for one. */
export const PANES = ["hex", "text", "tree", "dock"] as const;
export type PaneId = (typeof PANES)[number];
export const pane = signal<PaneId>("hex");

/** The dialog that is open. */
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
/** One pane at a time. */
export const narrow = media("(max-width: 719px)");
/** Room for sixteen bytes in a row beside the other panes. */
export const wide = media("(min-width: 1100px)");

/** What is said to screen readers, politely. */
export const announcement = signal("");
export function announce(text: string): void {
  announcement.value = text;
}
