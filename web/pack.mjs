// Packs bytes for `src/unpack.js`.

import { spawnSync } from "node:child_process";
import { LETTERS, LITERAL_CONTEXT_BITS } from "./src/unpack.js";

/** Compresses bytes with LZMA. */
export function pack(bytes) {
  const filter = `--lzma1=preset=9e,lc=${LITERAL_CONTEXT_BITS},lp=0,pb=0`;
  const { error, status, stdout } = spawnSync("xz", ["--format=raw", filter, "--stdout"], { input: bytes, maxBuffer: 1 << 28 });
  if (error || status !== 0) throw new Error(`xz, which packs the single file, does not run (Debian: xz-utils): ${error ?? status}`);
  return stdout;
}

/** Encodes bytes as text that is safe in HTML: two letters for 13 bits. Base64 takes 8 % more. */
export function toText(bytes) {
  const text = [];
  let bits = 0;
  let count = 0;
  const put = () => text.push(LETTERS[Math.floor((bits & 0x1fff) / 91)], LETTERS[(bits & 0x1fff) % 91]);
  for (const byte of bytes) {
    bits |= byte << count;
    count += 8;
    if (count < 13) continue;
    put();
    bits >>>= 13;
    count -= 13;
  }
  if (count > 0) put();
  return text.join("");
}
