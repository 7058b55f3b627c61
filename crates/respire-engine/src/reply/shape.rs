//! Reply types of the protocol that no standard Rust type represents.

use super::IntoReply;
use crate::Reply;
use std::fmt;
use std::str::FromStr;

/// A status: a short text about the call, not data, as in `+QUEUED`.
///
/// Line breaks in it are replaced by blanks.
///
/// ```
/// use respire_engine::Status;
///
/// let queued = Status("QUEUED");
/// let named = Status(format!("WATCHING {}", "jobs"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status<T>(pub T);

impl<T: AsRef<str>> IntoReply for Status<T> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.simple(self.0.as_ref());
    }
}

/// Null, for handlers that always return it and for elements of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Null;

impl IntoReply for Null {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.null();
    }
}

/// Text for people, with a format that a client may know how to show.
///
/// ```
/// use respire_engine::Verbatim;
///
/// let help = Verbatim::markdown("# LIMIT.TAKE\nTakes tokens.");
/// let plain = Verbatim::text("two\nlines");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verbatim {
    format: [u8; 3],
    text: Vec<u8>,
}

impl Verbatim {
    /// Plain text: `txt`.
    #[must_use]
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        Self::new(*b"txt", text)
    }

    /// Markdown: `mkd`.
    #[must_use]
    pub fn markdown(text: impl Into<Vec<u8>>) -> Self {
        Self::new(*b"mkd", text)
    }

    /// Text in a format with a name of three letters.
    #[must_use]
    pub fn new(format: [u8; 3], text: impl Into<Vec<u8>>) -> Self {
        Self {
            format,
            text: text.into(),
        }
    }
}

impl IntoReply for Verbatim {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.verbatim(self.format, &self.text);
    }
}

/// An integer of any size, as decimal digits. To create one, parse the output of a big-number
/// library.
///
/// ```
/// use respire_engine::BigNumber;
///
/// let number: BigNumber = "-123456789012345678901234567890".parse().unwrap();
/// assert!("12.5".parse::<BigNumber>().is_err());
/// assert_eq!(BigNumber::from(u128::MAX).to_string().len(), 39);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigNumber(String);

/// The error for a text other than an optional minus and decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotANumber;

impl fmt::Display for NotANumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a whole number in decimal digits")
    }
}

impl std::error::Error for NotANumber {}

impl FromStr for BigNumber {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotANumber);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for BigNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for BigNumber {
            fn from(value: $integer) -> Self {
                Self(value.to_string())
            }
        }
    )*};
}

from_integers!(i64 u64 isize usize i128 u128);

impl IntoReply for BigNumber {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.big_number(self.0.as_bytes());
    }
}
