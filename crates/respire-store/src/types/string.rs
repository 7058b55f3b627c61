//! Strings. Most are packed into a cell with their key (`entry/packed.rs`); what is here is how they are read, and those
//! that are large or grow.

use bytes::Bytes;

use super::{Encoding, NewValue, Plain, allocated};

/// Values of at least this many bytes are kept as shared [`Bytes`], so that a reply can borrow
/// them without a copy. Below it, copying is cheaper than sharing. `respire-commands` holds it against the
/// size from which `respire-engine` writes shared bytes without a copy: the two are equal, or it does not
/// compile.
pub const SHARED_BYTES_MIN: usize = 16 * 1024;

/// Longest string that Redis calls `embstr`.
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
    /// An integer; as a string it is its decimal text.
    Int(i64),
    /// Plain bytes.
    Bytes(&'e [u8]),
    /// Bytes that can be shared instead of copied.
    Shared(&'e Bytes),
}

impl<'e> StringRef<'e> {
    /// Length in bytes; of an integer, that of its decimal text.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            StringRef::Int(number) => decimal_len(number),
            StringRef::Bytes(bytes) => bytes.len(),
            StringRef::Shared(bytes) => bytes.len(),
        }
    }

    /// Whether the string has no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes; an integer is written to `digits` first.
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

    /// An owned copy of the bytes.
    #[must_use]
    pub fn to_vec(self) -> Vec<u8> {
        self.as_bytes(&mut [0; 20]).to_vec()
    }

    /// Nothing: a string's first bytes come with its entry, and it has no elements.
    pub(super) fn warm(self, _element: &[u8]) {}

    /// The value as an integer, if it is the canonical decimal text of one.
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
    /// The encoding of a string that was written whole.
    pub(crate) fn of_bytes(len: usize) -> Encoding {
        if len <= EMBSTR_BYTES_MAX {
            Encoding::Embstr
        } else {
            Encoding::Raw
        }
    }
}

/// A string with an allocation of its own.
#[derive(Debug)]
pub enum LongString {
    /// One that is edited in place.
    Growing(Vec<u8>),
    /// One that replies share.
    Shared {
        /// The string.
        bytes: Bytes,
        /// What its allocation has beyond it, in steps of [`SLACK_STEP`] bytes.
        slack: u32,
    },
}

/// So that the slack of any string fits into 32 bits, which leaves room for the byte that tells types apart.
const SLACK_STEP: usize = 16;

impl LongString {
    pub(crate) fn growing(bytes: Vec<u8>) -> LongString {
        LongString::Growing(bytes)
    }

    /// One whose bytes take all of their allocation.
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

    /// One allocation, which is freed by dropping it.
    pub(super) fn free_some(&mut self, _budget: &mut usize) -> bool {
        true
    }

    /// The bytes, to change them. Copies them if they are shared and somebody has them.
    pub(crate) fn edit(&mut self) -> &mut Vec<u8> {
        if let LongString::Shared { bytes, .. } = self {
            *self = LongString::Growing(Vec::from(core::mem::take(bytes)));
        }
        match self {
            LongString::Growing(bytes) => bytes,
            LongString::Shared { .. } => unreachable!("invariant: it was made one that grows"),
        }
    }

    /// Makes a string of at least [`SHARED_BYTES_MIN`] one that replies share.
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
            // It has room to grow, which is counted only so.
            LongString::Shared { bytes, .. } => NewValue::Raw(bytes.into()),
        }
    }
}

/// The steps of [`SLACK_STEP`] bytes that an allocation takes beyond those of its string.
fn slack_of(bytes: &Vec<u8>) -> usize {
    (allocated(bytes.capacity()) - allocated(bytes.len())) / SLACK_STEP
}

/// The integer whose canonical decimal text `bytes` is: no sign but `-`, no leading zero, no blank.
fn canonical_int(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [] => return None,
        [b'0'] => return (!negative).then_some(0),
        [b'0', ..] => return None,
        _ if digits.len() > 19 => return None,
        _ => {}
    }
    // Counting downwards reaches `i64::MIN`, which has no positive counterpart.
    let mut number = 0_i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number
            .checked_mul(10)?
            .checked_sub(i64::from(digit - b'0'))?;
    }
    if negative {
        Some(number)
    } else {
        number.checked_neg()
    }
}

/// Bytes as a cell keeps them: the canonical text of an integer as one.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> Plain<'_> {
    canonical_int(bytes).map_or(Plain::Bytes(bytes), Plain::Int)
}

/// Writes the decimal text of `number` to the front of `digits`.
fn write_decimal(number: i64, digits: &mut [u8; 20]) -> &[u8] {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(number).as_bytes();
    let out = &mut digits[..text.len()];
    out.copy_from_slice(text);
    out
}

fn decimal_len(number: i64) -> usize {
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(number < 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_int_takes_only_what_prints_back() {
        for number in [0, 1, -1, 10, 99, i64::MAX, i64::MIN, i64::MIN + 1] {
            assert_eq!(canonical_int(number.to_string().as_bytes()), Some(number));
        }
        let refused = [
            "",
            "-",
            "+1",
            "-0",
            "00",
            "01",
            "-01",
            " 1",
            "1 ",
            "1a",
            "9223372036854775808",
            "-9223372036854775809",
        ];
        for text in refused {
            assert_eq!(canonical_int(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(canonical_int(b"100000000000000000000"), None);
    }

    #[test]
    fn int_len_is_that_of_its_text() {
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
    fn string_reads_as_int_whatever_holds_it() {
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
