//! One database: its shards, and beside each shard its counters, deadlines and watches.

mod deadlines;
mod garbage;
mod recount;
mod side;
mod waiters;
mod watch;

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use ahash::RandomState;
use dashmap::RwLock;

use crate::images::Images;
use crate::observe::{Effect, Interest, Observers, Unit, Unreported};
use crate::raw;
use crate::table::{Shards, Table, Whereabouts};
use crate::types::LimitTable;

pub(crate) use deadlines::Deadlines;
pub use garbage::Freeing;
pub(crate) use garbage::{Cleared, Garbage, QUEUED_BYTES_MIN};
pub(crate) use side::{GAUGE_STEP, Side, bump};
pub(crate) use waiters::{Queued, Waiters};
pub use waiters::{Served, Wait};
pub use watch::Watch;
use watch::Watches;

/// One database.
pub(crate) struct Database {
    pub(crate) number: u32,
    shards: Shards,
    hasher: RandomState,
    sides: Arc<[Side]>,
    /// 32 less the logarithm of the number of shards.
    shard_shift: u32,
    /// The address of each shard's table. They lie close together, for looking ahead.
    whereabouts: Box<[Whereabouts]>,
    pub(crate) watches: Arc<Watches>,
    pub(crate) waiters: Arc<Waiters>,
    /// Bytes used by all databases, to within [`GAUGE_STEP`] per shard.
    pub(crate) gauge: Arc<AtomicUsize>,
    /// Removed entries of all databases that have yet to be freed.
    pub(crate) garbage: Arc<Garbage>,
    pub(crate) observers: Arc<Observers>,
    /// What is handed to a running cut.
    pub(crate) images: Arc<Images>,
    /// The limits of the packed form of each type.
    pub(crate) limits: Arc<LimitTable>,
}

/// The state that all databases of a store share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) hasher: RandomState,
    pub(crate) gauge: Arc<AtomicUsize>,
    pub(crate) garbage: Arc<Garbage>,
    pub(crate) observers: Arc<Observers>,
    /// What is handed to a running cut.
    pub(crate) images: Arc<Images>,
    /// The limits of the packed form of each type.
    pub(crate) limits: Arc<LimitTable>,
}

impl Shared {
    pub(crate) fn new(hasher: RandomState, seed: [u64; 4], databases: u32) -> Shared {
        Shared {
            hasher,
            gauge: Arc::default(),
            garbage: Arc::default(),
            observers: Arc::default(),
            images: Arc::new(Images::new(databases)),
            limits: Arc::new(LimitTable::new(seed)),
        }
    }
}

impl Database {
    pub(crate) fn new(
        number: u32,
        shards: usize,
        capacity: usize,
        hooks: u32,
        shared: Shared,
    ) -> Database {
        let Shared {
            hasher,
            gauge,
            garbage,
            observers,
            images,
            limits,
        } = shared;
        let sides: Arc<[Side]> = (0..shards)
            .map(|shard| Side::new(hasher.hash_one(shard), hooks))
            .collect();
        let watches = Arc::new(Watches::new(Arc::clone(&sides), hasher.clone()));
        let waiters = Arc::new(Waiters::new(Arc::clone(&sides), hasher.clone()));
        let db = Database {
            number,
            shards: Shards::new(shards, capacity),
            hasher,
            sides,
            shard_shift: u32::BITS - shards.trailing_zeros(),
            whereabouts: (0..shards).map(|_| Whereabouts::default()).collect(),
            watches,
            waiters,
            gauge,
            garbage,
            observers,
            images,
            limits,
        };
        for index in 0..shards {
            db.resized(index, &db.lock(index).read());
        }
        db
    }

    #[inline]
    pub(crate) fn lock(&self, shard: usize) -> &RwLock<Table> {
        self.shards.lock(shard)
    }

    #[inline]
    pub(crate) fn side(&self, shard: usize) -> &Side {
        &self.sides[shard]
    }

    #[inline]
    pub(crate) fn whereabouts(&self, shard: usize) -> &Whereabouts {
        &self.whereabouts[shard]
    }

    pub(crate) fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// Returns the shard of a hash. Its upper bits choose the shard, and higher shards get more keys
    /// ([`uneven`]).
    #[inline]
    pub(crate) fn shard_of(&self, hash: u64) -> usize {
        // The highest seven bits are left out: the table distinguishes entries of one home by them.
        let fraction = (hash << 7) >> 32;
        (uneven(fraction) >> self.shard_shift) as usize
    }

    /// Returns how many of this many keys each shard gets, on average.
    pub(crate) fn shares(&self, keys: usize) -> Vec<usize> {
        const SAMPLES: u64 = 64;
        let shards = self.sides.len() as u64;
        let mut counts = vec![0_u64; self.sides.len()];
        for sample in 0..shards * SAMPLES {
            let fraction = ((2 * sample + 1) << 31) / (shards * SAMPLES);
            counts[(uneven(fraction) >> self.shard_shift) as usize] += 1;
        }
        let share = |count: u64| u128::from(count) * keys as u128 / u128::from(shards * SAMPLES);
        counts
            .into_iter()
            .map(|count| share(count) as usize)
            .collect()
    }

    pub(crate) fn hasher(&self) -> &RandomState {
        &self.hasher
    }

    pub(crate) fn keys(&self) -> usize {
        self.sides
            .iter()
            .map(|side| side.keys.load(Ordering::Acquire))
            .sum()
    }

    /// Begins to load the memory that a search for `hash` reads first.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let shard = self.shard_of(hash);
        raw::prefetch(core::ptr::from_ref(self.lock(shard)).addr());
        raw::prefetch(core::ptr::from_ref(self.side(shard)).addr());
        self.whereabouts(shard).prefetch(hash);
    }

    /// Returns whether observers want every change. All shards' hook words agree on it.
    pub(crate) fn is_observed(&self) -> bool {
        self.side(0).hooks.has(Interest::EFFECTS.bits())
    }

    /// Reports a change of the whole database to observers. All its shards must be locked, and its
    /// watches already marked.
    pub(crate) fn report_whole(&self, unit: &Unit, effect: Effect<'_>, _: Unreported) {
        if self.is_observed() {
            unit.effect(&self.observers, effect);
        }
    }

    /// Updates the counters and the address of a shard's table after its size may have changed.
    #[inline]
    pub(crate) fn resized(&self, index: usize, table: &Table) {
        self.whereabouts(index).note_if_moved(table);
        self.side(index).note_size(table, &self.gauge);
    }

    /// Exchanges a shard's counters and deadlines with another database's, as their tables are exchanged.
    pub(crate) fn swap_side(&self, other: &Database, shard: usize) {
        let (ours, theirs) = (self.side(shard), other.side(shard));
        for (a, b) in ours.contents().into_iter().zip(theirs.contents()) {
            b.store(
                a.swap(b.load(Ordering::Relaxed), Ordering::Release),
                Ordering::Release,
            );
        }
        for (a, b) in [
            (&ours.expires_sum, &theirs.expires_sum),
            (&ours.next_deadline, &theirs.next_deadline),
        ] {
            b.store(
                a.swap(b.load(Ordering::Relaxed), Ordering::Release),
                Ordering::Release,
            );
        }
        core::mem::swap(&mut *ours.deadlines.write(), &mut *theirs.deadlines.write());
    }
}

/// Maps a fraction of 2^32 to another one, so that evenly spread input is half as dense at the low end
/// as at the high end of the output, and about even in its logarithm in between.
///
/// Tables double. If all shards had the same size, they would all double together: at worst all would
/// be less than half full, and all would pause requests at the same time. So the sizes of shards are
/// spread over a factor of two, by which a table grows. At any time some shards are nearly full and
/// some have just grown, and together they take about the average memory.
#[inline(always)]
fn uneven(fraction: u64) -> u64 {
    // log2(1 + x) is x + 0.344 x (1 - x), nearly enough.
    const BEND: u64 = (0.344 * 65536.0) as u64;
    let arc = (fraction * ((1 << 32) - fraction)) >> 32;
    fraction + ((arc * BEND) >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use crate::{Config, Expiry, Freeing, Scope, Store, View};

    /// Checks the counters and deadlines of every shard against its table.
    fn recount(store: &Store) {
        for db in store.existing() {
            for (index, side) in db.sides().iter().enumerate() {
                let table = db.lock(index).read();
                db.recount_now(index, &table);
                recount::check_deadlines(side, &table, &side.deadlines.read(), db.hasher());
            }
        }
    }

    #[test]
    fn shards_differ_in_size_by_a_factor_of_two() {
        let store = Store::new(Config {
            shards: 64,
            ..Config::default()
        });
        let db = store.database(0);
        let mut counts = [0; 64];
        for step in 0..640_000_u64 {
            counts[db.shard_of(mix(step))] += 1;
        }
        assert_eq!((db.shard_of(0), db.shard_of(u64::MAX)), (0, 63));
        let (first, last) = (f64::from(counts[0]), f64::from(counts[63]));
        assert!((1.7..2.4).contains(&(last / first)), "{counts:?}");
        let is_rising = |pair: &[i32]| f64::from(pair[1]) > 0.9 * f64::from(pair[0]);
        assert!(counts.windows(2).all(is_rising), "{counts:?}");
    }

    #[test]
    fn counters_agree_with_a_recount() {
        let config = Config {
            databases: 3,
            shards: 4,
            capacity: 100,
            seed: [1, 2, 3, 4],
            ..Config::default()
        };
        let store = Store::new(config);
        recount(&store);
        for step in 0..3_000_u64 {
            let random = mix(step);
            let (db, key) = ((random % 3) as u32, (random >> 8) as u8 % 200);
            let mut view = store.view(db, step);
            view.update(&[key], |slot| match random >> 32 & 7 {
                0 => slot.set(vec![b'x'; (random >> 40) as usize % 2_000], Expiry::Keep),
                1 | 2 => slot.set(random as i64, Expiry::At(step + (random >> 50))),
                3 => slot.edit_string(|bytes| bytes.extend_from_slice(&[b'y'; 300])),
                4 => drop(slot.set_expiry(Some(step + 10))),
                5 => drop(slot.set_expiry(None)),
                6 => drop(slot.remove()),
                _ => slot.set([b'z'; 20_000].to_vec(), Expiry::Clear),
            });
            match random >> 20 & 127 {
                0 => view.swap(0, 1),
                1 => drop(view.flush(Freeing::InSteps)),
                2..10 => drop(store.sweep(step, 5)),
                10 => {
                    let flush = |view: &mut View<'_>| view.flush_all(Freeing::AtOnce);
                    assert!(view.locked(&Scope::Everything, flush) <= 600);
                }
                _ => {}
            }
            if step.is_multiple_of(50) {
                recount(&store);
            }
        }
        recount(&store);
    }

    #[test]
    fn table_with_more_buckets_than_tags_cover_finds_its_keys() {
        let store = Store::new(Config {
            databases: 1,
            shards: 2,
            ..Config::default()
        });
        // Those of the second shard.
        let keys = || {
            let is_here = |key: &u32| {
                let hash = store.hash(&key.to_le_bytes());
                store.database(0).shard_of(hash) == 1
            };
            (0..270_000_u32).filter(is_here)
        };
        for key in keys() {
            store.view(0, 0).update(&key.to_le_bytes(), |slot| {
                slot.set(i64::from(key), Expiry::Clear)
            });
        }
        assert!(store.database(0).side(1).buckets() > 1 << 17);
        let found = keys().filter(|key| {
            store
                .view(0, 0)
                .read(&key.to_le_bytes(), |entry| entry.is_some())
        });
        assert_eq!(found.count(), keys().count());
        let (mut given, mut cursor) = (0, 0);
        for _ in 0..5 {
            cursor = store.view(0, 0).scan(cursor, 10, |_, _| given += 1);
        }
        assert!((50..100).contains(&given), "{given}");
    }
}
