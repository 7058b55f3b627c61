// Buttons that know their action: name, key and whether they can be pressed.

import type { ComponentChildren } from "preact";
import { action, keyLabel } from "../state/actions";
import { Icon } from "./icons";

interface ActionButtonProps {
  id: string;
  icon?: string;
  /** Shown beside the icon; the action's label is the name in any case. */
  children?: ComponentChildren;
  class?: string;
  pressed?: boolean;
}

/** The button of an action. */
export function ActionButton({ id, icon, children, class: className = "", pressed }: ActionButtonProps) {
  const { label, keys, run, enabled } = action(id);
  const key = keys[0];
  return (
    <button
      type="button"
      class={`btn ${children === undefined ? "icon-only" : ""} ${className}`}
      aria-label={label}
      aria-keyshortcuts={key?.replace("Ctrl", "Control")}
      title={key ? `${label}  (${keyLabel(key)})` : label}
      disabled={!(enabled?.() ?? true)}
      {...(pressed === undefined ? {} : { "aria-pressed": pressed })}
      onClick={run}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}
