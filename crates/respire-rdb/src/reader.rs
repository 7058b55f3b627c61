//! Reads the parts of a payload: the bytes, lengths and strings that values of every type consist
//! of.

use super::{
    LEN_6_BITS, LEN_14_BITS, LEN_32_BITS, LEN_64_BITS, LEN_ENCODED, STRING_INT8, STRING_INT16,
    STRING_INT32, STRING_LZF, lzf,
};
use std::borrow::Cow;

/// A string of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text<'p> {
    /// The text of this number.
    Int(i64),
    /// Bytes of the payload.
    Bytes(&'p [u8]),
    /// Bytes that were packed.
    Unpacked(Vec<u8>),
}

impl<'p> Text<'p> {
    /// The bytes of the text, borrowed from the payload if they lie there. O(digits) for a number, otherwise O(1).
    ///
    /// ```
    /// assert_eq!(*respire_rdb::Text::Bytes(b"text").into_cow(), b"text"[..]);
    /// ```
    #[must_use]
    pub fn into_cow(self) -> Cow<'p, [u8]> {
        match self {
            Self::Int(number) => Cow::Owned(number.to_string().into_bytes()),
            Self::Bytes(bytes) => Cow::Borrowed(bytes),
            Self::Unpacked(bytes) => Cow::Owned(bytes),
        }
    }

    /// The bytes of the text. O(length).
    ///
    /// ```
    /// assert_eq!(respire_rdb::Text::Int(-7).into_bytes(), b"-7");
    /// ```
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.into_cow().into_owned()
    }
}

/// Reads a payload from start to end. Each method returns `None` if the payload ends too early or
/// is malformed.
#[derive(Clone, Debug)]
pub struct Reader<'p> {
    rest: &'p [u8],
}

impl<'p> Reader<'p> {
    /// Reads these bytes: a payload without its footer.
    #[must_use]
    pub fn new(payload: &'p [u8]) -> Self {
        Self { rest: payload }
    }

    /// Reads the next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads the next bytes as they are.
    pub fn raw<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.array()
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*array)
    }

    fn bytes(&mut self, len: usize) -> Option<&'p [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Whether everything is read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads the next eight bytes as a number, such as a time in unix milliseconds.
    pub fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads the next eight bytes as a double.
    pub fn double(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// Reads the next string, borrowed from the payload unless it was packed. A packed string may be
    /// 264 times as long as its bytes.
    pub fn string(&mut self) -> Option<Text<'p>> {
        self.string_up_to(usize::MAX)
    }

    /// Reads the next string; `None` also if it is packed and longer than `unpacked_max` bytes.
    pub fn string_up_to(&mut self, unpacked_max: usize) -> Option<Text<'p>> {
        Some(match self.byte()? {
            STRING_INT8 => Text::Int(i8::from_le_bytes(self.array()?).into()),
            STRING_INT16 => Text::Int(i16::from_le_bytes(self.array()?).into()),
            STRING_INT32 => Text::Int(i32::from_le_bytes(self.array()?).into()),
            STRING_LZF => {
                let packed_len = self.next_len()?;
                let len = self.next_len().filter(|len| *len <= unpacked_max)?;
                Text::Unpacked(lzf::decompress(self.bytes(packed_len)?, len)?)
            }
            first => {
                let len = self.len_after(first)?;
                Text::Bytes(self.bytes(len)?)
            }
        })
    }

    /// Reads the next length. It is not checked: the payload may be too short for the bytes or
    /// elements that it counts.
    pub fn next_len(&mut self) -> Option<usize> {
        let number = self.next_count()?;
        usize::try_from(number).ok()
    }

    /// Reads the next number, which is written as a length.
    pub fn next_count(&mut self) -> Option<u64> {
        let first = self.byte()?;
        self.number_after(first)
    }

    fn len_after(&mut self, first: u8) -> Option<usize> {
        let number = self.number_after(first)?;
        usize::try_from(number).ok()
    }

    fn number_after(&mut self, first: u8) -> Option<u64> {
        match (first, first >> 6) {
            (_, LEN_6_BITS) => Some(u64::from(first)),
            (_, LEN_14_BITS) => {
                let low = self.byte()?;
                Some(u64::from(u16::from_be_bytes([first & 0x3f, low])))
            }
            (_, LEN_ENCODED) => None,
            (LEN_32_BITS, _) => Some(u64::from(u32::from_be_bytes(self.array()?))),
            (LEN_64_BITS, _) => Some(u64::from_be_bytes(self.array()?)),
            _ => None,
        }
    }
}
