// Opens the document in a link.

import { moveTo } from "../state/cursor";
import { failure, limits, load } from "../state/document";
import { cutAt } from "../state/reads";
import { galleryOpen } from "../state/view";
import { fromFragment } from "./permalink";

/** Shows the document in the address; returns `false` if there is none. */
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

/** Opens the address again when the user changes it. */
export function listenForLinks(): void {
  addEventListener("hashchange", () => void openLink());
}
