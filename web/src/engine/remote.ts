// The page's side of a Worker: its methods, as promises.

import type { Answer, Request } from "./wire";

/** The methods of `T`, called in the Worker. */
export type Remote<T> = { [M in keyof T]: T[M] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never } & {
  /** Ends the Worker; pending calls never settle. */
  terminate(): void;
};

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The methods of a Worker that has been given its WASM. They may be called at once; they wait until it has loaded. */
export function remote<T>(worker: Worker, onNotice: (notice: unknown) => void = () => {}): Remote<T> {
  const waiting = new Map<number, Waiting>();
  let next = 0;
  let stopped: Error | undefined;
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    if ("notice" in data) {
      onNotice(data.notice);
      return;
    }
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if ("error" in data) call?.reject(new Error(data.error));
    else call?.resolve(data.result);
  };
  worker.onerror = (event) => {
    // A script that fails to load gives no message.
    stopped = new Error(event.message ? `the engine stopped: ${event.message}` : "the engine could not be loaded");
    for (const call of waiting.values()) call.reject(stopped);
    waiting.clear();
  };
  return new Proxy({ terminate: () => worker.terminate() } as Remote<T>, {
    get(target, method: string) {
      if (method === "terminate") return target.terminate;
      // Promises look for `then` on an awaited object; it is not a method of the Worker.
      if (method === "then") return undefined;
      return (...args: unknown[]) =>
        new Promise((resolve, reject) => {
          if (stopped) throw stopped;
          const id = next++;
          waiting.set(id, { resolve, reject });
          worker.postMessage({ id, method, args } satisfies Request);
        });
    },
  });
}
