// The names of bytes.

const CONTROL = "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(" ");

/** The name of a byte: `CR`, `a`, `space`, `\xff`. */
export function byteName(byte: number): string {
  if (byte < 0x20) return CONTROL[byte]!;
  if (byte === 0x20) return "space";
  if (byte === 0x7f) return "DEL";
  return byte < 0x7f ? String.fromCharCode(byte) : `\\x${hex(byte).toLowerCase()}`;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, "0"));

/** A byte as two hexadecimal digits. */
export function hex(byte: number): string {
  return HEX[byte]!;
}

const GLYPHS = Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x0d) return "\u2190";
  if (byte === 0x0a) return "\u2193";
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "\u00b7";
});

/** A byte as one character: CR and LF as arrows, unprintable ones as a dot. */
export function glyph(byte: number): string {
  return GLYPHS[byte]!;
}

/** A byte as text with escapes. */
export function escapedByte(byte: number): string {
  if (byte === 0x0d) return "\\r";
  if (byte === 0x0a) return "\\n";
  if (byte === 0x09) return "\\t";
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${hex(byte).toLowerCase()}`;
}

/** Bytes as text with escapes, at most `max` bytes. */
export function escaped(bytes: Uint8Array, max = Infinity): string {
  let text = "";
  for (const byte of bytes.subarray(0, Math.min(bytes.length, max))) text += byte === 0x5c ? "\\\\" : escapedByte(byte);
  return bytes.length > max ? `${text}…` : text;
}

/** An offset as the panes print it. */
export function offsetHex(offset: number): string {
  return offset.toString(16).toUpperCase().padStart(6, "0");
}

/**
 * A whole number with groups of digits. Not with the browser's own formatter, which would load its
 * language data before the first byte is shown.
 */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count with its noun. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : nouns}`;
}

/** A size for people, with a unit. */
export function size(bytes: number): string {
  if (bytes < 10_000) return counted(bytes, "byte");
  return bytes < 10_000_000 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
