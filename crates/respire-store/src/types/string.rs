//! Strings: how they are read, and the representation of large and growing ones. Other strings are packed into a
//! cell with their key (`entry/packed.rs`).

use bytes::Bytes;

use super::{Encoding, NewValue, Plain, allocated};
use crate::decimal::{canonical_int, decimal_len, write_decimal};

/// Strings of at least this many bytes are kept as shared [`Bytes`], which a reply uses without a copy. For
/// shorter strings, copying is cheaper than sharing. `respire-commands` asserts at compile time that this is
/// the size from which `respire-engine` writes shared bytes without a copy.
pub const SHARED_BYTES_MIN: usize = 16 * 1024;

/// Length of the longest string that Redis calls `embstr`.
const EMBSTR_BYTES_MAX: usize = 44;

/// A borrowed string value.
///
/// ```
/// use respire_store::StringRef;
///
/// let mut digits = [0; 20];
/// assert_eq!(StringRef::Int(-7).as_bytes(&mut digits), b"-7");
/// assert_eq!(StringRef::Bytes(b"seven").len(), 5);
/// ```
#[derive(Debug, Clone, Copy)]
pub enum StringRef<'e> {
    /// An integer. Its bytes as a string are its decimal text.
    Int(i64),
    /// Plain bytes.
    Bytes(&'e [u8]),
    /// Bytes that can be shared instead of copied.
    Shared(&'e Bytes),
}

impl<'e> StringRef<'e> {
    /// Returns the length in bytes; for an integer, the length of its decimal text.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            StringRef::Int(number) => decimal_len(number),
            StringRef::Bytes(bytes) => bytes.len(),
            StringRef::Shared(bytes) => bytes.len(),
        }
    }

    /// Returns whether the string has no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes. The text of an integer is written to `digits`.
    #[must_use]
    pub fn as_bytes<'b>(self, digits: &'b mut [u8; 20]) -> &'b [u8]
    where
        'e: 'b,
    {
        match self {
            StringRef::Int(number) => write_decimal(number, digits),
            StringRef::Bytes(bytes) => bytes,
            StringRef::Shared(bytes) => bytes,
        }
    }

    /// Returns a copy of the bytes. O(length).
    #[must_use]
    pub fn to_vec(self) -> Vec<u8> {
        self.as_bytes(&mut [0; 20]).to_vec()
    }

    /// Returns the integer whose canonical decimal text the string is, if it is one.
    #[must_use]
    #[inline]
    pub fn to_int(self) -> Option<i64> {
        match self {
            StringRef::Int(number) => Some(number),
            StringRef::Bytes(bytes) => canonical_int(bytes),
            StringRef::Shared(bytes) => canonical_int(bytes),
        }
    }
}

impl Encoding {
    /// Returns the encoding of a string that was written as a whole.
    pub(crate) fn of_bytes(len: usize) -> Encoding {
        if len <= EMBSTR_BYTES_MAX {
            Encoding::Embstr
        } else {
            Encoding::Raw
        }
    }
}

/// A string with its own allocation.
#[derive(Debug)]
pub enum LongString {
    /// A string that is edited in place.
    Growing(Vec<u8>),
    /// A string that replies share.
    Shared {
        /// The string.
        bytes: Bytes,
        /// The unused part of its allocation, in steps of [`SLACK_STEP`] bytes.
        slack: u32,
    },
}

/// The unit of `slack`. With it, the slack fits into 32 bits, which leaves room for the tag byte of the types.
const SLACK_STEP: usize = 16;

impl LongString {
    pub(crate) fn growing(bytes: Vec<u8>) -> LongString {
        LongString::Growing(bytes)
    }

    /// Makes a shared string whose bytes use all of their allocation.
    pub(crate) fn shared(bytes: Bytes) -> LongString {
        LongString::Shared { bytes, slack: 0 }
    }

    #[inline(always)]
    pub(crate) fn as_ref(&self) -> StringRef<'_> {
        match self {
            LongString::Growing(bytes) => StringRef::Bytes(bytes),
            LongString::Shared { bytes, .. } => StringRef::Shared(bytes),
        }
    }

    #[inline(always)]
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            LongString::Growing(bytes) => allocated(bytes.capacity()),
            LongString::Shared { bytes, slack } => {
                allocated(bytes.len()) + *slack as usize * SLACK_STEP
            }
        }
    }

    /// Returns true: a string is one allocation, which dropping it frees.
    pub(super) fn free_some(&mut self, _budget: &mut usize) -> bool {
        true
    }

    /// Returns the bytes for changing them. Copies them if they are shared and still used elsewhere.
    pub(crate) fn edit(&mut self) -> &mut Vec<u8> {
        if let LongString::Shared { bytes, .. } = self {
            *self = LongString::Growing(Vec::from(core::mem::take(bytes)));
        }
        match self {
            LongString::Growing(bytes) => bytes,
            LongString::Shared { .. } => unreachable!("invariant: it was made one that grows"),
        }
    }

    /// Converts a string of at least [`SHARED_BYTES_MIN`] bytes into one that replies share.
    pub(crate) fn share(&mut self) {
        if let LongString::Growing(bytes) = self
            && bytes.len() >= SHARED_BYTES_MIN
            && let Ok(slack) = u32::try_from(slack_of(bytes))
        {
            *self = LongString::Shared {
                slack,
                bytes: core::mem::take(bytes).into(),
            };
        }
    }

    pub(super) fn to_new(&self) -> NewValue<'static> {
        match self {
            LongString::Growing(bytes) => NewValue::Raw(bytes.clone()),
            LongString::Shared { bytes, .. } => NewValue::Shared(bytes.clone()),
        }
    }

    pub(super) fn into_new(self) -> NewValue<'static> {
        match self {
            LongString::Growing(bytes) => NewValue::Raw(bytes),
            LongString::Shared { bytes, slack: 0 } => NewValue::Shared(bytes),
            // It has room to grow, which only `Raw` accounts for.
            LongString::Shared { bytes, .. } => NewValue::Raw(bytes.into()),
        }
    }
}

/// Returns the unused part of a string's allocation, in steps of [`SLACK_STEP`] bytes.
fn slack_of(bytes: &Vec<u8>) -> usize {
    (allocated(bytes.capacity()) - allocated(bytes.len())) / SLACK_STEP
}

/// Returns the bytes in a cell's form: a canonical integer as `Plain::Int`.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> Plain<'_> {
    canonical_int(bytes).map_or(Plain::Bytes(bytes), Plain::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_of_an_int_is_the_length_of_its_text() {
        let powers = (0..19).map(|exponent| 10_i64.pow(exponent));
        for number in powers
            .flat_map(|power| [power - 1, power, -power, 1 - power])
            .chain([i64::MIN, i64::MAX])
        {
            assert_eq!(
                StringRef::Int(number).len(),
                number.to_string().len(),
                "{number}"
            );
            assert_eq!(
                StringRef::Int(number).to_vec(),
                number.to_string().into_bytes()
            );
        }
    }

    #[test]
    fn every_form_of_a_string_reads_as_int() {
        let shared = Bytes::from_static(b"-7");
        for string in [
            StringRef::Int(-7),
            StringRef::Bytes(b"-7"),
            StringRef::Shared(&shared),
        ] {
            assert_eq!((string.to_int(), string.is_empty()), (Some(-7), false));
        }
        assert_eq!(StringRef::Bytes(b"seven").to_int(), None);
    }
}
