// What commands are for, from the engine's command table, and from the server's own.

import { COMMANDS } from "../engine/tables";
import type { CommandInfo } from "../generated/types";

/** What a command does; `command` as frames have it, one more than its index, or 0. */
export function commandSummary(command: number): string {
  return COMMANDS[command - 1]?.[1] ?? "";
}

/** Names offered at once. */
const OFFERED_MAX = 6;

/** The names that a line may be the beginning of; none once it is one. */
export function completions(names: readonly string[], line: string): string[] {
  const typed = line.trimStart().toUpperCase().replace(/\s+/g, " ");
  if (typed === "" || names.includes(typed.trimEnd())) return [];
  return names.filter((name) => name.startsWith(typed)).slice(0, OFFERED_MAX);
}

/** The name that a line begins with, the longest there is: `CLIENT LIST` before `CLIENT`. */
export function commandOf(names: readonly string[], line: string): string | undefined {
  const [first = "", second = ""] = line.trimStart().toUpperCase().split(/\s+/);
  return [`${first} ${second}`, first].find((name) => names.includes(name));
}

/** The command of a line, among those of a server. */
export function commandIn(commands: readonly CommandInfo[], line: string): CommandInfo | undefined {
  const name = commandOf(
    commands.map((command) => command.name),
    line,
  );
  return commands.find((command) => command.name === name);
}
