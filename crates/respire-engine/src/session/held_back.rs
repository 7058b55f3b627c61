//! Holds back requests that would wait for a long call, or answers them with `BUSY`.

use super::Core;
use crate::command::long_calls::Overview;
use crate::{App, ArgList, Engine, Error, Flags, Keyspace, Now};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What a request gets that would wait for a long call.
pub(super) enum HeldBack {
    /// It is tried again at this time, in monotonic microseconds.
    Until(u64),
    /// An error: the call has run for too long.
    Busy(Error),
}

impl<A: App> Core<A> {
    /// Whether a request has to be held back, because of `CLIENT PAUSE` or a long call.
    #[cold]
    pub(super) fn held_back(
        &self,
        engine: &Engine<A>,
        now: Now,
        request: ArgList<'_>,
        at: u32,
    ) -> Option<HeldBack> {
        let transaction = &self.client.transaction;
        let entry = engine.table.entry(at);
        let spec = entry.spec();
        let writes = || {
            let runs_writes = spec.flags.has(Flags::EXEC) && transaction.has_writes();
            runs_writes || entry.command().may_write(request)
        };
        if let Some(until_us) = engine.pause.holds(spec, writes, now) {
            return Some(HeldBack::Until(until_us));
        }
        let is_queued = transaction.is_open() && !spec.flags.has(Flags::IMMEDIATE);
        if is_queued {
            return None;
        }
        let calls = engine.long_calls.overview(engine.host())?;
        let busy_ms = engine.tunables.busy_reply_ms.load(Ordering::Relaxed);
        let is_busy = calls.age >= Duration::from_millis(busy_ms);
        // A probe asks whether the server runs as it should.
        if spec.flags.has(Flags::PROBE) {
            return is_busy.then_some(HeldBack::Busy(calls.busy));
        }
        if !self.waits_for(engine, &calls, request, at) {
            return None;
        }
        Some(if is_busy {
            HeldBack::Busy(calls.busy)
        } else {
            HeldBack::Until(calls.retry_us(now))
        })
    }

    /// Whether a request would wait for the keys of a long call. Where that is uncertain, the
    /// answer is yes.
    fn waits_for(
        &self,
        engine: &Engine<A>,
        calls: &Overview,
        request: ArgList<'_>,
        at: u32,
    ) -> bool {
        let (entry, db) = (engine.table.entry(at), self.client.db());
        let is_held = |db: u32, key: &[u8]| A::Keys::is_held(engine.app(), db, key);
        let uses_held = |at: u32, request: ArgList<'_>, db: u32| {
            let (mut has_keys, mut uses_held) = (false, false);
            let command = engine.table.entry(at).command();
            // Arguments whose keys cannot be found are refused by the command itself.
            let _ = command.keys(request, &mut |at| {
                has_keys = true;
                uses_held |= request.get(at).is_some_and(|key| is_held(db, key));
            });
            (has_keys, uses_held)
        };
        let flags = entry.spec().flags;
        if flags.has(Flags::EXEC) {
            let transaction = &self.client.transaction;
            return transaction.queued().iter().any(|queued| {
                // Its database may be another: an earlier request may select one.
                let (has_keys, _) = uses_held(queued.entry, queued.request(), db);
                has_keys || !engine.table.entry(queued.entry).is_builtin()
            });
        }
        let (has_keys, uses_held) = uses_held(at, request, db);
        if flags.has(Flags::SCRIPT) {
            return uses_held || calls.is_beneath || A::Keys::is_widening(engine.app());
        }
        if flags.has(Flags::ALL_KEYS) {
            return true;
        }
        if has_keys {
            return uses_held;
        }
        !entry.is_builtin() && !flags.has(Flags::ALLOW_BUSY)
    }
}
