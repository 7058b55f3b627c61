//! One turn: from the bytes at hand to replies, within the turn's bounds.

use super::decoded::Decoded;
use super::dispatch::{Asked, Form, Outcome};
use super::window::{self, Window};
use super::{CloseReason, LimitsFrom, Session, SessionStep, State, Wire, codec_limits};
use crate::client::mailbox::Mail;
use crate::observe::stats::Stats;
use crate::{App, Keyspace, Now, Output};
use resp_codec::{Encoder, Proto, binary};
use std::sync::atomic::Ordering;
use std::time::Duration;

impl<A: App> Session<A> {
    /// Answers what `bytes` hold, whose first request may be decoded already; returns how many of them are
    /// done with.
    pub(super) fn turn(
        &mut self,
        bytes: &[u8],
        first: Option<&Decoded<'_, A>>,
        now: Now,
        out: &mut Output,
    ) -> (SessionStep, usize) {
        let owed = out.len();
        if self.core.client.shared.is_killed() {
            return (self.close_now(CloseReason::Killed), 0);
        }
        if !self.parked.is_empty()
            && let Some(step) = self.collect(now, out)
        {
            return (step, 0);
        }
        if let Some(step) = self.enter(now, out) {
            return (step, 0);
        }
        if std::mem::take(&mut self.is_heard) {
            let shared = &self.core.client.shared;
            shared
                .last_active_us
                .store(now.monotonic_us(), Ordering::Relaxed);
        }
        // What the peer has yet to take of earlier replies, for a command of this turn to look at.
        let shared = &self.core.client.shared;
        shared.output_bytes.store(owed as u64, Ordering::Relaxed);
        self.take_over_limits();
        self.deliver(out);
        self.budget = self.engine.limits.commands_per_poll_max;
        let (mut step, mut used) = (SessionStep::NeedInput, 0);
        if self.parked.is_empty() && matches!(self.state, State::Serving) {
            (step, used) = self.answer(bytes, first, now, out);
        }
        if !self.parked.is_empty() {
            (step, used) = self.answer_behind(bytes, (step, used), now);
        }
        let mail = self.deliver(out);
        if mail == Mail::Overrun {
            step = self.close_now(CloseReason::Overrun);
        } else if step == SessionStep::NeedInput && mail == Mail::Left {
            step = SessionStep::Flush;
        } else if step == SessionStep::NeedInput {
            step = self.rest(now);
        }
        debug_assert!(used <= bytes.len() && owed <= out.len());
        self.leave(bytes.len() - used, used, out.len() - owed);
        (step, used)
    }

    /// What has to be settled before anything is answered.
    fn enter(&mut self, now: Now, out: &mut Output) -> Option<SessionStep> {
        match &mut self.state {
            State::Serving | State::Pending | State::Ending(_) => None,
            State::Done(reason) => Some(SessionStep::Close(*reason)),
            // Whether the pause is over is looked up when its request is tried again.
            State::Paused { .. } => {
                self.core
                    .client
                    .shared
                    .is_paused
                    .store(false, Ordering::Relaxed);
                self.state = State::Serving;
                None
            }
            State::Waiting { until_us, .. } if *until_us > now.monotonic_us() => None,
            State::Waiting { reply, .. } => {
                let reply = std::mem::take(&mut **reply);
                self.parked.target(out).append(reply);
                self.state = State::Serving;
                None
            }
        }
    }

    /// Writes the messages that came from other connections, as far as the peer may be owed more.
    fn deliver(&self, out: &mut Output) -> Mail {
        let client = &self.core.client;
        let mailbox = &client.shared.mailbox;
        if !mailbox.has_mail() {
            return Mail::Empty;
        }
        // Counted before it is looked for finished replies, so that a message that was sent after
        // one is finished cannot overtake it.
        let most = mailbox.len();
        let is_held = matches!(self.state, State::Waiting { .. }) || self.parked.has_finished();
        if is_held {
            let mail = mailbox.take(0, |_| true);
            return if mail == Mail::Left {
                Mail::Empty
            } else {
                mail
            };
        }
        self.write_mail(most, out)
    }

    /// Writes at most `most` messages at the end of `out`, as far as the peer may be owed more.
    #[cold]
    fn write_mail(&self, most: usize, out: &mut Output) -> Mail {
        let client = &self.core.client;
        // Without a subscription there is nothing by which RESP2 could tell a message from a reply.
        let is_deaf = client.proto != Proto::Resp3 && client.subscriptions.is_empty();
        let bytes_max = self.engine.limits.output_bytes_max;
        client.shared.mailbox.take(most, |message| {
            if let Some(message) = message.filter(|_| !is_deaf) {
                message.write(client.proto, out);
            }
            out.len() < bytes_max
        })
    }

    /// Nothing more can be answered: stay, or end for a reason that had to wait for that.
    fn rest(&mut self, now: Now) -> SessionStep {
        if !self.parked.is_empty() {
            return self.rest_pending(now);
        }
        match self.state {
            State::Serving => {}
            State::Ending(reason) => return self.close(reason),
            _ => return SessionStep::NeedInput,
        }
        if self.is_at_eof {
            self.close(CloseReason::Eof)
        } else if self.is_shutting_down {
            self.close(CloseReason::ShuttingDown)
        } else if self.is_idle(now) {
            self.close(CloseReason::Idle)
        } else {
            SessionStep::NeedInput
        }
    }

    /// Adds up what the turn counted.
    fn leave(&mut self, unanswered: usize, used: usize, written: usize) {
        let client = &mut self.core.client;
        if let Some(call) = client.call.take() {
            // Taken by a command that answered all the same, or panicked.
            call.cancel();
        }
        self.engine.flush_tally(client);
        let app = self.engine.app();
        app.turn_ended(&mut self.core.conn);
        A::Keys::turn_ended(app, &mut self.core.keys);
        let shared = &client.shared;
        shared
            .input_bytes
            .store(unanswered as u64, Ordering::Relaxed);
        Stats::add(&self.engine.stats.input_bytes, used as u64);
        Stats::add(&self.engine.stats.output_bytes, written as u64);
    }

    pub(super) fn answer(
        &mut self,
        bytes: &[u8],
        first: Option<&Decoded<'_, A>>,
        now: Now,
        out: &mut Output,
    ) -> (SessionStep, usize) {
        if let (Wire::Undecided, Some(first)) = (&self.wire, bytes.first()) {
            self.wire = if is_binary(*first) {
                Wire::Binary(Box::new(binary::RequestDecoder::new(codec_limits(
                    &self.engine,
                    self.is_stranger(),
                ))))
            } else {
                Wire::Resp
            };
        }
        match self.wire {
            Wire::Undecided => (SessionStep::NeedInput, 0),
            Wire::Resp | Wire::Binary(_) => self.answer_requests(bytes, first, now, out),
        }
    }

    /// Answers requests until the bytes or the turn are used up, or one keeps those behind it waiting.
    fn answer_requests(
        &mut self,
        bytes: &[u8],
        mut first: Option<&Decoded<'_, A>>,
        now: Now,
        out: &mut Output,
    ) -> (SessionStep, usize) {
        let mut used = 0;
        loop {
            if used == bytes.len() {
                return (SessionStep::NeedInput, used);
            }
            if self.is_turn_over(out) {
                return (SessionStep::Flush, used);
            }
            let step = if let Some(request) = first.take() {
                self.answer_decoded(request, bytes, &mut used, now, out)
            } else if self.is_pipelined && !self.is_partial() {
                self.answer_ahead(bytes, &mut used, now, out)
            } else {
                self.answer_next(bytes, &mut used, now, out)
            };
            if let Some(step) = step {
                return (step, used);
            }
        }
    }

    /// Answers whole requests as long as there are any, looking ahead to those behind them. A step
    /// ends the turn.
    fn answer_ahead(
        &mut self,
        bytes: &[u8],
        used: &mut usize,
        now: Now,
        out: &mut Output,
    ) -> Option<SessionStep> {
        let is_far = A::Keys::is_far(self.engine.app());
        let mut window = Window::new(bytes, *used, is_far, self.core.client.db());
        loop {
            let has_next = match &mut self.wire {
                Wire::Binary(decoder) => window.advance(&self.engine, &mut **decoder),
                Wire::Resp | Wire::Undecided => window.advance(&self.engine, &mut self.decoder),
            };
            if !has_next {
                break;
            }
            let (asked, end) = window.current();
            if self.is_turn_over(out) {
                return Some(SessionStep::Flush);
            }
            self.budget -= 1;
            let outcome = self.core.dispatch(&self.engine, now, &asked, out);
            let step = self.follow(outcome, now, (end, used), out);
            if step.is_some() || self.take_over_strangeness() {
                // What follows is decoded again, within other limits.
                return step;
            }
        }
        // What is left is for a closer look; and a turn of one request was none of a pipeline.
        self.is_pipelined = *used == bytes.len() && window.ran() > 1;
        None
    }

    /// Answers the first request, which was decoded when it arrived. A step ends the turn.
    fn answer_decoded(
        &mut self,
        request: &Decoded<'_, A>,
        bytes: &[u8],
        used: &mut usize,
        now: Now,
        out: &mut Output,
    ) -> Option<SessionStep> {
        self.budget -= 1;
        let (asked, end) = request.asked(bytes);
        let outcome = self.core.dispatch(&self.engine, now, &asked, out);
        self.is_pipelined = end < bytes.len();
        let step = self.follow(outcome, now, (end, used), out);
        self.take_over_strangeness();
        step
    }

    /// Answers the one request that comes next: what does not fit into a window, or is not there as a
    /// whole, or is not right. A step ends the turn.
    fn answer_next(
        &mut self,
        bytes: &[u8],
        used: &mut usize,
        now: Now,
        out: &mut Output,
    ) -> Option<SessionStep> {
        self.budget -= 1;
        let rest = &bytes[*used..];
        let decoded = match &mut self.wire {
            Wire::Binary(decoder) => decoder.decode(rest).map(|step| match step {
                resp_codec::Step::Ready { item, consumed } => {
                    let form = Form::Operation(item.op());
                    (Some(Asked::new(item.args(), form)), consumed)
                }
                resp_codec::Step::NeedMore { consumed, .. } => (None, consumed),
            }),
            Wire::Resp | Wire::Undecided => self.decoder.decode(rest).map(|step| match step {
                resp_codec::Step::Ready { item, consumed } => {
                    let form = Form::Name(item.name_upper8());
                    (Some(Asked::new(item.args(), form)), consumed)
                }
                resp_codec::Step::NeedMore { consumed, .. } => (None, consumed),
            }),
        };
        match decoded {
            Ok((Some(asked), consumed)) => {
                let outcome = self.core.dispatch(&self.engine, now, &asked, out);
                let end = *used + consumed;
                // More than one request in a turn: the next turn will be no different.
                self.is_pipelined = end < bytes.len() && window::fits(&asked.args);
                let step = self.follow(outcome, now, (end, used), out);
                self.take_over_strangeness();
                step
            }
            Ok((None, consumed)) => {
                *used += consumed;
                Some(SessionStep::NeedInput)
            }
            Err(error) => {
                *used = bytes.len();
                Some(self.protocol_error(error, out))
            }
        }
    }

    /// Goes on behind a request, to `end`, unless its outcome ends the turn.
    #[inline(always)]
    fn follow(
        &mut self,
        outcome: Outcome,
        now: Now,
        (end, used): (usize, &mut usize),
        out: &mut Output,
    ) -> Option<SessionStep> {
        if !matches!(outcome, Outcome::Done) {
            // What is held back is tried again.
            if !matches!(outcome, Outcome::Hold(_)) {
                *used = end;
            }
            return Some(self.settle(outcome, now));
        }
        // It owns nothing; a function would be called to find that out, for every request.
        std::mem::forget(outcome);
        *used = end;
        if self.core.client.shared.mailbox.has_mail() && !self.is_binary() {
            // What the command sent to its own client follows its reply. Whatever else there is comes
            // along: here it overtakes nothing.
            self.write_mail(usize::MAX, out);
        }
        None
    }

    /// Takes other limits over if the request before has made the peer a stranger, or no longer one;
    /// whether it has.
    #[inline]
    fn take_over_strangeness(&mut self) -> bool {
        let has_changed = self.is_stranger() != self.limits_from.is_stranger;
        if has_changed {
            self.take_over_limits();
        }
        has_changed
    }

    pub(super) fn is_partial(&self) -> bool {
        match &self.wire {
            Wire::Binary(decoder) => decoder.pending_op().is_some(),
            Wire::Resp | Wire::Undecided => self.decoder.is_partial(),
        }
    }

    /// Whether another request must wait until the output is written.
    #[inline]
    fn is_turn_over(&self, out: &Output) -> bool {
        self.budget == 0 || out.len() >= self.engine.limits.output_bytes_max
    }

    /// Follows an outcome that ends the turn.
    pub(super) fn settle(&mut self, outcome: Outcome, now: Now) -> SessionStep {
        match outcome {
            Outcome::Done => SessionStep::NeedInput,
            Outcome::Hold(until_us) => {
                self.core
                    .client
                    .shared
                    .is_paused
                    .store(true, Ordering::Relaxed);
                self.state = State::Paused { until_us };
                SessionStep::NeedInput
            }
            Outcome::Wait(wait, reply) => {
                self.state = State::Waiting {
                    until_us: due_us(now, wait),
                    reply,
                };
                SessionStep::NeedInput
            }
            Outcome::Pending(item) => self.park(*item),
            Outcome::Close(reason) => self.close(reason),
        }
    }

    fn protocol_error(&mut self, error: resp_codec::Error, out: &mut Output) -> SessionStep {
        Stats::add(&self.engine.stats.protocol_errors, 1);
        if let Wire::Binary(_) = self.wire {
            let mut text = Vec::new();
            error.kind.message(&mut text);
            Encoder::new(out, Proto::Binary).error(text);
        } else {
            self.engine.stats.count_error("ERR");
            error.kind.reply(out);
        }
        self.close(CloseReason::Protocol(error))
    }

    /// Ends the session, once pending calls are answered.
    pub(super) fn close(&mut self, reason: CloseReason) -> SessionStep {
        if self.parked.is_empty() {
            return self.close_now(reason);
        }
        self.state = State::Ending(reason);
        SessionStep::NeedInput
    }

    /// Ends the session, whatever is pending.
    pub(super) fn close_now(&mut self, reason: CloseReason) -> SessionStep {
        self.abandon();
        self.state = State::Done(reason);
        SessionStep::Close(reason)
    }

    fn is_stranger(&self) -> bool {
        self.core.client.is_stranger(&self.engine.tunables)
    }

    fn take_over_limits(&mut self) {
        let current = LimitsFrom {
            generation: self
                .engine
                .tunables
                .limits_generation
                .load(Ordering::Relaxed),
            is_stranger: self.is_stranger(),
        };
        if current != self.limits_from {
            self.limits_from = current;
            let limits = codec_limits(&self.engine, current.is_stranger);
            self.decoder.set_limits(limits);
            if let Wire::Binary(decoder) = &mut self.wire {
                decoder.set_limits(limits);
            }
        }
    }
}

/// Whether a connection that begins with this byte is for the binary protocol to answer. Neither
/// RESP nor a line of text begins with a control byte, so one that is no operation is a mistake in
/// that protocol, and told at once rather than at the end of a line that may never come.
pub(super) const fn is_binary(first: u8) -> bool {
    let begins_text = matches!(first, 0 | b'\t'..=b'\r' | b' '..);
    binary::is_op(first) || !begins_text
}

fn due_us(now: Now, wait: Duration) -> u64 {
    now.after(wait).monotonic_us()
}
