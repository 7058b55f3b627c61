//! Moves strings between requests, entries and replies without copying large ones.

use crate::errors::wrong_type;
use respire_engine::{Client, Error, Reply};
use respire_store::segments::NewText;
use respire_store::{EntryRef, Expiry, NewValue, SHARED_BYTES_MIN, Slot, StringRef};
use std::ops::Range;

// The store shares values from this size on, and an output writes values of this size without a
// copy. Neither crate knows the other; if the sizes differed, values between them would be shared
// for nothing, or copied.
const _: () = assert!(SHARED_BYTES_MIN == respire_engine::SHARED_BYTES_MIN);

/// The string of an entry, or the error WRONGTYPE.
#[inline]
pub(crate) fn string_of(entry: EntryRef<'_>) -> Result<StringRef<'_>, Error> {
    entry.string().map_err(wrong_type)
}

/// The string of a key that may be absent.
#[inline(always)]
pub(crate) fn string_if_any(entry: Option<EntryRef<'_>>) -> Result<Option<StringRef<'_>>, Error> {
    entry.map(string_of).transpose()
}

/// Replies with a string; a large one is shared, not copied.
#[inline(always)]
pub(crate) fn reply_string(reply: &mut Reply<'_>, string: StringRef<'_>) {
    match string {
        StringRef::Int(number) => reply.bulk_int(number),
        StringRef::Bytes(bytes) => reply.bulk(bytes),
        StringRef::Shared(bytes) => reply.bulk_shared(bytes.clone()),
    }
}

/// Replies with a string, or null if there is none.
#[inline]
pub(crate) fn reply_string_or_null(reply: &mut Reply<'_>, string: Option<StringRef<'_>>) {
    match string {
        Some(string) => reply_string(reply, string),
        None => reply.null(),
    }
}

/// Replies with a string, or null. If the string is large and was edited in place, the reply would
/// copy it: then writes nothing and returns `false`. [`Slot::share_string`] makes it shareable.
#[inline(always)]
#[must_use]
pub(crate) fn reply_uncopied(reply: &mut Reply<'_>, string: Option<StringRef<'_>>) -> bool {
    match string {
        Some(StringRef::Bytes(bytes)) if bytes.len() >= SHARED_BYTES_MIN => return false,
        Some(StringRef::Bytes(bytes)) => reply.bulk(bytes),
        Some(StringRef::Int(number)) => reply.bulk_int(number),
        Some(StringRef::Shared(bytes)) => reply.bulk_shared(bytes.clone()),
        None => reply.null(),
    }
    true
}

/// Whether a reply would copy this large string.
#[inline(always)]
pub(crate) fn is_copied(string: StringRef<'_>) -> bool {
    matches!(string, StringRef::Bytes(bytes) if bytes.len() >= SHARED_BYTES_MIN)
}

/// Replies with the string of a key that is locked for writing, or null; a large string is not
/// copied.
#[inline(always)]
pub(crate) fn reply_held(reply: &mut Reply<'_>, slot: &mut Slot<'_>) -> Result<(), Error> {
    if reply_uncopied(reply, string_if_any(slot.get())?) {
        Ok(())
    } else {
        reply_edited(reply, slot)
    }
}

/// Replies with a large string that was edited in place; from now on it is shared with the reply.
#[cold]
fn reply_edited(reply: &mut Reply<'_>, slot: &mut Slot<'_>) -> Result<(), Error> {
    slot.share_string();
    reply_string_or_null(reply, string_if_any(slot.get())?);
    Ok(())
}

/// Converts an argument to a value for the store. A large one is not copied if possible.
#[inline(always)]
pub(crate) fn new_value<'v>(client: &Client, arg: &'v [u8]) -> NewValue<'v> {
    if arg.len() < SHARED_BYTES_MIN {
        NewValue::Bytes(arg)
    } else {
        large_value(client, arg)
    }
}

/// Sets a key to an argument, without an expiry.
#[inline(always)]
pub(crate) fn set_to_arg(slot: &mut Slot<'_>, client: &Client, arg: &[u8]) {
    // The bytes themselves need no drop, which a value of any type does.
    if arg.len() < SHARED_BYTES_MIN {
        slot.set(arg, Expiry::Clear);
    } else {
        slot.set(large_value(client, arg), Expiry::Clear);
    }
}

#[cold]
fn large_value<'v>(client: &Client, arg: &'v [u8]) -> NewValue<'v> {
    client
        .share(arg)
        .map_or(NewValue::Bytes(arg), NewValue::Shared)
}

/// Converts an argument to a value of an element. A large one is not copied if possible.
#[inline(always)]
pub(crate) fn new_text<'v>(client: &Client, arg: &'v [u8]) -> NewText<'v> {
    if arg.len() < SHARED_BYTES_MIN {
        return NewText::Bytes(arg);
    }
    client
        .share(arg)
        .map_or(NewText::Bytes(arg), NewText::Shared)
}

/// Extends a string with zeros to at least `len` bytes. If most of it is new, that costs O(old
/// length): fresh memory is zero already, so no lock is held while it is written.
pub(crate) fn extend_to(bytes: &mut Vec<u8>, len: usize) {
    const FRESH_BYTES_MIN: usize = 1 << 16;
    if bytes.capacity() < len && len - bytes.len() >= FRESH_BYTES_MIN.max(bytes.len()) {
        let mut longer = vec![0; len];
        longer[..bytes.len()].copy_from_slice(bytes);
        *bytes = longer;
    } else if bytes.len() < len {
        bytes.resize(len, 0);
    }
}

/// The range of indexes from `start` to `end`, clamped to a sequence of `len`. Both are inclusive
/// and count from the end if negative. `None` if nothing is left.
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
    use crate::key::testing::Client as Peer;
    use std::io::IoSlice;

    const LEN: usize = 100_000;

    /// The addresses of the value of the key `k`.
    fn place(peer: &Peer) -> Range<usize> {
        let mut view = peer.engine().app().store().view(0, 0);
        let bytes = view.peek(b"k", |entry| match entry.map(string_of) {
            Some(Ok(StringRef::Bytes(bytes))) => bytes.as_ptr_range(),
            Some(Ok(StringRef::Shared(bytes))) => bytes.as_ptr_range(),
            other => panic!("a large string, not {other:?}"),
        });
        bytes.start.addr()..bytes.end.addr()
    }

    #[test]
    fn no_command_copies_a_large_value_for_its_reply() {
        let requests = [
            "GET k",
            "MGET none k none",
            "MGET k",
            "GETEX k",
            "GETEX k EX 10",
            "GETEX k PERSIST",
            "GETDEL k",
            "GETSET k v",
            "SET k v GET",
            "SET k v EX 10 GET",
            "SET k v XX GET",
            "SET k v KEEPTTL GET",
        ];
        for request in requests {
            for is_shared in [false, true] {
                for is_queued in [false, true] {
                    let mut peer = Peer::new();
                    peer.send(&format!("SETRANGE k {} x", LEN - 1));
                    if is_shared {
                        peer.send("GET k");
                    }
                    let place = place(&peer);
                    let reply = if is_queued {
                        peer.send("MULTI");
                        peer.send(request);
                        peer.send_for_output("EXEC")
                    } else {
                        peer.send_for_output(request)
                    };
                    let mut pieces = [IoSlice::new(&[]); 16];
                    let filled = reply.fill(&mut pieces);
                    let is_there = pieces[..filled]
                        .iter()
                        .any(|piece| piece.len() >= LEN && place.contains(&piece.as_ptr().addr()));
                    assert!(is_there, "{request}: {is_shared} {is_queued}");
                    assert!((LEN..LEN + 60).contains(&reply.len()));
                }
            }
        }
    }

    #[test]
    fn look_up_of_a_large_edited_value_is_counted_once() {
        for (request, hits, misses) in [
            ("GET k", 1, 0),
            ("MGET k none k", 2, 1),
            ("GETEX k", 1, 0),
            ("GETDEL k", 1, 0),
            ("GETSET k v", 1, 0),
            ("SET k v EX 10 GET", 1, 0),
        ] {
            let mut peer = Peer::new();
            peer.send(&format!("SETRANGE k {} x", LEN - 1));
            peer.send(request);
            let stats = peer.send("INFO stats");
            let counted = format!("keyspace_hits:{hits}\r\nkeyspace_misses:{misses}\r\n");
            assert!(stats.contains(&counted), "{request}: {stats}");
        }
    }

    #[test]
    fn string_is_extended_with_zeros() {
        for (before, len) in [
            (0, 0),
            (3, 2),
            (3, 70_000),
            (70_000, 80_000),
            (70_000, 200_000),
        ] {
            let mut bytes = vec![b'x'; before];
            extend_to(&mut bytes, len);
            assert_eq!(bytes.len(), before.max(len));
            assert!(bytes[..before].iter().all(|byte| *byte == b'x'));
            assert!(bytes[before..].iter().all(|byte| *byte == 0));
        }
        let mut roomy = Vec::with_capacity(200_000);
        let place = roomy.as_ptr();
        extend_to(&mut roomy, 200_000);
        assert_eq!((roomy.len(), roomy.as_ptr()), (200_000, place));
    }

    #[test]
    fn index_range_counts_from_both_ends_and_is_clamped() {
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
