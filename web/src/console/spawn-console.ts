// Starts the server's Worker from its file.

import { serverWasm } from "virtual:engine-wasm";
import { boot } from "../engine/wire";

export function spawn(): Worker {
  return boot(new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }), serverWasm);
}
