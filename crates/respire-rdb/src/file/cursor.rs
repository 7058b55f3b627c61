//! Reads the parts of items from a window onto a file, whose end may lie inside an item.

use super::{STRING_BYTES_MAX, What};
use crate::{LEN_6_BITS, LEN_14_BITS, LEN_32_BITS, LEN_64_BITS};
use crate::{STRING_INT8, STRING_INT16, STRING_INT32, STRING_LZF};

/// Why a part cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The window must have at least this many bytes.
    More(usize),
    /// The file is wrong.
    Bad(What),
}

pub(super) type Read<T> = Result<T, Stop>;

/// A place in a window.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'w> {
    window: &'w [u8],
    at: usize,
    /// The bytes of the file from the window's start on.
    left: u64,
}

impl<'w> Cursor<'w> {
    pub(super) fn new(window: &'w [u8], left: u64) -> Self {
        Self {
            window,
            at: 0,
            left,
        }
    }

    /// The number of bytes read so far.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The bytes read since that place.
    pub(super) fn since(&self, from: usize) -> &'w [u8] {
        &self.window[from..self.at]
    }

    pub(super) fn bytes(&mut self, len: u64) -> Read<&'w [u8]> {
        let end = (self.at as u64)
            .checked_add(len)
            .filter(|end| *end <= self.left)
            .and_then(|end| usize::try_from(end).ok());
        let Some(end) = end else {
            return Err(Stop::Bad(What::Cut));
        };
        let Some(bytes) = self.window.get(self.at..end) else {
            return Err(Stop::More(end));
        };
        self.at = end;
        Ok(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let bytes = self.bytes(N as u64)?;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        Ok(array)
    }

    pub(super) fn byte(&mut self) -> Read<u8> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Reads a number that is written as a length.
    pub(super) fn count(&mut self) -> Read<u64> {
        let first = self.byte()?;
        self.count_after(first)
    }

    fn count_after(&mut self, first: u8) -> Read<u64> {
        Ok(match (first, first >> 6) {
            (_, LEN_6_BITS) => u64::from(first),
            (_, LEN_14_BITS) => u64::from(u16::from_be_bytes([first & 0x3f, self.byte()?])),
            (LEN_32_BITS, _) => u64::from(u32::from_be_bytes(self.array()?)),
            (LEN_64_BITS, _) => u64::from_be_bytes(self.array()?),
            _ => return Err(Stop::Bad(What::Length(first))),
        })
    }

    /// Reads the number of elements that take at least `each` bytes. The file must have room for them.
    pub(super) fn elements(&mut self, each: u64) -> Read<u64> {
        let count = self.count()?;
        let room = self.left.saturating_sub(self.at as u64) / each;
        if count > room {
            return Err(Stop::Bad(What::Cut));
        }
        Ok(count)
    }

    /// Skips a string.
    pub(super) fn string(&mut self) -> Read<()> {
        let len = match self.byte()? {
            STRING_INT8 => 1,
            STRING_INT16 => 2,
            STRING_INT32 => 4,
            STRING_LZF => {
                let packed = self.count()?;
                within_limit(self.count()?)?;
                packed
            }
            first => self.count_after(first)?,
        };
        self.bytes(within_limit(len)?)?;
        Ok(())
    }
}

fn within_limit(len: u64) -> Read<u64> {
    if len > STRING_BYTES_MAX {
        return Err(Stop::Bad(What::Long(len)));
    }
    Ok(len)
}
