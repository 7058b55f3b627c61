/// <reference types="vite/client" />

/** Whether the page is a single file. */
declare const __SINGLE__: boolean;

/** Unpacks a part of the page by its id; there only where the page is a single file. */
declare function part(id: string): Uint8Array<ArrayBuffer>;

declare module "virtual:engine-wasm" {
  /** A module of the engine: beside the page, or inside it. */
  interface PackedWasm {
    /** Where it lies; empty in a single file. */
    address: string;
    /** The part of a single file that it is; empty beside a file. */
    packed: string;
  }
  /** What reads documents. */
  export const documentWasm: PackedWasm;
  /** What puts captures together. */
  export const captureWasm: PackedWasm;
  /** The server with its commands. */
  export const serverWasm: PackedWasm;
}
