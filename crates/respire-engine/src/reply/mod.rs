//! Typed replies: from the natural types of Rust to the shapes of the protocol.

use crate::{Error, Reply};
use bytes::Bytes;

/// What a handler may return: a type that writes itself as one reply.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reply",
    label = "does not implement `IntoReply`",
    note = "return `()`, a string, bytes, a number, a `bool`, `Option`, `Vec`, a tuple, a map, `Mp<T>`, or a `Result` of one of these whose error is an `Error`"
)]
pub trait IntoReply {
    /// Writes exactly one reply.
    fn into_reply(self, reply: &mut Reply<'_>);
}

/// `+OK`.
impl IntoReply for () {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.ok();
    }
}

impl IntoReply for i64 {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.int(self);
    }
}

impl IntoReply for &'static str {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.bulk(self);
    }
}

impl IntoReply for Bytes {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.bulk_shared(self);
    }
}

/// Null for `None`.
impl<T: IntoReply> IntoReply for Option<T> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        match self {
            Some(value) => value.into_reply(reply),
            None => reply.null(),
        }
    }
}

impl IntoReply for Error {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.error(self.text());
    }
}

impl<T: IntoReply, E: Into<Error>> IntoReply for Result<T, E> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        match self {
            Ok(value) => value.into_reply(reply),
            Err(error) => error.into().into_reply(reply),
        }
    }
}
