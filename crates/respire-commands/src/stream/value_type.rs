//! Implements `ValueType` for streams.

use crate::digest::Digest;
use crate::rdb::{Payload, Reader, add_block};
use crate::value_type::{Restore, ValueType};
use respire_store::{
    Consumer, Delivery, Elements, NewValue, Stream, StreamBlocks, StreamGroup, StreamId,
    StreamMarks, StreamRef,
};

/// The number of the type in a digest.
const TYPE: u32 = 6;

/// The type bytes of payloads: those of Redis 5, of Redis 7.0, which is written, and of Redis 7.2.
const LISTPACKS: u8 = 15;
const LISTPACKS_2: u8 = 19;
const LISTPACKS_3: u8 = 21;

pub(super) const RESTORES: &[(u8, Restore)] = &[
    (LISTPACKS, |reader, _| restore(reader, LISTPACKS)),
    (LISTPACKS_2, |reader, _| restore(reader, LISTPACKS_2)),
    (LISTPACKS_3, |reader, _| restore(reader, LISTPACKS_3)),
];

impl ValueType for StreamRef<'_> {
    fn payload(&self, payload: &mut Payload, step: &mut dyn FnMut()) {
        let bytes = self.blocks().map(|(_, block)| block.len() + ID_BYTES);
        payload.begin(LISTPACKS_2, bytes.sum());
        payload.len(self.blocks_len());
        for (master, block) in self.blocks() {
            payload.string(&id_bytes(master));
            add_block(payload, block, step);
        }
        let marks = self.marks();
        add_number(payload, marks.length);
        for id in [marks.last_id, marks.first_id, marks.max_deleted_id] {
            add_id(payload, id);
        }
        add_number(payload, marks.entries_added);
        payload.len(self.groups_len());
        for (name, group) in self.groups() {
            payload.string(name);
            add_group(payload, group);
        }
    }

    fn digest(&self, digest: &mut Digest, step: &mut dyn FnMut()) {
        digest.mix(&TYPE.to_be_bytes());
        self.for_each(&mut |entry| {
            let id = entry.id();
            digest.mix(format!("{}.{}", id.ms, id.seq).as_bytes());
            for (field, value) in entry.fields() {
                digest.mix(field.as_bytes(&mut [0; 20]));
                digest.mix(value.as_bytes(&mut [0; 20]));
                step();
            }
        });
    }

    fn elements(&self) -> Option<Vec<Vec<u8>>> {
        None
    }

    fn part(&self, _field: Option<&[u8]>) -> Option<Vec<u8>> {
        None
    }
}

const ID_BYTES: usize = 16;

fn id_bytes(id: StreamId) -> [u8; ID_BYTES] {
    (u128::from(id.ms) << 64 | u128::from(id.seq)).to_be_bytes()
}

/// Adds a number as a length.
fn add_number(payload: &mut Payload, number: u64) {
    payload.count(number);
}

/// Adds an ID as two numbers.
fn add_id(payload: &mut Payload, id: StreamId) {
    add_number(payload, id.ms);
    add_number(payload, id.seq);
}

fn add_group(payload: &mut Payload, group: &StreamGroup) {
    add_id(payload, group.last_id);
    add_number(payload, group.entries_read.unwrap_or(-1).cast_unsigned());
    payload.len(group.pending_len());
    for pending in group.pending(StreamId::MIN) {
        payload.raw(&id_bytes(pending.id));
        payload.raw(&pending.delivered_ms.to_le_bytes());
        add_number(payload, pending.count);
    }
    payload.len(group.consumers_len());
    for consumer in group.consumers() {
        add_consumer(payload, consumer);
    }
}

fn add_consumer(payload: &mut Payload, consumer: &Consumer) {
    payload.string(consumer.name());
    payload.raw(&consumer.seen_ms.to_le_bytes());
    payload.len(consumer.pending_len());
    for id in consumer.pending(StreamId::MIN) {
        payload.raw(&id_bytes(id));
    }
}

/// Reads a stream of this type byte. Everything is checked.
fn restore<'p>(reader: &mut Reader<'p>, version: u8) -> Option<NewValue<'p>> {
    let mut blocks = StreamBlocks::default();
    for _ in 0..reader.next_count()? {
        let master = reader.string()?.into_bytes();
        let master = u128::from_be_bytes(master.try_into().ok()?);
        blocks.add(id_of(master), reader.string()?.into_bytes())?;
    }
    let mut marks = StreamMarks {
        length: reader.next_count()?,
        last_id: read_id(reader)?,
        ..StreamMarks::default()
    };
    if version == LISTPACKS {
        marks.entries_added = marks.length;
        marks.first_id = blocks.first_id();
    } else {
        marks.first_id = read_id(reader)?;
        marks.max_deleted_id = read_id(reader)?;
        marks.entries_added = reader.next_count()?;
    }
    let mut stream = blocks.into_stream(marks)?;
    for _ in 0..reader.next_count()? {
        let name = reader.string()?.into_bytes();
        let group = read_group(reader, version, &stream)?;
        stream.add_group(&name, group).then_some(())?;
    }
    Some(stream.into())
}

fn read_group(reader: &mut Reader<'_>, version: u8, stream: &Stream) -> Option<StreamGroup> {
    let last_id = read_id(reader)?;
    let entries_read = match version {
        LISTPACKS => stream.marks().entries_up_to(last_id),
        _ => Some(reader.next_count()?.cast_signed()).filter(|read| *read != -1),
    };
    let mut group = StreamGroup::new(last_id, entries_read);
    let mut pending = Vec::new();
    for _ in 0..reader.next_count()? {
        let id = id_of(u128::from_be_bytes(reader.raw()?));
        let delivery = Delivery {
            delivered_ms: read_ms(reader)?,
            count: reader.next_count()?,
        };
        // Redis writes them in order.
        let is_next = pending.last().is_none_or(|(last, _)| *last < id);
        is_next.then(|| pending.push((id, delivery)))?;
    }
    for _ in 0..reader.next_count()? {
        read_consumer(reader, version, &pending, &mut group)?;
    }
    // Each entry that is pending has a consumer.
    (group.pending_len() == pending.len()).then_some(group)
}

fn read_consumer(
    reader: &mut Reader<'_>,
    version: u8,
    pending: &[(StreamId, Delivery)],
    group: &mut StreamGroup,
) -> Option<()> {
    let name = reader.string()?.into_bytes();
    let seen_ms = read_ms(reader)?;
    let active_ms = match version {
        LISTPACKS_3 => Some(i64::from_le_bytes(reader.raw()?)),
        _ => None,
    };
    let active_ms = active_ms.and_then(|ms| u64::try_from(ms).ok());
    group.add_consumer(&name, seen_ms).then_some(())?;
    group.set_consumer_times(&name, seen_ms, active_ms);
    for _ in 0..reader.next_count()? {
        let id = id_of(u128::from_be_bytes(reader.raw()?));
        let at = pending.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        if group.pending_of(id).is_some() {
            return None;
        }
        group.claim(id, &name, pending[at].1);
    }
    Some(())
}

fn id_of(number: u128) -> StreamId {
    StreamId {
        ms: (number >> 64) as u64,
        seq: number as u64,
    }
}

fn read_id(reader: &mut Reader<'_>) -> Option<StreamId> {
    Some(StreamId {
        ms: reader.next_count()?,
        seq: reader.next_count()?,
    })
}

/// Reads a time in unix milliseconds; one before 1970 is 1970.
fn read_ms(reader: &mut Reader<'_>) -> Option<u64> {
    let ms = i64::from_le_bytes(reader.raw()?);
    Some(u64::try_from(ms).unwrap_or(0))
}
