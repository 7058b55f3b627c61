/// <reference types="vite/client" />

/** Whether the page is a single file. */
declare const __SINGLE__: boolean;

/** Starts a Worker that reads documents; there only where the page is a single file, which needs no address. */
declare function startEngine(address: string): Worker;

/** A part of the page by its id; there only where the page is a single file. */
declare function packedPart(id: string): import("./engine/wire").Packed;

declare module "virtual:engine-wasm" {
  type Wasm = import("./engine/wire").Wasm;
  /** What reads documents. */
  export const documentWasm: Wasm;
  /** What puts captures together. */
  export const captureWasm: Wasm;
  /** The server with its commands. */
  export const serverWasm: Wasm;
}
