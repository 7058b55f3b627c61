// The methods of the server that the console calls. Runs in the Worker, beside the WASM.

import type { CommandInfo } from "../generated/types";
import { Server } from "../wasm/respire_server.js";

/** The output of the server. */
export interface ServerOutput {
  /** Bytes for connections: the requesting one and others. */
  outputs: { conn: number; bytes: Uint8Array }[];
  /** Why the requesting connection ended, if it did. */
  closed: string | null;
  unixMs: number;
}

export class Host {
  readonly #server = new Server(Date.now());

  connect(): number {
    return this.#server.connect();
  }

  close(conn: number): void {
    this.#server.close(conn);
  }

  /** Passes bytes to a connection, and takes the output of all connections. */
  feed(conn: number, bytes: Uint8Array): ServerOutput {
    return this.#output(this.#server.feed(conn, bytes));
  }

  /** Advances the clock. */
  advance(ms: number): ServerOutput {
    return this.#output(this.#server.advance(ms));
  }

  now(): number {
    return this.#server.unixMs;
  }

  commands(): CommandInfo[] {
    return this.#server.commands();
  }

  #output({ closed, ready }: { closed: string | null; ready: number[] }): ServerOutput {
    const outputs = ready.map((conn) => ({ conn, bytes: this.#server.takeOutput(conn) }));
    return { outputs: outputs.filter(({ bytes }) => bytes.length > 0), closed, unixMs: this.#server.unixMs };
  }
}
