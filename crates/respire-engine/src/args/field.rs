//! Types that a single argument can be parsed into.

use crate::{Arg, ArgKind, Error, text};
use bytes::Bytes;
use resp_codec::number::{parse_f64, parse_i64};
use std::borrow::Cow;

/// A type that one argument can be parsed into: the type of a field of [`Args`](crate::Args).
///
/// Implemented for `Bytes`, `Vec<u8>`, `String`, `[u8; N]`, the integers, `f32`, `f64` and `bool`;
/// for `Mp<T>`, a MessagePack value; and for enums of words, by `#[derive(Words)]`. For your own
/// type:
///
/// ```
/// use respire_engine::{ArgError, FromArg};
///
/// #[derive(Debug, PartialEq)]
/// struct Percent(u8);
///
/// impl FromArg for Percent {
///     fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
///         match u8::from_arg(arg)? {
///             percent @ 0..=100 => Ok(Self(percent)),
///             _ => Err(ArgError::new("is more than 100 percent")),
///         }
///     }
/// }
/// assert_eq!(Percent::from_arg(b"50"), Ok(Percent(50)));
/// let error = Percent::from_arg(b"101").unwrap_err();
/// assert_eq!(error.of("load").text(), b"BADARG load is more than 100 percent");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be parsed from an argument",
    label = "not the type of an argument",
    note = "fields are `Bytes`, `Vec<u8>`, `String`, `[u8; N]`, integers, floats, `bool`, `Mp<T>`, `Option` or `Vec` of these, an enum with `#[derive(Words)]`, or a type of your own that implements `FromArg`"
)]
pub trait FromArg: Sized {
    /// The kind of argument in `COMMAND DOCS`.
    const KIND: ArgKind = ArgKind::String;
    /// The words to choose from, if the kind is [`ArgKind::OneOf`].
    const CHOICES: &'static [Arg] = &[];

    /// Parses the argument.
    ///
    /// # Errors
    /// If the argument is not a valid `Self`.
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError>;
}

/// Why an argument is not valid for its field. [`ArgError::of`] makes the reply, which names the
/// field.
///
/// ```
/// use respire_engine::ArgError;
///
/// assert_eq!(ArgError::NOT_AN_INTEGER.of("n").text(), b"ERR n is not an integer or out of range");
/// assert_eq!(ArgError::new("is no colour").of("ink").text(), b"BADARG ink is no colour");
/// assert_eq!(ArgError::at_byte(7, "no map").of("job").text(), b"BADARG job at byte 7: no map");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgError(Reason);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    /// The texts before and after the field's name.
    Named {
        code: &'static str,
        text: Cow<'static, str>,
    },
    /// A complete reply.
    Whole(Error),
}

impl ArgError {
    /// `ERR (field) is not an integer or out of range`, as in Redis.
    pub const NOT_AN_INTEGER: Self = Self::fixed(" is not an integer or out of range");
    /// `ERR (field) is not a valid float`, as in Redis.
    pub const NOT_A_FLOAT: Self = Self::fixed(" is not a valid float");
    /// `ERR syntax error`: Redis's reply to an unexpected word.
    pub const SYNTAX: Self = Self(Reason::Whole(text::SYNTAX));

    const fn fixed(text: &'static str) -> Self {
        Self(Reason::Named {
            code: "ERR",
            text: Cow::Borrowed(text),
        })
    }

    fn bad(text: String) -> Self {
        Self(Reason::Named {
            code: "BADARG",
            text: text.into(),
        })
    }

    /// `BADARG (field) (text)`. The text continues after the field's name, as in `is no colour`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::bad(format!(" {text}"))
    }

    /// `BADARG (field) at byte (at): (text)`; the first byte of the argument is at 0.
    #[must_use]
    pub fn at_byte(at: usize, text: &str) -> Self {
        Self::bad(format!(" at byte {at}: {text}"))
    }

    /// The reply, which names the field.
    #[must_use]
    pub fn of(self, field: &str) -> Error {
        match self.0 {
            Reason::Named { code, text } => Error::owned(format!("{code} {field}{text}")),
            Reason::Whole(error) => error,
        }
    }
}

/// An error that is sent without the field's name.
impl From<Error> for ArgError {
    fn from(error: Error) -> Self {
        Self(Reason::Whole(error))
    }
}

/// The reply to a number outside the bounds of its field.
#[cold]
pub(crate) fn out_of_range(field: &str, min: Option<&str>, max: Option<&str>) -> Error {
    let bounds = match (min, max) {
        (Some(min), Some(max)) => format!("from {min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, max) => format!("at most {}", max.unwrap_or_default()),
    };
    Error::owned(format!("ERR {field} is out of range, must be {bounds}"))
}

/// Copies the argument.
impl FromArg for Bytes {
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        Ok(Self::copy_from_slice(arg))
    }
}

/// Copies the argument.
impl FromArg for Vec<u8> {
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        Ok(arg.to_vec())
    }
}

/// Copies the argument.
impl FromArg for Box<[u8]> {
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        Ok(arg.into())
    }
}

/// Exactly `N` bytes, without an allocation.
impl<const N: usize> FromArg for [u8; N] {
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        let error = |_| ArgError::new(&format!("must be {N} bytes long"));
        arg.try_into().map_err(error)
    }
}

/// Valid UTF-8.
impl FromArg for String {
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        match str::from_utf8(arg) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(ArgError::at_byte(error.valid_up_to(), "not UTF-8")),
        }
    }
}

/// `1`, `true`, `yes` and `on`, or `0`, `false`, `no` and `off`, in any case.
impl FromArg for bool {
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        let is_one_of = |words: [&str; 4]| {
            words
                .iter()
                .any(|word| arg.eq_ignore_ascii_case(word.as_bytes()))
        };
        if is_one_of(["1", "true", "yes", "on"]) {
            Ok(true)
        } else if is_one_of(["0", "false", "no", "off"]) {
            Ok(false)
        } else {
            Err(ArgError::new("must be yes or no"))
        }
    }
}

/// Any double except NaN, which no command can use.
impl FromArg for f64 {
    const KIND: ArgKind = ArgKind::Double;

    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        let value = parse_f64(arg).filter(|value| !value.is_nan());
        value.ok_or(ArgError::NOT_A_FLOAT)
    }
}

/// The nearest `f32` to the double.
impl FromArg for f32 {
    const KIND: ArgKind = ArgKind::Double;

    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        f64::from_arg(arg).map(|value| value as f32)
    }
}

impl FromArg for i64 {
    const KIND: ArgKind = ArgKind::Integer;

    #[inline]
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        parse_i64(arg).ok_or(ArgError::NOT_AN_INTEGER)
    }
}

macro_rules! integers_within_i64 {
    ($($integer:ty)*) => {$(
        impl FromArg for $integer {
            const KIND: ArgKind = ArgKind::Integer;

            #[inline]
            fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
                let value = parse_i64(arg).and_then(|value| value.try_into().ok());
                value.ok_or(ArgError::NOT_AN_INTEGER)
            }
        }
    )*};
}

integers_within_i64!(i8 i16 i32 isize u8 u16 u32);

macro_rules! integers_beyond_i64 {
    ($($integer:ty)*) => {$(
        impl FromArg for $integer {
            const KIND: ArgKind = ArgKind::Integer;

            fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
                if let Some(value) = parse_i64(arg) {
                    return value.try_into().map_err(|_| ArgError::NOT_AN_INTEGER);
                }
                let value = is_plain(arg).and_then(|text| text.parse().ok());
                value.ok_or(ArgError::NOT_AN_INTEGER)
            }
        }
    )*};
}

integers_beyond_i64!(u64 usize i128 u128);

/// Digits as Redis accepts them: an optional minus, no plus, no leading zero.
fn is_plain(arg: &[u8]) -> Option<&str> {
    let digits = arg.strip_prefix(b"-").unwrap_or(arg);
    let is_plain =
        digits.first().is_some_and(|digit| *digit != b'0') && digits.iter().all(u8::is_ascii_digit);
    if is_plain {
        str::from_utf8(arg).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_must_fit_their_type() {
        assert_eq!(u8::from_arg(b"255"), Ok(255));
        assert_eq!(u8::from_arg(b"256"), Err(ArgError::NOT_AN_INTEGER));
        assert_eq!(u16::from_arg(b"-1"), Err(ArgError::NOT_AN_INTEGER));
        assert_eq!(i64::from_arg(b"-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(u64::from_arg(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(
            i128::from_arg(i128::MIN.to_string().as_bytes()),
            Ok(i128::MIN)
        );
        for text in ["", "+1", "01", " 1", "1 ", "1.0", "0x1", "-", "--1", "1e3"] {
            assert_eq!(
                i64::from_arg(text.as_bytes()),
                Err(ArgError::NOT_AN_INTEGER),
                "{text}"
            );
            assert_eq!(
                u64::from_arg(text.as_bytes()),
                Err(ArgError::NOT_AN_INTEGER),
                "{text}"
            );
        }
        for text in [
            "18446744073709551616",
            "-1",
            "-18446744073709551615",
            "+18446744073709551615",
        ] {
            assert_eq!(
                u64::from_arg(text.as_bytes()),
                Err(ArgError::NOT_AN_INTEGER),
                "{text}"
            );
        }
    }

    #[test]
    fn floats_accept_all_values_except_nan() {
        assert_eq!(f64::from_arg(b"-0.5e3"), Ok(-500.0));
        assert_eq!(f64::from_arg(b"inf"), Ok(f64::INFINITY));
        assert_eq!(f32::from_arg(b"0.1"), Ok(0.1));
        for text in ["", "nan", "1.2.3", " 1", "x"] {
            assert_eq!(
                f64::from_arg(text.as_bytes()),
                Err(ArgError::NOT_A_FLOAT),
                "{text}"
            );
        }
    }

    #[test]
    fn string_must_be_utf8_and_the_error_names_the_byte() {
        assert_eq!(String::from_arg("é".as_bytes()), Ok("é".to_owned()));
        let error = String::from_arg(b"ab\xff").expect_err("not UTF-8");
        assert_eq!(error.of("name").text(), b"BADARG name at byte 2: not UTF-8");
    }

    #[test]
    fn byte_array_requires_its_exact_length() {
        assert_eq!(<[u8; 2]>::from_arg(b"ab"), Ok(*b"ab"));
        let error = <[u8; 2]>::from_arg(b"abc").expect_err("too long");
        assert_eq!(error.of("id").text(), b"BADARG id must be 2 bytes long");
    }

    #[test]
    fn boolean_accepts_four_words_for_each_value() {
        assert_eq!(bool::from_arg(b"YES"), Ok(true));
        assert_eq!(bool::from_arg(b"0"), Ok(false));
        let error = bool::from_arg(b"2").expect_err("neither");
        assert_eq!(error.of("on").text(), b"BADARG on must be yes or no");
    }

    #[test]
    fn error_names_the_bounds() {
        let text =
            |min, max| String::from_utf8_lossy(out_of_range("n", min, max).text()).into_owned();
        assert_eq!(
            text(Some("1"), None),
            "ERR n is out of range, must be at least 1"
        );
        assert_eq!(
            text(None, Some("0.5")),
            "ERR n is out of range, must be at most 0.5"
        );
        assert_eq!(
            text(Some("1"), Some("9")),
            "ERR n is out of range, must be from 1 to 9"
        );
    }
}
