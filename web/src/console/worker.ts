// The Worker that is the server: the engine, its commands and the store.

import init from "../wasm/respire_server.js";
import { serve } from "../engine/serve";
import { Host } from "./host";

serve(async (wasm) => {
  await init({ module_or_path: wasm });
  return new Host();
});
