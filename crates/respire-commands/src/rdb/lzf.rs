//! LZF, byte for byte as the copy of liblzf inside Redis packs, and a bounded way back.
//!
//! A control byte below 32 is followed by that many literal bytes and one; any other one holds a
//! length (3 bits; 7: the next byte adds to it) and, with the byte after it, a distance backwards.

/// log2 of the slots in which the packer remembers where it saw three bytes.
const SLOTS_LOG2: u32 = 16;
/// The most bytes of one literal run.
const LITERALS_MAX: usize = 1 << 5;
/// The furthest a back reference reaches.
const DISTANCE_MAX: usize = 1 << 13;
/// The most bytes that a back reference stands for: the packer's own limit, and the format's.
const MATCH_MAX: usize = (1 << 8) + (1 << 3);
/// The fewest.
const MATCH_MIN: usize = 3;

/// Packs `data` into at most `packed_max` bytes, or says that it does not fit.
///
/// Offsets are kept in 32 bits, so longer data counts as not fitting either.
pub(super) fn compress(data: &[u8], packed_max: usize) -> Option<Vec<u8>> {
    if data.len() < MATCH_MIN || packed_max == 0 || u32::try_from(data.len()).is_err() {
        return None;
    }
    let mut packer = Packer {
        out: Vec::with_capacity(packed_max.min(data.len() / 2)),
        packed_max,
        run_start: 0,
    };
    packer.open_run();
    // Position 0 stands for "never seen": the packer never refers back to the very first byte.
    let mut seen = vec![0_u32; 1 << SLOTS_LOG2];
    let mut at = 0;
    while at + 2 < data.len() {
        let slot = slot_of(data, at);
        let earlier = seen[slot] as usize;
        seen[slot] = at as u32;
        if earlier == 0
            || at - earlier > DISTANCE_MAX
            || data[earlier..earlier + MATCH_MIN] != data[at..at + MATCH_MIN]
        {
            packer.literal(data[at])?;
            at += 1;
            continue;
        }
        let len = match_len(data, earlier, at);
        packer.back_reference(len, at - earlier)?;
        at += len;
        if at + 2 >= data.len() {
            break;
        }
        // Only the last two places of the match are remembered, which is most of the speed.
        for place in [at - 2, at - 1] {
            seen[slot_of(data, place)] = place as u32;
        }
    }
    packer.finish(&data[at..])
}

/// The slot of the three bytes from `at` on.
fn slot_of(data: &[u8], at: usize) -> usize {
    let three = u32::from_be_bytes([0, data[at], data[at + 1], data[at + 2]]);
    let mixed = (three >> (24 - SLOTS_LOG2)).wrapping_sub(three.wrapping_mul(5));
    (mixed & ((1 << SLOTS_LOG2) - 1)) as usize
}

/// How many bytes from `at` on equal those from `earlier` on, in the bounds the packer keeps.
fn match_len(data: &[u8], earlier: usize, at: usize) -> usize {
    let rest = data.len() - at;
    let bound = (rest - 2).min(MATCH_MAX);
    // Unrolled, the original looks at 16 bytes before it looks at the bound again.
    let bound = if bound > 16 {
        bound.max(19)
    } else {
        bound.max(MATCH_MIN)
    };
    let same = data[earlier..]
        .iter()
        .zip(&data[at..])
        .take_while(|(a, b)| a == b)
        .count();
    same.min(bound)
}

struct Packer {
    out: Vec<u8>,
    packed_max: usize,
    /// Where the control byte of the open literal run stands in `out`.
    run_start: usize,
}

impl Packer {
    fn open_run(&mut self) {
        self.run_start = self.out.len();
        self.out.push(0);
    }

    fn run_len(&self) -> usize {
        self.out.len() - self.run_start - 1
    }

    /// Writes the control byte of the open run, or takes it back if the run is empty.
    fn close_run(&mut self) {
        match self.run_len().checked_sub(1) {
            Some(control) => self.out[self.run_start] = control as u8,
            None => self.out.truncate(self.run_start),
        }
    }

    fn literal(&mut self, byte: u8) -> Option<()> {
        if self.out.len() >= self.packed_max {
            return None;
        }
        self.push_literal(byte);
        Some(())
    }

    fn push_literal(&mut self, byte: u8) {
        self.out.push(byte);
        if self.run_len() == LITERALS_MAX {
            self.close_run();
            self.open_run();
        }
    }

    fn back_reference(&mut self, len: usize, distance: usize) -> Option<()> {
        self.close_run();
        if self.out.len() + MATCH_MIN + 1 >= self.packed_max {
            return None;
        }
        let offset = distance - 1;
        let len = len - 2;
        if len < 7 {
            self.out.push(((offset >> 8) + (len << 5)) as u8);
        } else {
            self.out.push(((offset >> 8) + (7 << 5)) as u8);
            self.out.push((len - 7) as u8);
        }
        self.out.push(offset as u8);
        self.open_run();
        Some(())
    }

    /// Ends with the last few bytes as literals.
    fn finish(mut self, rest: &[u8]) -> Option<Vec<u8>> {
        if self.out.len() + 3 > self.packed_max {
            return None;
        }
        for &byte in rest {
            self.push_literal(byte);
        }
        self.close_run();
        Some(self.out)
    }
}

/// Unpacks into exactly `len` bytes, or says that `packed` does not hold them. Reserves no more
/// than `packed` can stand for, whatever `len` claims.
pub(super) fn decompress(packed: &[u8], len: usize) -> Option<Vec<u8>> {
    if len > packed.len().saturating_mul(MATCH_MAX) {
        return None;
    }
    let mut out = Vec::with_capacity(len);
    let mut input = packed;
    while let [control, rest @ ..] = input {
        let control = usize::from(*control);
        if control < LITERALS_MAX {
            let (literals, rest) = rest.split_at_checked(control + 1)?;
            out.extend_from_slice(literals);
            input = rest;
        } else {
            let (run, rest) = match control >> 5 {
                7 => rest
                    .split_first()
                    .map(|(more, rest)| (7 + usize::from(*more), rest))?,
                run => (run, rest),
            };
            let (low, rest) = rest.split_first()?;
            let distance = ((control & 0x1f) << 8) + usize::from(*low) + 1;
            let start = out.len().checked_sub(distance)?;
            // Byte by byte, because a run may well repeat what it has just written.
            for from in start..start + run + 2 {
                out.push(out[from]);
            }
            input = rest;
        }
        if out.len() > len {
            return None;
        }
    }
    (out.len() == len).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(data: &[u8]) -> Option<usize> {
        let packed = compress(data, data.len().saturating_sub(4))?;
        assert!(packed.len() <= data.len() - 4);
        assert_eq!(decompress(&packed, data.len()).as_deref(), Some(data));
        Some(packed.len())
    }

    #[test]
    fn repetitive_data_is_packed_and_comes_back() {
        for len in 21..700 {
            assert!(round_trip(&vec![b'a'; len]).is_some(), "{len}");
            let digits: Vec<u8> = (0..len).map(|n| b"0123456789abc"[n % 13]).collect();
            if len > 30 {
                assert!(round_trip(&digits).is_some(), "{len}");
            }
        }
        let text =
            b"the quick brown fox jumps over the lazy dog and over the quick brown dog".repeat(400);
        assert!(round_trip(&text).is_some_and(|packed| packed < text.len() / 20));
    }

    #[test]
    fn data_without_repetition_is_left_alone() {
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        })
        .take(5000)
        .collect();
        assert_eq!(round_trip(&noise), None);
        assert_eq!(compress(b"", 10), None);
        assert_eq!(compress(b"aaaa", 0), None);
    }

    #[test]
    fn packed_bytes_are_those_of_redis() {
        // From DUMP of Redis 7.0.
        assert_eq!(
            compress(&[b'a'; 30], 26).as_deref(),
            Some(&b"\x01aa\xe0\x11\x00\x01aa"[..])
        );
    }

    #[test]
    fn malformed_input_is_refused() {
        for packed in [
            &b"\x05ab"[..],
            b"\x20\x00",
            b"\x00a\x20",
            b"\x00a\xe0",
            b"\x00a\x20\x05",
        ] {
            for len in [0, 1, 3, 5, 6] {
                assert_eq!(decompress(packed, len), None, "{packed:?} {len}");
            }
        }
        assert_eq!(decompress(b"\x01ab", 1), None);
        assert_eq!(decompress(b"\x01ab", 3), None);
        assert_eq!(decompress(b"\x01ab", usize::MAX), None);
        assert_eq!(decompress(b"\x01ab", 2).as_deref(), Some(&b"ab"[..]));
    }
}
