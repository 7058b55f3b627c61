// Masks passwords in everything that leaves the page: links and exports.

import { engine } from "../state/document";

/** The byte that replaces the bytes of a secret. */
const MASK = 0x2a;

/** A copy of the bytes with every secret masked. Masks have the same length, so every announced length stays true. */
export async function redacted(bytes: Uint8Array): Promise<{ bytes: Uint8Array; secrets: number }> {
  const ranges = await engine.secrets(0, bytes.length);
  if (ranges.length === 0) return { bytes, secrets: 0 };
  const masked = bytes.slice();
  for (let at = 0; at < ranges.length; at += 2) masked.fill(MASK, ranges[at]!, ranges[at + 1]!);
  return { bytes: masked, secrets: ranges.length / 2 };
}
