// Buttons that get their name, key and state from an action.

import type { ComponentChildren } from "preact";
import { action, keyLabel } from "../state/actions";
import { Icon } from "./icons";

interface ActionButtonProps {
  id: string;
  icon?: string;
  /** Shown beside the icon; the button's name is the action's label in any case. */
  children?: ComponentChildren;
  class?: string;
  pressed?: boolean;
  /** Its name, if neither the label nor the shown text is suitable. */
  name?: string;
}

/** A button for an action. */
export function ActionButton({ id, icon, children, class: className = "", pressed, name }: ActionButtonProps) {
  const { label, keys, run, enabled } = action(id);
  const key = keys[0];
  // A name without the visible text does not work with speech input.
  const says = typeof children === "string" && !label.toLowerCase().includes(children.toLowerCase()) ? children : label;
  return (
    <button
      type="button"
      class={`btn ${children === undefined ? "icon-only" : ""} ${className}`}
      aria-label={name ?? says}
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
