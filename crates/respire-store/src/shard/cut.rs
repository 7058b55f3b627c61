//! Hands the old states of entries to a running cut, before they are changed.

use super::ShardMut;
use crate::database::{Cleared, Database};
use crate::entry::{Entry, Generation};
use crate::observe::{CUT, Unit};

/// Hands the state of an entry to the cut, if the unit comes after the cut and the entry is from before. Its shard is
/// locked, and has a cut.
#[cold]
#[inline(never)]
pub(super) fn keep(db: &Database, unit: &Unit, entry: &mut Entry) {
    let generation = unit.ticket(&db.observers).generation();
    db.images.keep(generation, db.number, entry);
}

impl ShardMut<'_> {
    /// Returns the word of a new entry that has this access clock.
    #[inline]
    pub(crate) fn word(&self, clock: u32) -> u32 {
        let generation = self.side.hooks.generation();
        clock | generation.unwrap_or_else(|| self.unit_generation()).bits()
    }

    #[cold]
    #[inline(never)]
    fn unit_generation(&self) -> Generation {
        self.unit.ticket(&self.db.observers).generation()
    }
}

impl Database {
    /// Hands the contents of a shard that was cleared to the cut, if one needs them. Returns what it does not need.
    pub(crate) fn keep_cleared(&self, index: usize, unit: &Unit, cleared: Cleared) -> Cleared {
        let Cleared { table, deadlines } = cleared;
        if !self.side(index).hooks.has(CUT) || table.is_empty() {
            return Cleared { table, deadlines };
        }
        let generation = unit.ticket(&self.observers).generation();
        Cleared {
            table: self.images.keep_table(generation, self.number, table),
            deadlines,
        }
    }

    /// Tells the cut, if there is one, that this database was exchanged with another one. All shards of both are locked.
    pub(crate) fn keep_swapped(&self, unit: &Unit, other: &Database) {
        if self.side(0).hooks.has(CUT) {
            let generation = unit.ticket(&self.observers).generation();
            self.images.swapped(generation, self.number, other.number);
        }
    }
}
