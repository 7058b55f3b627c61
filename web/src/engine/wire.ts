// The messages between the page and a Worker.

/** A part of a single file, as it lies there: whoever needs it unpacks it. */
export interface Packed {
  /** All parts. */
  packed: Uint8Array;
  /** Bytes of all of them, unpacked. */
  size: number;
  /** Where the part is among these. */
  from: number;
  end: number;
}

/** A module of the engine: its address beside the page, or the part of a single file that it is. */
export type Wasm = string | Packed;

/** The first message. */
export interface Boot {
  wasm: Wasm;
}

/** Hands a Worker its WASM. */
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

/** What comes of a call, or news nobody asked for. */
export type Answer = { id: number; result: unknown } | { id: number; error: string } | { news: unknown };
