// Starts the Worker from within the page, in the single-file build. Replaces `spawn.ts` there.

// Its script is a part of the file; importing its address makes Vite build it.
import address from "./worker?worker&url";

export function spawn(): Worker {
  return startEngine(address);
}
