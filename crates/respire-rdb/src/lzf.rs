//! Packs and unpacks LZF, byte for byte as the copy of liblzf inside Redis does. Unpacking is
//! bounded.
//!
//! A control byte below 32 is followed by that many literal bytes plus one. Any other control byte
//! holds a length (3 bits; if they are 7, the next byte adds to it) and, with the byte after it, a
//! distance backwards.

mod seen;

use seen::{Paged, Seen, Whole};

/// The maximum length of a literal run.
const LITERALS_MAX: usize = 1 << 5;
/// The maximum distance of a back reference.
const DISTANCE_MAX: u32 = 1 << 13;
/// The maximum length of a back reference: the limit of the packer and of the format.
const MATCH_MAX: usize = (1 << 8) + (1 << 3);
/// The minimum length of a back reference.
const MATCH_MIN: usize = 3;
/// For data up to this length, clearing a whole table would take longer than packing.
const PAGED_BYTES_MAX: usize = 1 << 13;

/// Packs `data` into at most `packed_max` bytes at the end of `out`. If the result does not fit,
/// restores the length of `out` and returns false. O(length of `data`), whatever its bytes.
///
/// Offsets have 32 bits, so longer data counts as not fitting either.
pub(super) fn compress(data: &[u8], packed_max: usize, out: &mut Vec<u8>) -> bool {
    if data.len() < MATCH_MIN || packed_max == 0 || u32::try_from(data.len()).is_err() {
        return false;
    }
    let base = out.len();
    let packer = Packer {
        data,
        out,
        base,
        packed_max,
        literals_from: 0,
    };
    let packed = if data.len() <= PAGED_BYTES_MAX {
        packer.pack(&mut Paged::new())
    } else {
        packer.pack(&mut Whole::new())
    };
    if packed.is_none() {
        out.truncate(base);
    }
    packed.is_some()
}

/// The slot of the three low bytes of `bytes`; the high byte does not matter.
fn slot_of(bytes: u32) -> u16 {
    (bytes >> 8).wrapping_sub(bytes.wrapping_mul(5)) as u16
}

/// The number of equal bytes from `at` and from `earlier` on, within the limits of the packer.
fn match_len(data: &[u8], earlier: usize, at: usize) -> usize {
    let rest = data.len() - at;
    let bound = (rest - 2).min(MATCH_MAX);
    // The loop of the original is unrolled: it compares 16 bytes before it checks the limit again.
    let bound = if bound > 16 {
        bound.max(19)
    } else {
        bound.max(MATCH_MIN)
    };
    same_len(&data[earlier..earlier + bound], &data[at..at + bound])
}

/// The length of the common start of two slices of equal length.
fn same_len(a: &[u8], b: &[u8]) -> usize {
    const WORD: usize = size_of::<u64>();
    let (a_words, a_rest) = a.as_chunks::<WORD>();
    let (b_words, b_rest) = b.as_chunks::<WORD>();
    for (nth, (a, b)) in a_words.iter().zip(b_words).enumerate() {
        let differing = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differing != 0 {
            return nth * WORD + (differing.trailing_zeros() / u8::BITS) as usize;
        }
    }
    let pairs = a_rest.iter().zip(b_rest);
    a_words.len() * WORD + pairs.take_while(|(a, b)| a == b).count()
}

struct Packer<'p> {
    data: &'p [u8],
    out: &'p mut Vec<u8>,
    /// The start of the packed bytes in `out`.
    base: usize,
    packed_max: usize,
    /// The start of the literals that are not written yet.
    literals_from: usize,
}

impl Packer<'_> {
    fn pack(mut self, seen: &mut impl Seen) -> Option<()> {
        let data = self.data;
        let mut at = 0;
        while let Some((found, earlier)) = find_match(data, at, seen) {
            at = found;
            let len = match_len(data, earlier, at);
            self.literals(at)?;
            self.back_reference(len, at - earlier)?;
            at += len;
            self.literals_from = at;
            if at + 2 >= data.len() {
                break;
            }
            // Only the last two positions of the match are recorded, which gives most of the speed.
            for place in [at - 2, at - 1] {
                let three = u32::from_be_bytes([0, data[place], data[place + 1], data[place + 2]]);
                seen.replace(slot_of(three), place as u32);
            }
        }
        self.finish()
    }

    fn packed_len(&self) -> usize {
        self.out.len() - self.base
    }

    /// Whether there is room for this many literals. The original writes them one by one, and
    /// starts the next run together with the last literal of a full one.
    fn has_room_for(&self, literals: usize) -> bool {
        literals.checked_sub(1).is_none_or(|before| {
            self.packed_len() + 1 + before + before / LITERALS_MAX < self.packed_max
        })
    }

    /// Writes the literals up to `to`, if there is room for them.
    fn literals(&mut self, to: usize) -> Option<()> {
        let literals = &self.data[self.literals_from..to];
        if !self.has_room_for(literals.len()) {
            return None;
        }
        self.write_literals(literals);
        Some(())
    }

    fn write_literals(&mut self, literals: &[u8]) {
        let (runs, rest) = literals.as_chunks::<LITERALS_MAX>();
        for run in runs {
            self.out.push(LITERALS_MAX as u8 - 1);
            self.out.extend_from_slice(run);
        }
        if !rest.is_empty() {
            self.out.push(rest.len() as u8 - 1);
            self.out.extend_from_slice(rest);
        }
    }

    fn back_reference(&mut self, len: usize, distance: usize) -> Option<()> {
        if self.packed_len() + MATCH_MIN + 1 >= self.packed_max {
            return None;
        }
        let offset = distance - 1;
        let len = len - 2;
        if len < 7 {
            self.out
                .extend_from_slice(&[((offset >> 8) + (len << 5)) as u8, offset as u8]);
        } else {
            let control = ((offset >> 8) + (7 << 5)) as u8;
            self.out
                .extend_from_slice(&[control, (len - 7) as u8, offset as u8]);
        }
        Some(())
    }

    /// Writes the remaining bytes as literals. The last two bytes never start a match, and there
    /// must be room for both at once.
    fn finish(mut self) -> Option<()> {
        let end = self.data.len();
        let literals = end.saturating_sub(2).saturating_sub(self.literals_from);
        let written = literals + literals / LITERALS_MAX + 1;
        if !self.has_room_for(literals) || self.packed_len() + written + 3 > self.packed_max {
            return None;
        }
        self.write_literals(&self.data[self.literals_from..]);
        Some(())
    }
}

/// The next position from `at` on whose three bytes were seen before, and the earlier position.
/// Records the positions up to and including the one found.
#[inline]
fn find_match(data: &[u8], at: usize, seen: &mut impl Seen) -> Option<(usize, usize)> {
    let [first, second, rest @ ..] = &data[at..] else {
        return None;
    };
    let mut last_three = u32::from_be_bytes([0, 0, *first, *second]);
    for (at, third) in (at as u32..).zip(rest) {
        last_three = last_three << 8 | u32::from(*third);
        let earlier = seen.replace(slot_of(last_three), at);
        // Position 0 stands for "never seen": the packer never refers back to the very first byte.
        if at - earlier <= DISTANCE_MAX && earlier != 0 {
            let (at, earlier) = (at as usize, earlier as usize);
            if data[earlier..earlier + MATCH_MIN] == data[at..at + MATCH_MIN] {
                return Some((at, earlier));
            }
        }
    }
    None
}

/// Unpacks into exactly `len` bytes; returns `None` if `packed` does not contain as many. Reserves
/// no more than `packed` can expand to, whatever `len` claims. O(`len` + length of `packed`).
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
            if literals.len() > len - out.len() {
                return None;
            }
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
            if run + 2 > len - out.len() {
                return None;
            }
            copy_back(&mut out, distance, run + 2)?;
            input = rest;
        }
    }
    (out.len() == len).then_some(out)
}

/// Appends `run` bytes that start `distance` before the end; returns `None` if the distance is too
/// large. A run longer than the distance repeats the bytes that it has just written.
fn copy_back(out: &mut Vec<u8>, distance: usize, run: usize) -> Option<()> {
    let start = out.len().checked_sub(distance)?;
    let mut left = run;
    while left > 0 {
        // The bytes from `start` on repeat with the distance, so each copy may be twice as long.
        let part = left.min(out.len() - start);
        out.extend_from_within(start..start + part);
        left -= part;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs as the original does, byte by byte and with a table of all slots.
    fn compress_plainly(data: &[u8], packed_max: usize) -> Option<Vec<u8>> {
        if data.len() < MATCH_MIN || packed_max == 0 {
            return None;
        }
        let three = |at: usize| u32::from_be_bytes([0, data[at], data[at + 1], data[at + 2]]);
        let mut seen = vec![0; 1 << 16];
        let (mut out, mut run, mut at) = (vec![0], 0_usize, 0);
        let push = |out: &mut Vec<u8>, run: &mut usize, byte| {
            out.push(byte);
            *run += 1;
            if *run == LITERALS_MAX {
                let control = out.len() - LITERALS_MAX - 1;
                out[control] = LITERALS_MAX as u8 - 1;
                out.push(0);
                *run = 0;
            }
        };
        let close = |out: &mut Vec<u8>, run: usize| match run {
            0 => drop(out.pop()),
            _ => {
                let control = out.len() - run - 1;
                out[control] = run as u8 - 1;
            }
        };
        while at + 2 < data.len() {
            let earlier: usize = core::mem::replace(&mut seen[usize::from(slot_of(three(at)))], at);
            let is_near = earlier != 0 && at - earlier <= DISTANCE_MAX as usize;
            if !is_near || three(earlier) != three(at) {
                if out.len() >= packed_max {
                    return None;
                }
                push(&mut out, &mut run, data[at]);
                at += 1;
                continue;
            }
            close(&mut out, run);
            if out.len() + 4 >= packed_max {
                return None;
            }
            let room = (data.len() - at - 2).min(MATCH_MAX);
            let bound = room.max(if room > 16 { 19 } else { 3 });
            let same = (0..bound).take_while(|nth| data[earlier + nth] == data[at + nth]);
            let (len, offset) = (same.count(), at - earlier - 1);
            if len < 9 {
                out.push(((offset >> 8) + ((len - 2) << 5)) as u8);
            } else {
                out.extend([((offset >> 8) + (7 << 5)) as u8, (len - 9) as u8]);
            }
            out.extend([offset as u8, 0]);
            run = 0;
            at += len;
            if at + 2 < data.len() {
                for place in [at - 2, at - 1] {
                    seen[usize::from(slot_of(three(place)))] = place;
                }
            }
        }
        if out.len() + 3 > packed_max {
            return None;
        }
        for byte in &data[at..] {
            push(&mut out, &mut run, *byte);
        }
        close(&mut out, run);
        Some(out)
    }

    /// Packs after a byte that the output already has.
    fn packed(data: &[u8], packed_max: usize) -> Option<Vec<u8>> {
        let mut out = vec![b'!'];
        let fits = compress(data, packed_max, &mut out);
        assert_eq!(out.remove(0), b'!');
        assert!(fits || out.is_empty());
        fits.then_some(out)
    }

    fn round_trip(data: &[u8]) -> Option<usize> {
        let packed = packed(data, data.len().saturating_sub(4))?;
        assert!(packed.len() <= data.len() - 4);
        assert_eq!(decompress(&packed, data.len()).as_deref(), Some(data));
        Some(packed.len())
    }

    fn random() -> impl FnMut() -> usize {
        let mut state = 1_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize
        }
    }

    #[test]
    fn packed_bytes_equal_those_of_the_byte_by_byte_packer() {
        let mut random = random();
        for nth in 0..600 {
            let len = match nth % 6 {
                0 => random() % 40_000,
                1 => PAGED_BYTES_MAX - 3 + random() % 6,
                _ => random() % 400,
            };
            let letters = 1 + random() % [1, 2, 4, 30, 256][nth % 5];
            let mut data: Vec<u8> = (0..len).map(|_| (random() % letters) as u8).collect();
            // Add repetitions at a large distance.
            if len > 9000 && random().is_multiple_of(2) {
                data.copy_within(0..100, len - 200);
                data.copy_within(0..100, DISTANCE_MAX as usize);
            }
            let plainly = compress_plainly(&data, usize::MAX >> 1).map_or(0, |all| all.len());
            let around = (plainly.saturating_sub(40)..plainly + 6).step_by(1 + nth % 3);
            for packed_max in around.chain([len.saturating_sub(4), len, 2 * len]) {
                assert_eq!(
                    packed(&data, packed_max),
                    compress_plainly(&data, packed_max),
                    "{nth}: {len} bytes in {packed_max}"
                );
            }
        }
    }

    #[test]
    fn repetitive_data_is_packed_and_unpacked() {
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
    fn data_without_repetition_is_not_packed() {
        let mut random = random();
        let noise: Vec<u8> = (0..5000).map(|_| random() as u8).collect();
        assert_eq!(round_trip(&noise), None);
        assert_eq!(packed(b"", 10), None);
        assert_eq!(packed(b"aaaa", 0), None);
    }

    #[test]
    fn packed_bytes_equal_those_of_redis() {
        // From DUMP of Redis 7.0.
        assert_eq!(
            packed(&[b'a'; 30], 26).as_deref(),
            Some(&b"\x01aa\xe0\x11\x00\x01aa"[..])
        );
    }

    #[test]
    fn malformed_packed_bytes_are_refused() {
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
