/// <reference types="vite/client" />

/** Whether the page is a single file. */
declare const __SINGLE__: boolean;

declare module "virtual:engine-wasm" {
  /** A module of the engine: beside the page, or inside it. */
  interface PackedWasm {
    /** Where it lies; empty in a single file. */
    address: string;
    /** The module, gzip in base64; empty beside a file. */
    packed: string;
  }
  /** What reads documents. */
  export const documentWasm: PackedWasm;
  /** What puts captures together. */
  export const captureWasm: PackedWasm;
  /** The server with its commands. */
  export const serverWasm: PackedWasm;
}
