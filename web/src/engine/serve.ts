// The Worker's side: loads the WASM, then runs the methods it is asked for, in order.

import type { Answer, Boot, Request, Wasm } from "./wire";

const answer = (message: Answer, transfer: Transferable[] = []) => postMessage(message, { transfer });

/** Tells the page something it did not ask for. */
export function tell(news: unknown): void {
  answer({ news });
}

/** Serves the methods of what `start` makes when the WASM is there. */
export function serve<T extends object>(start: (wasm: Wasm) => Promise<T>): void {
  const { promise: started, resolve, reject } = Promise.withResolvers<T>();
  // Calls find the reason; nobody else waits for it.
  started.catch(() => {});
  onmessage = async ({ data }: MessageEvent<Boot | Request>) => {
    if ("wasm" in data) {
      start(data.wasm).then(resolve, reject);
      return;
    }
    try {
      const object = await started;
      const method = object[data.method as keyof T] as (...args: unknown[]) => unknown;
      const result = await method.apply(object, data.args);
      answer({ id: data.id, result }, transferables(result));
    } catch (error) {
      answer({ id: data.id, error: error instanceof Error ? error.message : String(error) });
    }
  };
}

/** The buffers of a result that can be handed over instead of copied. */
function transferables(result: unknown): Transferable[] {
  const values = result !== null && typeof result === "object" && !ArrayBuffer.isView(result) ? Object.values(result) : [result];
  return values.filter((value) => value instanceof Uint8Array || value instanceof Uint32Array).map((view) => view.buffer as ArrayBuffer);
}
