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
    let mut claims = Claims::new(key, name);
    for pending in group.pending(StreamId::MIN) {
        claims.add(&pending, out);
    }
    commands + claims.finish(out)
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

/// Deliveries to consumers of a group, one after another. Equal ones are written together.
pub(super) struct Claims<'k> {
    key: &'k [u8],
    group: &'k [u8],
    /// The consumer, the time and the number of deliveries of the next command.
    to: Option<(Vec<u8>, u64, u64)>,
    ids: Vec<StreamId>,
    commands: usize,
}

/// The most entries in one command.
const CLAIMED_MAX: usize = 1024;

impl<'k> Claims<'k> {
    pub(super) fn new(key: &'k [u8], group: &'k [u8]) -> Self {
        Claims {
            key,
            group,
            to: None,
            ids: Vec::new(),
            commands: 0,
        }
    }

    fn add(&mut self, pending: &Pending<'_>, out: &mut Vec<u8>) {
        let to = (pending.consumer.name(), pending.delivered_ms, pending.count);
        self.claim(pending.id, to, out);
    }

    /// Delivers an entry to a consumer, at a time in unix milliseconds, as its so many-th delivery.
    pub(super) fn claim(&mut self, id: StreamId, to: (&[u8], u64, u64), out: &mut Vec<u8>) {
        let is_next = |(name, ms, count): &(Vec<u8>, u64, u64)| (&name[..], *ms, *count) == to;
        if !self.to.as_ref().is_some_and(is_next) || self.ids.len() == CLAIMED_MAX {
            self.write(out);
            self.to = Some((to.0.to_vec(), to.1, to.2));
        }
        self.ids.push(id);
    }

    fn write(&mut self, out: &mut Vec<u8>) {
        let Some((consumer, ms, count)) = self.to.take() else {
            return;
        };
        let mut command = Command::of(out, b"XCLAIM", 10 + self.ids.len());
        command.bytes(self.key).bytes(self.group).bytes(&consumer);
        command.raw(b"$1\r\n0\r\n");
        self.ids.drain(..).for_each(|id| _ = command.id(id));
        command.raw(b"$4\r\nTIME\r\n").unsigned(ms);
        command.raw(b"$10\r\nRETRYCOUNT\r\n").unsigned(count);
        command.raw(b"$5\r\nFORCE\r\n$6\r\nJUSTID\r\n");
        self.commands += 1;
    }

    /// Returns the number of commands.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) -> usize {
        self.write(out);
        self.commands
    }
}
