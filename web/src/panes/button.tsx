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
  /** Its name where neither the label nor what is shown will do. */
  name?: string;
}

/** The button of an action. */
export function ActionButton({ id, icon, children, class: className = "", pressed, name }: ActionButtonProps) {
  const { label, keys, run, enabled } = action(id);
  const key = keys[0];
  // A name that lacks what is seen confuses those who speak to their machine.
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
