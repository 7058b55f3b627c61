// The page's side of the engine: every method of `methods.ts`, as a promise.
//
// Whoever needs an engine of its own (a console beside the document) calls `createEngine` again.

import { address, packed } from "virtual:engine-wasm";
import type { Engine, Progress } from "./methods";
import { spawn } from "./spawn";
import type { Answer, Boot, Request } from "./wire";

type Methods = { [M in keyof Engine]: Engine[M] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never };

/** The methods of an engine in its Worker. */
export type EngineClient = Methods & {
  /** Called while a document is decoded. */
  onProgress: Progress;
  /** Ends the Worker; calls under way never settle. */
  terminate(): void;
};

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Starts a Worker and its engine. Calls may be made at once; they wait until it has loaded. */
export function createEngine(): EngineClient {
  const worker = spawn();
  const waiting = new Map<number, Waiting>();
  let next = 0;
  const client = {
    onProgress: (() => {}) as Progress,
    terminate: () => worker.terminate(),
  };
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    if ("progress" in data) {
      client.onProgress(data.progress.decoded, data.progress.total, data.progress.errors);
      return;
    }
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if ("error" in data) call?.reject(new Error(data.error));
    else call?.resolve(data.result);
  };
  worker.onerror = (event) => {
    const error = new Error(`the engine stopped: ${event.message}`);
    for (const call of waiting.values()) call.reject(error);
    waiting.clear();
  };
  void wasm().then((wasm) => worker.postMessage({ wasm } satisfies Boot));
  return new Proxy(client, {
    get(target, name: string) {
      if (name in target) return target[name as keyof typeof target];
      if (name === "then") return undefined;
      return (...args: unknown[]) =>
        new Promise((resolve, reject) => {
          const id = next++;
          waiting.set(id, { resolve, reject });
          worker.postMessage({ id, method: name as keyof Engine, args } satisfies Request);
        });
    },
  }) as unknown as EngineClient;
}

/** The WASM's address, or its bytes where the page carries them. */
async function wasm(): Promise<string | ArrayBuffer> {
  if (packed === "") return new URL(address, document.baseURI).href;
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
