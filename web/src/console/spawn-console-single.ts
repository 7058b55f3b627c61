// Starts the server's Worker from within the page, where that is a single file. Takes the place of
// `spawn-console.ts`.

import InlineWorker from "./worker?worker&inline";

export function spawn(): Worker {
  return new InlineWorker();
}
