// Starts the server's Worker from within the page, where that is a single file. Takes the place of
// `spawn-console.ts`.

import { serverWasm } from "virtual:engine-wasm";
import { boot } from "../engine/wire";
import InlineWorker from "./worker?worker&inline";

export function spawn(): Worker {
  return boot(new InlineWorker(), serverWasm);
}
