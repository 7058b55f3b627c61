// The messages between the page and a Worker.

/** A packed part of a single file; the Worker that needs it unpacks it. */
export interface Packed {
  /** The packed bytes of all parts. */
  packed: Uint8Array;
  /** The size of all parts, unpacked. */
  size: number;
  /** The offset of the part within them. */
  from: number;
  end: number;
}

/** A module of the engine: its address beside the page, or its part in the single file. */
export type Wasm = string | Packed;

/** The first message. */
export interface Boot {
  wasm: Wasm;
}

/** Sends a Worker its WASM. */
export function boot(worker: Worker, wasm: Wasm): Worker {
  worker.postMessage({ wasm } satisfies Boot);
  return worker;
}

/** A call of a method. */
export interface Request {
  id: number;
  method: string;
  args: unknown[];
}

/** The result of a call, or a message that is not a reply. */
export type Answer = { id: number; result: unknown } | { id: number; error: string } | { notice: unknown };
