//! Trims a stream: removes its first entries.

use super::block::{Block, BlockRef};
use super::parts::StreamParts;
use super::references::References;
use super::{Stream, StreamId};
use crate::packed::listpack::Place;
use crate::types::Step;
use crate::types::changes::{is_noted, note, spoil};
use crate::visits::visited;

/// What a trim keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The last entries, so many.
    Last(u64),
    /// The entries with this ID or a larger one.
    From(StreamId),
}

/// How a stream is trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trim {
    /// What is kept.
    pub keep: Keep,
    /// Whether only whole blocks are removed, which costs little.
    pub is_approximate: bool,
    /// The largest number of entries to remove.
    pub entries_max: u64,
    /// What becomes of references to the entries.
    pub references: References,
}

/// What a trim removed.
#[derive(Debug, Default)]
pub struct Trimmed {
    /// The number of entries.
    pub entries: u64,
    /// What is left to free.
    pub parts: StreamParts,
}

/// A trim that is carried out in steps, by [`Stream::trim_some`].
#[derive(Debug, Clone, Copy)]
pub struct Trimming {
    /// Its largest number of entries is what is left of it.
    trim: Trim,
    /// The largest number of entries that the rest of the trim removes. Entries that are added between two steps
    /// do not prolong it.
    excess_max: u64,
    /// The entries before this one were looked at.
    from: StreamId,
    /// The last entry that was removed although others before it may have been kept.
    last_removed: StreamId,
    is_over: bool,
}

impl Trimming {
    /// Returns a trim before its first step.
    #[must_use]
    pub fn new(trim: Trim) -> Self {
        Self {
            trim,
            excess_max: u64::MAX,
            from: StreamId::MIN,
            last_removed: StreamId::MIN,
            is_over: false,
        }
    }

    /// Returns whether there is no more to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Notes that so many entries were removed.
    fn removed(&mut self, entries: u64) {
        self.trim.entries_max = self.trim.entries_max.saturating_sub(entries);
        self.excess_max = self.excess_max.saturating_sub(entries);
    }
}

impl Stream {
    /// Removes the first entries. O(blocks removed), and O(block) if a part of one is removed. If references are deleted
    /// or respected, it is O(entries looked at), and O(log n) for each in each group.
    ///
    /// ```
    /// use respire_store::{Keep, Kind, References, Stream, StreamId, Trim};
    ///
    /// let mut stream = Stream::default();
    /// for ms in 1..=10 {
    ///     let pairs = [(&b"n"[..], &b"1"[..])];
    ///     stream.add(StreamId { ms, seq: 0 }, pairs.into_iter(), &Stream::LIMITS);
    /// }
    /// let trim = Trim {
    ///     keep: Keep::Last(4),
    ///     is_approximate: false,
    ///     entries_max: u64::MAX,
    ///     references: References::Keep,
    /// };
    /// assert_eq!(stream.trim(&trim).entries, 6);
    /// assert_eq!(stream.marks().first_id, StreamId { ms: 7, seq: 0 });
    /// ```
    pub fn trim(&mut self, trim: &Trim) -> Trimmed {
        self.trim_some(&mut Trimming::new(*trim), u64::MAX)
    }

    /// Does the next step of a trim. If references are deleted or respected, it ends after the block in which entries
    /// were looked up in groups so many times, and the trim may not be [over](Trimming::is_over) then; else it is a
    /// whole [`Stream::trim`]. The stream may be changed between two steps.
    ///
    /// ```
    /// use respire_store::{Keep, Kind, References, Stream, StreamId, Trim, Trimming};
    ///
    /// let mut stream = Stream::default();
    /// for ms in 1..=1_000 {
    ///     let pairs = [(&b"n"[..], &b"1"[..])];
    ///     stream.add(StreamId { ms, seq: 0 }, pairs.into_iter(), &Stream::LIMITS);
    /// }
    /// let mut trimming = Trimming::new(Trim {
    ///     keep: Keep::Last(4),
    ///     is_approximate: false,
    ///     entries_max: u64::MAX,
    ///     references: References::Delete,
    /// });
    /// let mut steps = 0;
    /// while !trimming.is_over() {
    ///     assert!(stream.trim_some(&mut trimming, 100).entries <= 200);
    ///     steps += 1;
    /// }
    /// assert!(steps >= 9);
    /// assert_eq!(stream.marks().length, 4);
    /// ```
    pub fn trim_some(&mut self, trimming: &mut Trimming, lookups_max: u64) -> Trimmed {
        trimming.excess_max = self.excess(trimming);
        let trimmed = match trimming.trim.references {
            References::Respect => self.trim_unreferenced(trimming, lookups_max),
            References::Delete => self.trim_first(trimming, lookups_max),
            References::Keep => self.trim_first(trimming, u64::MAX),
        };
        if trimmed.entries > 0 {
            self.find_first();
            if is_noted(self) {
                self.note_trimmed(trimming.last_removed);
            }
        }
        trimmed
    }

    /// Notes that the first entries were removed, up to this one.
    #[cold]
    fn note_trimmed(&self, last: StreamId) {
        let first = (self.marks.length > 0).then_some(self.marks.first_id);
        if first.is_some_and(|first| first < last) {
            // Some before it are still needed by groups.
            return spoil();
        }
        note(Step::Trimmed { first });
    }

    fn trim_first(&mut self, trimming: &mut Trimming, lookups_max: u64) -> Trimmed {
        let trim = trimming.trim;
        let (blocks, mut entries) = self.whole_blocks(trimming, lookups_max);
        if trim.references == References::Delete {
            let (removed, is_noted) = (self.blocks.iter().take(blocks), is_noted(self));
            for (master, block) in removed {
                let read = block.read(*master);
                let found = read.between(read.start(), read.end());
                found.for_each(|found| _ = self.groups.forget(found.entry.id(), is_noted));
            }
        }
        let parts = StreamParts::of_blocks(self.blocks.split_first(blocks));
        self.marks.length -= entries;
        trimming.removed(entries);
        let excess = self.excess(trimming);
        let live = self.blocks.get(0).map_or(0, |(_, block)| block.live());
        let is_within = live <= trimming.trim.entries_max;
        if trimming.is_over && !trim.is_approximate && excess > 0 && is_within {
            let more = self.trim_block(&trim, excess);
            trimming.removed(more);
            entries += more;
        }
        Trimmed { entries, parts }
    }

    /// The number of entries that may be removed.
    fn excess(&self, trimming: &Trimming) -> u64 {
        let excess = match trimming.trim.keep {
            Keep::Last(last) => self.marks.length.saturating_sub(last),
            Keep::From(_) => self.marks.length,
        };
        excess.min(trimming.excess_max)
    }

    /// The work of looking up so many entries in all groups.
    fn lookups(&self, entries: u64) -> u64 {
        entries.saturating_mul(self.groups.len().max(1) as u64)
    }

    /// The number of the first blocks that a step removes as a whole, and of their entries. The trim is over unless more
    /// of them could be removed.
    fn whole_blocks(&self, trimming: &mut Trimming, lookups_max: u64) -> (usize, u64) {
        let (trim, excess) = (trimming.trim, self.excess(trimming));
        let (mut blocks, mut entries, mut is_over) = (0, 0, true);
        while let Some((_, block)) = self.blocks.get(blocks) {
            let live = block.live();
            let is_within = live <= trim.entries_max.saturating_sub(entries);
            if entries == excess || !is_within || !self.is_whole(blocks, &trim, excess - entries) {
                break;
            }
            if self.lookups(entries) >= lookups_max {
                is_over = false;
                break;
            }
            entries += live;
            blocks += 1;
        }
        trimming.is_over = is_over;
        visited(match trim.references {
            References::Keep => blocks,
            References::Delete | References::Respect => entries as usize,
        });
        (blocks, entries)
    }

    /// Whether all entries of a block may be removed.
    fn is_whole(&self, at: usize, trim: &Trim, excess: u64) -> bool {
        let Some((master, block)) = self.blocks.get(at) else {
            return false;
        };
        let from = match trim.keep {
            Keep::Last(_) => return block.live() <= excess,
            Keep::From(from) => from,
        };
        if let Some((next, _)) = self.blocks.get(at + 1)
            && *next <= from
        {
            return true;
        }
        let read = block.read(*master);
        // Redis takes deleted entries into account where it removes only whole blocks.
        let last = match trim.is_approximate {
            true => read.before(read.end()),
            false => read.last(),
        };
        last.is_none_or(|last| last.entry.id() < from)
    }

    /// Removes entries of the first block, of which some remain. Returns their number.
    fn trim_block(&mut self, trim: &Trim, excess: u64) -> u64 {
        let Some((master, block)) = self.blocks.get(0) else {
            return 0;
        };
        let (master, read) = (*master, block.read(*master));
        let (mut places, is_noted) = (Vec::new(), is_noted(self));
        let found = read.between(read.start(), read.end());
        for found in found.take(usize::try_from(excess).unwrap_or(usize::MAX)) {
            let id = found.entry.id();
            if matches!(trim.keep, Keep::From(from) if id >= from) {
                break;
            }
            if trim.references == References::Delete {
                self.groups.forget(id, is_noted);
            }
            places.push(found.place);
        }
        let count = places.len() as u64;
        if count > 0 {
            self.blocks
                .edit(0, |block| block.delete_all(master, places.into_iter()));
            self.marks.length -= count;
        }
        count
    }

    /// Removes the first entries that no group needs.
    fn trim_unreferenced(&mut self, trimming: &mut Trimming, lookups_max: u64) -> Trimmed {
        let (trim, mut looked_at, mut trimmed) = (trimming.trim, 0, Trimmed::default());
        let read_by_all = self.groups.read_by_all();
        let mut at = self.blocks.find(trimming.from);
        let is_before = |(first, _): &(StreamId, _)| *first < trimming.from;
        at += usize::from(self.blocks.get(at).is_some_and(is_before));
        trimming.is_over = true;
        while let Some((master, block)) = self.blocks.get(at) {
            let (master, live, excess) = (*master, block.live(), self.excess(trimming));
            let is_within = live <= trimming.trim.entries_max;
            if excess == 0 || !is_within || master > read_by_all {
                break;
            }
            let is_whole = self.is_whole(at, &trim, excess);
            if !is_whole && trim.is_approximate {
                break;
            }
            if self.lookups(looked_at) >= lookups_max {
                (trimming.from, trimming.is_over) = (master, false);
                break;
            }
            let (places, last) = self.unreferenced(block.read(master), &trim, excess);
            trimming.last_removed = last.unwrap_or(trimming.last_removed);
            looked_at += live;
            visited(live as usize);
            let count = places.len() as u64;
            trimmed.entries += count;
            self.marks.length -= count;
            trimming.removed(count);
            if count == live {
                self.blocks.remove(at);
                continue;
            }
            if count > 0 {
                let delete = |block: &mut Block| block.delete_all(master, places.into_iter());
                self.blocks.edit(at, delete);
            }
            if !is_whole && matches!(trim.keep, Keep::From(_)) {
                break;
            }
            at += 1;
        }
        trimmed
    }

    /// The places of the first entries of a block that may be removed and that no group needs, and the last of them.
    fn unreferenced(
        &self,
        block: BlockRef<'_>,
        trim: &Trim,
        excess: u64,
    ) -> (Vec<Place>, Option<StreamId>) {
        let mut last = None;
        let found = block.between(block.start(), block.end());
        let first = found.take_while(|found| match trim.keep {
            Keep::Last(_) => true,
            Keep::From(from) => found.entry.id() < from,
        });
        let free = first.filter(|found| !self.is_referenced(found.entry.id()));
        let free = free.take(usize::try_from(excess).unwrap_or(usize::MAX));
        let places = free.map(|found| {
            last = Some(found.entry.id());
            found.place
        });
        (places.collect(), last)
    }
}
