//! Runs a command: calls the layers, counts the call, and measures its time if needed.

use super::exec::refused;
use super::shape;
use crate::client::ClientShared;
use crate::client::Tally;
use crate::client::sampler::CALLS_PER_SAMPLE;
use crate::command::table::CommandEntry;
use crate::observe::stats::Stats;
use crate::reply::code::error_code;
use crate::reply::output::Mark;
use crate::{App, ArgList, Client, Cx, End, Engine, Error, Flags, Flow, Reply, Spec};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// With a slow-log threshold below this, every command is timed.
const SHORT_US: i64 = 1000;

impl<A: App> Engine<A> {
    /// Runs and counts the command of an entry. It has been found, admitted and checked.
    #[inline(always)]
    pub(crate) fn run(
        &self,
        at: u32,
        cx: &mut Cx<'_, A>,
        request: ArgList<'_>,
        name_len: usize,
        reply: &mut Reply<'_>,
    ) -> Flow {
        let entry = self.table.entry(at);
        let (errors, mark) = (reply.error_count(), reply.sink().mark());
        cx.client.shared.last_entry.store(at, Ordering::Relaxed);
        let stands_for = self.stands_for(entry, request.len() - name_len, cx.client);
        let flow = if stands_for > 0 {
            match self.run_timed((at, name_len), cx, request, stands_for, (reply, mark)) {
                Ok(flow) => flow,
                Err(refusal) => return self.refused_by_layer(entry, cx, refusal, reply),
            }
        } else {
            cx.client.shared.forget_end();
            let called = call_caught(entry.spec(), (reply, mark), |reply| {
                entry.command().call(cx, request.skip(name_len), reply)
            });
            called.unwrap_or_else(|panic| self.panicked(entry, &*panic, reply))
        };
        self.count(cx.client, at);
        if reply.error_count() != errors {
            self.failed(entry, cx.client, reply, mark);
        }
        if self.notes_reads() {
            self.note_reads(entry, request, cx.client.db);
        }
        flow
    }

    /// The number of calls that the time of this call stands for; 0 if it is not timed.
    #[inline]
    fn stands_for(&self, entry: &CommandEntry<A>, args: usize, client: &mut Client) -> u64 {
        let slow_us = self.tunables.slowlog_us.load(Ordering::Relaxed);
        // A threshold this short needs the time of every command.
        if (0..SHORT_US).contains(&slow_us) {
            return 1;
        }
        if entry.is_timed.load(Ordering::Relaxed) && !entry.is_sampled(args) {
            1
        } else if client.sampler.is_due() {
            CALLS_PER_SAMPLE
        } else {
            0
        }
    }

    /// Runs a command inside the layers and times it. The error is that of a layer that refused.
    fn run_timed(
        &self,
        (at, name_len): (u32, usize),
        cx: &mut Cx<'_, A>,
        request: ArgList<'_>,
        stands_for: u64,
        (reply, mark): (&mut Reply<'_>, Mark),
    ) -> Result<Flow, Error> {
        let entry = self.table.entry(at);
        let (errors, args) = (reply.error_count(), request.skip(name_len));
        let began = match cx.client.shared.take_end() {
            Some(end) => end,
            None => self.host.stopwatch_ns(),
        };
        if stands_for > 1 {
            cx.client.sampler.restart(began);
        }
        let (mut passed, mut refusal) = (0, None);
        let called = call_caught(entry.spec(), (reply, mark), |reply| {
            for layer in &self.layers {
                if let Err(error) = layer.before(cx, entry.spec(), &args) {
                    refusal = Some(error);
                    return Flow::Replied;
                }
                passed += 1;
            }
            entry.command().call(cx, args, reply)
        });
        let ended = self.host.stopwatch_ns();
        let took = Duration::from_nanos(ended.saturating_sub(began));
        if self.layers.is_empty() {
            cx.client.shared.note_end(ended);
        }
        let flow = called.unwrap_or_else(|panic| self.panicked(entry, &*panic, reply));
        if let Some(refusal) = refusal {
            self.leave_layers(passed, &cx.client.shared, entry, took, End::Err);
            return Err(refusal);
        }
        let took = match flow {
            Flow::Replied | Flow::Close => took,
            // The delay after a wrong password is not work and would fill the slow log.
            Flow::RepliedAfter { .. } if entry.spec().flags.has(Flags::NO_AUTH) => took,
            Flow::RepliedAfter { wait_us } => took.saturating_add(Duration::from_micros(wait_us)),
            // The call has not ended: `ended` counts it.
            Flow::Pending => return Ok(flow),
        };
        let is_error = reply.error_count() != errors;
        let end = if is_error { End::Err } else { End::Ok };
        entry.was_timed();
        self.add_time(entry, took, stands_for);
        self.note_slow(entry, cx, request, took);
        self.leave_layers(passed, &cx.client.shared, entry, took, end);
        Ok(flow)
    }

    /// Ends a call that was answered later, `took` after it began: adds the time, counts a failure,
    /// and calls the layers. The caller counts the code word of an error.
    #[cold]
    pub(crate) fn ended(&self, at: u32, client: &ClientShared, took: Duration, end: End) {
        let entry = self.table.entry(at);
        if end == End::Err {
            Stats::add(&entry.stats.failed, 1);
        }
        if end != End::Cancelled {
            self.add_time(entry, took, 1);
        }
        self.leave_layers(self.layers.len(), client, entry, took, end);
    }

    /// Answers a call that panicked. The panic is counted and reported to the host, and the
    /// connection stays open.
    #[cold]
    pub(crate) fn panicked(
        &self,
        entry: &CommandEntry<A>,
        panic: &(dyn Any + Send),
        reply: &mut Reply<'_>,
    ) -> Flow {
        self.note_panic(entry, panic);
        reply.error(crate::text::INTERNAL.text());
        Flow::Replied
    }

    /// Counts a panic and reports it to the host.
    #[cold]
    pub(crate) fn note_panic(&self, entry: &CommandEntry<A>, panic: &(dyn Any + Send)) {
        Stats::add(&entry.stats.panics, 1);
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        self.host
            .panicked(entry.spec().name, text.unwrap_or("no text"));
    }

    /// Notes the keys of a request, whose command has run.
    #[cold]
    pub(crate) fn note_reads(&self, entry: &CommandEntry<A>, request: ArgList<'_>, db: u32) {
        let (Some(commits), flags) = (self.commits(), entry.spec().flags) else {
            return;
        };
        // The commands that these run are noted one by one.
        if flags.any(Flags::SCRIPT.with(Flags::EXEC)) {
            return;
        }
        if flags.has(Flags::ALL_KEYS) {
            return commits.note_read_all();
        }
        let mut note = |at| {
            if let Some(key) = request.get(at) {
                commits.note_read(db, key);
            }
        };
        // A command that could not find its keys has read none.
        let _ = entry.command().keys(request, &mut note);
    }

    /// Calls `after` of the layers that a call passed, innermost first.
    fn leave_layers(
        &self,
        passed: usize,
        client: &ClientShared,
        entry: &CommandEntry<A>,
        took: Duration,
        end: End,
    ) {
        for layer in self.layers.iter().take(passed).rev() {
            // A panic in a layer is handled as one in a command.
            let after = AssertUnwindSafe(|| layer.after(client, entry.spec(), took, end));
            if let Err(panic) = catch_unwind(after) {
                self.note_panic(entry, &*panic);
            }
        }
    }

    /// Answers a call that a layer refused. A refused `EXEC` ends its transaction, as when it is
    /// refused for another reason.
    #[cold]
    fn refused_by_layer(
        &self,
        entry: &CommandEntry<A>,
        cx: &mut Cx<'_, A>,
        refusal: Error,
        reply: &mut Reply<'_>,
    ) -> Flow {
        Stats::add(&entry.stats.rejected, 1);
        let error = refused(entry.spec(), cx.client, refusal);
        self.stats.count_error(error.code());
        reply.error(error.text());
        Flow::Replied
    }

    /// Counts a call whose reply is an error; the reply begins at `mark`.
    #[cold]
    fn failed(
        &self,
        entry: &CommandEntry<A>,
        client: &mut Client,
        reply: &mut Reply<'_>,
        mark: Mark,
    ) {
        Stats::add(&entry.stats.failed, 1);
        if std::mem::take(&mut client.has_counted_error) {
            return;
        }
        let proto = reply.proto();
        self.stats
            .count_error(error_code(reply.sink().put_since(mark.len()), proto));
    }

    fn add_time(&self, entry: &CommandEntry<A>, took: Duration, stands_for: u64) {
        let nanos = took.as_nanos() as u64;
        Stats::add(&entry.stats.nanos, nanos.saturating_mul(stands_for));
        if self.tunables.latency_tracking.load(Ordering::Relaxed) {
            entry.stats.add_time(nanos, stands_for);
        }
    }

    fn note_slow(
        &self,
        entry: &CommandEntry<A>,
        cx: &Cx<'_, A>,
        request: ArgList<'_>,
        took: Duration,
    ) {
        let took_us = took.as_micros() as u64;
        let slow_us = self.tunables.slowlog_us.load(Ordering::Relaxed);
        if slow_us >= 0
            && took_us >= slow_us.unsigned_abs()
            && !entry.spec().flags.has(Flags::SKIP_SLOWLOG)
        {
            let len_max = self.tunables.slowlog_len_max.load(Ordering::Relaxed) as usize;
            self.slowlog
                .add(cx.now(), took_us, request, cx.client.shared(), len_max);
        }
        let threshold_ms = self.tunables.latency_threshold_ms.load(Ordering::Relaxed);
        if threshold_ms > 0 && took_us >= threshold_ms.saturating_mul(1000) {
            let event = if entry.spec().flags.has(Flags::FAST) {
                "fast-command"
            } else {
                "command"
            };
            self.latency.add(event, cx.now(), took_us / 1000);
        }
    }

    /// Counts a call. Repeated calls of the same command are summed before they are added to the
    /// shared counters.
    #[inline]
    fn count(&self, client: &mut Client, at: u32) {
        if client.tally.entry != at || client.tally.calls == u32::MAX {
            self.add_calls(&mut client.tally);
            client.tally.entry = at;
        }
        client.tally.calls += 1;
    }

    /// Adds a connection's calls to the shared counters.
    pub(crate) fn flush_tally(&self, client: &mut Client) {
        self.add_calls(&mut client.tally);
        self.add_calls(&mut client.inner_tally);
    }

    fn add_calls(&self, tally: &mut Tally) {
        let calls = u64::from(std::mem::take(&mut tally.calls));
        if calls > 0 {
            Stats::add(&self.table.entry(tally.entry).stats.calls, calls);
            Stats::add(&self.stats.commands, calls);
        }
    }
}

/// Calls a command. If it panics, its partial reply, which begins at the mark, is dropped.
#[inline(always)]
pub(super) fn call_caught(
    spec: &Spec,
    (reply, mark): (&mut Reply<'_>, Mark),
    call: impl FnOnce(&mut Reply<'_>) -> Flow,
) -> Result<Flow, Box<dyn Any + Send>> {
    let called = catch_unwind(AssertUnwindSafe(|| {
        let flow = call(reply);
        if cfg!(debug_assertions) {
            shape::check(&flow, reply, mark, spec.flags);
        }
        flow
    }));
    if called.is_err() {
        reply.sink().cut(mark);
    }
    called
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::testing::{Cells, Server};
    use crate::{Arity, Layer, Router, Row};
    use std::sync::{Arc, Mutex};

    /// Records what it sees, and refuses calls whose first argument is its name.
    struct Recorder {
        name: &'static str,
        seen: Arc<Mutex<Vec<String>>>,
    }

    impl Recorder {
        fn add(&self, note: String) {
            let mut seen = self.seen.lock().expect("no test panics with it held");
            seen.push(format!("{}: {note}", self.name));
        }
    }

    impl Layer<Cells> for Recorder {
        fn before(
            &self,
            cx: &mut Cx<'_, Cells>,
            spec: &Spec,
            args: &ArgList<'_>,
        ) -> Result<(), Error> {
            let (db, count) = (cx.client().db(), args.len());
            self.add(format!("{} with {count} on {db}", spec.name));
            match args.get(0) {
                Some(arg) if arg == self.name.as_bytes() => Err(Error::fixed("LIMITED by a layer")),
                Some(b"panic") => panic!("a layer is broken"),
                _ => Ok(()),
            }
        }

        fn after(&self, who: &ClientShared, spec: &Spec, took: Duration, end: End) {
            let ms = took.as_millis();
            self.add(format!(
                "{} of {} {end:?} after {ms} ms",
                spec.name,
                who.id()
            ));
            assert_ne!(spec.name, "nap", "a layer is broken");
        }
    }

    fn server() -> (Server, Arc<Mutex<Vec<String>>>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = |name| Recorder {
            name,
            seen: Arc::clone(&seen),
        };
        let server = Server::with(|router| router.layer(notes("a")).layer(notes("b")));
        (server, seen)
    }

    fn take(seen: &Mutex<Vec<String>>) -> String {
        std::mem::take(&mut *seen.lock().expect("no test panics with it held")).join("|")
    }

    #[test]
    fn first_layer_added_is_the_outermost() {
        let (server, seen) = server();
        let mut line = server.connect();
        assert_eq!(line.ask("GET x"), "$-1|");
        assert_eq!(
            take(&seen),
            "a: get with 1 on 0|b: get with 1 on 0|b: get of 1 Ok after 5 ms|\
             a: get of 1 Ok after 5 ms"
        );
        assert_eq!(line.ask("SELECT 1\nSET x 1 2"), "+OK|-ERR syntax error|");
        let notes = take(&seen);
        assert!(notes.contains("a: set with 3 on 1|"), "{notes}");
        assert!(notes.ends_with("b: set of 1 Err after 5 ms|a: set of 1 Err after 5 ms"));
        // A request that is refused before it reaches its command passes no layer.
        line.ask("GET\nnope");
        assert_eq!(take(&seen), "");
    }

    #[test]
    fn refusing_layer_skips_the_command_and_the_inner_layers() {
        let (server, seen) = server();
        let mut line = server.connect();
        assert_eq!(line.ask("GET a\nGET b"), "-LIMITED by a layer|".repeat(2));
        assert_eq!(
            take(&seen),
            "a: get with 1 on 0|a: get with 1 on 0|b: get with 1 on 0|a: get of 1 Err after 5 ms"
        );
        let info = line.ask("INFO commandstats errorstats");
        assert!(info.contains("cmdstat_get:calls=0,usec=0,usec_per_call=0.00,rejected_calls=2,"));
        assert!(info.contains("errorstat_LIMITED:count=2|"), "{info}");
    }

    #[test]
    fn commands_run_by_exec_pass_the_layers_one_by_one() {
        let (server, seen) = server();
        let mut line = server.connect();
        line.ask("MULTI\nGET a\nGET x");
        take(&seen);
        assert_eq!(line.ask("EXEC"), "*2|-LIMITED by a layer|$-1|");
        let notes = take(&seen);
        assert!(
            notes.starts_with("a: exec with 0 on 0|b: exec with 0 on 0|a: get"),
            "{notes}"
        );
        assert!(notes.ends_with("|b: exec of 1 Ok after 25 ms|a: exec of 1 Ok after 25 ms"));
    }

    #[test]
    fn exec_refused_by_a_layer_ends_its_transaction() {
        struct NoExec;
        impl Layer<Cells> for NoExec {
            fn before(
                &self,
                _: &mut Cx<'_, Cells>,
                spec: &Spec,
                _: &ArgList<'_>,
            ) -> Result<(), Error> {
                if spec.name == "exec" {
                    return Err(Error::fixed("ERR not today"));
                }
                Ok(())
            }
        }
        let mut line = Server::with(|router| router.layer(NoExec)).connect();
        assert_eq!(
            line.ask("MULTI\nGET a\nEXEC\nGET a"),
            "+OK|+QUEUED|-EXECABORT Transaction discarded because of: not today|$-1|"
        );
    }

    #[test]
    fn every_call_is_timed_unless_its_command_declares_constant_cost() {
        static FEW: Spec = Spec {
            name: "few",
            arity: Arity::at_least(1),
            constant_args: 2,
            ..Spec::EMPTY
        };
        fn few(_: &mut Cx<'_, Cells>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
            reply.ok();
            Ok(())
        }
        let rows = |router: Router<Cells>| {
            let row = Row {
                spec: &FEW,
                run: few,
            };
            router.command("PLAIN", |_, ()| 1).add(row)
        };
        let mut line = Server::with(rows).connect();
        let mut timed = |name: &str| {
            for _ in 0..12 {
                line.ask(&[name; 1_000].join("\n"));
            }
            let reply = line.ask(&format!("LATENCY HISTOGRAM {name}"));
            let (_, calls) = reply.split_once("|$5|calls|:").expect("calls are counted");
            let (calls, _) = calls.split_once('|').expect("a number ends");
            calls.parse::<u64>().expect("a number")
        };
        assert_eq!(timed("COUNT"), 12_000);
        assert_eq!(timed("PLAIN"), 12_000);
        assert_eq!((timed("GET a") - 10_000) % CALLS_PER_SAMPLE, 0);
        // Calls of FEW cost the same with at most two arguments.
        let few = timed("FEW a b");
        assert_eq!((few - 10_000) % CALLS_PER_SAMPLE, 0);
        assert_eq!(timed("FEW a b c"), few + 12_000);
    }

    #[test]
    fn latency_event_name_follows_the_fast_flag() {
        let mut line = Server::new().connect();
        line.ask("CONFIG SET latency-monitor-threshold 1\nLATENCY RESET");
        // SET has constant cost but does not have Redis's FAST flag.
        line.ask("SET a 1");
        assert!(!line.ask("LATENCY LATEST").contains("fast-command"));
        line.ask("GET a");
        assert!(line.ask("LATENCY LATEST").contains("fast-command"));
    }

    #[test]
    fn panics_are_reported_counted_and_answered_with_errors() {
        let (server, seen) = server();
        let mut line = server.connect();
        assert_eq!(
            line.ask("PANIC\nGET panic\nPING"),
            "-ERR internal error|-ERR internal error|+PONG|"
        );
        let notes = take(&seen);
        assert!(notes.contains("a: panic of 1 Err after 5 ms"), "{notes}");
        // A layer that panics after a call does not remove its reply.
        assert_eq!(line.ask("NAP"), "");
        let panics = server
            .process
            .panics
            .lock()
            .expect("no test panics with it held");
        let [first, second, after @ ..] = &panics[..] else {
            panic!("two calls panicked: {panics:?}");
        };
        assert_eq!(
            (&first[..], &second[..]),
            ("panic: the cells are gone", "get: a layer is broken")
        );
        assert!(
            after.len() == 2 && after[0].starts_with("nap: "),
            "{after:?}"
        );
        drop(panics);
        line.pass(Duration::from_secs(1));
        assert!(line.ask("INFO stats").starts_with("+OK|"));
        assert!(line.ask("INFO stats").contains("command_panics:4|"));
    }

    #[test]
    fn deferred_calls_are_counted_and_reach_the_layers_at_their_end() {
        let (server, seen) = server();
        let line = server.connect();
        let at = server
            .engine
            .table
            .find_name(b"set")
            .expect("a command of the tests");
        let client = line.session.client().shared();
        for end in [End::Ok, End::Err, End::Cancelled] {
            server
                .engine
                .ended(at, client, Duration::from_millis(20), end);
        }
        let notes = take(&seen);
        assert!(
            notes.ends_with("b: set of 1 Cancelled after 20 ms|a: set of 1 Cancelled after 20 ms"),
            "{notes}"
        );
        let stats = &server.engine.table.entry(at).stats;
        assert_eq!(stats.failed.load(Ordering::Relaxed), 1);
        // Cancelled calls are not timed.
        assert_eq!(stats.times().expect("timed").total(), 2);
    }

    #[test]
    fn layers_see_the_end_of_pending_calls_answered_or_cancelled() {
        let (waiting, seen) = (Arc::new(Mutex::new(Vec::new())), Arc::default());
        let (kept, notes) = (Arc::clone(&waiting), Arc::clone(&seen));
        let server = Server::with(|router| {
            let layer = Recorder {
                name: "a",
                seen: notes,
            };
            router.layer(layer).deferred("WAIT", move |_, (), later| {
                kept.lock()
                    .expect("no test panics with it held")
                    .push(later);
            })
        });
        let answer = || {
            waiting
                .lock()
                .expect("no test panics with it held")
                .remove(0)
        };
        let mut line = server.connect();
        assert_eq!(line.ask("WAIT"), "");
        line.pass(Duration::from_millis(70));
        assert!(answer().reply(7));
        assert_eq!(line.ask("WAIT"), ":7|");
        line.pass(Duration::from_millis(20));
        assert!(answer().reply(Error::fixed("LATE it is")));
        assert_eq!(line.ask("WAIT"), "-LATE it is|");
        drop(line);
        assert_eq!(
            take(&seen),
            "a: wait with 0 on 0|a: wait of 1 Ok after 70 ms|\
             a: wait with 0 on 0|a: wait of 1 Err after 20 ms|\
             a: wait with 0 on 0|a: wait of 1 Cancelled after 0 ms"
        );
        let info = server.connect().ask("INFO commandstats errorstats");
        assert!(info.contains("cmdstat_wait:calls=3,usec=90000,"), "{info}");
        assert!(info.contains("failed_calls=1|") && info.contains("errorstat_LATE:count=1|"));
    }
}
