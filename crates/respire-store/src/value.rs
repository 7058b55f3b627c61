//! What a key holds: values as they are read, written and moved.

use std::borrow::Cow;

use bytes::Bytes;

/// Values of at least this many bytes are kept as shared [`Bytes`], so that a reply can borrow
/// them without a copy. Below it, copying is cheaper than sharing. `respire-commands` holds it against the
/// size from which `respire-engine` writes shared bytes without a copy: the two are equal, or it does not
/// compile.
pub const SHARED_BYTES_MIN: usize = 16 * 1024;

/// Longest string that Redis calls `embstr`.
const EMBSTR_BYTES_MAX: usize = 44;

/// A value to be written.
///
/// ```
/// use respire_store::NewValue;
///
/// assert!(matches!(NewValue::from(b"42".as_slice()), NewValue::Bytes(b"42")));
/// assert!(matches!(NewValue::from(42), NewValue::Int(42)));
/// ```
#[derive(Debug, Clone)]
pub enum NewValue<'a> {
    /// A string; canonical decimal integers (`-17`, not `017`) are kept as integers.
    Bytes(&'a [u8]),
    /// An integer.
    Int(i64),
    /// A string that is kept as text also where it looks like an integer.
    Text(Cow<'a, [u8]>),
    /// A string whose bytes are already shared; kept without a copy from [`SHARED_BYTES_MIN`] up.
    Shared(Bytes),
    /// A string kept byte for byte as it is, with room to grow, whatever it looks like.
    Raw(Vec<u8>),
}

impl<'a> From<&'a [u8]> for NewValue<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        NewValue::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for NewValue<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        NewValue::Bytes(bytes)
    }
}

impl From<i64> for NewValue<'_> {
    fn from(number: i64) -> Self {
        NewValue::Int(number)
    }
}

impl From<Bytes> for NewValue<'_> {
    fn from(bytes: Bytes) -> Self {
        NewValue::Shared(bytes)
    }
}

impl From<Vec<u8>> for NewValue<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        NewValue::Raw(bytes)
    }
}

/// What becomes of a key's expiry when its value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expiry {
    /// The key no longer expires.
    #[default]
    Clear,
    /// The key keeps the expiry it has, if it has one.
    Keep,
    /// The key expires at this unix time in milliseconds. A time that is not in the future removes it.
    At(u64),
}

/// A borrowed value.
#[derive(Debug, Clone, Copy)]
pub enum ValueRef<'e> {
    /// A string.
    String(StringRef<'e>),
}

impl<'e> ValueRef<'e> {
    /// The type's name as `TYPE` answers it.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        match self {
            ValueRef::String(_) => "string",
        }
    }

    /// The string, or `None` if the value is of another type.
    #[must_use]
    #[inline]
    pub fn as_string(self) -> Option<StringRef<'e>> {
        match self {
            ValueRef::String(string) => Some(string),
        }
    }
}

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

/// How a value is kept, in Redis's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// An integer.
    Int,
    /// A short string in one allocation with its key.
    Embstr,
    /// Any other string.
    Raw,
}

impl Encoding {
    /// The name `OBJECT ENCODING` answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Int => "int",
            Encoding::Embstr => "embstr",
            Encoding::Raw => "raw",
        }
    }

    /// The encoding of a string that was written whole.
    pub(crate) fn of_bytes(len: usize) -> Encoding {
        if len <= EMBSTR_BYTES_MAX {
            Encoding::Embstr
        } else {
            Encoding::Raw
        }
    }
}

/// A value and its expiry taken out of the store, to be put under another key or in another
/// database ([`Slot::take`](crate::Slot::take), [`Slot::put`](crate::Slot::put)).
#[derive(Debug, Clone)]
pub struct Owned {
    pub(crate) value: NewValue<'static>,
    pub(crate) expires_at: Option<u64>,
}

impl Owned {
    /// The value.
    #[must_use]
    pub fn value(&self) -> ValueRef<'_> {
        ValueRef::String(match &self.value {
            NewValue::Int(number) => StringRef::Int(*number),
            NewValue::Bytes(bytes) => StringRef::Bytes(bytes),
            NewValue::Text(text) => StringRef::Bytes(text),
            NewValue::Shared(bytes) => StringRef::Shared(bytes),
            NewValue::Raw(bytes) => StringRef::Bytes(bytes),
        })
    }

    /// When it expires, in unix milliseconds; `None` is never.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        self.expires_at
    }

    /// Replaces the expiry.
    #[must_use]
    pub fn with_expiry(mut self, expires_at: Option<u64>) -> Self {
        self.expires_at = expires_at;
        self
    }
}

/// The integer whose canonical decimal text `bytes` is: no sign but `-`, no leading zero, no blank.
pub(crate) fn canonical_int(bytes: &[u8]) -> Option<i64> {
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

/// Writes the decimal text of `number` to the front of `digits`.
pub(crate) fn write_decimal(number: i64, digits: &mut [u8; 20]) -> &[u8] {
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
