// Prepares a module for its loader.

import { unpacker } from "../unpack.js";
import type { Wasm } from "./wire";

/**
 * The address of a module beside the page, or its bytes: a part of a single file is unpacked here,
 * off the page's main thread.
 */
export function unpacked(wasm: Wasm): string | ArrayBuffer {
  if (!__SINGLE__ || typeof wasm === "string") return wasm as string;
  const { packed, size, from, end } = wasm;
  return unpacker(packed, size)(end).slice(from).buffer;
}
