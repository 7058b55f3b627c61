//! An element on its way from a request or a list to a list.

use bytes::Bytes;
use respire_engine::Client;
use respire_store::{SHARED_BYTES_MIN, StringRef};

/// An element that belongs to no list; a large one is shared, not copied.
#[derive(Debug)]
pub(super) enum Element<'a> {
    Int(i64),
    Bytes(Vec<u8>),
    Borrowed(&'a [u8]),
    Shared(Bytes),
}

impl<'a> Element<'a> {
    /// An argument.
    #[inline]
    pub(super) fn of_argument(client: &Client, argument: &'a [u8]) -> Self {
        if argument.len() < SHARED_BYTES_MIN {
            return Self::Borrowed(argument);
        }
        let shared = client.share(argument);
        shared.map_or(Self::Borrowed(argument), Self::Shared)
    }

    pub(super) fn as_ref(&self) -> StringRef<'_> {
        match self {
            Self::Int(number) => StringRef::Int(*number),
            Self::Bytes(bytes) => StringRef::Bytes(bytes),
            Self::Borrowed(bytes) => StringRef::Bytes(bytes),
            Self::Shared(bytes) => StringRef::Shared(bytes),
        }
    }
}

impl Element<'static> {
    /// A copy of an element of a list.
    pub(super) fn copied(element: StringRef<'_>) -> Self {
        match element {
            StringRef::Int(number) => Self::Int(number),
            StringRef::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
            StringRef::Shared(bytes) => Self::Shared(bytes.clone()),
        }
    }
}
