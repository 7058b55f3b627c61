//! A block: some entries that follow one another in one listpack, as
//! [Redis](https://github.com/redis/redis/blob/7.0.15/src/t_stream.c) keeps them.
//!
//! ```text
//! | live | deleted | fields | field 1 | ... | field n | 0 |                        the master entry
//! | flags | ms | seq | value 1 | ... | value n | 3 + n |                            an entry with its fields
//! | flags | ms | seq | fields | field 1 | value 1 | ... | value n | 4 + 2 n |       any other entry
//! ```
//!
//! `ms` and `seq` are the entry's ID minus the block's, which is the ID of its first entry. The last element of an
//! entry is the number of the others, so that entries can be read from the end. A deleted entry stays where it is.

use super::StreamId;
use super::entry::{Pairs, StreamEntry, StreamFields};
use super::runs::Counted;
use crate::packed::listpack::{Appender, Element, Listpack, ListpackBuf, Place};
use crate::types::allocated;

/// The flag of a deleted entry.
const DELETED: i64 = 1;

/// The flag of an entry with the fields of the master entry.
const SAME_FIELDS: i64 = 2;

/// Elements of an entry before its fields and values: flags, milliseconds, number.
const ENTRY_HEAD: i64 = 3;

#[derive(Debug, Clone)]
pub(super) struct Block {
    pack: ListpackBuf,
}

impl Counted for Block {
    fn heap_bytes(&self) -> usize {
        allocated(self.pack.capacity())
    }
}

impl Block {
    /// Returns a block of one entry, whose ID is the block's.
    pub(super) fn new<'f>(pairs: impl Pairs<'f>) -> Block {
        let mut pack = ListpackBuf::new();
        pack.append(|to| {
            to.int(1);
            to.int(0);
            to.int(pairs.len() as i64);
            pairs.clone().for_each(|(field, _)| to.text(field));
            to.int(0);
            append_entry(to, (0, 0), true, pairs);
        });
        Block { pack }
    }

    /// Adds an entry behind the others.
    pub(super) fn push<'f>(&mut self, master: StreamId, id: StreamId, pairs: impl Pairs<'f>) {
        let block = self.read(master);
        let is_same = block.has_fields(pairs.clone());
        let live = block.live + 1;
        self.set_count(0, live);
        self.pack
            .append(|to| append_entry(to, id.minus(master), is_same, pairs));
    }

    /// Sets the first or second element.
    fn set_count(&mut self, index: i64, count: u64) {
        if let Some(place) = self.pack.read().seek(index) {
            self.pack.set_int(place, count as i64);
        }
    }

    /// Marks the live entry at a place as deleted.
    pub(super) fn delete(&mut self, master: StreamId, place: Place) {
        self.delete_all(master, core::iter::once(place));
    }

    /// Marks live entries as deleted.
    pub(super) fn delete_all(&mut self, master: StreamId, places: impl Iterator<Item = Place>) {
        let mut count = 0;
        for place in places {
            if let Some((Element::Int(flags), _)) = self.pack.read().at(place) {
                // The flags have one byte, so other places stay valid.
                self.pack.set_int(place, flags | DELETED);
                count += 1;
            }
        }
        let BlockRef { live, deleted, .. } = self.read(master);
        // The second count comes first, because the first may move it.
        self.set_count(1, deleted + count);
        self.set_count(0, live.saturating_sub(count));
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.pack.shrink_to_fit();
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.pack.as_bytes()
    }

    /// Returns the block for reading; `master` is its ID. O(fields of the master entry).
    pub(super) fn read(&self, master: StreamId) -> BlockRef<'_> {
        let pack = self.pack.read();
        let (live, at) = int_at(pack, pack.first());
        let (deleted, at) = int_at(pack, at);
        let (fields, first_field) = int_at(pack, at);
        let fields = usize::try_from(fields).unwrap_or(0);
        BlockRef {
            pack,
            master,
            live: live.cast_unsigned(),
            deleted: deleted.cast_unsigned(),
            fields,
            first_field,
            // The zero after the fields is passed too.
            first: skip(pack, first_field, fields + 1),
        }
    }

    /// The number of live entries. O(1).
    pub(super) fn live(&self) -> u64 {
        let pack = self.pack.read();
        int_at(pack, pack.first()).0.cast_unsigned()
    }

    /// Takes the bytes of a block from outside. Everything is checked: lengths, counts, and that the IDs of live entries
    /// ascend. O(bytes).
    pub(super) fn verify(master: StreamId, bytes: Vec<u8>) -> Option<Block> {
        let pack = ListpackBuf::try_from(bytes).ok()?;
        verify_entries(pack.read(), master)?;
        Some(Block { pack })
    }
}

fn append_entry<'f>(
    to: &mut Appender<'_>,
    (ms, seq): (i64, i64),
    is_same: bool,
    pairs: impl Pairs<'f>,
) {
    let fields = pairs.len() as i64;
    to.int(if is_same { SAME_FIELDS } else { 0 });
    to.int(ms);
    to.int(seq);
    if is_same {
        pairs.for_each(|(_, value)| to.text(value));
        to.int(ENTRY_HEAD + fields);
    } else {
        to.int(fields);
        pairs.for_each(|(field, value)| {
            to.text(field);
            to.text(value);
        });
        to.int(ENTRY_HEAD + 1 + 2 * fields);
    }
}

/// The integer at a place, and the place after it.
fn int_at(pack: Listpack<'_>, place: Place) -> (i64, Place) {
    match pack.at(place) {
        Some((Element::Int(number), next)) => (number, next),
        _ => unreachable!("invariant: the block was checked or written here"),
    }
}

/// The place `count` elements after this one.
pub(super) fn skip(pack: Listpack<'_>, mut place: Place, count: usize) -> Place {
    for _ in 0..count {
        match pack.at(place) {
            Some((_, next)) => place = next,
            None => break,
        }
    }
    place
}

/// A block for reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRef<'b> {
    pack: Listpack<'b>,
    master: StreamId,
    pub(super) live: u64,
    pub(super) deleted: u64,
    /// The number of fields of the master entry.
    fields: usize,
    first_field: Place,
    /// The place of the first entry.
    first: Place,
}

/// An entry in a block, with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'b> {
    pub(super) entry: StreamEntry<'b>,
    pub(super) is_deleted: bool,
    pub(super) place: Place,
}

impl<'b> BlockRef<'b> {
    /// The place of the first entry.
    pub(super) fn start(self) -> Place {
        self.first
    }

    /// The place after the last entry.
    pub(super) fn end(self) -> Place {
        self.pack.end()
    }

    fn has_fields<'f>(self, pairs: impl Pairs<'f>) -> bool {
        if pairs.len() != self.fields {
            return false;
        }
        let mut at = self.first_field;
        for (field, _) in pairs {
            match self.pack.at(at) {
                Some((Element::Bytes(bytes), next)) if bytes == field => at = next,
                Some((Element::Int(number), next))
                    if Element::of(field) == Element::Int(number) =>
                {
                    at = next;
                }
                _ => return false,
            }
        }
        true
    }

    /// The entry at a place; `None` at the end.
    pub(super) fn at(self, place: Place) -> Option<Found<'b>> {
        let (element, at) = self.pack.at(place)?;
        let Element::Int(flags) = element else {
            unreachable!("invariant: the block was checked or written here");
        };
        let (ms, at) = int_at(self.pack, at);
        let (seq, at) = int_at(self.pack, at);
        let fields = if flags & SAME_FIELDS != 0 {
            StreamFields::new(self.pack, Some(self.first_field), at, self.fields)
        } else {
            let (fields, at) = int_at(self.pack, at);
            StreamFields::new(self.pack, None, at, usize::try_from(fields).unwrap_or(0))
        };
        Some(Found {
            entry: StreamEntry::new(self.master.plus(ms, seq), fields),
            is_deleted: flags & DELETED != 0,
            place,
        })
    }

    /// The place after an entry.
    pub(super) fn after(self, found: &Found<'b>) -> Place {
        // The number of elements is passed too.
        skip(
            self.pack,
            found.entry.fields().place(),
            found.entry.fields().elements() + 1,
        )
    }

    /// The entry before a place; `None` at the start.
    pub(super) fn before(self, place: Place) -> Option<Found<'b>> {
        if place <= self.first {
            return None;
        }
        let mut at = self.pack.before(place)?;
        let (elements, _) = int_at(self.pack, at);
        for _ in 0..elements {
            at = self.pack.before(at)?;
        }
        self.at(at)
    }

    /// The live entries between two places.
    pub(super) fn between(self, from: Place, to: Place) -> impl Iterator<Item = Found<'b>> {
        let mut place = from;
        core::iter::from_fn(move || {
            loop {
                let found = self.at(place).filter(|_| place < to)?;
                place = self.after(&found);
                if !found.is_deleted {
                    return Some(found);
                }
            }
        })
    }

    /// The live entries between two places, from the last to the first.
    pub(super) fn between_reversed(
        self,
        from: Place,
        to: Place,
    ) -> impl Iterator<Item = Found<'b>> {
        let mut place = to;
        core::iter::from_fn(move || {
            loop {
                let found = self.before(place).filter(|_| place > from)?;
                place = found.place;
                if !found.is_deleted {
                    return Some(found);
                }
            }
        })
    }

    /// The last live entry.
    pub(super) fn last(self) -> Option<Found<'b>> {
        self.between_reversed(self.first, self.end()).next()
    }

    /// The first live entry.
    pub(super) fn first(self) -> Option<Found<'b>> {
        self.between(self.first, self.end()).next()
    }

    /// The place of the first live entry whose ID is at least `id`, and the number of live entries before it.
    /// O(entries from the nearer end).
    pub(super) fn position(self, id: StreamId) -> (Place, u64) {
        if id <= self.master {
            return (self.first, 0);
        }
        let Some(last) = self.last().filter(|last| last.entry.id() >= id) else {
            return (self.end(), self.live);
        };
        if is_nearer_to(id, self.master, last.entry.id()) {
            let mut ranked = (0..).zip(self.between(self.first, self.end()));
            let reached = ranked.find(|(_, found)| found.entry.id() >= id);
            return reached.map_or((self.end(), self.live), |(rank, found)| (found.place, rank));
        }
        let (mut place, mut rank) = (self.end(), self.live);
        for found in self.between_reversed(self.first, self.end()) {
            if found.entry.id() < id {
                break;
            }
            place = found.place;
            rank -= 1;
        }
        (place, rank)
    }
}

/// Returns whether an ID is nearer to the first of two.
fn is_nearer_to(id: StreamId, first: StreamId, last: StreamId) -> bool {
    if first.ms == last.ms {
        return id.seq.saturating_sub(first.seq) < last.seq.saturating_sub(id.seq);
    }
    id.ms.saturating_sub(first.ms) < last.ms.saturating_sub(id.ms)
}

/// Reads a block from outside.
struct Check<'b> {
    pack: Listpack<'b>,
    place: Place,
}

impl Check<'_> {
    fn int(&mut self) -> Option<i64> {
        let (element, next) = self.pack.at(self.place)?;
        self.place = next;
        match element {
            Element::Int(number) => Some(number),
            Element::Bytes(_) => None,
        }
    }

    fn skip(&mut self, count: i64) -> Option<()> {
        for _ in 0..count {
            self.place = self.pack.at(self.place)?.1;
        }
        Some(())
    }
}

fn verify_entries(pack: Listpack<'_>, master: StreamId) -> Option<()> {
    let mut check = Check {
        pack,
        place: pack.first(),
    };
    let (live, deleted, fields) = (check.int()?, check.int()?, check.int()?);
    if live < 0 || deleted < 0 || fields < 0 {
        return None;
    }
    check.skip(fields)?;
    (check.int()? == 0).then_some(())?;
    let (mut found_live, mut found_deleted, mut last) = (0, 0, None);
    while check.place != pack.end() {
        let (flags, ms, seq) = (check.int()?, check.int()?, check.int()?);
        // Flags of more than one byte could not be changed in place.
        if !(0..0x80).contains(&flags) {
            return None;
        }
        let elements = if flags & SAME_FIELDS != 0 {
            fields
        } else {
            let fields = check.int().filter(|fields| *fields >= 0)?;
            fields.checked_mul(2)?
        };
        check.skip(elements)?;
        let own = i64::from(flags & SAME_FIELDS == 0);
        (check.int()? == ENTRY_HEAD + own + elements).then_some(())?;
        if flags & DELETED != 0 {
            found_deleted += 1;
            continue;
        }
        let id = master.plus(ms, seq);
        if id < master || last.is_some_and(|last| last >= id) || id == StreamId::MIN {
            return None;
        }
        last = Some(id);
        found_live += 1;
    }
    (found_live == live && found_deleted == deleted).then_some(())
}
