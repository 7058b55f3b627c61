// Completion and help from the server's own command table.

import { computed, signal } from "@preact/signals";
import { commands } from "./state";

/** Names offered. */
const OFFERED_MAX = 6;

/** What is being typed. */
export const line = signal("");

/** The command that is typed, by its longest name that fits: `CLIENT LIST` before `CLIENT`. */
export const typedCommand = computed(() => {
  const words = line.value.trimStart().toUpperCase().split(/\s+/);
  const named = (name: string) => commands.value.find((command) => command.name === name);
  return named(words.slice(0, 2).join(" ")) ?? named(words[0] ?? "");
});

/** Names that the typed beginning may become. */
export const offers = computed(() => {
  const typed = line.value.trimStart().toUpperCase().replace(/\s+/g, " ");
  if (typed === "" || typedCommand.value?.name === typed.trimEnd()) return [];
  return commands.value
    .filter(({ name }) => name.startsWith(typed))
    .slice(0, OFFERED_MAX)
    .map(({ name }) => name);
});
