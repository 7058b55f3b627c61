//! Answers calls whose replies come later. Few turns have any.

use super::dispatch::Outcome;
use super::parked::Item;
use super::{CloseReason, Core, Session, SessionStep, State};
use crate::client::later::{Answer, Call};
use crate::{App, End, Engine, Flags, Now, Output, Proto, text};
use std::sync::Arc;
use std::time::Duration;

impl<A: App> Core<A> {
    /// The outcome of a request whose command deferred its reply.
    #[cold]
    pub(super) fn left_pending(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        at: u32,
        out: &mut Output,
    ) -> Outcome {
        let (task, pending_kill) = (self.client.task.take(), self.client.pending_kill.take());
        let Some(call) = self.client.call.take() else {
            let error = Answer::new(self.client.proto, text::INTERNAL);
            out.append(error.output);
            engine.ended(at, &self.client.shared, Duration::ZERO, End::Err);
            return Outcome::Done;
        };
        let flags = engine.table.entry(at).spec().flags;
        let mut item = Item {
            call,
            task,
            at,
            is_pipelined: flags.has(Flags::PIPELINED),
            is_blocking: flags.has(Flags::BLOCKING),
            is_muted: false,
            is_last: pending_kill.is_some_and(|pending_kill| pending_kill.is_last),
            behind: Output::new(),
        };
        if let Some(task) = &mut item.task {
            task.run();
        }
        match item.call.park() {
            None => Outcome::Pending(Box::new(item)),
            Some(answer) if finish(engine, &item, &answer, now) => {
                out.append(answer.output);
                self.client.shared.note_others();
                if item.is_last {
                    Outcome::Close(CloseReason::Quit)
                } else {
                    Outcome::Done
                }
            }
            Some(_) => Outcome::Close(CloseReason::Unanswerable),
        }
    }
}

/// Records the end of a call; `false` if the protocol cannot express its reply.
fn finish<A: App>(engine: &Engine<A>, item: &Item, answer: &Answer, now: Now) -> bool {
    let call = &item.call;
    let end = if answer.is_error { End::Err } else { End::Ok };
    if answer.is_error {
        engine.stats.count_error(answer.code(call.proto()));
    }
    if let Some(panic) = &answer.panic {
        engine.note_panic(engine.table.entry(item.at), &**panic);
    }
    engine.ended(item.at, call.client(), took(call, now), end);
    !(answer.is_error && call.proto() == Proto::BinaryPlain)
}

fn took(call: &Call, now: Now) -> Duration {
    Duration::from_micros(now.monotonic_us().saturating_sub(call.began_us()))
}

impl<A: App> Session<A> {
    /// Stores a pending call.
    pub(super) fn park(&mut self, item: Item) -> SessionStep {
        if !item.is_pipelined {
            let shared = &self.core.client.shared;
            shared.set_blocked(Some(Arc::clone(&item.call)));
            self.state = if item.is_last {
                State::Ending(CloseReason::Quit)
            } else {
                State::Pending
            };
        }
        self.parked.push(item);
        SessionStep::NeedInput
    }

    /// Writes the answers of pending calls, as far as order and room allow. Returns a step if an
    /// answer ends the connection.
    #[cold]
    pub(super) fn collect(&mut self, now: Now, out: &mut Output) -> Option<SessionStep> {
        self.parked.run_tasks();
        self.parked.expire(now.monotonic_us());
        while out.len() < self.engine.limits.output_bytes_max
            && let Some((item, answer)) = self.parked.pop_answered()
        {
            if !finish(&self.engine, &item, &answer, now) {
                return Some(self.close_now(CloseReason::Unanswerable));
            }
            if !item.is_muted {
                out.append(answer.output);
            }
            out.append(item.behind);
            // A peer that waited was not idle. After an answer, the grace period of a closed side
            // starts again.
            self.has_input = true;
            self.core.client.shared.note_others();
            self.give_up_at_us = None;
        }
        if self.parked.is_empty() && matches!(self.state, State::Pending) {
            self.core.client.shared.set_blocked(None);
            self.state = State::Serving;
        }
        None
    }

    /// Answers more requests while calls are pending. Their replies wait behind the last call.
    #[cold]
    pub(super) fn answer_behind(
        &mut self,
        bytes: &[u8],
        (mut step, mut used): (SessionStep, usize),
        now: Now,
    ) -> (SessionStep, usize) {
        while step == SessionStep::NeedInput
            && matches!(self.state, State::Serving)
            && used < bytes.len()
            && !self.parked.is_full(&self.engine.limits)
        {
            let pending = self.parked.len();
            let mut behind = self.parked.take_behind();
            let (next, taken) = self.answer(&bytes[used..], None, now, &mut behind);
            self.parked.put_behind(pending - 1, behind);
            step = next;
            used += taken;
            if self.parked.len() == pending {
                break;
            }
        }
        if step == SessionStep::Flush && self.parked.is_full(&self.engine.limits) {
            step = SessionStep::NeedInput;
        }
        (step, used)
    }

    /// Called when no more requests can be answered while calls are pending: waits for them, or
    /// closes for a reason that does not wait.
    #[cold]
    pub(super) fn wait_pending(&mut self, now: Now) -> SessionStep {
        if self.is_shutting_down {
            self.parked.expire_blocking();
        }
        if self.parked.has_work() {
            return SessionStep::Flush;
        }
        if !self.is_at_eof {
            return SessionStep::NeedInput;
        }
        let grace = Duration::from_millis(u64::from(self.engine.limits.half_closed_ms_max));
        let give_up_at_us = *self
            .give_up_at_us
            .get_or_insert(now.after(grace).monotonic_us());
        if self.parked.has_blocking() || give_up_at_us <= now.monotonic_us() {
            return self.close_now(CloseReason::Eof);
        }
        SessionStep::NeedInput
    }

    /// Cancels all pending calls.
    #[cold]
    pub(super) fn cancel_pending(&mut self) {
        self.core.client.shared.set_blocked(None);
        while let Some(item) = self.parked.pop() {
            item.call.cancel();
            let took = Duration::ZERO;
            self.engine
                .ended(item.at, item.call.client(), took, End::Cancelled);
        }
    }
}
