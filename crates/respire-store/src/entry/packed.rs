//! Packs a key, its value and its expiry into one run of bytes, a *cell*, if they are small.
//!
//! ```text
//! short cell (at most SHORT_BYTES_MAX):  flags u8, key length u8,  value length u8,  key, value, …, expiry u64
//! long cell:                             flags u8, key length u32, value length u32, key, value, …, expiry u64
//! ```
//!
//! The cell's length says which of the two it is. If the flags say so, the cell's last eight bytes are the
//! expiry; key and value do not move when it is set or cleared. An integer is stored as its low bytes, as
//! many as its two's complement needs. Numbers are little-endian.

use core::ops::Range;

use crate::types::{Plain, StringRef, TypeId};

/// Length of the longest cell whose key length and value length are one byte each.
pub(crate) const SHORT_BYTES_MAX: usize = 248;

const SHORT_HEADER: usize = 3;
const LONG_HEADER: usize = 9;
const EXPIRY: usize = 8;

const HAS_EXPIRY: u8 = 1;
const IS_INT: u8 = 2;
const IS_RAW: u8 = 4;
/// The flags from this bit on are the [`TypeId`], which is 0 for strings.
const TYPE_SHIFT: u32 = 3;

impl Plain<'_> {
    #[inline]
    fn flag(self) -> u8 {
        match self {
            Plain::Int(_) => IS_INT,
            Plain::Bytes(_) => 0,
            Plain::Raw(_) => IS_RAW,
            Plain::Packed(id, _) => (id as u8) << TYPE_SHIFT,
        }
    }

    #[inline]
    fn write(self, out: &mut [u8]) {
        match self {
            Plain::Int(number) => out.copy_from_slice(&number.to_le_bytes()[..out.len()]),
            Plain::Bytes(bytes) | Plain::Raw(bytes) | Plain::Packed(_, bytes) => {
                out.copy_from_slice(bytes)
            }
        }
    }
}

/// Returns the bytes that a cell needs. It may get more, but at most [`SHORT_BYTES_MAX`] if it needs no more
/// than that.
#[inline]
pub(crate) fn size(key_len: usize, plain: Plain<'_>, has_expiry: bool) -> usize {
    let body = key_len + plain.len() + if has_expiry { EXPIRY } else { 0 };
    let short = SHORT_HEADER + body;
    if short <= SHORT_BYTES_MAX {
        short
    } else {
        LONG_HEADER + body
    }
}

/// Writes a new cell.
pub(crate) fn write(cell: &mut [u8], key: &[u8], plain: Plain<'_>, expires_at: Option<u64>) {
    if is_short(cell) {
        cell[1] = key.len() as u8;
    } else {
        cell[1..5].copy_from_slice(&(key.len() as u32).to_le_bytes());
    }
    let range = key_range(cell);
    cell[range].copy_from_slice(key);
    rewrite(cell, plain, expires_at);
    debug_assert_eq!(self::key(cell), key);
}

/// Writes the value and the expiry into a cell that already has its key.
#[inline(always)]
pub(crate) fn rewrite(cell: &mut [u8], plain: Plain<'_>, expires_at: Option<u64>) {
    cell[0] = plain.flag();
    if is_short(cell) {
        cell[2] = plain.len() as u8;
    } else {
        cell[5..9].copy_from_slice(&(plain.len() as u32).to_le_bytes());
    }
    let range = value_range(cell);
    plain.write(&mut cell[range]);
    set_expires_at(cell, expires_at);
    debug_assert_eq!(
        (self::plain(cell), self::expires_at(cell)),
        (plain, expires_at)
    );
}

/// Writes the expiry into a cell that has room for it.
#[inline]
pub(crate) fn set_expires_at(cell: &mut [u8], expires_at: Option<u64>) {
    let Some(at) = expires_at else {
        cell[0] &= !HAS_EXPIRY;
        return;
    };
    cell[0] |= HAS_EXPIRY;
    let start = cell.len() - EXPIRY;
    debug_assert!(
        start >= value_range(cell).end,
        "the expiry has room of its own"
    );
    cell[start..].copy_from_slice(&at.to_le_bytes());
}

#[inline(always)]
pub(crate) fn key(cell: &[u8]) -> &[u8] {
    &cell[key_range(cell)]
}

/// Returns the value if it is a string. It asks less than [`plain`].
#[inline(always)]
pub(crate) fn string(cell: &[u8]) -> Option<StringRef<'_>> {
    let bytes = &cell[value_range(cell)];
    match cell[0] {
        flags if flags >> TYPE_SHIFT != 0 => None,
        flags if flags & IS_INT != 0 => Some(StringRef::Int(read_int(bytes))),
        _ => Some(StringRef::Bytes(bytes)),
    }
}

#[inline(always)]
pub(crate) fn plain(cell: &[u8]) -> Plain<'_> {
    let bytes = &cell[value_range(cell)];
    match cell[0] & !HAS_EXPIRY {
        0 => Plain::Bytes(bytes),
        IS_RAW => Plain::Raw(bytes),
        IS_INT => Plain::Int(read_int(bytes)),
        other => Plain::Packed(TypeId::of(other >> TYPE_SHIFT), bytes),
    }
}

#[inline(always)]
pub(crate) fn expires_at(cell: &[u8]) -> Option<u64> {
    if cell[0] & HAS_EXPIRY == 0 {
        return None;
    }
    cell.last_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[inline(always)]
fn is_short(cell: &[u8]) -> bool {
    cell.len() <= SHORT_BYTES_MAX
}

#[inline(always)]
fn key_range(cell: &[u8]) -> Range<usize> {
    if is_short(cell) {
        SHORT_HEADER..SHORT_HEADER + usize::from(cell[1])
    } else {
        LONG_HEADER..LONG_HEADER + read_u32(cell, 1)
    }
}

#[inline(always)]
fn value_range(cell: &[u8]) -> Range<usize> {
    let start = key_range(cell).end;
    let len = if is_short(cell) {
        usize::from(cell[2])
    } else {
        read_u32(cell, 5)
    };
    start..start + len
}

fn read_u32(cell: &[u8], at: usize) -> usize {
    u32::from_le_bytes([cell[at], cell[at + 1], cell[at + 2], cell[at + 3]]) as usize
}

fn read_int(bytes: &[u8]) -> i64 {
    let sign = bytes
        .last()
        .map_or(0, |&last| if last & 0x80 == 0 { 0 } else { 0xff });
    let mut wide = [sign; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key_bytes: &[u8], value: Plain<'_>, expiry: Option<u64>) {
        let size = size(key_bytes.len(), value, expiry.is_some());
        for slack in [0, 1, 15] {
            let len_max = if size <= SHORT_BYTES_MAX {
                SHORT_BYTES_MAX
            } else {
                usize::MAX
            };
            let cell_len = (size + slack).min(len_max);
            let mut cell = vec![0xaa; cell_len];
            write(&mut cell, key_bytes, value, expiry);
            assert_eq!(
                (key(&cell), plain(&cell), expires_at(&cell)),
                (key_bytes, value, expiry)
            );
        }
    }

    #[test]
    fn cell_of_any_size_reads_back() {
        let bytes = vec![7; 600];
        for key_len in [0, 1, 100, 200, 244, 245, 246, 300] {
            for value_len in [0, 1, 44, 45, 46, 145, 245, 256, 300, 600] {
                for expiry in [None, Some(0), Some(u64::MAX)] {
                    check(&bytes[..key_len], Plain::Bytes(&bytes[..value_len]), expiry);
                    check(&bytes[..key_len], Plain::Raw(&bytes[..value_len]), expiry);
                }
            }
        }
    }

    #[test]
    fn integer_at_every_width_reads_back() {
        for shift in 0..63 {
            for number in [
                1_i64 << shift,
                (1_i64 << shift) - 1,
                -(1_i64 << shift),
                -(1_i64 << shift) - 1,
            ] {
                check(b"k", Plain::Int(number), None);
                let len = Plain::Int(number).len();
                assert!(
                    len <= shift / 8 + 1 + usize::from(shift % 8 == 7),
                    "{number}"
                );
            }
        }
        check(b"k", Plain::Int(i64::MIN), Some(1));
        check(b"k", Plain::Int(i64::MAX), Some(1));
        let lens = [0, -128, 128, i64::MIN].map(|number| Plain::Int(number).len());
        assert_eq!(lens, [1, 1, 2, 8]);
    }

    #[test]
    fn cell_keeps_its_key_when_rewritten() {
        let mut cell = vec![0; 40];
        write(&mut cell, b"key", Plain::Bytes(b"value"), Some(5));
        rewrite(&mut cell, Plain::Int(-3), None);
        assert_eq!(
            (key(&cell), plain(&cell), expires_at(&cell)),
            (&b"key"[..], Plain::Int(-3), None)
        );
        set_expires_at(&mut cell, Some(9));
        assert_eq!((plain(&cell), expires_at(&cell)), (Plain::Int(-3), Some(9)));
    }
}
