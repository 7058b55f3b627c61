//! Replies that are strings, bytes, numbers, booleans or null.

use super::{BigNumber, IntoReply};
use crate::{Error, Reply};
use bytes::Bytes;
use resp_codec::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// `+OK`.
impl IntoReply for () {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.ok();
    }
}

macro_rules! bulk_strings {
    ($($string:ty)*) => {$(
        impl IntoReply for $string {
            #[inline]
            fn into_reply(self, reply: &mut Reply<'_>) {
                reply.bulk(&*self);
            }
        }
    )*};
}

bulk_strings!(&'static str String Box<str> Arc<str> &'static [u8] Box<[u8]> Arc<[u8]>);

impl IntoReply for Cow<'static, str> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.bulk(self.as_bytes());
    }
}

impl IntoReply for char {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.bulk(self.encode_utf8(&mut [0; 4]));
    }
}

/// Large values are written without a copy.
impl IntoReply for Bytes {
    #[inline]
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.bulk_shared(self);
    }
}

/// Large values are written without a copy.
impl IntoReply for Vec<u8> {
    #[inline]
    fn into_reply(self, reply: &mut Reply<'_>) {
        if self.len() < crate::SHARED_BYTES_MIN {
            reply.bulk(self);
        } else {
            reply.bulk_shared(self.into());
        }
    }
}

impl<const N: usize> IntoReply for [u8; N] {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.bulk(self);
    }
}

macro_rules! integers_within_i64 {
    ($($integer:ty)*) => {$(
        impl IntoReply for $integer {
            #[inline]
            fn into_reply(self, reply: &mut Reply<'_>) {
                reply.int(i64::from(self));
            }
        }
    )*};
}

integers_within_i64!(i8 i16 i32 i64 u16 u32);

macro_rules! integers_beyond_i64 {
    ($($integer:ty)*) => {$(
        /// A big number if it does not fit into an `i64`.
        impl IntoReply for $integer {
            #[inline]
            fn into_reply(self, reply: &mut Reply<'_>) {
                match i64::try_from(self) {
                    Ok(value) => reply.int(value),
                    Err(_) => BigNumber::from(self).into_reply(reply),
                }
            }
        }
    )*};
}

integers_beyond_i64!(isize u64 usize i128 u128);

impl IntoReply for f64 {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.double(self);
    }
}

/// The double with the fewest digits that converts to this `f32`: `0.1` stays `0.1`.
impl IntoReply for f32 {
    fn into_reply(self, reply: &mut Reply<'_>) {
        let shortest = self.to_string().parse();
        reply.double(shortest.unwrap_or_else(|_| f64::from(self)));
    }
}

impl IntoReply for bool {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.bool(self);
    }
}

/// Null for `None`.
impl<T: IntoReply> IntoReply for Option<T> {
    #[inline]
    fn into_reply(self, reply: &mut Reply<'_>) {
        match self {
            Some(value) => value.into_reply(reply),
            None => reply.null(),
        }
    }
}

impl<T: IntoReply, E: Into<Error>> IntoReply for Result<T, E> {
    #[inline]
    fn into_reply(self, reply: &mut Reply<'_>) {
        match self {
            Ok(value) => value.into_reply(reply),
            Err(error) => error.into().into_reply(reply),
        }
    }
}

impl IntoReply for Error {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.error(self.text());
    }
}

/// Passes on a reply of another server.
impl IntoReply for Value {
    fn into_reply(self, reply: &mut Reply<'_>) {
        self.encode(reply);
    }
}

impl<T: IntoReply> IntoReply for Box<T> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        (*self).into_reply(reply);
    }
}
