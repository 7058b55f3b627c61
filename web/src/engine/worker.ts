// The Worker that reads documents.

import init from "../wasm/respire_document.js";
import { Engine } from "./methods";
import { serve, tell } from "./serve";
import { unpacked } from "./unpacked";

serve(async (wasm) => {
  await init({ module_or_path: unpacked(wasm) });
  return new Engine((decoded, total, errors) => tell({ decoded, total, errors }));
});
