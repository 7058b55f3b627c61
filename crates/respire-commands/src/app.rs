//! The key-value service as an application of its own.

use crate::errors::OUT_OF_MEMORY;
use crate::info;
use crate::kv::{HasKv, Kv};
use crate::stats::ConnStats;
use respire_engine::{App, Error, Flags, InfoWriter, Now, Scope, Setting, Spec, Watch};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// How many expired keys one step of housekeeping removes at most: about a millisecond's work.
const SWEEP_KEYS_MAX: usize = 1000;
/// The pause between steps while expired keys are left.
const SWEEP_PAUSE: Duration = Duration::from_millis(1);

impl HasKv for Kv {
    fn kv(&self) -> &Kv {
        self
    }

    fn conn_stats(conn: &mut ConnStats) -> &mut ConnStats {
        conn
    }
}

impl App for Kv {
    type Conn = ConnStats;

    fn databases(&self) -> u32 {
        self.store().databases()
    }

    fn admit(&self, spec: &Spec, now: Now) -> Result<(), Error> {
        // Commands that use no memory neither need room nor pay for making it.
        if spec.flags.has(Flags::DENYOOM) && !self.store().make_room(now.unix_ms()) {
            return Err(OUT_OF_MEMORY);
        }
        Ok(())
    }

    fn atomically(&self, scope: &Scope<'_>, _now: Now, body: &mut dyn FnMut(&mut dyn Any)) {
        let scope = match *scope {
            Scope::Keys(keys) => respire_store::Scope::Keys(keys),
            Scope::Everything => respire_store::Scope::Everything,
        };
        let mut section = self.store().lock(&scope);
        body(section.held());
    }

    fn watch(&self, db: u32, key: &[u8], now: Now) -> Box<dyn Watch> {
        Box::new(WatchedKey(self.store().view(db, now.unix_ms()).watch(key)))
    }

    fn info(&self, section: &str, now: Now, out: &mut InfoWriter) {
        info::write(self, section, now, out);
    }

    fn info_sections(&self) -> &'static [&'static str] {
        &["keyspace"]
    }

    fn settings(self: &Arc<Self>) -> Vec<Setting> {
        crate::settings::settings(self)
    }

    fn turn_ended(&self, conn: &mut ConnStats) {
        self.stats.add(conn);
    }

    fn tick(&self, now: Now) -> Option<Duration> {
        let now_ms = now.unix_ms();
        let swept = self.store().sweep(now_ms, SWEEP_KEYS_MAX);
        // A bound that was lowered takes effect without waiting for the next write. That nothing
        // may be evicted is for that write to hear.
        let _is_within = self.store().make_room(now_ms);
        self.stats.note_memory(self.store().memory().total() as u64);
        if !swept.finished {
            return Some(SWEEP_PAUSE);
        }
        swept
            .next_ms
            .map(|at| Duration::from_millis(at.saturating_sub(now_ms)).max(SWEEP_PAUSE))
    }

    fn reset_stats(&self) {
        self.stats.reset(self.store());
    }
}

struct WatchedKey(respire_store::Watch);

impl Watch for WatchedKey {
    fn is_dirty(&self, now: Now) -> bool {
        self.0.is_dirty(now.unix_ms())
    }
}
