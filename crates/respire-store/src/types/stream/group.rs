//! Consumer groups: which entries were delivered to whom, and are not acknowledged.

use super::StreamId;
use super::consumer::{Consumer, ConsumerId, Consumers};
use super::id_map::{IdMap, Timed};
use super::marks::StreamMarks;
use super::slice::StreamSlice;
use crate::types::Step;
use crate::types::changes::{is_group_noted, note_of_group};

/// A consumer group.
#[derive(Debug, Clone, Default)]
pub struct StreamGroup {
    /// The ID of the entry that was delivered last.
    pub last_id: StreamId,
    /// The number of entries that were delivered up to that one; `None` if it is not known.
    pub entries_read: Option<i64>,
    pending: IdMap<Nack>,
    consumers: Consumers,
}

/// An entry that was delivered and not acknowledged, as its group keeps it.
#[derive(Debug, Clone, Copy)]
struct Nack {
    /// The time of the delivery in unix milliseconds, in the low 48 bits, and the low 16 bits of the consumer.
    delivered: u64,
    /// The number of deliveries in the low 48 bits, and the high 16 bits of the consumer.
    count: u64,
}

/// A number of 48 bits.
const LOW: u64 = (1 << 48) - 1;

impl Nack {
    fn new(consumer: ConsumerId, delivered_ms: u64, count: u64) -> Nack {
        let consumer = u64::from(consumer);
        Nack {
            delivered: delivered_ms.min(LOW) | (consumer & 0xffff) << 48,
            count: count.min(LOW) | (consumer >> 16) << 48,
        }
    }

    fn consumer(self) -> ConsumerId {
        (self.delivered >> 48 | self.count >> 48 << 16) as ConsumerId
    }

    fn delivered_ms(self) -> u64 {
        self.delivered & LOW
    }

    fn count(self) -> u64 {
        self.count & LOW
    }
}

impl Timed for Nack {
    fn time_ms(&self) -> u64 {
        self.delivered_ms()
    }
}

/// An entry that was delivered and not acknowledged.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'g> {
    /// The entry.
    pub id: StreamId,
    /// The consumer to which it was delivered last.
    pub consumer: &'g Consumer,
    /// When it was delivered last, in unix milliseconds.
    pub delivered_ms: u64,
    /// The number of deliveries.
    pub count: u64,
}

/// A delivery to a consumer ([`StreamGroup::claim`]).
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// The time to note, in unix milliseconds.
    pub delivered_ms: u64,
    /// The number of deliveries to note.
    pub count: u64,
}

impl StreamGroup {
    /// Returns a group that begins after this entry.
    #[must_use]
    pub fn new(last_id: StreamId, entries_read: Option<i64>) -> Self {
        StreamGroup {
            last_id,
            entries_read,
            ..StreamGroup::default()
        }
    }

    /// Bytes allocated for it. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        self.pending.heap_bytes() + self.consumers.heap_bytes()
    }

    /// Returns the number of entries that are pending. O(1).
    #[must_use]
    pub fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// Returns the first and the last ID of the entries that are pending; `None` if there are none. O(1).
    #[must_use]
    pub fn pending_bounds(&self) -> Option<(StreamId, StreamId)> {
        self.pending.first().zip(self.pending.last())
    }

    /// Returns an entry that is pending. O(log n).
    #[must_use]
    pub fn pending_of(&self, id: StreamId) -> Option<Pending<'_>> {
        self.describe(id, self.pending.get(id)?)
    }

    /// Returns the entries that are pending from `from` on, ascending.
    pub fn pending(&self, from: StreamId) -> impl Iterator<Item = Pending<'_>> {
        let pending = self.pending.from(from);
        pending.filter_map(|(id, nack)| self.describe(id, nack))
    }

    /// Returns the entries that are pending and were delivered at `until_ms` or before, those first that were delivered
    /// first: at most `count` of them, each with the time of its delivery. O(pending / 100), and O(100) for each hundred
    /// of which some may be among them.
    #[must_use]
    pub fn delivered_first(&self, until_ms: u64, count: usize) -> Vec<(u64, StreamId)> {
        self.pending.earliest(until_ms, count)
    }

    fn describe(&self, id: StreamId, nack: Nack) -> Option<Pending<'_>> {
        Some(Pending {
            id,
            consumer: self.consumers.get(nack.consumer())?,
            delivered_ms: nack.delivered_ms(),
            count: nack.count(),
        })
    }

    /// Returns the number of consumers. O(1).
    #[must_use]
    pub fn consumers_len(&self) -> usize {
        self.consumers.len()
    }

    /// Returns the consumers by name, ascending.
    pub fn consumers(&self) -> impl Iterator<Item = &Consumer> {
        self.consumers.iter()
    }

    /// Returns the consumer of this name.
    #[must_use]
    pub fn consumer(&self, name: &[u8]) -> Option<&Consumer> {
        self.consumers.get(self.consumers.find(name)?)
    }

    /// Adds a consumer. Returns whether the name is new.
    pub fn add_consumer(&mut self, name: &[u8], now_ms: u64) -> bool {
        let is_new = self.consumers.find(name).is_none();
        if is_new {
            self.consumers.add(name, now_ms);
            if is_group_noted(self) {
                note_of_group(|group, note| {
                    note(Step::ConsumerAdded {
                        group,
                        consumer: name,
                        seen_ms: now_ms,
                    });
                });
            }
        }
        is_new
    }

    /// Notes that a command named a consumer, and adds it if it is new. Returns whether it is.
    pub fn see_consumer(&mut self, name: &[u8], now_ms: u64) -> bool {
        let is_new = self.add_consumer(name, now_ms);
        if let Some(id) = self.consumers.find(name) {
            self.consumers.seen(id, now_ms);
        }
        self.note_seen(name);
        is_new
    }

    /// Sets when a consumer was last seen and active. Returns whether there is such a consumer.
    pub fn set_consumer_times(
        &mut self,
        name: &[u8],
        seen_ms: u64,
        active_ms: Option<u64>,
    ) -> bool {
        let Some(id) = self.consumers.find(name) else {
            return false;
        };
        self.consumers.seen(id, seen_ms);
        self.consumers.set_active(id, active_ms);
        self.note_seen(name);
        true
    }

    /// Notes the times of a consumer.
    #[inline]
    fn note_seen(&self, name: &[u8]) {
        if is_group_noted(self)
            && let Some(consumer) = self.consumer(name)
        {
            note_of_group(|group, note| {
                note(Step::ConsumerSeen {
                    group,
                    consumer: name,
                    seen_ms: consumer.seen_ms,
                    active_ms: consumer.active_ms,
                });
            });
        }
    }

    /// Removes up to `count` of the entries that are pending for a consumer. Returns their number. O(log n) each.
    pub fn remove_some_pending(&mut self, consumer: &[u8], count: usize) -> usize {
        let found = self.consumer(consumer).into_iter();
        let ids = found.flat_map(|it| it.pending(StreamId::MIN)).take(count);
        let ids: Vec<StreamId> = ids.collect();
        ids.into_iter().filter(|id| self.acknowledge(*id)).count()
    }

    /// Removes a consumer, and the entries that are pending for it. Returns their number; `None` if there is no such
    /// consumer. O(entries).
    pub fn remove_consumer(&mut self, name: &[u8]) -> Option<usize> {
        let consumer = self.consumers.remove(self.consumers.find(name)?)?;
        for id in consumer.pending(StreamId::MIN) {
            self.pending.remove(id);
        }
        if is_group_noted(self) {
            note_of_group(|group, note| {
                note(Step::ConsumerRemoved {
                    group,
                    consumer: name,
                });
            });
        }
        Some(consumer.pending_len())
    }

    /// Removes an entry from those that are pending. Returns whether it was one. O(log n).
    pub fn acknowledge(&mut self, id: StreamId) -> bool {
        let Some(nack) = self.pending.remove(id) else {
            return false;
        };
        self.consumers.remove_pending(nack.consumer(), id);
        if is_group_noted(self) {
            note_of_group(|group, note| note(Step::Acknowledged { group, id }));
        }
        true
    }

    /// Notes that entries were read for the first time: the group's last entry, and how many were read. `marks` are
    /// those of the stream.
    fn read(&mut self, id: StreamId, marks: &StreamMarks) {
        if id <= self.last_id {
            return;
        }
        self.entries_read = match self.entries_read {
            Some(read) if !marks.is_deleted_from(id) => Some(read.wrapping_add(1)),
            read if marks.entries_added == 0 => read,
            _ => marks.entries_up_to(id),
        };
        self.last_id = id;
    }

    /// Delivers an entry to a consumer, which must exist. One that is pending moves from its consumer to this one.
    /// Returns whether there is such a consumer. O(log n).
    pub fn deliver(&mut self, id: StreamId, consumer: &[u8], now_ms: u64) -> bool {
        let delivery = Delivery {
            delivered_ms: now_ms,
            count: 1,
        };
        self.claim(id, consumer, delivery)
    }

    /// Delivers an entry to a consumer, which must exist, with this time and count. One that is not pending becomes
    /// so. Returns whether there is such a consumer. O(log n).
    pub fn claim(&mut self, id: StreamId, consumer: &[u8], delivery: Delivery) -> bool {
        let Some(consumer) = self.consumers.find(consumer) else {
            return false;
        };
        self.give(id, consumer, delivery);
        true
    }

    fn give(&mut self, id: StreamId, consumer: ConsumerId, delivery: Delivery) {
        let nack = Nack::new(consumer, delivery.delivered_ms, delivery.count);
        match self.pending.insert(id, nack) {
            Some(old) if old.consumer() == consumer => {}
            old => {
                if let Some(old) = old {
                    self.consumers.remove_pending(old.consumer(), id);
                }
                self.consumers.add_pending(consumer, id);
            }
        }
        self.note_delivered(id);
    }

    /// Notes that an entry was delivered.
    #[inline]
    fn note_delivered(&self, id: StreamId) {
        if is_group_noted(self)
            && let Some(pending) = self.pending_of(id)
        {
            note_of_group(|group, note| {
                note(Step::Delivered {
                    group,
                    consumer: pending.consumer.name(),
                    id,
                    delivered_ms: pending.delivered_ms,
                    count: pending.count,
                });
            });
        }
    }

    /// Notes that these entries were read for the first time, and delivers them to a consumer if there is one named,
    /// which must exist. `marks` are those of the stream.
    pub(super) fn deliver_new(
        &mut self,
        slice: &StreamSlice,
        (consumer, now_ms): (Option<&[u8]>, u64),
        marks: &StreamMarks,
    ) {
        let consumer = consumer.and_then(|name| self.consumers.find(name));
        let delivery = Delivery {
            delivered_ms: now_ms,
            count: 1,
        };
        slice.for_each(&mut |entry| {
            self.read(entry.id(), marks);
            if let Some(consumer) = consumer {
                self.give(entry.id(), consumer, delivery);
            }
        });
    }

    /// Notes that the consumer was given entries.
    pub fn set_active(&mut self, consumer: &[u8], now_ms: u64) {
        if let Some(id) = self.consumers.find(consumer) {
            self.consumers.active(id, now_ms);
        }
        self.note_seen(consumer);
    }

    /// Notes that an entry that is pending was delivered again to its consumer. O(log n).
    pub fn deliver_again(&mut self, id: StreamId, now_ms: u64) {
        self.pending.edit(id, |nack| {
            *nack = Nack::new(nack.consumer(), now_ms, nack.count() + 1);
        });
        self.note_delivered(id);
    }

    /// Frees entries until `budget` is used up. Returns whether the rest is small.
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        self.pending.free_some(budget) && *budget > 0 && self.consumers.free_some(budget)
    }
}
