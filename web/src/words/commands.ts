// The summaries of commands, from the engine's command table and from the server's own.

import { COMMANDS } from "../engine/tables";
import type { CommandInfo } from "../generated/types";

/** The summary of a command; `command` is the number in frames, one more than its index, or 0. */
export function commandSummary(command: number): string {
  return COMMANDS[command - 1]?.[1] ?? "";
}

/** The most names offered at once. */
const OFFERED_MAX = 6;

/** The names that begin with a line, the shortest first (`GET` before `GEORADIUS`); none if the line is one of them. */
export function completions(names: readonly string[], line: string): string[] {
  const typed = line.trimStart().toUpperCase().replace(/\s+/g, " ");
  if (typed === "" || names.includes(typed.trimEnd())) return [];
  const found = names.filter((name) => name.startsWith(typed));
  return found.sort((a, b) => a.length - b.length).slice(0, OFFERED_MAX);
}

/** The longest name that a line begins with: `CLIENT LIST` before `CLIENT`. */
export function commandOf(names: readonly string[], line: string): string | undefined {
  const [first = "", second = ""] = line.trimStart().toUpperCase().split(/\s+/);
  return [`${first} ${second}`, first].find((name) => names.includes(name));
}

/** The command of a line, from a server's commands. */
export function commandIn(commands: readonly CommandInfo[], line: string): CommandInfo | undefined {
  const name = commandOf(
    commands.map((command) => command.name),
    line,
  );
  return commands.find((command) => command.name === name);
}
