// What the console may ask of the server. Runs in the Worker, beside the WASM.

import type { CommandInfo } from "../generated/types";
import { Server } from "../wasm/respire_server.js";

/** What the server had to say. */
export interface Heard {
  /** Bytes for connections, the asking one and others. */
  outputs: { conn: number; bytes: Uint8Array }[];
  /** Why the connection that was fed ended, if it did. */
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

  /** Gives bytes to a connection and takes what all of them got for it. */
  feed(conn: number, bytes: Uint8Array): Heard {
    return this.#said(this.#server.feed(conn, bytes));
  }

  /** Moves the clock. */
  advance(ms: number): Heard {
    return this.#said(this.#server.advance(ms));
  }

  now(): number {
    return this.#server.unixMs;
  }

  commands(): CommandInfo[] {
    return this.#server.commands();
  }

  #said({ closed, ready }: { closed: string | null; ready: number[] }): Heard {
    const outputs = ready.map((conn) => ({ conn, bytes: this.#server.takeOutput(conn) }));
    return { outputs: outputs.filter(({ bytes }) => bytes.length > 0), closed, unixMs: this.#server.unixMs };
  }
}
