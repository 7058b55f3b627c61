// The frame of a dialog, and the keyboard map.

import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ROLES } from "../engine/tables";
import { allActions, keyLabel, singleKeys } from "../state/actions";
import { dialog } from "../state/view";
import { OpenDialog } from "../input/open";
import { Icon } from "./icons";
import { lazy } from "./lazy";

interface DialogProps {
  title: string;
  class?: string;
  children: ComponentChildren;
}

/** A modal dialog. Escape and a click outside close it. */
export function Dialog({ title, class: className = "", children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current!.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  // Another dialog may have been opened before this one's close event arrives.
  const opened = useRef(dialog.peek());
  const close = () => {
    if (dialog.peek() === opened.current) dialog.value = null;
  };
  return (
    <dialog
      ref={element}
      class={`dialog ${className}`}
      aria-label={title}
      onClose={close}
      onClick={(event) => {
        if (event.target === element.current) close();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="btn icon-only quiet" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

function Keys({ keys }: { keys: readonly string[] }) {
  return (
    <>
      {keys.map((key, index) => (
        <>
          {index > 0 && <span class="dim"> or </span>}
          <kbd key={key}>{keyLabel(key)}</kbd>
        </>
      ))}
    </>
  );
}

function KeyMap() {
  const groups = Map.groupBy(
    allActions().filter((action) => action.keys.length > 0),
    (action) => action.group,
  );
  return (
    <Dialog title="Keyboard" class="keymap">
      <div class="keymap-groups">
        {[...groups].map(([group, actions]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {actions.map(({ id, label, keys }) => (
                <div key={id}>
                  <dt>{label}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h3>What the letters mean</h3>
          <ul class="legend">
            {ROLES.map((role, index) => (
              <li key={role.id}>
                <span class={`tag r${index}`}>
                  <b>{role.letter}</b> {role.label}
                </span>{" "}
                {role.what}
              </li>
            ))}
          </ul>
        </section>
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={singleKeys.value}
          onChange={(event) => {
            singleKeys.value = event.currentTarget.checked;
          }}
        />
        Letters and digits act by themselves
      </label>
    </Dialog>
  );
}

/** Dialogs by name. Add a dialog by adding a row here. */
export const DIALOGS: Record<string, ComponentType> = {
  keys: KeyMap,
  open: OpenDialog,
  share: lazy(() => import("../share/dialog").then((module) => module.ShareDialog)),
};

export function OpenedDialog() {
  const Opened = dialog.value === null ? undefined : DIALOGS[dialog.value];
  return Opened ? <Opened /> : null;
}
