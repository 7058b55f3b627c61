// The engine for documents, seen from the page: every method of `methods.ts`, as a promise.

import type { Engine, Progress } from "./methods";
import { type Remote, remote } from "./remote";
import { spawn } from "./spawn";

export type EngineClient = Remote<Engine>;

/** Starts a Worker with its engine; `onProgress` is called while it decodes. */
export function createEngine(onProgress: Progress = () => {}): EngineClient {
  return remote<Engine>(spawn(), (notice) => {
    const { decoded, total, errors } = notice as { decoded: number; total: number; errors: number };
    onProgress(decoded, total, errors);
  });
}
