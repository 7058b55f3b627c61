// Shows the syntax and the summary of a command.

import type { CommandInfo } from "../generated/types";

export function CommandHelp({ command: { syntax, summary, complexity } }: { command: CommandInfo }) {
  return (
    <p class="command-help">
      <code>{syntax}</code>
      <br />
      <span class="dim">
        {summary.trim()}. {complexity}
      </span>
    </p>
  );
}
