//! `IFEQ` and `IFNE`: the condition of `SET` and `DELEX` on the string that a key holds.
//!
//! Strings are equal if their bytes are. An absent key equals no string. A key that holds another
//! type of value is refused.

use crate::options::{Options, is_word};
use crate::value::string_of;
use respire_engine::Error;
use respire_store::EntryRef;

/// The condition, with the bytes to compare the string with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison<'a> {
    /// `IFEQ`: the string must equal these bytes.
    Equal(&'a [u8]),
    /// `IFNE`: the string must differ from these bytes, or the key be absent.
    Different(&'a [u8]),
}

impl<'a> Comparison<'a> {
    /// Parses an option and takes its operand from `options`; `None` if it is another option.
    pub(super) fn parse(option: &[u8], options: &mut Options<'a>) -> Result<Option<Self>, Error> {
        let kind = if is_word(option, "IFEQ") {
            Self::Equal
        } else if is_word(option, "IFNE") {
            Self::Different
        } else {
            return Ok(None);
        };
        Ok(Some(kind(options.value()?)))
    }

    /// Returns whether the condition holds, or the error WRONGTYPE. O(length) if the lengths are
    /// equal, otherwise O(1).
    pub(super) fn holds(self, entry: Option<EntryRef<'_>>) -> Result<bool, Error> {
        let (operand, holds_if_equal) = match self {
            Self::Equal(operand) => (operand, true),
            Self::Different(operand) => (operand, false),
        };
        let mut digits = [0; 20];
        let is_equal = match entry {
            Some(entry) => string_of(entry)?.as_bytes(&mut digits) == operand,
            None => false,
        };
        Ok(is_equal == holds_if_equal)
    }
}
