// The messages between the page and the Worker.

import type { Engine } from "./methods";

/** The first message: the WASM, as its address or its bytes. */
export interface Boot {
  wasm: string | ArrayBuffer;
}

/** A call of a method of the engine. */
export interface Request {
  id: number;
  method: keyof Engine;
  args: unknown[];
}

/** What comes of a call, or how far decoding is. */
export type Answer =
  | { id: number; result: unknown }
  | { id: number; error: string }
  | { progress: { decoded: number; total: number; errors: number } };
