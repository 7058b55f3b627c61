//! The consumers of a group.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::StreamId;
use super::id_map::IdMap;
use crate::types::allocated;

/// The number of a consumer in its group.
pub(super) type ConsumerId = u32;

/// A consumer: a name, and the entries that were delivered to it.
#[derive(Debug, Clone)]
pub struct Consumer {
    name: Arc<[u8]>,
    /// When it was last named by a command, in unix milliseconds.
    pub seen_ms: u64,
    /// When entries were last delivered to it, in unix milliseconds; `None` if none were.
    pub active_ms: Option<u64>,
    pending: IdMap<()>,
}

impl Consumer {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns the number of entries that were delivered to it and not acknowledged. O(1).
    #[must_use]
    pub fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// Returns the IDs of these entries from `from` on, ascending.
    pub fn pending(&self, from: StreamId) -> impl Iterator<Item = StreamId> {
        self.pending.from(from).map(|(id, ())| id)
    }

    /// Bytes allocated for it, apart from its name.
    fn heap_bytes(&self) -> usize {
        self.pending.heap_bytes()
    }
}

/// The consumers of a group, by name and by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Consumers {
    slots: Vec<Option<Consumer>>,
    names: BTreeMap<Arc<[u8]>, ConsumerId>,
    /// Bytes allocated for the consumers and their names.
    bytes: usize,
}

/// About the bytes that a place in the tree of names takes.
const NAME_BYTES: usize = 48;

impl Consumers {
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        allocated(self.slots.capacity() * size_of::<Option<Consumer>>()) + self.bytes
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<ConsumerId> {
        self.names.get(name).copied()
    }

    pub(super) fn get(&self, id: ConsumerId) -> Option<&Consumer> {
        self.slots.get(id as usize)?.as_ref()
    }

    /// The consumers by name, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Consumer> {
        self.names.values().filter_map(|id| self.get(*id))
    }

    /// Adds a consumer, whose name must be new.
    pub(super) fn add(&mut self, name: &[u8], now_ms: u64) -> ConsumerId {
        let name: Arc<[u8]> = name.into();
        let free = self.slots.iter().position(Option::is_none);
        let at = free.unwrap_or(self.slots.len());
        if at == self.slots.len() {
            self.slots.push(None);
        }
        self.bytes += bytes_of_name(&name);
        self.names.insert(Arc::clone(&name), at as ConsumerId);
        self.slots[at] = Some(Consumer {
            name,
            seen_ms: now_ms,
            active_ms: None,
            pending: IdMap::default(),
        });
        at as ConsumerId
    }

    pub(super) fn remove(&mut self, id: ConsumerId) -> Option<Consumer> {
        let consumer = self.slots.get_mut(id as usize)?.take()?;
        self.names.remove(&consumer.name);
        self.bytes -= bytes_of_name(&consumer.name) + consumer.heap_bytes();
        Some(consumer)
    }

    fn edit<R>(&mut self, id: ConsumerId, f: impl FnOnce(&mut Consumer) -> R) -> Option<R> {
        let consumer = self.slots.get_mut(id as usize)?.as_mut()?;
        self.bytes -= consumer.heap_bytes();
        let result = f(consumer);
        self.bytes += consumer.heap_bytes();
        Some(result)
    }

    /// Notes that a command named the consumer.
    pub(super) fn seen(&mut self, id: ConsumerId, now_ms: u64) {
        self.edit(id, |consumer| consumer.seen_ms = now_ms);
    }

    /// Notes that entries were delivered to the consumer.
    pub(super) fn active(&mut self, id: ConsumerId, now_ms: u64) {
        self.set_active(id, Some(now_ms));
    }

    pub(super) fn set_active(&mut self, id: ConsumerId, active_ms: Option<u64>) {
        self.edit(id, |consumer| consumer.active_ms = active_ms);
    }

    /// Adds an entry to those of a consumer. Returns whether it is new.
    pub(super) fn add_pending(&mut self, id: ConsumerId, entry: StreamId) -> bool {
        let added = self.edit(id, |consumer| consumer.pending.insert(entry, ()).is_none());
        added.unwrap_or(false)
    }

    /// Removes an entry from those of a consumer.
    pub(super) fn remove_pending(&mut self, id: ConsumerId, entry: StreamId) {
        self.edit(id, |consumer| consumer.pending.remove(entry));
    }

    /// Frees entries until `budget` is used up. Returns whether the rest is small.
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        while let Some(last) = self.slots.last_mut() {
            if let Some(consumer) = last {
                self.bytes -= consumer.heap_bytes();
                let is_freed = consumer.pending.free_some(budget);
                self.bytes += consumer.heap_bytes();
                if !is_freed || *budget == 0 {
                    return false;
                }
                self.bytes -= bytes_of_name(&consumer.name) + consumer.heap_bytes();
                self.names.remove(&consumer.name);
                *budget = budget.saturating_sub(2);
            }
            self.slots.pop();
        }
        true
    }
}

fn bytes_of_name(name: &[u8]) -> usize {
    // An `Arc` has two counters.
    allocated(name.len() + 2 * size_of::<usize>()) + NAME_BYTES
}
