//! Checks of bytes from outside.

use core::fmt;

use super::element::{Element, back_len};
use super::{COUNT_MAX, END, HEAD_BYTES, Listpack, ListpackBuf, read_back};

/// The error of bytes that are no listpack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are no listpack")
    }
}

impl core::error::Error for Damaged {}

impl<'a> Listpack<'a> {
    /// Takes bytes from outside. All lengths and the number of elements are checked. O(elements).
    ///
    /// # Errors
    /// [`Damaged`].
    pub fn verify(bytes: &'a [u8]) -> Result<Self, Damaged> {
        check(bytes).ok_or(Damaged)?;
        Ok(Self { bytes })
    }
}

impl TryFrom<Vec<u8>> for ListpackBuf {
    type Error = Damaged;

    /// Takes bytes from outside, as [`Listpack::verify`] does.
    fn try_from(bytes: Vec<u8>) -> Result<Self, Damaged> {
        check(&bytes).ok_or(Damaged)?;
        Ok(Self { bytes })
    }
}

fn check(bytes: &[u8]) -> Option<()> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let (end, elements) = rest.split_last()?;
    let total = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let is_whole = *end == END && usize::try_from(total) == Ok(bytes.len());
    let (mut rest, mut count) = (elements, 0);
    while !rest.is_empty() {
        let len = Element::read_len(rest)?;
        let (element, after) = rest.split_at_checked(len.checked_add(back_len(len))?)?;
        if read_back(element) != len {
            return None;
        }
        rest = after;
        count += 1;
    }
    let told = usize::from(u16::from_le_bytes([head[4], head[5]]));
    (is_whole && (told == COUNT_MAX || told == count)).then_some(())
}
