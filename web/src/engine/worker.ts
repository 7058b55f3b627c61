// The Worker that decodes documents.

import init from "../wasm/respire_document.js";
import { Engine } from "./methods";
import { serve, notify } from "./serve";
import { unpacked } from "./unpacked";

serve(async (wasm) => {
  await init({ module_or_path: unpacked(wasm) });
  return new Engine((decoded, total, errors) => notify({ decoded, total, errors }));
});
