/// <reference types="vite/client" />

/** Whether this is the single-file build. */
declare const __SINGLE__: boolean;

/** Starts a Worker that decodes documents; defined only in the single-file build, which needs no address. */
declare function startEngine(address: string): Worker;

/** A part of the page by its id; defined only in the single-file build. */
declare function packedPart(id: string): import("./engine/wire").Packed;

declare module "virtual:engine-wasm" {
  type Wasm = import("./engine/wire").Wasm;
  /** The module that decodes documents. */
  export const documentWasm: Wasm;
  /** The module that reads captures. */
  export const captureWasm: Wasm;
  /** The module with the server and its commands. */
  export const serverWasm: Wasm;
}
