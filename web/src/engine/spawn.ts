// Starts the Worker from its file.

import { documentWasm } from "virtual:engine-wasm";
import { boot } from "./wire";

export function spawn(): Worker {
  return boot(new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }), documentWasm);
}
