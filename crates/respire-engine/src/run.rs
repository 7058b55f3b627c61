//! The running of one command: inside its layers, counted, timed where that is worth it.

use crate::client::ClientShared;
use crate::stats::Stats;
use crate::table::Entry;
use crate::{App, ArgList, Client, Cx, End, Engine, Error, Flow, Reply, builtin};
use resp_codec::Proto;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A slow-log threshold below this asks for the time of every command.
const SHORT_US: i64 = 1000;

impl<A: App> Engine<A> {
    /// Runs the command of one entry, which has been found, admitted and checked, and counts it.
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
        let (errors, before) = (reply.error_count(), reply.sink().len());
        cx.client.shared.last_entry.store(at, Ordering::Relaxed);
        let slow_us = self.tunables.slowlog_us.load(Ordering::Relaxed);
        // A command of constant cost is not worth two looks at the clock, unless whoever runs the
        // server asks for times that short, or a layer may.
        let flow = if entry.is_timed || (0..SHORT_US).contains(&slow_us) {
            match self.run_timed(at, cx, request, name_len, reply) {
                Ok(flow) => flow,
                Err(refusal) => return self.turned_away(at, cx, &refusal, reply),
            }
        } else {
            caught(reply, |reply| {
                entry.command().call(cx, request.skip(name_len), reply)
            })
        };
        self.count(cx.client, at);
        if reply.error_count() != errors {
            self.failed(entry, reply, before);
        }
        flow
    }

    /// Runs a command inside the layers and times it; an error is the refusal of a layer.
    fn run_timed(
        &self,
        at: u32,
        cx: &mut Cx<'_, A>,
        request: ArgList<'_>,
        name_len: usize,
        reply: &mut Reply<'_>,
    ) -> Result<Flow, Error> {
        let entry = self.table.entry(at);
        let (errors, args) = (reply.error_count(), request.skip(name_len));
        let began = self.host.stopwatch_us();
        let (mut passed, mut refusal) = (0, None);
        let flow = caught(reply, |reply| {
            for layer in &self.layers {
                if let Err(error) = layer.before(cx, entry.spec(), &args) {
                    refusal = Some(error);
                    return Flow::Replied;
                }
                passed += 1;
            }
            entry.command().call(cx, args, reply)
        });
        let took = self.host.stopwatch_us().saturating_sub(began);
        let took = Duration::from_micros(took);
        if let Some(refusal) = refusal {
            self.leave_layers(passed, &cx.client.shared, entry, took, End::Err);
            return Err(refusal);
        }
        let took = match flow {
            Flow::Replied | Flow::Close => took,
            Flow::RepliedAfter(wait) => took.saturating_add(wait),
        };
        let is_error = reply.error_count() != errors;
        let end = if is_error { End::Err } else { End::Ok };
        self.took(at, cx, request, took);
        self.leave_layers(passed, &cx.client.shared, entry, took, end);
        Ok(flow)
    }

    /// Ends a call whose reply was left for later, `took` after it began: counts the time and the
    /// failure, if it is one, and tells the layers. The caller counts the code word of an error.
    #[cold]
    #[expect(dead_code, reason = "no call is left pending yet")]
    pub(crate) fn ended(&self, at: u32, client: &ClientShared, took: Duration, end: End) {
        let entry = self.table.entry(at);
        if end == End::Err {
            Stats::add(&entry.stats.failed, 1);
        }
        Stats::add(&entry.stats.micros, took.as_micros() as u64);
        self.leave_layers(self.layers.len(), client, entry, took, end);
    }

    /// Tells the layers that a call passed that it ended, innermost first.
    fn leave_layers(
        &self,
        passed: usize,
        client: &ClientShared,
        entry: &Entry<A>,
        took: Duration,
        end: End,
    ) {
        for layer in self.layers.iter().take(passed).rev() {
            // One that panics is as much a defect as a command that does, and costs as little.
            let after = AssertUnwindSafe(|| layer.after(client, entry.spec(), took, end));
            let _ = catch_unwind(after);
        }
    }

    /// Answers a call that a layer refused. An `EXEC` that is refused ends its transaction, as any
    /// other that does not run.
    #[cold]
    fn turned_away(
        &self,
        at: u32,
        cx: &mut Cx<'_, A>,
        refusal: &Error,
        reply: &mut Reply<'_>,
    ) -> Flow {
        let entry = self.table.entry(at);
        Stats::add(&entry.stats.rejected, 1);
        if entry.spec().name == "exec" {
            builtin::settled(cx.client);
            let aborted = builtin::aborted(refusal);
            self.stats.count_error(aborted.code());
            reply.error(aborted.text());
        } else {
            self.stats.count_error(refusal.code());
            reply.error(refusal.text());
        }
        Flow::Replied
    }

    /// Counts a call that was answered with an error, which begins where `before` bytes were owed.
    #[cold]
    fn failed(&self, entry: &Entry<A>, reply: &mut Reply<'_>, before: usize) {
        Stats::add(&entry.stats.failed, 1);
        // The tagged form has the length of the text between tag and text.
        let text_at = if reply.proto() == Proto::Binary {
            1 + size_of::<u32>()
        } else {
            1
        };
        let reply = reply.sink().put_since(before);
        let text = if reply.first() == Some(&b'-') {
            reply.get(text_at..)
        } else {
            None
        };
        let code = text
            .unwrap_or_default()
            .split(|byte| !byte.is_ascii_alphanumeric())
            .next();
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        self.stats
            .count_error(code.filter(|code| !code.is_empty()).unwrap_or("ERR"));
    }

    #[cold]
    fn took(&self, at: u32, cx: &Cx<'_, A>, request: ArgList<'_>, took: Duration) {
        let entry = self.table.entry(at);
        let took_us = took.as_micros() as u64;
        Stats::add(&entry.stats.micros, took_us);
        let slow_us = self.tunables.slowlog_us.load(Ordering::Relaxed);
        if slow_us >= 0
            && took_us >= slow_us.unsigned_abs()
            && !entry.spec().flags.has(crate::Flags::SKIP_SLOWLOG)
        {
            let len_max = self.tunables.slowlog_len_max.load(Ordering::Relaxed) as usize;
            self.slowlog
                .add(cx.now(), took_us, request, cx.client.shared(), len_max);
        }
        let threshold_ms = self.tunables.latency_threshold_ms.load(Ordering::Relaxed);
        if threshold_ms > 0 && took_us >= threshold_ms.saturating_mul(1000) {
            let event = if entry.is_constant() {
                "fast-command"
            } else {
                "command"
            };
            self.latency.add(event, cx.now(), took_us / 1000);
        }
    }

    /// Counts a call; runs of the same command are added up before they reach the shared counters.
    #[inline]
    fn count(&self, client: &mut Client, at: u32) {
        if client.tally.entry != at {
            self.flush_tally(client);
            client.tally.entry = at;
        }
        client.tally.calls += 1;
    }

    pub(crate) fn flush_tally(&self, client: &mut Client) {
        let calls = std::mem::take(&mut client.tally.calls);
        if calls > 0 {
            Stats::add(&self.table.entry(client.tally.entry).stats.calls, calls);
            Stats::add(&self.stats.commands, calls);
        }
    }
}

/// Calls a command; one that panics is a defect of the service, answered as an error, and costs
/// nobody the connection.
#[inline(always)]
fn caught(reply: &mut Reply<'_>, call: impl FnOnce(&mut Reply<'_>) -> Flow) -> Flow {
    let mark = reply.sink().mark();
    let called = catch_unwind(AssertUnwindSafe(|| call(reply)));
    called.unwrap_or_else(|_| {
        reply.sink().cut(mark);
        reply.error("ERR internal error");
        Flow::Replied
    })
}
