// The legend of colours, letters and underlines: the roles in this document.

import { ROLES } from "../engine/tables";
import { rolesSeen } from "../state/marks";

export function Legend() {
  return (
    <ul class="legend-strip" aria-label="What the colours and lines mean">
      {ROLES.map((role, index) =>
        (rolesSeen.value & (1 << index)) === 0 ? null : (
          <li key={role.id} class={`tag r${index}`} title={role.what}>
            <b>{role.letter}</b> {role.label}
          </li>
        ),
      )}
    </ul>
  );
}
