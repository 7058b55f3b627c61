//! What one argument can be parsed into.

use crate::{ArgKind, Error};
use bytes::Bytes;
use std::borrow::Cow;

/// A type that one argument can be parsed into: a field of [`Args`](crate::Args).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be parsed from one argument",
    label = "not a type of argument",
    note = "fields are `Bytes`, `Vec<u8>`, `String`, integers, floats, `bool`, `Mp<T>`, an enum of words, or a type of your own that implements `FromArg`"
)]
pub trait FromArg: Sized {
    /// What `COMMAND DOCS` calls it.
    const KIND: ArgKind = ArgKind::String;

    /// Reads the argument.
    ///
    /// # Errors
    /// Why it is not a `Self`.
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError>;
}

/// Why an argument is not of its field's type. The reply to it names the field: [`ArgError::of`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgError {
    code: &'static str,
    text: Cow<'static, str>,
}

impl ArgError {
    /// `ERR (field) is not an integer or out of range`, Redis's words.
    pub const NOT_AN_INTEGER: Self = Self::fixed("ERR", " is not an integer or out of range");
    /// `ERR (field) is not a valid float`, Redis's words.
    pub const NOT_A_FLOAT: Self = Self::fixed("ERR", " is not a valid float");

    const fn fixed(code: &'static str, text: &'static str) -> Self {
        Self {
            code,
            text: Cow::Borrowed(text),
        }
    }

    /// `BADARG (field) (text)`: the text goes on where the field's name ends, as in `is no colour`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            code: "BADARG",
            text: format!(" {text}").into(),
        }
    }

    /// The reply, with the field's name.
    #[must_use]
    pub fn of(self, field: &str) -> Error {
        Error::owned(format!("{} {field}{}", self.code, self.text))
    }
}

impl FromArg for Bytes {
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        Ok(Self::copy_from_slice(arg))
    }
}

impl FromArg for i64 {
    const KIND: ArgKind = ArgKind::Integer;

    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        resp_codec::number::parse_i64(arg).ok_or(ArgError::NOT_AN_INTEGER)
    }
}
