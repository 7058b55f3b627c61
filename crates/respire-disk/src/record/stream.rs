//! Writes a stream by its entries, groups, consumers and pending entries.
//!
//! Entries that are pending and were deleted are left out: no command of Redis adds one.

use super::command::Command;
use respire_store::{
    Elements, Pending, StreamEntry, StreamGroup, StreamId, StreamMarks, StreamRef,
};

/// Adds a stream to a key that does not exist. Returns the number of commands.
pub(super) fn write(key: &[u8], stream: StreamRef<'_>, out: &mut Vec<u8>) -> usize {
    let marks = stream.marks();
    let mut commands = stream.len() + 1;
    if stream.is_empty() {
        commands += create_empty(key, out);
    }
    stream.for_each(&mut |entry| add(key, &entry, out));
    set_marks(key, marks, out);
    for (name, group) in stream.groups() {
        commands += add_group(key, name, group, out);
    }
    commands
}

/// Creates a stream without entries and groups. Returns the number of commands.
fn create_empty(key: &[u8], out: &mut Vec<u8>) -> usize {
    Command::new(out, b"*6\r\n$6\r\nXGROUP\r\n$6\r\nCREATE\r\n")
        .bytes(key)
        .raw(b"$1\r\n0\r\n$1\r\n0\r\n$8\r\nMKSTREAM\r\n");
    Command::new(out, b"*4\r\n$6\r\nXGROUP\r\n$7\r\nDESTROY\r\n")
        .bytes(key)
        .raw(b"$1\r\n0\r\n");
    2
}

/// Adds an entry.
pub(super) fn add(key: &[u8], entry: &StreamEntry<'_>, out: &mut Vec<u8>) {
    let fields = entry.fields();
    let mut command = Command::of(out, b"XADD", 2 + 2 * fields.len());
    command.bytes(key).id(entry.id());
    for (field, value) in fields {
        command.string(field).string(value);
    }
}

/// Sets what a stream knows of its entries besides them.
pub(super) fn set_marks(key: &[u8], marks: &StreamMarks, out: &mut Vec<u8>) {
    Command::of(out, b"XSETID", 6)
        .bytes(key)
        .id(marks.last_id)
        .raw(b"$12\r\nENTRIESADDED\r\n")
        .unsigned(marks.entries_added)
        .raw(b"$12\r\nMAXDELETEDID\r\n")
        .id(marks.max_deleted_id);
}

fn add_group(key: &[u8], name: &[u8], group: &StreamGroup, out: &mut Vec<u8>) -> usize {
    create_group(key, name, (group.last_id, group.entries_read), out);
    let mut commands = 1;
    for consumer in group.consumers() {
        create_consumer(key, name, consumer.name(), out);
        commands += 1;
    }
    commands + claim_pending(key, name, group, out)
}

/// Creates a group, which has read so far, and the stream if it does not exist.
pub(super) fn create_group(
    key: &[u8],
    name: &[u8],
    (last_id, entries_read): (StreamId, Option<i64>),
    out: &mut Vec<u8>,
) {
    Command::of(out, b"XGROUP", 7)
        .raw(b"$6\r\nCREATE\r\n")
        .bytes(key)
        .bytes(name)
        .id(last_id)
        .raw(b"$8\r\nMKSTREAM\r\n$11\r\nENTRIESREAD\r\n")
        .int(entries_read.unwrap_or(-1));
}

/// Adds a consumer to a group.
pub(super) fn create_consumer(key: &[u8], group: &[u8], name: &[u8], out: &mut Vec<u8>) {
    Command::of(out, b"XGROUP", 4)
        .raw(b"$14\r\nCREATECONSUMER\r\n")
        .bytes(key)
        .bytes(group)
        .bytes(name);
}

/// The most entries in one command.
const CLAIMED_MAX: usize = 1024;

/// Delivers the entries of a group that are pending, many in each command. Returns the number of commands.
fn claim_pending(key: &[u8], name: &[u8], group: &StreamGroup, out: &mut Vec<u8>) -> usize {
    let (mut pending, mut commands) = (group.pending(StreamId::MIN).peekable(), 0);
    let mut ids = Vec::new();
    while let Some(first) = pending.next() {
        let delivery = delivery_of(first);
        ids.clear();
        ids.push(first.id);
        while ids.len() < CLAIMED_MAX
            && let Some(next) = pending.next_if(|next| delivery_of(*next) == delivery)
        {
            ids.push(next.id);
        }
        claim(key, name, delivery, ids.iter().copied(), ids.len(), out);
        commands += 1;
    }
    commands
}

/// The consumer, the time and the number of deliveries.
fn delivery_of(pending: Pending<'_>) -> (&[u8], u64, u64) {
    (pending.consumer.name(), pending.delivered_ms, pending.count)
}

/// Delivers entries, so many, to a consumer of a group: at a time in unix milliseconds, and as the so many-th delivery.
pub(super) fn claim(
    key: &[u8],
    group: &[u8],
    (consumer, ms, count): (&[u8], u64, u64),
    ids: impl Iterator<Item = StreamId>,
    len: usize,
    out: &mut Vec<u8>,
) {
    let mut command = Command::of(out, b"XCLAIM", 10 + len);
    command.bytes(key).bytes(group).bytes(consumer);
    command.raw(b"$1\r\n0\r\n");
    ids.for_each(|id| _ = command.id(id));
    command.raw(b"$4\r\nTIME\r\n").unsigned(ms);
    command.raw(b"$10\r\nRETRYCOUNT\r\n").unsigned(count);
    command.raw(b"$5\r\nFORCE\r\n$6\r\nJUSTID\r\n");
}
