// Completion and help, from the server's own command table.

import { computed, signal } from "@preact/signals";
import { commandIn, completions } from "../words/commands";
import { commands } from "./state";

/** The line being typed. */
export const line = signal("");

const names = computed(() => commands.value.map(({ name }) => name));

/** The command being typed. */
export const typedCommand = computed(() => commandIn(commands.value, line.value));

/** The names that complete the typed text. */
export const offers = computed(() => completions(names.value, line.value));
