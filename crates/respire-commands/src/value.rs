//! Strings between entries and replies.

use crate::errors::WRONG_TYPE;
use respire_engine::{Client, Error, Reply};
use respire_store::{EntryRef, NewValue, SHARED_BYTES_MIN, StringRef};
use std::ops::Range;

/// The string that an entry holds.
#[inline]
pub(crate) fn string_of(entry: EntryRef<'_>) -> Result<StringRef<'_>, Error> {
    entry.value().as_string().ok_or(WRONG_TYPE)
}

/// The string that a key holds, where the absence of the key is fine.
#[inline(always)]
pub(crate) fn string_if_any(entry: Option<EntryRef<'_>>) -> Result<Option<StringRef<'_>>, Error> {
    entry.map(string_of).transpose()
}

/// Replies with a string; a large one is shared instead of copied.
#[inline(always)]
pub(crate) fn reply_string(reply: &mut Reply<'_>, string: StringRef<'_>) {
    match string {
        StringRef::Int(number) => reply.bulk_int(number),
        StringRef::Bytes(bytes) => reply.bulk(bytes),
        StringRef::Shared(bytes) => reply.bulk_shared(bytes.clone()),
    }
}

/// Replies with a string, or null where there is none.
#[inline]
pub(crate) fn reply_string_or_null(reply: &mut Reply<'_>, string: Option<StringRef<'_>>) {
    match string {
        Some(string) => reply_string(reply, string),
        None => reply.null(),
    }
}

/// An argument as a value to be written. A large one is kept where it lies, if that is possible.
#[inline(always)]
pub(crate) fn new_value<'v>(client: &Client, arg: &'v [u8]) -> NewValue<'v> {
    if arg.len() < SHARED_BYTES_MIN {
        NewValue::Bytes(arg)
    } else {
        large_value(client, arg)
    }
}

#[cold]
fn large_value<'v>(client: &Client, arg: &'v [u8]) -> NewValue<'v> {
    client
        .share(arg)
        .map_or(NewValue::Bytes(arg), NewValue::Shared)
}

/// The range of indexes from `start` to `end`, both inclusive and from the back when negative, cut
/// to a sequence of `len`; `None` when nothing is left.
pub(crate) fn index_range(start: i64, end: i64, len: usize) -> Option<Range<usize>> {
    let len = i64::try_from(len).ok()?;
    let from_front = |index: i64| {
        if index < 0 {
            index.saturating_add(len).max(0)
        } else {
            index
        }
    };
    let (start, end) = (from_front(start), from_front(end).min(len - 1));
    (start <= end).then(|| start as usize..end as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_range_counts_from_both_ends_and_is_cut() {
        assert_eq!(index_range(0, -1, 5), Some(0..5));
        assert_eq!(index_range(-3, -2, 5), Some(2..4));
        assert_eq!(index_range(1, 100, 5), Some(1..5));
        assert_eq!(index_range(i64::MIN, i64::MAX, 5), Some(0..5));
        assert_eq!(index_range(-100, -100, 5), Some(0..1));
        assert_eq!(index_range(3, 2, 5), None);
        assert_eq!(index_range(5, 9, 5), None);
        assert_eq!(index_range(0, -1, 0), None);
    }
}
