// The Worker that reads documents.

import init from "../wasm/respire_document.js";
import { Engine } from "./methods";
import { serve, tell } from "./serve";

serve(async (wasm) => {
  await init({ module_or_path: wasm });
  return new Engine((decoded, total, errors) => tell({ decoded, total, errors }));
});
