//! One file: what programs see, what is on the medium, and what a power cut makes of both.

use fastrand::Rng;
use std::collections::BTreeSet;

/// What a disk writes as a whole.
pub(super) const SECTOR_BYTES: usize = 512;

/// The content of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    cache: Vec<u8>,
    medium: Vec<u8>,
    /// Sectors that the next sync writes.
    dirty: BTreeSet<usize>,
    /// Whether the next sync writes the length.
    len_is_dirty: bool,
}

impl Inode {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.cache
    }

    pub(super) const fn len(&self) -> u64 {
        self.cache.len() as u64
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let start = offset as usize;
        let end = start + bytes.len();
        if end > self.cache.len() {
            self.cache.resize(end, 0);
            self.len_is_dirty = true;
        }
        self.cache[start..end].copy_from_slice(bytes);
        self.dirty
            .extend(start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES));
    }

    pub(super) fn truncate(&mut self, len: u64) {
        self.cache.truncate(len as usize);
        self.len_is_dirty = true;
        let sectors = self.cache.len().div_ceil(SECTOR_BYTES);
        self.dirty.retain(|sector| *sector < sectors);
        // The sector of the new end is written again, so that nothing is behind it.
        self.dirty.insert(self.cache.len() / SECTOR_BYTES);
    }

    pub(super) fn sync(&mut self) {
        for sector in std::mem::take(&mut self.dirty) {
            self.write_back(sector);
        }
        if std::mem::take(&mut self.len_is_dirty) {
            self.medium.resize(self.cache.len(), 0);
        }
    }

    /// A sync that fails: some sectors are written, all count as clean from now on.
    pub(super) fn fail_to_sync(&mut self, rng: &mut Rng) {
        for sector in std::mem::take(&mut self.dirty) {
            if rng.bool() {
                self.write_back(sector);
            }
        }
        self.len_is_dirty = false;
        if rng.bool() {
            self.medium.resize(self.cache.len(), 0);
        }
    }

    fn write_back(&mut self, sector: usize) {
        let start = sector * SECTOR_BYTES;
        let end = self.cache.len().min(start + SECTOR_BYTES);
        if start >= end {
            return;
        }
        if self.medium.len() < end {
            self.medium.resize(end, 0);
        }
        self.medium[start..end].copy_from_slice(&self.cache[start..end]);
    }

    /// The power is cut: each sector that is not on the medium is there nevertheless, or is not, or
    /// reads as zeros where nothing was before; and the length is any between the two.
    pub(super) fn lose_power(&mut self, rng: &mut Rng) {
        let (old, new) = (self.medium.len(), self.cache.len());
        let mode = rng.u8(0..4);
        let len = match mode {
            0 => old,
            1 => new,
            _ => rng.usize(old.min(new)..=old.max(new)),
        };
        let mut after = self.medium.clone();
        after.resize(len, 0);
        let kept = rng.u8(0..=4);
        for sector in 0..len.div_ceil(SECTOR_BYTES) {
            let start = sector * SECTOR_BYTES;
            let end = len.min(start + SECTOR_BYTES).min(new);
            if start >= end || rng.u8(0..4) >= kept {
                continue;
            }
            after[start..end].copy_from_slice(&self.cache[start..end]);
        }
        self.cache.clone_from(&after);
        self.medium = after;
        self.dirty.clear();
        self.len_is_dirty = false;
    }
}
