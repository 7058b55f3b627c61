//! Holds back requests that would wait for a long call or a gate, or answers them with an error.

use super::Core;
use crate::client::gates::LOADING;
use crate::command::long_calls::Overview;
use crate::observe::stats::Stats;
use crate::{App, ArgList, Engine, Error, Flags, GateKind, Keyspace, Now};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A request that waits for the gate [`Pace`](crate::Gate::Pace) is woken when it opens, and tries
/// again after this time in any case.
const PACE_RETRY: Duration = Duration::from_secs(1);

/// What a request gets that must not run now.
pub(super) enum HeldBack {
    /// It is tried again at this time, in monotonic microseconds.
    Until(u64),
    /// An error: the call has run for too long, or a gate refuses the command.
    Refused(Error),
}

impl<A: App> Core<A> {
    /// Whether a request has to be held back, because of a gate, `CLIENT PAUSE` or a long call.
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
        if engine.gates.is_any_closed() {
            let held_back = self.at_gates(engine, now, at, writes);
            if held_back.is_some() {
                return held_back;
            }
        }
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
            return is_busy.then_some(HeldBack::Refused(calls.busy));
        }
        if !self.waits_for(engine, &calls, request, at) {
            return None;
        }
        Some(if is_busy {
            HeldBack::Refused(calls.busy)
        } else {
            HeldBack::Until(calls.retry_us(now))
        })
    }

    /// Whether a closed gate refuses a request, or makes it wait.
    fn at_gates(
        &self,
        engine: &Engine<A>,
        now: Now,
        at: u32,
        writes: impl FnOnce() -> bool,
    ) -> Option<HeldBack> {
        let entry = engine.table.entry(at);
        let flags = entry.spec().flags;
        // Who may not know is told something else.
        if self.client.is_unauthenticated(&engine.tunables) && !flags.has(Flags::NO_AUTH) {
            return None;
        }
        let queued = if flags.has(Flags::EXEC) {
            self.client.transaction.queued()
        } else {
            &[]
        };
        let queued_flags = || {
            let entries = queued.iter().map(|queued| engine.table.entry(queued.entry));
            entries.map(|entry| entry.spec().flags)
        };
        let refuse = |error| {
            Stats::add(&entry.stats.rejected, 1);
            Some(HeldBack::Refused(error))
        };
        if let Some(error) = engine.gates.misconf() {
            let is_write = |flags: Flags| flags.has(Flags::WRITE);
            if is_write(flags) || flags.has(Flags::PROBE) || queued_flags().any(is_write) {
                return refuse(error);
            }
        }
        if engine.gates.is_closed(GateKind::Loading) {
            let is_refused = |flags: Flags| !flags.has(Flags::LOADING);
            if is_refused(flags) || queued_flags().any(is_refused) {
                return refuse(LOADING);
            }
        }
        let is_paced = engine.gates.is_closed(GateKind::Pace) && writes();
        is_paced.then(|| HeldBack::Until(now.after(PACE_RETRY).monotonic_us()))
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

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Line, Server};
    use crate::{Error, Gate, GateKind};
    use std::time::Duration;

    const LOADING: &str = "-LOADING Redis is loading the dataset in memory|";

    fn misconf() -> Gate {
        Gate::Misconf(Error::fixed("MISCONF Errors writing to the AOF file: full"))
    }

    fn check(line: &mut Line, dialogue: &[(&str, &str)]) {
        for (request, replies) in dialogue {
            assert_eq!(line.ask(request), *replies, "{request}");
        }
    }

    #[test]
    fn commands_are_refused_while_keys_are_loaded_unless_their_flags_allow_them() {
        let server = Server::new();
        let mut line = server.connect();
        line.ask("MULTI\nGET a");
        server.engine.close_gate(Gate::Loading);
        let aborted = format!(
            "-EXECABORT Transaction discarded because of: {}",
            &LOADING[1..]
        );
        let queued = "-EXECABORT Transaction discarded because of previous errors.|";
        check(
            &mut line,
            &[
                ("EXEC", &aborted),
                ("GET a", LOADING),
                ("SET a 1", LOADING),
                ("PING", LOADING),
                ("SELECT 1\nSELECT 0", "+OK|+OK|"),
                ("MULTI", "+OK|"),
                ("GET a", LOADING),
                ("EXEC", queued),
            ],
        );
        server.engine.open_gate(GateKind::Loading);
        assert_eq!(line.ask("GET a\nPING"), "$-1|+PONG|");
    }

    #[test]
    fn writes_and_pings_are_refused_while_changes_cannot_be_kept() {
        const REFUSED: &str = "-MISCONF Errors writing to the AOF file: full|";
        let server = Server::new();
        let mut line = server.connect();
        line.ask("SET a 1\nMULTI\nSET a 2");
        server.engine.close_gate(misconf());
        let aborted = format!(
            "-EXECABORT Transaction discarded because of: {}",
            &REFUSED[1..]
        );
        check(
            &mut line,
            &[
                ("EXEC", &aborted),
                ("SET a 3", REFUSED),
                ("PING", REFUSED),
                ("GET a\nECHO x", "$1|1|$1|x|"),
                ("MULTI\nGET a\nEXEC", "+OK|+QUEUED|*1|$1|1|"),
            ],
        );
        let info = line.ask("INFO errorstats");
        assert!(info.contains("errorstat_MISCONF:count=2|"), "{info}");
        server.engine.open_gate(GateKind::Misconf);
        assert_eq!(line.ask("SET a 3\nGET a"), "+OK|$1|3|");
    }

    #[test]
    fn writers_wait_while_the_gate_paces_them() {
        let server = Server::new();
        let (mut line, mut other) = (server.connect(), server.connect());
        server.engine.close_gate(Gate::Pace);
        assert_eq!(line.ask("GET a\nSET a 1\nGET a"), "$-1|");
        line.pass(Duration::from_secs(5));
        assert_eq!(line.poll(), "");
        assert_eq!(other.ask("GET a\nPING"), "$-1|+PONG|");
        server.engine.open_gate(GateKind::Pace);
        assert_eq!(line.poll(), "+OK|$1|1|");
    }

    #[test]
    fn gates_open_and_close_independently() {
        let server = Server::new();
        let mut line = server.connect();
        server.engine.close_gate(Gate::Loading);
        server.engine.close_gate(misconf());
        server.engine.open_gate(GateKind::Misconf);
        assert_eq!(line.ask("SET a 1"), LOADING);
        server.engine.close_gate(misconf());
        server.engine.open_gate(GateKind::Loading);
        assert!(line.ask("SET a 1").starts_with("-MISCONF"));
        assert!(server.engine.writes_refused().is_some());
        server.engine.open_gate(GateKind::Misconf);
        assert!(server.engine.writes_refused().is_none());
        assert!(!server.engine.pause.is_on());
    }

    #[test]
    fn unauthenticated_clients_do_not_learn_of_gates() {
        let server = Server::new();
        let (mut line, mut admin) = (server.connect(), server.connect());
        admin.ask("CONFIG SET requirepass secret");
        server.engine.close_gate(Gate::Loading);
        let mut stranger = server.connect();
        assert!(stranger.ask("GET a").starts_with("-NOAUTH"));
        assert_eq!(line.ask("GET a"), LOADING);
        assert_eq!(stranger.ask("AUTH secret\nGET a"), format!("+OK|{LOADING}"));
    }

    #[test]
    fn replay_passes_closed_gates() {
        let server = Server::new();
        server.engine.close_gate(Gate::Loading);
        server.engine.close_gate(misconf());
        let mut line = server.connect();
        let mut replay = server.engine.connect_to_replay(line.now);
        let set = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
        assert_eq!(replay.feed(set, 0, line.now), Ok(set.len()));
        server.engine.open_gate(GateKind::Loading);
        assert_eq!(line.ask("GET a"), "$1|1|");
    }
}
