// What is handed to the loader of a module.

import { unpacker } from "../unpack.js";
import type { Wasm } from "./wire";

/** The address of a module beside the page, or its bytes: a part of a single file is unpacked here, off the page's own thread. */
export function unpacked(wasm: Wasm): string | ArrayBuffer {
  if (!__SINGLE__ || typeof wasm === "string") return wasm as string;
  const { packed, size, from, end } = wasm;
  return unpacker(packed, size)(end).slice(from).buffer;
}
