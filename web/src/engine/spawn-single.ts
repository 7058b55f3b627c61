// Starts the Worker from within the page, where that is a single file. Takes the place of `spawn.ts`.

import InlineWorker from "./worker?worker&inline";

export function spawn(): Worker {
  return new InlineWorker();
}
