// The page's side of a Worker: its methods, as promises.

import type { PackedWasm } from "virtual:engine-wasm";
import type { Answer, Boot, Request } from "./wire";

/** The methods of `T`, called from afar. */
export type Remote<T> = { [M in keyof T]: T[M] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never } & {
  /** Ends the Worker; calls under way never settle. */
  terminate(): void;
};

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Hands a Worker its WASM. Methods may be called at once; they wait until it has loaded. */
export function remote<T>(worker: Worker, wasm: PackedWasm, onNews: (news: unknown) => void = () => {}): Remote<T> {
  const waiting = new Map<number, Waiting>();
  let next = 0;
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    if ("news" in data) {
      onNews(data.news);
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
  void unpacked(wasm).then((wasm) => worker.postMessage({ wasm } satisfies Boot));
  return new Proxy({ terminate: () => worker.terminate() } as Remote<T>, {
    get(target, method: string) {
      if (method === "terminate") return target.terminate;
      // Looked for by whoever awaits the object; it is no method.
      if (method === "then") return undefined;
      return (...args: unknown[]) =>
        new Promise((resolve, reject) => {
          const id = next++;
          waiting.set(id, { resolve, reject });
          worker.postMessage({ id, method, args } satisfies Request);
        });
    },
  });
}

/** The WASM's address, or its bytes where the page carries them. */
export async function unpacked({ address, packed }: PackedWasm): Promise<string | ArrayBuffer> {
  return packed === "" ? new URL(address, document.baseURI).href : part(packed).buffer;
}
