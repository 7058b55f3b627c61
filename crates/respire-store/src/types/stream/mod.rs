//! Streams: entries in the order of their IDs, and groups of consumers that read them.
//!
//! Entries are kept in Redis's own blocks, a hundred or 4 KiB of them in one allocation, which snapshots share.

mod block;
mod consumer;
mod entry;
mod finder;
mod group;
mod groups;
mod id;
mod id_map;
mod marks;
mod parts;
mod references;
mod restore;
mod runs;
mod slice;
mod trim;

use std::sync::Arc;

use super::changes::{enter_group, is_noted, note, spoil};
use super::{Elements, Encoding, Kind, Limits, Step};
use crate::raw;
use crate::visits::visited;
use block::Block;
pub use consumer::Consumer;
pub use entry::{Pairs, StreamEntry, StreamFields};
pub use group::{Delivery, Pending, StreamGroup};
use groups::Groups;
pub use id::StreamId;
pub use marks::StreamMarks;
pub use parts::StreamParts;
pub use references::{Deletion, References};
pub use restore::StreamBlocks;
use runs::Runs;
pub use slice::{StreamRange, StreamSlice};
pub use trim::{Keep, Trim, Trimmed, Trimming};

/// A stream of entries, each with an ID and fields.
///
/// Unlike values of other types, it may be without entries: it still knows its last ID and its groups. A new stream does
/// not exist until an entry or a group is added, or [`Stream::create`] is called.
///
/// ```
/// use respire_store::{Config, Edited, EventName, Store, Stream, StreamGroup, StreamId, StreamRange};
///
/// const XADD: EventName = EventName { class: 1, name: "xadd" };
///
/// let store = Store::new(Config::default());
/// let id = StreamId { ms: 1_700_000_000_000, seq: 0 };
/// let mut view = store.view(0, 0);
/// view.update(b"orders", |slot| {
///     let limits = slot.limits::<Stream>();
///     slot.edit(XADD, |stream: &mut Stream| {
///         let pairs = [(&b"item"[..], &b"tea"[..]), (b"count", b"2")];
///         stream.add(id, pairs.into_iter(), &limits);
///         stream.add_group(b"cooks", StreamGroup::new(StreamId::MIN, Some(0)));
///         Edited::Changed(())
///     })
/// })
/// .unwrap();
/// let unread = view.read(b"orders", |entry| {
///     let stream = entry?.typed::<Stream>().ok()?;
///     let group = stream.group(b"cooks")?;
///     let from = group.last_id.next()?;
///     Some(stream.slice(&StreamRange { from, ..StreamRange::default() }))
/// });
/// unread.unwrap().for_each(&mut |entry| {
///     assert_eq!(entry.id(), id);
///     assert_eq!(entry.fields().len(), 2);
/// });
/// ```
#[derive(Debug, Clone)]
pub struct Stream {
    /// Each has at least one live entry.
    blocks: Runs<Block>,
    marks: StreamMarks,
    groups: Groups,
    exists: bool,
}

/// A borrowed stream.
#[derive(Debug, Clone, Copy)]
pub struct StreamRef<'e>(&'e Stream);

static EMPTY: Stream = Stream::new();

impl Default for Stream {
    fn default() -> Stream {
        Stream::new()
    }
}

impl Stream {
    const fn new() -> Stream {
        Stream {
            blocks: Runs::new(),
            marks: StreamMarks {
                length: 0,
                first_id: StreamId::MIN,
                last_id: StreamId::MIN,
                max_deleted_id: StreamId::MIN,
                entries_added: 0,
            },
            groups: Groups::new(),
            exists: false,
        }
    }

    /// Makes it exist even without entries and groups.
    pub fn create(&mut self) {
        if is_noted(self) {
            spoil();
        }
        self.exists = true;
    }

    /// Returns whether it exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// Returns what it knows of its entries. O(1).
    #[must_use]
    pub fn marks(&self) -> &StreamMarks {
        &self.marks
    }

    /// Adds an entry behind the others. The limits are those of a block: its entries, and its bytes. Amortised O(bytes of
    /// the entry), and O(limits) after a snapshot.
    ///
    /// # Panics
    /// If the ID is not larger than the last one.
    pub fn add<'f>(&mut self, id: StreamId, pairs: impl Pairs<'f>, limits: &Limits) {
        assert!(id > self.marks.last_id, "the ID of an entry is a new one");
        if is_noted(self) {
            note_entry(id, pairs.clone());
        }
        let bytes: usize = pairs
            .clone()
            .map(|(field, value)| field.len() + value.len())
            .sum();
        let last = self.blocks.len().checked_sub(1);
        let open = last.filter(|at| self.has_room(*at, bytes, limits));
        match open {
            Some(at) => {
                let master = self.blocks.get(at).map_or(id, |(master, _)| *master);
                self.blocks.edit(at, |block| block.push(master, id, pairs));
            }
            None => {
                if let Some(full) = last {
                    self.blocks.edit(full, Block::shrink_to_fit);
                }
                self.blocks.push(id, Block::new(pairs));
            }
        }
        self.exists = true;
        self.marks.length += 1;
        self.marks.entries_added = self.marks.entries_added.wrapping_add(1);
        self.marks.last_id = id;
        if self.marks.length == 1 {
            self.marks.first_id = id;
        }
    }

    /// Returns whether an entry of so many bytes may be added to a block.
    fn has_room(&self, at: usize, bytes: usize, limits: &Limits) -> bool {
        let bytes_max = match limits.bytes as usize {
            0 => BLOCK_BYTES_MAX,
            bytes_max => bytes_max.min(BLOCK_BYTES_MAX),
        };
        let Some((master, block)) = self.blocks.get(at) else {
            return false;
        };
        let block_bytes = block.as_bytes().len();
        if block_bytes + bytes >= bytes_max {
            return false;
        }
        let read = block.read(*master);
        limits.elements == 0 || read.live + read.deleted < u64::from(limits.elements)
    }

    /// Deletes an entry. Returns whether there was one. O(block), and O(log n) to find it.
    pub fn delete(&mut self, id: StreamId) -> bool {
        let at = self.blocks.find(id);
        let Some((master, block)) = self.blocks.get(at) else {
            return false;
        };
        let (master, read) = (*master, block.read(*master));
        let found = read.at(read.position(id).0);
        let Some(found) = found.filter(|found| !found.is_deleted && found.entry.id() == id) else {
            return false;
        };
        let place = found.place;
        if read.live == 1 {
            self.blocks.remove(at);
        } else {
            self.blocks.edit(at, |block| block.delete(master, place));
        }
        self.marks.length -= 1;
        self.marks.max_deleted_id = self.marks.max_deleted_id.max(id);
        if id == self.marks.first_id || self.marks.length == 0 {
            self.find_first();
        }
        if is_noted(self) {
            note(Step::EntryDeleted { id });
        }
        true
    }

    /// Sets the ID of the first entry after a removal.
    fn find_first(&mut self) {
        let first = self.blocks.get(0);
        let first = first.and_then(|(master, block)| block.read(*master).first());
        self.marks.first_id = first.map_or(StreamId::MIN, |found| found.entry.id());
    }

    /// Sets the marks that do not follow from the entries.
    pub fn set_marks(&mut self, marks: StreamMarks) {
        if is_noted(self) {
            // No command of Redis makes it forget that entries were deleted.
            if marks.max_deleted_id == StreamId::MIN && self.marks.max_deleted_id != StreamId::MIN {
                spoil();
            }
            note(Step::MarksSet { marks });
        }
        let (length, first_id) = (self.marks.length, self.marks.first_id);
        self.marks = StreamMarks {
            length,
            first_id,
            ..marks
        };
    }

    /// Adds a group unless there is one of this name. Returns whether it did.
    pub fn add_group(&mut self, name: &[u8], group: StreamGroup) -> bool {
        self.exists = true;
        if is_noted(self) && self.groups.get(name).is_none() {
            note_group(name, &group);
        }
        self.groups.add(name, group)
    }

    /// Removes a group. Returns what is left to free; `None` if there is no such group. O(log groups).
    pub fn remove_group(&mut self, name: &[u8]) -> Option<StreamParts> {
        let removed = self.groups.remove(name);
        if removed.is_some() && is_noted(self) {
            note(Step::GroupRemoved { group: name });
        }
        removed.map(StreamParts::of_group)
    }

    /// Changes a group; `None` if there is none of this name. A group that a snapshot shares is copied first: O(entries
    /// pending) then.
    pub fn edit_group<R>(
        &mut self,
        name: &[u8],
        f: impl FnOnce(&mut StreamGroup, &StreamMarks) -> R,
    ) -> Option<R> {
        let (marks, is_noted) = (&self.marks, is_noted(self));
        if !is_noted {
            return self.groups.edit(name, |group| f(group, marks));
        }
        let mut delivered = Vec::new();
        let answer = self.groups.edit(name, |group| {
            let editing = enter_group(name, group);
            let before = (group.last_id, group.entries_read);
            let answer = f(group, marks);
            delivered = editing.end();
            if before != (group.last_id, group.entries_read) {
                note_read(name, group);
            }
            answer
        });
        // No command of Redis delivers entries that were deleted.
        if delivered.iter().any(|id| !self.read().contains(*id)) {
            spoil();
        }
        answer
    }

    /// Notes that a group read these entries for the first time, and delivers them to a consumer if there is one named,
    /// which must exist. O(entries).
    pub fn deliver(
        &mut self,
        group: &[u8],
        slice: &StreamSlice,
        consumer: Option<&[u8]>,
        now_ms: u64,
    ) {
        let (marks, is_noted, name) = (&self.marks, is_noted(self), group);
        self.groups.edit(name, |group| {
            let editing = is_noted.then(|| enter_group(name, group));
            group.deliver_new(slice, (consumer, now_ms), marks);
            if editing.is_some() {
                note_read(name, group);
            }
        });
    }
}

#[cold]
fn note_entry<'f>(id: StreamId, pairs: impl Pairs<'f>) {
    let fields = pairs.clone().count();
    note(Step::EntryAdded { id, fields });
    pairs.for_each(|(field, value)| note(Step::EntryField { field, value }));
}

/// Notes a new group.
#[cold]
fn note_group(name: &[u8], group: &StreamGroup) {
    if group.consumers_len() > 0 {
        spoil();
    }
    note(Step::GroupAdded {
        group: name,
        last_id: group.last_id,
        entries_read: group.entries_read,
    });
}

/// Notes how far a group has read.
#[cold]
fn note_read(name: &[u8], group: &StreamGroup) {
    note(Step::GroupRead {
        group: name,
        last_id: group.last_id,
        entries_read: group.entries_read,
    });
}

/// The largest number of bytes of a block, and of the fields and values of an entry.
const BLOCK_BYTES_MAX: usize = 1 << 30;

impl<'e> StreamRef<'e> {
    /// Returns what the stream knows of its entries. O(1).
    #[must_use]
    pub fn marks(self) -> &'e StreamMarks {
        &self.0.marks
    }

    /// Returns the number of blocks. O(1).
    #[must_use]
    pub fn blocks_len(self) -> usize {
        self.0.blocks.len()
    }

    /// Returns the blocks with their IDs, as Redis writes them.
    pub fn blocks(self) -> impl Iterator<Item = (StreamId, &'e [u8])> {
        let blocks = self.0.blocks.iter();
        blocks.map(|(master, block)| (*master, block.as_bytes()))
    }

    /// Returns the largest ID of an entry; `None` if there are none. O(deleted entries behind it).
    #[must_use]
    pub fn last_entry_id(self) -> Option<StreamId> {
        let (master, block) = self.0.blocks.iter().next_back()?;
        Some(block.read(*master).last()?.entry.id())
    }

    /// Returns the entries of a range, which can be read without the stream. O(block) at each end, and O(1) for each
    /// block between them.
    #[must_use]
    pub fn slice(self, range: &StreamRange) -> StreamSlice {
        if range.from > range.to || range.count == 0 {
            return StreamSlice::default();
        }
        let blocks = &self.0.blocks;
        let last = blocks.find(range.to);
        let covered = blocks.iter().take(last + 1);
        let skipped = blocks.find(range.from);
        if range.is_reversed {
            StreamSlice::new(covered.skip(skipped).rev(), range)
        } else {
            StreamSlice::new(covered.skip(skipped), range)
        }
    }

    /// Returns whether there is an entry of this ID. O(block), and O(log n) to find it.
    #[must_use]
    pub fn contains(self, id: StreamId) -> bool {
        let Some((master, block)) = self.0.blocks.get(self.0.blocks.find(id)) else {
            return false;
        };
        let read = block.read(*master);
        let found = read.at(read.position(id).0);
        found.is_some_and(|found| !found.is_deleted && found.entry.id() == id)
    }

    /// Returns the group of this name.
    #[must_use]
    pub fn group(self, name: &[u8]) -> Option<&'e StreamGroup> {
        self.0.groups.get(name)
    }

    /// Returns the group of this name, which can be read without the stream. If the stream's is changed meanwhile, it is
    /// copied first.
    #[must_use]
    pub fn share_group(self, name: &[u8]) -> Option<Arc<StreamGroup>> {
        self.0.groups.share(name)
    }

    /// Returns the number of groups. O(1).
    #[must_use]
    pub fn groups_len(self) -> usize {
        self.0.groups.len()
    }

    /// Returns the groups by name, ascending.
    pub fn groups(self) -> impl Iterator<Item = (&'e [u8], &'e StreamGroup)> {
        self.0.groups.iter()
    }
}

impl Kind for Stream {
    const NAME: &'static str = "stream";

    /// The limits of a block.
    const LIMITS: Limits = Limits {
        elements: 100,
        bytes: 4096,
    };

    type Ref<'e> = StreamRef<'e>;

    fn read(&self) -> StreamRef<'_> {
        StreamRef(self)
    }

    fn read_packed(_bytes: &[u8]) -> StreamRef<'_> {
        StreamRef(&EMPTY)
    }

    /// A stream is never packed.
    fn packed(&self) -> Option<&[u8]> {
        None
    }

    fn from_packed(_bytes: Vec<u8>) -> Stream {
        Stream::new()
    }

    fn into_packed(self) -> Option<Vec<u8>> {
        None
    }

    /// A stream without entries keeps its key.
    fn is_empty(&self) -> bool {
        !self.exists
    }

    fn heap_bytes(&self) -> usize {
        self.blocks.heap_bytes() + self.groups.heap_bytes()
    }

    fn free_some(&mut self, budget: &mut usize) -> bool {
        self.blocks.free_some(budget) && *budget > 0 && self.groups.free_some(budget)
    }
}

impl<'e> Elements<'e> for StreamRef<'e> {
    type Element = StreamEntry<'e>;

    fn encoding(self) -> Encoding {
        Encoding::Stream
    }

    fn len(self) -> usize {
        self.0.marks.length as usize
    }

    fn for_each(self, f: &mut dyn FnMut(StreamEntry<'e>)) {
        for block in self.0.blocks.iter() {
            for_each_of(block, f);
        }
    }

    /// The cursor is the time of the next block. Blocks of one time are visited together.
    fn scan(self, cursor: u64, count: usize, f: &mut dyn FnMut(StreamEntry<'e>)) -> u64 {
        let start = self.0.blocks.find(StreamId { ms: cursor, seq: 0 });
        let (mut visited, mut last_ms) = (0, None);
        for block in self.0.blocks.from(start) {
            let (master, _) = block;
            if master.ms < cursor {
                continue;
            }
            if visited >= count && last_ms != Some(master.ms) {
                return master.ms;
            }
            last_ms = Some(master.ms);
            visited += block.1.live() as usize;
            for_each_of(block, f);
        }
        0
    }

    /// O(blocks).
    fn sample(self, random: u64) -> Option<StreamEntry<'e>> {
        let mut left = random.checked_rem(self.0.marks.length)?;
        for (master, block) in self.0.blocks.iter() {
            let read = block.read(*master);
            if left < read.live {
                let mut found = read.between(read.start(), read.end());
                return found.nth(left as usize).map(|found| found.entry);
            }
            left -= read.live;
        }
        None
    }

    /// Loads the last block for any element, as most commands add to it or read from it.
    fn warm(self, _element: &[u8]) -> bool {
        if let Some((_, block)) = self.0.blocks.iter().next_back() {
            raw::prefetch(core::ptr::from_ref(&**block).addr());
        }
        false
    }
}

fn for_each_of<'e>(
    (master, block): &'e (StreamId, Arc<Block>),
    f: &mut dyn FnMut(StreamEntry<'e>),
) {
    let read = block.read(*master);
    visited(read.live as usize);
    let found = read.between(read.start(), read.end());
    found.for_each(|found| f(found.entry));
}

#[cfg(test)]
mod tests;
