//! Replies that are arrays or sets.

use super::IntoReply;
use crate::Reply;
use std::collections::{BTreeSet, HashSet, VecDeque};

fn each<T: IntoReply>(items: impl IntoIterator<Item = T>, reply: &mut Reply<'_>) {
    for item in items {
        item.into_reply(reply);
    }
}

macro_rules! arrays {
    ($($(#[$doc:meta])? <$($generic:ident $(: $of:ty)?),*> $array:ty;)*) => {$(
        impl<T: IntoReply $(, const $generic: $($of)?)*> IntoReply for $array {
            fn into_reply(self, reply: &mut Reply<'_>) {
                reply.array(self.len());
                each(self, reply);
            }
        }
    )*};
}

arrays! {
    <> Vec<T>;
    <> VecDeque<T>;
    <> Box<[T]>;
    <N: usize> [T; N];
}

/// Clones the elements, one after another.
impl<T: IntoReply + Clone> IntoReply for &'static [T] {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.array(self.len());
        each(self.iter().cloned(), reply);
    }
}

impl<T: IntoReply, S> IntoReply for HashSet<T, S> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.set(self.len());
        each(self, reply);
    }
}

impl<T: IntoReply> IntoReply for BTreeSet<T> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.set(self.len());
        each(self, reply);
    }
}

/// A set made from a list, for elements that cannot be hashed or ordered. The caller makes sure
/// that they are distinct.
///
/// ```
/// use respire_engine::Set;
///
/// let sizes = Set(vec![0.5, 1.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set<T>(pub Vec<T>);

impl<T: IntoReply> IntoReply for Set<T> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.set(self.0.len());
        each(self.0, reply);
    }
}

macro_rules! tuples {
    ($($len:literal: $($part:ident)*;)*) => {$(
        /// An array of the parts.
        impl<$($part: IntoReply),*> IntoReply for ($($part,)*) {
            fn into_reply(self, reply: &mut Reply<'_>) {
                #[expect(non_snake_case, reason = "each part is named as its type")]
                let ($($part,)*) = self;
                reply.array($len);
                $($part.into_reply(reply);)*
            }
        }
    )*};
}

tuples! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
    8: A B C D E F G H;
}
