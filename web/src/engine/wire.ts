// The messages between the page and a Worker.

/** The first message: the WASM, as its address or its bytes. */
export interface Boot {
  wasm: string | ArrayBuffer;
}

/** A call of a method. */
export interface Request {
  id: number;
  method: string;
  args: unknown[];
}

/** What comes of a call, or news nobody asked for. */
export type Answer = { id: number; result: unknown } | { id: number; error: string } | { news: unknown };
