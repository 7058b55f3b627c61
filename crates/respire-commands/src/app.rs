//! Implements the engine's `Keyspace` and `App` traits for [`Kv`].

use crate::errors::OUT_OF_MEMORY;
use crate::kv::{HasKv, Kv};
use crate::pace::REST;
use crate::stats::ConnStats;
use crate::{info, monitor};
use resp_codec::number::parse_i64;
use respire_engine::{
    App, Error, InfoWriter, Keyspace, Metrics, Now, Publisher, Relief, SectionScope, Setting,
    WatchedKey, WideningBody,
};
use respire_store::{Foreseen, Held, Scope};
use std::sync::Arc;
use std::time::Duration;

impl HasKv for Kv {
    fn kv(&self) -> &Kv {
        self
    }
}

impl App for Kv {
    type Conn = ();
    type Keys = Self;
}

impl<A: HasKv> Keyspace<A> for Kv {
    type Conn = ConnStats;
    type Held = Held;
    type Hint<'k> = Foreseen<'k>;

    #[inline(always)]
    fn shorten<'s, 'k: 's>(hint: &'s Foreseen<'k>) -> &'s Foreseen<'s> {
        hint
    }

    fn started(app: &A, publisher: &Publisher) {
        app.kv().notifications.publish_with(publisher);
    }

    fn databases(app: &A) -> u32 {
        app.kv().store().databases()
    }

    #[inline]
    fn make_room(app: &A, now: Now) -> Result<(), Error> {
        if !app.kv().store().make_room(now.unix_ms()) {
            return Err(OUT_OF_MEMORY);
        }
        Ok(())
    }

    #[inline]
    fn is_far(app: &A) -> bool {
        app.kv().store().is_beyond_caches()
    }

    #[inline]
    fn foresee<'k>(app: &A, db: u32, key: &'k [u8]) -> Foreseen<'k> {
        app.kv().store().prefetch(db, key)
    }

    #[inline]
    fn find(app: &A, db: u32, hint: &mut Foreseen<'_>) {
        app.kv().store().prefetch_entry(db, hint);
    }

    #[inline]
    fn warm(app: &A, db: u32, hint: &Foreseen<'_>, element: &[u8]) -> bool {
        app.kv().store().prefetch_element(db, hint, element)
    }

    #[inline]
    fn warm_rank(app: &A, db: u32, hint: &Foreseen<'_>, rank: &[u8]) {
        if let Some(rank) = parse_i64(rank) {
            app.kv().store().prefetch_rank(db, hint, rank);
        }
    }

    #[inline]
    fn locate(app: &A, db: u32, hint: &Foreseen<'_>, element: &[u8]) {
        app.kv().store().prefetch_found(db, hint, element);
    }

    fn atomically(app: &A, scope: &SectionScope<'_>, _: Now, body: &mut dyn FnMut(&mut Held)) {
        let mut section = app.kv().store().lock(&store_scope(scope));
        body(section.held());
    }

    fn atomically_widening(
        app: &A,
        scope: &SectionScope<'_>,
        _: Now,
        body: &mut WideningBody<'_, Held>,
    ) {
        let mut section = app.kv().store().lock_widening(&store_scope(scope));
        let (held, mut widener) = section.split();
        body(held, &mut |held, scope| {
            widener.widen(held, &store_scope(scope));
        });
    }

    #[inline]
    fn covers(app: &A, held: &Held, db: u32, key: &[u8]) -> bool {
        held.covers(app.kv().store(), &Scope::Keys(&[(db, key)]))
    }

    fn is_held(app: &A, db: u32, key: &[u8]) -> bool {
        app.kv().store().is_held(db, key)
    }

    fn is_widening(app: &A) -> bool {
        app.kv().store().is_widening()
    }

    fn set_relief(app: &A, relief: &Arc<dyn Relief>) {
        let relief = Arc::new(WaitingThreads(Arc::clone(relief)));
        app.kv().store().set_relief(relief);
    }

    fn watch(app: &A, db: u32, key: &[u8], now: Now) -> Box<dyn WatchedKey> {
        let mut view = app.kv().store().view(db, now.unix_ms());
        Box::new(StoreWatch(view.watch(key)))
    }

    fn info(app: &A, section: &str, now: Now, out: &mut InfoWriter) {
        info::write(app.kv(), section, now, out);
    }

    fn info_sections() -> &'static [&'static str] {
        &["keyspace"]
    }

    fn metrics(app: &A, _: Now, out: &mut Metrics) {
        monitor::write(app.kv(), out);
    }

    fn settings(app: &Arc<A>) -> Vec<Setting> {
        crate::settings::settings(app)
    }

    fn turn_ended(app: &A, conn: &mut ConnStats) {
        app.kv().stats.add(conn);
    }

    fn tick(app: &A, now: Now) -> Option<Duration> {
        app.kv().run_housekeeping(now)
    }

    fn reset_stats(app: &A) {
        let kv = app.kv();
        kv.stats.reset(kv.store());
    }
}

impl Kv {
    /// Removes expired keys and evicts down to the memory limit, in one bounded step. Returns when
    /// the next step is due.
    fn run_housekeeping(&self, now: Now) -> Option<Duration> {
        let now_ms = now.unix_ms();
        let swept = self.store().sweep(now_ms, self.pace.slice(now));
        // A lowered limit takes effect without waiting for the next write. If nothing may be
        // evicted, that write reports it.
        let _is_within = self.store().make_room(now_ms);
        if swept.finished || self.pace.is_sample_due(now) {
            self.stats.note_memory(self.store().memory().total() as u64);
        }
        if !swept.finished {
            return Some(self.pace.rest(now));
        }
        self.pace.caught_up();
        swept
            .next_ms
            .map(|at| Duration::from_millis(at.saturating_sub(now_ms)).max(REST))
    }
}

fn store_scope<'s>(scope: &SectionScope<'s>) -> Scope<'s> {
    match *scope {
        SectionScope::Keys(keys) => Scope::Keys(keys),
        SectionScope::Everything => Scope::Everything,
    }
}

/// Lets the driver serve others while a thread waits for a shard.
struct WaitingThreads(Arc<dyn Relief>);

impl respire_store::Relief for WaitingThreads {
    fn block(&self, wait: &mut dyn FnMut()) {
        self.0.block(wait);
    }
}

struct StoreWatch(respire_store::Watch);

impl WatchedKey for StoreWatch {
    fn is_dirty(&self, now: Now) -> bool {
        self.0.is_dirty(now.unix_ms())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire_store::{Config, Expiry, Freeing, Policy, Store, View};

    const SECOND: Duration = Duration::from_secs(1);

    fn now() -> Now {
        Now::new(SECOND, 1000 * SECOND)
    }

    fn kv() -> Kv {
        Kv::new(Store::new(Config::default()))
    }

    fn set(kv: &Kv, key: &[u8], expiry: Expiry) {
        let mut view = kv.store().view(0, now().unix_ms());
        view.update(key, |slot| slot.set(b"value", expiry));
    }

    #[test]
    fn write_is_refused_if_memory_is_full_and_nothing_may_be_evicted() {
        let kv = kv();
        set(&kv, b"k", Expiry::Clear);
        assert_eq!(Kv::make_room(&kv, now()), Ok(()));
        kv.tune(|tuning| tuning.memory_bytes_max = 1);
        assert_eq!(Kv::make_room(&kv, now()), Err(OUT_OF_MEMORY));
    }

    #[test]
    fn tick_evicts_down_to_a_lowered_limit() {
        let kv = kv();
        for n in 0..1000_u32 {
            set(&kv, &n.to_le_bytes(), Expiry::Clear);
        }
        let bound = kv.store().memory().total() as u64 / 2;
        kv.tune(|tuning| {
            tuning.policy = Policy::AllKeysRandom;
            tuning.memory_bytes_max = bound;
        });
        for _ in 0..1000 {
            kv.run_housekeeping(now());
        }
        assert!(kv.store().memory().total() as u64 <= bound);
    }

    /// Runs housekeeping steps, each as soon as it is due, until only this many keys are left.
    /// Returns the number of steps, and the most keys that one of them freed.
    fn tick_down_to(kv: &Kv, keys_left: usize, mut now: Now) -> (usize, usize) {
        let keys = || kv.store().len(0) + kv.store().memory().pending_keys;
        let (mut ticks, mut most) = (0, 0);
        while keys() > keys_left {
            let before = keys();
            let rest = kv.run_housekeeping(now);
            (ticks, most) = (ticks + 1, most.max(before - keys()));
            assert!(keys() == keys_left || rest == Some(REST), "{rest:?}");
            now = now.after(REST);
        }
        (ticks, most)
    }

    #[test]
    fn tick_sweeps_in_slices_and_then_waits_for_the_next_expiry() {
        let kv = kv();
        let now_ms = now().unix_ms();
        for n in 0..10_000_u32 {
            set(&kv, &n.to_le_bytes(), Expiry::At(now_ms + 10));
        }
        set(&kv, b"later", Expiry::At(now_ms + 60_000));
        let due = now().after(SECOND);
        let (ticks, most) = tick_down_to(&kv, 1, due);
        assert!(ticks >= 20 && most <= 512, "{ticks} of {most}");
        let next = kv.run_housekeeping(due).expect("a key expires later");
        assert!(next > REST && next <= 59 * SECOND, "{next:?}");
    }

    #[test]
    fn tick_frees_flushed_keys_in_slices() {
        let kv = kv();
        for n in 0..10_000_u32 {
            set(&kv, &n.to_le_bytes(), Expiry::Clear);
        }
        kv.store().view(0, 0).flush(Freeing::InSteps);
        assert_eq!(kv.store().memory().total(), 0);
        let (ticks, most) = tick_down_to(&kv, 0, now());
        assert!(ticks >= 5 && most <= 2048, "{ticks} of {most}");
        assert_eq!(kv.store().memory().pending_keys, 0);
    }

    #[test]
    fn commands_of_a_section_use_its_locked_shards() {
        let kv = kv();
        let keys: [(u32, &[u8]); 2] = [(0, b"a"), (3, b"b")];
        let mut ran = 0;
        Kv::atomically(&kv, &SectionScope::Keys(&keys), now(), &mut |held| {
            let mut view = View::within(kv.store(), 3, now().unix_ms(), Some(held));
            view.update(b"b", |slot| slot.set(b"v", Expiry::Clear));
            ran += 1;
        });
        assert_eq!((ran, kv.store().len(3)), (1, 1));
    }

    #[test]
    fn watched_key_is_dirty_once_changed_or_expired() {
        let kv = kv();
        set(&kv, b"k", Expiry::At(now().unix_ms() + 10));
        let watch = Kv::watch(&kv, 0, b"k", now());
        assert!(!watch.is_dirty(now()));
        assert!(watch.is_dirty(now().after(SECOND)));
        set(&kv, b"k", Expiry::Clear);
        assert!(watch.is_dirty(now()));
    }
}
