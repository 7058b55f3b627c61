//! The consumer groups of a stream, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::StreamId;
use super::group::StreamGroup;
use crate::types::changes::note;
use crate::types::{Step, allocated};

/// The groups of a stream. Snapshots share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    groups: BTreeMap<Box<[u8]>, Arc<StreamGroup>>,
    /// Bytes allocated for the groups and their names.
    bytes: usize,
}

/// About the bytes that a place in the tree of groups takes.
const PLACE_BYTES: usize = 48;

impl Groups {
    pub(super) const fn new() -> Groups {
        Groups {
            groups: BTreeMap::new(),
            bytes: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<&StreamGroup> {
        self.groups.get(name).map(|group| &**group)
    }

    pub(super) fn share(&self, name: &[u8]) -> Option<Arc<StreamGroup>> {
        self.groups.get(name).cloned()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &StreamGroup)> {
        self.groups.iter().map(|(name, group)| (&**name, &**group))
    }

    /// Adds a group unless there is one of this name. Returns whether it did.
    pub(super) fn add(&mut self, name: &[u8], group: StreamGroup) -> bool {
        if self.groups.contains_key(name) {
            return false;
        }
        self.bytes += bytes_of(name, &group);
        self.groups.insert(name.into(), Arc::new(group));
        true
    }

    pub(super) fn remove(&mut self, name: &[u8]) -> Option<Arc<StreamGroup>> {
        let group = self.groups.remove(name)?;
        self.bytes -= bytes_of(name, &group);
        Some(group)
    }

    /// Changes a group; one that a snapshot shares is copied first.
    pub(super) fn edit<R>(
        &mut self,
        name: &[u8],
        f: impl FnOnce(&mut StreamGroup) -> R,
    ) -> Option<R> {
        let group = self.groups.get_mut(name)?;
        self.bytes -= bytes_of(name, group);
        let group = Arc::make_mut(group);
        let result = f(group);
        self.bytes += bytes_of(name, group);
        Some(result)
    }

    /// The last ID that all groups have read; the largest if there are no groups. O(groups).
    pub(super) fn read_by_all(&self) -> StreamId {
        let last = self.groups.values().map(|group| group.last_id).min();
        last.unwrap_or(StreamId::MAX)
    }

    /// Removes an entry from those that are pending, in all groups, and notes that if it is to be noted. Returns whether it was one of them. O(groups), and
    /// O(log n) each.
    pub(super) fn forget(&mut self, id: StreamId, is_noted: bool) -> bool {
        let mut any = false;
        for (name, group) in &mut self.groups {
            if group.pending_of(id).is_none() {
                continue;
            }
            self.bytes -= bytes_of(name, group);
            any |= Arc::make_mut(group).acknowledge(id);
            self.bytes += bytes_of(name, group);
            if is_noted {
                note(Step::Acknowledged { group: name, id });
            }
        }
        any
    }

    /// Frees groups until `budget` is used up. Returns whether none is left.
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        while let Some(mut last) = self.groups.last_entry() {
            *budget = budget.saturating_sub(2);
            let bytes = bytes_of(last.key(), last.get());
            // A snapshot frees what it shares.
            let is_freed = Arc::get_mut(last.get_mut()).is_none_or(|group| group.free_some(budget));
            if is_freed {
                last.remove();
                self.bytes -= bytes;
            } else {
                self.bytes -= bytes - bytes_of(last.key(), last.get());
            }
            if *budget == 0 {
                break;
            }
        }
        self.groups.is_empty()
    }
}

fn bytes_of(name: &[u8], group: &StreamGroup) -> usize {
    // An `Arc` has two counters.
    let group_bytes = allocated(size_of::<StreamGroup>() + 2 * size_of::<usize>());
    allocated(name.len()) + PLACE_BYTES + group_bytes + group.heap_bytes()
}
