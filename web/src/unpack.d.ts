export const LETTERS: string[];
export const LITERAL_CONTEXT_BITS: number;
export function fromText(text: string): Uint8Array<ArrayBuffer>;
export function sum(bytes: Uint8Array): number;
export function unpacker(packed: Uint8Array, size: number): (end: number) => Uint8Array<ArrayBuffer>;
