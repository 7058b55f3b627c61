//! Keys whose time has come: the sweep follows the shards' deadlines to them.
//!
//! Whether a key has expired is decided when it is read; the sweep only frees memory.

use core::sync::atomic::Ordering;

use super::Store;
use crate::database::Database;

/// What [`Store::sweep`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Keys removed because their time had come.
    pub expired: usize,
    /// Whether every due key has been removed and what was removed has been freed;
    /// otherwise the budget was used up and the sweep should be called again soon.
    pub finished: bool,
    /// When the next key may be due, in unix milliseconds, if any has an expiry. It is never too late, and
    /// may be too early: by up to the time to the key's expiry, and more where that has been put off. A key
    /// makes it too early a few times in its life, the later ones by less and less.
    pub next_ms: Option<u64>,
}

/// Keys freed for each deadline that might be looked at: it is so much less work.
pub(crate) const FREED_PER_DEADLINE: usize = 4;

/// Deadlines looked at before a shard's lock is let go.
const HOLD_MAX: usize = 64;

/// A shard is shrunk when its table has more than this many buckets for each key, or its index
/// this many bytes for each key with an expiry, not counting the first few.
const SHRINK_BUCKETS_PER_KEY: usize = 16;
const SHRINK_INDEX_BYTES_PER_KEY: usize = 256;
const SHRINK_BUCKETS_MIN: usize = 64;
const SHRINK_INDEX_BYTES_MIN: usize = 4096;

impl Store {
    /// Removes keys whose time has come; frees some of what [`Freeing::InSteps`](crate::Freeing) left
    /// to it, which takes no longer; and gives back the memory of at most one table that has become
    /// much too large. It looks up no more than `budget` keys, which is what it costs. Some are not due
    /// yet: deadlines are kept the more roughly, the further off they are, and put in order as they
    /// come near. No more than one shard is locked at a time, and never for long.
    ///
    /// Call it from time to time: when [`Swept::next_ms`] has come, or again at once if it was not
    /// [finished](Swept::finished). The work goes round the shards, so none is starved.
    pub fn sweep(&self, now_ms: u64, budget: usize) -> Swept {
        let mut swept = Swept::default();
        let is_clean = self
            .garbage()
            .free(budget.saturating_mul(FREED_PER_DEADLINE));
        if !self.active_expiry() {
            return Swept {
                finished: is_clean,
                ..swept
            };
        }
        let shards = self.shards();
        let places = self.databases() as usize * shards;
        let start = self.sweep_from.load(Ordering::Relaxed);
        let (mut left, mut may_shrink) = (budget, true);
        for place in (start..places).chain(0..start.min(places)) {
            let Some(db) = self.existing_database((place / shards) as u32) else {
                continue;
            };
            let index = place % shards;
            while left > 0 && db.side(index).next_deadline.load(Ordering::Acquire) <= now_ms {
                let (looked_at, expired) = sweep_shard(db, index, now_ms, left.min(HOLD_MAX));
                left -= looked_at.clamp(1, left);
                swept.expired += expired;
            }
            if may_shrink && is_too_large(db, index) {
                db.with_shard(index, |shard| shard.at(now_ms).shrink());
                may_shrink = false;
            }
            if left == 0 {
                self.sweep_from.store(place + 1, Ordering::Relaxed);
                break;
            }
        }
        let deadlines = self
            .existing()
            .flat_map(Database::sides)
            .map(|side| side.next_deadline.load(Ordering::Acquire));
        let next = deadlines.min().unwrap_or(u64::MAX);
        // A large value that expired just now is to be freed, too.
        let is_clean = is_clean && self.garbage().pending() == 0;
        swept.finished = is_clean && next > now_ms;
        swept.next_ms = (next != u64::MAX).then_some(next);
        swept
    }
}

/// Looks at up to `count` deadlines of a shard: how many were due, and how many keys that removed.
fn sweep_shard(db: &Database, index: usize, now_ms: u64, count: usize) -> (usize, usize) {
    db.with_shard(index, |mut shard| {
        let side = db.side(index);
        let mut deadlines = side.deadlines.write();
        let (mut looked_at, mut expired) = (0, 0);
        while looked_at < count
            && let Some(part) = deadlines.pop(now_ms)
        {
            looked_at += 1;
            let (is_expired, next) = shard.expire_part(part, now_ms);
            expired += usize::from(is_expired);
            if let Some(at) = next {
                deadlines.push(part, at, now_ms);
            }
        }
        side.note_deadlines(&deadlines, &db.gauge);
        shard.recount_deadlines(&deadlines);
        (looked_at, expired)
    })
}

/// Whether a shard's table or index has far more room than it needs. Looks at counters only.
fn is_too_large(db: &Database, index: usize) -> bool {
    let side = db.side(index);
    let (keys, expires) = (
        side.keys.load(Ordering::Relaxed),
        side.expires.load(Ordering::Relaxed),
    );
    side.buckets() > SHRINK_BUCKETS_MIN + keys * SHRINK_BUCKETS_PER_KEY
        || side.index_bytes.load(Ordering::Relaxed)
            > SHRINK_INDEX_BYTES_MIN + expires * SHRINK_INDEX_BYTES_PER_KEY
}

#[cfg(test)]
mod tests;
