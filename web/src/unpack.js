// Unpacks the parts of the single-file page: text to bytes, and LZMA, which is a quarter smaller
// than the formats that browsers can unpack. The format is that of the LZMA specification with lc =
// 4, lp = pb = 0.

/** The characters of packed text: the printable ones except `"`, `&` and `<`. */
export const LETTERS = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).filter((letter) => !'"&<'.includes(letter));

/** The bytes of packed text: 13 bits per two letters, the low ones first. */
export function fromText(text) {
  const values = new Uint8Array(128);
  LETTERS.forEach((letter, value) => (values[letter.charCodeAt(0)] = value));
  const bytes = new Uint8Array((text.length * 13) >> 4);
  let at = 0;
  let bits = 0;
  let count = 0;
  for (let from = 0; from + 1 < text.length; from += 2) {
    bits |= (values[text.charCodeAt(from)] * 91 + values[text.charCodeAt(from + 1)]) << count;
    for (count += 13; count >= 8; count -= 8) {
      bytes[at++] = bits;
      bits >>>= 8;
    }
  }
  return bytes;
}

/** A checksum (FNV-1a): LZMA has none, and would decode damaged bytes to wrong ones. */
export function sum(bytes) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at += 1) hash = Math.imul(hash ^ bytes[at], 0x01000193);
  return hash >>> 0;
}

export const LITERAL_CONTEXT_BITS = 4;

// The offsets of the probabilities: of the next kind by state, of distances, of lengths, of
// literals.
const [MATCH, REP, REP0, REP1, REP2, REP0_LONG] = [0, 12, 24, 36, 48, 60];
const [SLOT, SPECIAL, ALIGN, LENGTH, REP_LENGTH, LITERAL] = [72, 328, 443, 459, 733, 1007];

/**
 * Returns a function that gives the first bytes of the packed data, up to any end; it unpacks no
 * further than requested.
 */
export function unpacker(packed, size) {
  const out = new Uint8Array(size);
  const odds = new Uint16Array(LITERAL + (0x300 << LITERAL_CONTEXT_BITS)).fill(1024);
  const last = [0, 0, 0, 0];
  let at = 0;
  let state = 0;
  let from = 5;
  // The range, and the position of the code in it. Engines would create objects for variables with
  // 32 bits.
  const coder = Uint32Array.of(0xffffffff, new DataView(packed.buffer, packed.byteOffset).getUint32(1));

  const narrow = (range, code) => {
    if (range < 0x1000000) {
      range <<= 8;
      code = (code << 8) | packed[from++];
    }
    coder[0] = range;
    coder[1] = code;
  };
  const bit = (place) => {
    const odd = odds[place];
    const range = coder[0];
    const code = coder[1];
    const bound = (range >>> 11) * odd;
    if (code < bound) {
      odds[place] = odd + ((2048 - odd) >>> 5);
      narrow(bound, code);
      return 0;
    }
    odds[place] = odd - (odd >>> 5);
    narrow(range - bound, code - bound);
    return 1;
  };
  const tree = (base, bits) => {
    let node = 1;
    for (let count = bits; count > 0; count -= 1) node = (node << 1) | bit(base + node);
    return node - (1 << bits);
  };
  const backwards = (base, bits) => {
    let node = 1;
    let value = 0;
    for (let count = 0; count < bits; count += 1) {
      const next = bit(base + node);
      node = (node << 1) | next;
      value |= next << count;
    }
    return value;
  };
  const even = (bits) => {
    let value = 0;
    for (let count = 0; count < bits; count += 1) {
      const half = coder[0] >>> 1;
      const code = coder[1];
      const next = code < half ? 0 : 1;
      narrow(half, next ? code - half : code);
      value = (value << 1) | next;
    }
    return value;
  };
  const length = (base) => {
    if (!bit(base)) return tree(base + 2, 3);
    return bit(base + 1) ? 16 + tree(base + 18, 8) : 8 + tree(base + 10, 3);
  };
  const literal = () => {
    const before = at > 0 ? out[at - 1] : 0;
    const base = LITERAL + 0x300 * (before >> (8 - LITERAL_CONTEXT_BITS));
    let value = 1;
    if (state >= 7) {
      let guess = out[at - last[0] - 1];
      for (let same = true; same && value < 0x100; guess <<= 1) {
        const guessed = (guess >> 7) & 1;
        const next = bit(base + ((1 + guessed) << 8) + value);
        value = (value << 1) | next;
        same = next === guessed;
      }
    }
    while (value < 0x100) value = (value << 1) | bit(base + value);
    out[at++] = value;
    state = state < 4 ? 0 : state - (state < 10 ? 3 : 6);
  };
  const distance = (len) => {
    const slot = tree(SLOT + (Math.min(len, 3) << 6), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) << bits;
    return slot < 14 ? high + backwards(SPECIAL + high - slot, bits) : high + (even(bits - 4) << 4) + backwards(ALIGN, 4);
  };
  /** Which of the last distances it is; this becomes the latest one. */
  const again = () => {
    const which = bit(REP1 + state) ? 2 + bit(REP2 + state) : 1;
    last.unshift(...last.splice(which, 1));
  };
  const match = () => {
    let len = 0;
    if (!bit(REP + state)) {
      len = length(LENGTH);
      last.pop();
      last.unshift(distance(len));
      state = state < 7 ? 7 : 10;
    } else if (bit(REP0 + state)) {
      again();
      len = length(REP_LENGTH);
      state = state < 7 ? 8 : 11;
    } else if (bit(REP0_LONG + state)) {
      len = length(REP_LENGTH);
      state = state < 7 ? 8 : 11;
    } else {
      len = -1;
      state = state < 7 ? 9 : 11;
    }
    const back = last[0] + 1;
    if (back < 1 || back > at) throw new Error("it leads nowhere");
    for (const end = Math.min(size, at + len + 2); at < end; at += 1) out[at] = out[at - back];
  };

  return (end) => {
    while (at < end) {
      if (bit(MATCH + state)) match();
      else literal();
    }
    return out.subarray(0, end);
  };
}
