//! The sweep: removes expired keys, which it finds by the shards' deadlines.
//!
//! Reads decide by themselves whether a key has expired, so the sweep only frees memory.

use core::sync::atomic::Ordering;

use super::Store;
use crate::database::Database;

/// The result of [`Store::sweep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Number of keys removed because they had expired.
    pub expired: usize,
    /// Every due key has been removed, and all removed values have been freed. If false, the budget was
    /// used up, and the sweep should be called again soon. Keys whose shards were locked do not count:
    /// they only make [`Swept::next_ms`] early.
    pub finished: bool,
    /// When the next key may be due, in unix milliseconds; `None` if no key has an expiry and no waiter a time
    /// ([`View::rouse_at`](crate::View::rouse_at)). It is never too
    /// late, except for due keys whose shards were locked: these are tried again after 10 ms. It may be too
    /// early: by up to the key's time to live, or more if its expiry was put off. Each key makes it too early
    /// only a few times, and each time by less.
    pub next_ms: Option<u64>,
}

/// Keys freed per deadline of the budget: freeing a key is that much less work than a deadline.
pub(crate) const FREED_PER_DEADLINE: usize = 4;

/// Deadlines processed before a shard's lock is released.
const HOLD_MAX: usize = 64;

/// A shard is shrunk if its table has more than this many buckets per key, or its index of expiries more
/// than this many bytes per key with an expiry, in each case beyond the minimum below.
const SHRINK_BUCKETS_PER_KEY: usize = 16;
const SHRINK_INDEX_BYTES_PER_KEY: usize = 256;
const SHRINK_BUCKETS_MIN: usize = 64;
const SHRINK_INDEX_BYTES_MIN: usize = 4096;

/// A shard that was locked is swept again after this time.
const LOCKED_RETRY_MS: u64 = 10;

impl Store {
    /// Does one bounded step of upkeep. It removes expired keys; calls waiters whose time has come; frees some of the removed values that wait
    /// to be freed ([`Freeing::InSteps`](crate::Freeing), and large values); and shrinks at most one table
    /// that has become much too large. O(`budget`), plus O(shards) and the shrinking. It waits for no shard:
    /// it skips those that are locked.
    ///
    /// It looks up at most `budget` keys. Some of them are not due yet: distant deadlines are kept roughly
    /// and become more precise as they come near. It locks one shard at a time, and never for long.
    ///
    /// Call it when [`Swept::next_ms`] has come, or again at once if it was not
    /// [finished](Swept::finished). Each call continues at the shard after the last one, so no shard starves.
    pub fn sweep(&self, now_ms: u64, budget: usize) -> Swept {
        let mut swept = Swept::default();
        let roused_ms = self.rouse_due(now_ms);
        let is_clean = self
            .garbage()
            .free(budget.saturating_mul(FREED_PER_DEADLINE));
        if !self.active_expiry() {
            return Swept {
                finished: is_clean && roused_ms > now_ms,
                next_ms: (roused_ms != u64::MAX).then_some(roused_ms),
                ..swept
            };
        }
        let shards = self.shards();
        let places = self.databases() as usize * shards;
        let start = self.sweep_from.load(Ordering::Relaxed);
        let (mut left, mut may_shrink, mut any_locked) = (budget, true, false);
        for place in (start..places).chain(0..start.min(places)) {
            let Some(db) = self.existing_database((place / shards) as u32) else {
                continue;
            };
            let index = place % shards;
            while left > 0 && db.side(index).next_deadline.load(Ordering::Acquire) <= now_ms {
                let Some((looked_at, expired)) = sweep_shard(db, index, now_ms, left.min(HOLD_MAX))
                else {
                    any_locked = true;
                    break;
                };
                left -= looked_at.clamp(1, left);
                swept.expired += expired;
            }
            if may_shrink && is_too_large(db, index) {
                let shrunk = db.try_with_shard(index, |shard| shard.at(now_ms).shrink());
                may_shrink = shrunk.is_none();
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
        // If the budget was not used up, only locked shards have due keys.
        let retry_ms = now_ms.saturating_add(LOCKED_RETRY_MS);
        let deadlines = deadlines.map(|at| match any_locked && left > 0 && at <= now_ms {
            true => retry_ms,
            false => at,
        });
        let next = deadlines.fold(roused_ms, u64::min);
        // This sweep may have removed a large value, which a later step frees.
        let is_clean = is_clean && self.garbage().pending() == 0;
        swept.finished = is_clean && next > now_ms;
        swept.next_ms = (next != u64::MAX).then_some(next);
        swept
    }
}

/// Processes up to `count` deadlines of a shard. Returns how many had come up and how many keys it removed,
/// or `None` if the shard is locked.
fn sweep_shard(db: &Database, index: usize, now_ms: u64, count: usize) -> Option<(usize, usize)> {
    db.try_with_shard(index, |mut shard| {
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

/// Returns whether a shard's table or index has far more room than it needs. Reads only counters.
fn is_too_large(db: &Database, index: usize) -> bool {
    let side = db.side(index);
    let (keys, expires) = (
        side.keys.load(Ordering::Relaxed),
        side.timed.load(Ordering::Relaxed),
    );
    side.buckets() > SHRINK_BUCKETS_MIN + keys * SHRINK_BUCKETS_PER_KEY
        || side.index_bytes.load(Ordering::Relaxed)
            > SHRINK_INDEX_BYTES_MIN + expires * SHRINK_INDEX_BYTES_PER_KEY
}

#[cfg(test)]
mod tests;
