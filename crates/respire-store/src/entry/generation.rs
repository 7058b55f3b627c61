//! The word of an entry beside its tag: the access clock in the low 31 bits, and the generation in the highest one.

use core::sync::atomic::Ordering;

use super::{Body, Entry, Full};

/// One of two generations of entries and units. While no cut is running, all entries have the same one. A cut changes
/// the generation of the units that come after it, so an entry of the other generation still belongs to the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Generation(u32);

impl Generation {
    /// The bit of an entry's word, and of a shard's hook word.
    pub(crate) const BIT: u32 = 1 << 31;

    /// Returns the generation that is in this word.
    #[inline(always)]
    pub(crate) fn of(word: u32) -> Generation {
        Generation(word & Generation::BIT)
    }

    /// Returns the word that has only this generation.
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// Returns the other generation.
    pub(crate) fn other(self) -> Generation {
        Generation(self.0 ^ Generation::BIT)
    }
}

impl Entry {
    /// Returns the access clock and the generation.
    #[inline(always)]
    pub(super) fn word(&self) -> u32 {
        self.meta().1.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn clock(&self) -> u32 {
        self.word() & !Generation::BIT
    }

    /// Records an access. Concurrent readers may overwrite each other's record. The generation stays: it changes only
    /// under the write lock, which no reader holds.
    #[inline(always)]
    pub(crate) fn set_clock(&self, clock: u32) {
        debug_assert_eq!(clock & Generation::BIT, 0);
        let (_, word) = self.meta();
        let generation = word.load(Ordering::Relaxed) & Generation::BIT;
        word.store(generation | clock, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn generation(&self) -> Generation {
        Generation::of(self.word())
    }

    pub(crate) fn set_generation(&mut self, generation: Generation) {
        let word = self.clock() | generation.bits();
        self.meta().1.store(word, Ordering::Relaxed);
    }

    /// Returns a copy of the whole entry. It shares large strings, and the parts of other large values.
    pub(crate) fn image(&mut self) -> Entry {
        self.share();
        let (tag, word) = (self.tag(), self.word());
        match self.body() {
            Body::Cell(cell) => {
                let copy = Entry::with_cell(cell.len(), tag, word);
                copy.filled(cell)
            }
            Body::Full(full) => {
                let Full {
                    key,
                    expires_at,
                    value,
                } = full;
                Entry::of_full(
                    Full {
                        key: key.clone(),
                        expires_at: *expires_at,
                        value: value.to_new().into_value(),
                    },
                    tag,
                    word,
                )
            }
        }
    }

    /// Returns the bytes that a copy of the entry does not share with it.
    pub(crate) fn cell_bytes(&self) -> usize {
        match self.body() {
            Body::Cell(cell) => cell.len(),
            Body::Full(full) => size_of::<Full>() + full.key.len(),
        }
    }
}
