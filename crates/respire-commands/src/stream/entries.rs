//! Replies with entries.

use super::ids::reply_id;
use crate::streamed::reply_parts;
use crate::value::reply_string;
use crate::work::work_begins;
use respire_engine::Reply;
use respire_store::{StreamEntry, StreamSlice};

/// Entries of up to this many blocks are written at once, others as the peer reads them.
const PARTS_AT_ONCE_MAX: usize = 8;

/// Replies with an array of entries.
pub(super) fn reply_entries(reply: &mut Reply<'_>, slice: StreamSlice) {
    reply.array(slice.len());
    reply_elements(reply, slice, reply_entry);
}

/// Replies with entries as elements of an array that has begun.
pub(super) fn reply_elements(
    reply: &mut Reply<'_>,
    slice: StreamSlice,
    mut one: impl FnMut(&mut Reply<'_>, &StreamEntry<'_>) + Send + 'static,
) {
    let parts = slice.parts();
    if parts <= PARTS_AT_ONCE_MAX {
        slice.for_each(&mut |entry| one(reply, &entry));
        return;
    }
    work_begins();
    // Lengths and line ends take about as much again as the fields and values.
    let entry_bytes = slice.bytes() * 2 / slice.len().max(1);
    reply_parts(
        reply,
        (slice.len(), entry_bytes),
        parts,
        move |part, reply| {
            slice.for_part(part, &mut |entry| one(reply, &entry));
        },
    );
}

/// Replies with an entry: its ID, and an array of its fields and values.
pub(super) fn reply_entry(reply: &mut Reply<'_>, entry: &StreamEntry<'_>) {
    reply_entry_with(reply, entry, 0);
}

/// Replies with an entry of which so many more elements follow.
pub(super) fn reply_entry_with(reply: &mut Reply<'_>, entry: &StreamEntry<'_>, more: usize) {
    reply.array(2 + more);
    reply_id(reply, entry.id());
    let fields = entry.fields();
    reply.array(2 * fields.len());
    for (field, value) in fields {
        reply_string(reply, field);
        reply_string(reply, value);
    }
}

/// Replies with the only entry of a slice, or null if it has none.
pub(super) fn reply_one(reply: &mut Reply<'_>, slice: &StreamSlice) {
    if slice.is_empty() {
        return reply.null();
    }
    slice.for_each(&mut |entry| reply_entry(reply, &entry));
}
