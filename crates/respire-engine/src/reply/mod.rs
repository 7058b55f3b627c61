//! Typed replies: converts Rust types into replies of the protocol.

mod aggregate;
pub(crate) mod code;
mod map;
pub(crate) mod output;
mod scalar;
mod shape;
pub(crate) mod stream;

pub use aggregate::Set;
pub use map::{Attributed, Map};
pub use shape::{BigNumber, NotANumber, Null, Status, Verbatim};

use crate::Output;

/// The encoder that a command writes its reply with. It converts RESP3 types for RESP2 clients.
pub type Reply<'o> = resp_codec::Encoder<'o, Output>;

/// A type that a handler may return: it writes itself as one reply.
///
/// | type | RESP3 | RESP2 |
/// |---|---|---|
/// | `()` | `+OK` | the same |
/// | [`Status`] | simple string | the same |
/// | `&'static str`, `String`, `Cow<'static, str>`, `Box<str>`, `Arc<str>`, `char` | bulk string | the same |
/// | `Bytes`, `Vec<u8>`, `Box<[u8]>`, `[u8; N]`, `&'static [u8]` | bulk string | the same |
/// | integers of up to 64 bits | integer | the same |
/// | integers that do not fit an `i64`, [`BigNumber`] | big number | bulk string |
/// | `f64`, `f32` | double | bulk string |
/// | `bool` | boolean | `:1` or `:0` |
/// | `Option`, [`Null`] | null for `None` | null bulk string |
/// | `Vec`, `VecDeque`, `Box<[T]>`, `[T; N]`, tuples, `&'static [T]` | array | the same |
/// | `HashMap`, `BTreeMap`, [`Map`] | map | array, keys and values in turn |
/// | `HashSet`, `BTreeSet`, [`Set`] | set | array |
/// | [`Verbatim`] | verbatim string | bulk string |
/// | [`Attributed`] | value with attributes | the value |
/// | `Mp<T>` (feature `msgpack`) | bulk string of MessagePack | the same |
/// | `Result<T, E>`, [`Error`](crate::Error) | simple error for `Err` | the same |
/// | [`Value`](resp_codec::Value) | itself | its nearest relative |
///
/// `u8` is not a reply type, because `Vec<u8>` means bytes and not an array: convert it to a wider
/// type.
///
/// Implement it for your own type with other replies, or with the encoder:
///
/// ```
/// use respire_engine::{IntoReply, Map, Reply};
///
/// struct Quota {
///     left: u32,
///     reset_ms: u64,
/// }
///
/// impl IntoReply for Quota {
///     fn into_reply(self, reply: &mut Reply<'_>) {
///         let map = Map::new().with("left", self.left).with("reset-ms", self.reset_ms);
///         map.into_reply(reply);
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reply",
    label = "does not implement `IntoReply`",
    note = "return `()`, a string, bytes, a number (but not `u8`), a `bool`, an `Option`, `Vec`, tuple or map of replies, `Mp<T>`, or a `Result` of one of these and an error that converts into `Error`"
)]
pub trait IntoReply {
    /// Writes exactly one reply: a header of n elements must be followed by n elements. Debug
    /// builds check it.
    fn into_reply(self, reply: &mut Reply<'_>);
}

#[cfg(test)]
mod tests;
