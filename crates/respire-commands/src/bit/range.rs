//! Parses and reads the part of a string that `BITCOUNT` and `BITPOS` examine.

use crate::Ctx;
use crate::errors::SYNTAX;
use crate::options::is_word;
use crate::value::index_range;
use respire_engine::Error;
use std::cell::Cell;
use std::ops::Range;

/// The unit of the bounds of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Byte,
    Bit,
}

impl Unit {
    pub(super) fn parse(argument: Option<&[u8]>) -> Result<Self, Error> {
        match argument {
            None => Ok(Self::Byte),
            Some(word) if is_word(word, "BYTE") => Ok(Self::Byte),
            Some(word) if is_word(word, "BIT") => Ok(Self::Bit),
            Some(_) => Err(SYNTAX),
        }
    }

    /// The bits from `start` to `end`, both inclusive, of a string of `bytes` bytes.
    pub(super) fn bits(self, start: i64, end: i64, bytes: usize) -> Option<Range<usize>> {
        match self {
            Self::Bit => index_range(start, end, bytes * 8),
            Self::Byte => index_range(start, end, bytes).map(|r| r.start * 8..r.end * 8),
        }
    }
}

/// Runs `f` on the bytes that contain the requested bits, and on the range of these bits within
/// them. `bits` chooses the range from the length of the string in bytes. `None` if there is no
/// such key, or no bit is chosen.
pub(super) fn read_bits<R>(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    bits: impl Fn(usize) -> Result<Option<Range<usize>>, Error>,
    f: impl FnOnce(&[u8], &Range<usize>) -> R,
) -> Result<Option<R>, Error> {
    let chosen = Cell::new((0, 0));
    let part = |len| {
        Ok(bits(len)?.map(|bits| {
            let first = bits.start / 8;
            chosen.set((bits.start - first * 8, bits.end - first * 8));
            first..bits.end.div_ceil(8)
        }))
    };
    ctx.read_part(key, part, |bytes| {
        let (start, end) = chosen.get();
        f(bytes, &(start..end))
    })
}

/// A range of bits, as whole bytes and the partial bytes at its ends. The bits around it read as
/// `outside` in the partial bytes.
pub(super) struct Parts<'s> {
    pub(super) head: u8,
    pub(super) middle: &'s [u8],
    pub(super) tail: u8,
}

impl<'s> Parts<'s> {
    /// Splits `bits` (not empty, within `bytes`) so that `head` is the first byte, `tail` the last
    /// one, and `middle` all bytes between. A range within one byte has only a head, and its tail
    /// consists of `outside` bits.
    pub(super) fn new(bytes: &'s [u8], bits: &Range<usize>, outside: bool) -> Self {
        let (first, last) = (bits.start / 8, (bits.end - 1) / 8);
        let head_mask = 0xff_u8 >> (bits.start % 8);
        let tail_mask = 0xff_u8 << (7 - (bits.end - 1) % 8);
        let keep = |byte: u8, mask: u8| if outside { byte | !mask } else { byte & mask };
        if first == last {
            return Self {
                head: keep(bytes[first], head_mask & tail_mask),
                middle: &[],
                tail: keep(0, 0),
            };
        }
        Self {
            head: keep(bytes[first], head_mask),
            middle: &bytes[first + 1..last],
            tail: keep(bytes[last], tail_mask),
        }
    }
}
