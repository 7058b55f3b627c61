// The engine that reads documents: every method of `methods.ts`, as a promise.

import type { Engine, Progress } from "./methods";
import { type Remote, remote } from "./remote";
import { spawn } from "./spawn";

export type EngineClient = Remote<Engine>;

/** Starts a Worker and its engine, which is told of while it decodes. */
export function createEngine(onProgress: Progress = () => {}): EngineClient {
  return remote<Engine>(spawn(), (news) => {
    const { decoded, total, errors } = news as { decoded: number; total: number; errors: number };
    onProgress(decoded, total, errors);
  });
}
