// The Worker's side: loads the WASM, then runs the requested methods in order.

import type { Answer, Boot, Request, Wasm } from "./wire";

const answer = (message: Answer, transfer: Transferable[] = []) => postMessage(message, { transfer });

/** Sends the page a message that is not a reply. */
export function notify(notice: unknown): void {
  answer({ notice });
}

/** Serves the methods of the object that `start` makes once the WASM is loaded. */
export function serve<T extends object>(start: (wasm: Wasm) => Promise<T>): void {
  const { promise: started, resolve, reject } = Promise.withResolvers<T>();
  // Calls report the reason; nothing else awaits this promise.
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

/** The buffers of a result that can be transferred instead of copied. */
function transferables(result: unknown): Transferable[] {
  const values = result !== null && typeof result === "object" && !ArrayBuffer.isView(result) ? Object.values(result) : [result];
  return values.filter((value) => value instanceof Uint8Array || value instanceof Uint32Array).map((view) => view.buffer as ArrayBuffer);
}
