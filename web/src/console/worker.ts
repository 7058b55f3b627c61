// The Worker that runs the server: the engine, its commands and the store.

import init from "../wasm/respire_server.js";
import { serve } from "../engine/serve";
import { unpacked } from "../engine/unpacked";
import { Host } from "./host";

serve(async (wasm) => {
  await init({ module_or_path: unpacked(wasm) });
  return new Host();
});
