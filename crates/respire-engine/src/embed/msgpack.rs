//! MessagePack: a value of any serde type as an argument or a reply.

use crate::{ArgError, Error, FromArg, IntoReply, Reply};
use rmp_serde::Deserializer;
use rmp_serde::decode::Error as DecodeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Cursor;
use std::ops::{Deref, DerefMut};

/// A value encoded as MessagePack in one string: a field of the arguments, or a reply.
///
/// As an argument, a struct may be a map by field name or an array in field order. An invalid
/// argument gets `BADARG (field) at byte (n): (why)`, where n is the number of valid bytes before
/// the error. As a reply, a struct is a map by field name.
///
/// ```
/// use respire_engine::{FromArg, Mp};
/// use serde::Deserialize;
///
/// #[derive(Debug, Deserialize, PartialEq)]
/// struct Job {
///     kind: String,
///     due: u64,
/// }
///
/// let job = Mp::<Job>::from_arg(b"\x82\xa4kind\xa4mail\xa3due\x05").unwrap();
/// assert_eq!(*job, Job { kind: "mail".to_owned(), due: 5 });
/// let error = Mp::<Job>::from_arg(b"\x82\xa4kind\xa4mail\xa3due\xc3").unwrap_err();
/// assert_eq!(
///     error.of("job").to_string(),
///     "BADARG job at byte 16: invalid type: boolean `true`, expected u64",
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mp<T>(pub T);

/// The maximum nesting depth of values, because decoding recurses.
const DEPTH_MAX: usize = 128;
/// The maximum length of the reason in an error, because it may quote the argument.
const WHY_BYTES_MAX: usize = 200;

impl<T: DeserializeOwned> FromArg for Mp<T> {
    fn from_arg(arg: &[u8]) -> Result<Self, ArgError> {
        let mut deserializer = Deserializer::new(Cursor::new(arg));
        deserializer.set_max_depth(DEPTH_MAX);
        let value = T::deserialize(&mut deserializer);
        let read = usize::try_from(deserializer.position()).unwrap_or(arg.len());
        match value {
            Ok(value) if read == arg.len() => Ok(Self(value)),
            Ok(_) => Err(ArgError::at_byte(
                read,
                "the value ends before the argument",
            )),
            Err(error) => Err(explain(&error, read)),
        }
    }
}

#[cold]
fn explain(error: &DecodeError, read: usize) -> ArgError {
    match error {
        DecodeError::InvalidMarkerRead(_) | DecodeError::InvalidDataRead(_) => {
            ArgError::at_byte(read, "the argument ends before the value")
        }
        // The marker itself is already read.
        DecodeError::TypeMismatch(marker) => {
            ArgError::at_byte(read.saturating_sub(1), &format!("unexpected {marker:?}"))
        }
        DecodeError::DepthLimitExceeded => ArgError::at_byte(read, "nested too deeply"),
        other => {
            let why = other.to_string();
            let ends = why
                .char_indices()
                .map(|(at, letter)| at + letter.len_utf8());
            let end = ends.take_while(|end| *end <= WHY_BYTES_MAX).last();
            ArgError::at_byte(read, &why[..end.unwrap_or_default()])
        }
    }
}

/// One string. A value that serde cannot serialize becomes an error.
impl<T: Serialize> IntoReply for Mp<T> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        match rmp_serde::to_vec_named(&self.0) {
            Ok(bytes) => reply.bulk(bytes),
            Err(error) => {
                Error::new("ERR", format_args!("no MessagePack: {error}")).into_reply(reply)
            }
        }
    }
}

impl<T> Deref for Mp<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Mp<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for Mp<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why<T: DeserializeOwned + std::fmt::Debug>(arg: &[u8]) -> String {
        Mp::<T>::from_arg(arg)
            .expect_err("refused")
            .of("x")
            .to_string()
    }

    #[test]
    fn wrong_length_is_refused_with_its_position() {
        assert_eq!(
            why::<u8>(b""),
            "BADARG x at byte 0: the argument ends before the value"
        );
        assert_eq!(
            why::<u16>(b"\xcd\x01"),
            "BADARG x at byte 2: the argument ends before the value"
        );
        assert_eq!(
            why::<u8>(b"\x05\x06"),
            "BADARG x at byte 1: the value ends before the argument"
        );
    }

    #[test]
    fn announced_lengths_do_not_reserve_memory() {
        assert_eq!(
            why::<Vec<u64>>(b"\xdd\xff\xff\xff\xff\x01"),
            "BADARG x at byte 6: the argument ends before the value"
        );
        assert_eq!(
            why::<String>(b"\xdb\xff\xff\xff\xffab"),
            "BADARG x at byte 7: the argument ends before the value"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        #[derive(Debug, serde::Deserialize)]
        struct Nest(#[expect(dead_code, reason = "only its depth matters")] Vec<Nest>);
        let deep = [0x91; 10_000];
        assert_eq!(
            why::<Nest>(&deep),
            "BADARG x at byte 128: nested too deeply"
        );
    }

    #[test]
    fn error_reasons_are_bounded() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Empty {}
        let name = "é".repeat(40_000);
        let value = rmp_serde::to_vec(&std::collections::BTreeMap::from([(name, 1)]));
        assert!(why::<Empty>(&value.expect("a map")).len() < 250);
    }
}
