// Completion and help from the server's own command table.

import { computed, signal } from "@preact/signals";
import { commandIn, completions } from "../words/commands";
import { commands } from "./state";

/** What is being typed. */
export const line = signal("");

const names = computed(() => commands.value.map(({ name }) => name));

/** The command that is typed. */
export const typedCommand = computed(() => commandIn(commands.value, line.value));

/** Names that the typed beginning may become. */
export const offers = computed(() => completions(names.value, line.value));
