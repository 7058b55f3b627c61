// The engine of the document. The page's first script starts it, so that it loads in parallel to
// the other scripts.

import { createEngine } from "./client";
import type { Progress } from "./methods";

/** Called while a document is decoded. */
export const onProgress = new Set<Progress>();

export const engine = createEngine((...args) => {
  for (const listener of onProgress) listener(...args);
});
