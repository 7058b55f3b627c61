/// <reference types="vite/client" />

/** Whether the page is a single file. */
declare const __SINGLE__: boolean;

declare module "virtual:engine-wasm" {
  /** Where the WASM lies; empty in a single file. */
  export const address: string;
  /** The WASM, gzip in base64; empty beside a file. */
  export const packed: string;
}
