// What commands are for, from the engine's command table.

import { signal } from "@preact/signals";
import type { CommandInfo } from "../generated/types";
import { engine } from "../state/document";

/** The command table; empty until the engine has told it. */
export const commandTable = signal<readonly CommandInfo[]>([]);

void engine.commandTable().then(
  (table) => {
    commandTable.value = table;
  },
  () => {},
);

/** What a command does; `command` as frames have it, one more than its index. */
export function commandSummary(command: number): string {
  if (command === 0) return "";
  return commandTable.value.find((info) => info.id === command - 1)?.summary ?? "";
}
