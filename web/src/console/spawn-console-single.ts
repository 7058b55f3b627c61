// Starts the server's Worker from within the page, in the single-file build. Replaces
// `spawn-console.ts` there.

import { serverWasm } from "virtual:engine-wasm";
import { boot } from "../engine/wire";
import InlineWorker from "./worker?worker&inline";

export function spawn(): Worker {
  return boot(new InlineWorker(), serverWasm);
}
