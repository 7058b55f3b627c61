// What commands are for, from the engine's command table.

import { COMMANDS } from "../engine/tables";

/** What a command does; `command` as frames have it, one more than its index, or 0. */
export function commandSummary(command: number): string {
  return COMMANDS[command - 1]?.[1] ?? "";
}
