// Formats bytes as literals of programming languages.

import { hex } from "../words/chars";

export interface Language {
  id: string;
  label: string;
  write(bytes: Uint8Array): string;
}

const NAMED: Record<number, string> = { 0x0d: "\\r", 0x0a: "\\n", 0x09: "\\t", 0x5c: "\\\\" };

function written(bytes: Uint8Array, quote: string, other: (byte: number) => string): string {
  let text = "";
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    if (char === quote) text += `\\${quote}`;
    else text += NAMED[byte] ?? (byte >= 0x20 && byte < 0x7f ? char : other(byte));
  }
  return text;
}

const hexEscape = (byte: number) => `\\x${hex(byte).toLowerCase()}`;

export const LANGUAGES: readonly Language[] = [
  {
    id: "printf",
    label: "printf",
    // The shell's printf supports octal everywhere, but hexadecimal only in some shells; quotes end
    // the word.
    write: (bytes) =>
      `printf '${written(bytes, "", (byte) => `\\${byte.toString(8).padStart(3, "0")}`)
        .replaceAll("%", "%%")
        .replaceAll("'", "'\\''")}'`,
  },
  { id: "rust", label: "Rust", write: (bytes) => `b"${written(bytes, '"', hexEscape)}"` },
  { id: "go", label: "Go", write: (bytes) => `[]byte("${written(bytes, '"', hexEscape)}")` },
  { id: "python", label: "Python", write: (bytes) => `b"${written(bytes, '"', hexEscape)}"` },
];
