//! One turn of a session: it answers buffered requests within the limits of a turn.

use super::decoded::Decoded;
use super::dispatch::{Form, Outcome, PreparedRequest};
use super::window::{self, Window};
use super::{CloseReason, LimitsFrom, Session, SessionStep, State, Wire, codec_limits};
use crate::client::mailbox::Mail;
use crate::observe::stats::Stats;
use crate::{App, Keyspace, Now, Output};
use resp_codec::{Encoder, Proto, binary};
use std::sync::atomic::Ordering;
use std::time::Duration;

impl<A: App> Session<A> {
    /// Answers the requests in `bytes`, the first of which may be decoded already. Returns how many
    /// bytes it used.
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
        if let Some(step) = self.begin(now, out) {
            return (step, 0);
        }
        if std::mem::take(&mut self.has_input) {
            let shared = &self.core.client.shared;
            shared
                .last_active_us
                .store(now.monotonic_us(), Ordering::Relaxed);
        }
        // The length of earlier replies that are not written yet, for commands of this turn to
        // read.
        let shared = &self.core.client.shared;
        shared.output_bytes.store(owed as u64, Ordering::Relaxed);
        self.update_limits();
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
        self.finish(bytes.len() - used, used, out.len() - owed);
        (step, used)
    }

    /// Handles the state before any request is answered.
    fn begin(&mut self, now: Now, out: &mut Output) -> Option<SessionStep> {
        match &mut self.state {
            State::Serving | State::Pending | State::Ending(_) => None,
            State::Done(reason) => Some(SessionStep::Close(*reason)),
            // The pause is checked again when its request is tried again.
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
                self.core.client.shared.note_others();
                self.parked.target(out).append(reply);
                self.state = State::Serving;
                None
            }
        }
    }

    /// Writes messages from other connections, up to the output limit.
    fn deliver(&mut self, out: &mut Output) -> Mail {
        let client = &self.core.client;
        let mailbox = &client.shared.mailbox;
        if !mailbox.has_mail() {
            return Mail::Empty;
        }
        // Count first: a message sent after a reply finished must not overtake it.
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

    /// Appends at most `most` messages to `out`, up to the output limit.
    #[cold]
    fn write_mail(&mut self, most: usize, out: &mut Output) -> Mail {
        let client = &self.core.client;
        // Without a subscription a RESP2 client cannot tell a message from a reply.
        let drops_messages = client.proto != Proto::Resp3 && client.subscriptions.is_empty();
        let bytes_max = self.engine.limits.output_bytes_max;
        let before = out.len();
        let mail = client.shared.mailbox.take(most, |message| {
            if let Some(message) = message.filter(|_| !drops_messages) {
                message.write(client.proto, out);
            }
            out.len() < bytes_max
        });
        // A message may show a change, as keyspace notifications do.
        if out.len() > before && self.engine.notes_reads() {
            self.core.client.shared.note_others();
        }
        mail
    }

    /// Called when no more requests can be answered: waits for input, or closes for a reason that
    /// was waiting for this.
    fn rest(&mut self, now: Now) -> SessionStep {
        if !self.parked.is_empty() {
            return self.wait_pending(now);
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

    /// Adds the turn's counts to the statistics.
    fn finish(&mut self, unanswered: usize, used: usize, written: usize) {
        let client = &mut self.core.client;
        if let Some(call) = client.call.take() {
            // A command took it and replied anyway, or panicked.
            call.cancel();
        }
        self.engine.flush_tally(client);
        client.shared.forget_end();
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
                    self.is_unauthenticated(),
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

    /// Answers requests until the bytes or the turn's limits are used up, or a request makes those
    /// after it wait.
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

    /// Answers complete requests and looks ahead to those after them. A returned step ends the
    /// turn.
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
            let (prepared, end) = window.current();
            if self.is_turn_over(out) {
                return Some(SessionStep::Flush);
            }
            self.budget -= 1;
            let outcome = self.core.dispatch(&self.engine, now, &prepared, out);
            let step = self.follow(outcome, now, (end, used), out);
            if step.is_some() || self.apply_changed_limits() {
                // The following requests are decoded again, with other limits.
                return step;
            }
        }
        // The next request needs `answer_next`. A turn of one request is not a pipeline.
        self.is_pipelined = *used == bytes.len() && window.ran() > 1;
        None
    }

    /// Answers the first request, which was decoded when it arrived. A returned step ends the turn.
    fn answer_decoded(
        &mut self,
        request: &Decoded<'_, A>,
        bytes: &[u8],
        used: &mut usize,
        now: Now,
        out: &mut Output,
    ) -> Option<SessionStep> {
        self.budget -= 1;
        let (prepared, end) = request.prepared(bytes);
        let outcome = self.core.dispatch(&self.engine, now, &prepared, out);
        self.is_pipelined = end < bytes.len();
        let step = self.follow(outcome, now, (end, used), out);
        self.apply_changed_limits();
        step
    }

    /// Answers the next request, which does not fit into a window, is incomplete or is invalid. A
    /// returned step ends the turn.
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
                    (Some(PreparedRequest::new(item.args(), form)), consumed)
                }
                resp_codec::Step::NeedMore { consumed, .. } => (None, consumed),
            }),
            Wire::Resp | Wire::Undecided => self.decoder.decode(rest).map(|step| match step {
                resp_codec::Step::Ready { item, consumed } => {
                    let form = Form::Name(item.name_upper8());
                    (Some(PreparedRequest::new(item.args(), form)), consumed)
                }
                resp_codec::Step::NeedMore { consumed, .. } => (None, consumed),
            }),
        };
        match decoded {
            Ok((Some(prepared), consumed)) => {
                let outcome = self.core.dispatch(&self.engine, now, &prepared, out);
                let end = *used + consumed;
                // More than one request in this turn: expect the same of the next.
                self.is_pipelined = end < bytes.len() && window::fits(&prepared.args);
                let step = self.follow(outcome, now, (end, used), out);
                self.apply_changed_limits();
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

    /// Moves on to `end`, after a request, unless its outcome ends the turn.
    #[inline(always)]
    fn follow(
        &mut self,
        outcome: Outcome,
        now: Now,
        (end, used): (usize, &mut usize),
        out: &mut Output,
    ) -> Option<SessionStep> {
        if !matches!(outcome, Outcome::Done) {
            // A request that is held back is tried again.
            if !matches!(outcome, Outcome::Hold(_)) {
                *used = end;
            }
            return Some(self.end_turn(outcome, now));
        }
        // It owns nothing. Dropping it would cost a function call per request to find that out.
        std::mem::forget(outcome);
        *used = end;
        if self.core.client.shared.mailbox.has_mail() && !self.is_binary() {
            // Messages that the command sent to its own client follow its reply. Other messages can
            // go along: here they overtake no reply.
            self.write_mail(usize::MAX, out);
        }
        None
    }

    /// Applies other limits if the last request changed whether the client is unauthenticated.
    /// Returns whether it did.
    #[inline]
    fn apply_changed_limits(&mut self) -> bool {
        let has_changed = self.is_unauthenticated() != self.limits_from.is_unauthenticated;
        if has_changed {
            self.update_limits();
        }
        has_changed
    }

    pub(super) fn is_partial(&self) -> bool {
        match &self.wire {
            Wire::Binary(decoder) => decoder.pending_op().is_some(),
            Wire::Resp | Wire::Undecided => self.decoder.is_partial(),
        }
    }

    /// Whether the next request must wait until the output is written.
    #[inline]
    fn is_turn_over(&self, out: &Output) -> bool {
        self.budget == 0 || out.len() >= self.engine.limits.output_bytes_max
    }

    /// Applies an outcome that ends the turn.
    pub(super) fn end_turn(&mut self, outcome: Outcome, now: Now) -> SessionStep {
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

    /// Ends the session once pending calls are answered.
    pub(super) fn close(&mut self, reason: CloseReason) -> SessionStep {
        if self.parked.is_empty() {
            return self.close_now(reason);
        }
        self.state = State::Ending(reason);
        SessionStep::NeedInput
    }

    /// Ends the session at once, even if calls are pending.
    pub(super) fn close_now(&mut self, reason: CloseReason) -> SessionStep {
        self.cancel_pending();
        self.state = State::Done(reason);
        SessionStep::Close(reason)
    }

    fn is_unauthenticated(&self) -> bool {
        self.core.client.is_unauthenticated(&self.engine.tunables)
    }

    fn update_limits(&mut self) {
        let current = LimitsFrom {
            generation: self
                .engine
                .tunables
                .limits_generation
                .load(Ordering::Relaxed),
            is_unauthenticated: self.is_unauthenticated(),
        };
        if current != self.limits_from {
            self.limits_from = current;
            let limits = codec_limits(&self.engine, current.is_unauthenticated);
            self.decoder.set_limits(limits);
            if let Wire::Binary(decoder) = &mut self.wire {
                decoder.set_limits(limits);
            }
        }
    }
}

/// Whether a connection that begins with this byte speaks the binary protocol. RESP and inline
/// requests never begin with a control byte. So a control byte that is not an operation is a
/// mistake in the binary protocol, and is refused at once rather than at the end of a line that may
/// never come.
pub(super) const fn is_binary(first: u8) -> bool {
    let begins_text = matches!(first, 0 | b'\t'..=b'\r' | b' '..);
    binary::is_op(first) || !begins_text
}

fn due_us(now: Now, wait: Duration) -> u64 {
    now.after(wait).monotonic_us()
}
