// The Worker: loads the WASM, then runs the methods it is asked for, one after the other.

import init from "../wasm/respire_wasm.js";
import { Engine } from "./methods";
import type { Answer, Boot, Request } from "./wire";

const answer = (message: Answer, transfer: Transferable[] = []) => postMessage(message, { transfer });

const { promise: booted, resolve, reject } = Promise.withResolvers<Engine>();
// Calls made before find the reason; nobody else waits for it.
booted.catch(() => {});

function boot(message: Boot): void {
  init({ module_or_path: message.wasm }).then(() => resolve(new Engine((decoded, total, errors) => answer({ progress: { decoded, total, errors } }))), reject);
}

onmessage = async ({ data }: MessageEvent<Boot | Request>) => {
  if ("wasm" in data) {
    boot(data);
    return;
  }
  try {
    const engine = await booted;
    const method = engine[data.method] as (...args: unknown[]) => unknown;
    const result = await method.apply(engine, data.args);
    answer({ id: data.id, result }, transferables(result));
  } catch (error) {
    answer({ id: data.id, error: error instanceof Error ? error.message : String(error) });
  }
};

/** The buffers of a result that can be handed over instead of copied. */
function transferables(result: unknown): Transferable[] {
  const values = result !== null && typeof result === "object" && !ArrayBuffer.isView(result) ? Object.values(result) : [result];
  return values.filter((value) => value instanceof Uint8Array || value instanceof Uint32Array).map((view) => view.buffer as ArrayBuffer);
}
