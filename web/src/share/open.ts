// Opening the document that a link holds.

import { moveTo } from "../state/cursor";
import { failure, limits, load } from "../state/document";
import { cutAt } from "../state/reads";
import { galleryOpen } from "../state/view";
import { fromFragment } from "./permalink";

/** Shows what the address holds; `false` if that is nothing. */
export async function openLink(): Promise<boolean> {
  if (!location.hash.includes("z=")) return false;
  try {
    const linked = await fromFragment(location.hash);
    if (!linked) return false;
    limits.value = linked.limits;
    galleryOpen.value = false;
    await load(linked.bytes, linked.title, linked.mode);
    cutAt(linked.cuts);
    moveTo(linked.cursor);
    return true;
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}

/** Follows the address when it is changed by hand. */
export function listenForLinks(): void {
  addEventListener("hashchange", () => void openLink());
}
