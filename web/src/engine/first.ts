// The engine of the document, started by the first script of the page: it loads while the others do.

import { createEngine } from "./client";
import type { Progress } from "./methods";

/** Told while a document is decoded. */
export const onProgress = new Set<Progress>();

export const engine = createEngine((...told) => {
  for (const listener of onProgress) listener(...told);
});
