//! One connection: bytes and the time go in, replies and a deadline come out.

mod ahead;
mod binary;
mod decoded;
mod dispatch;
mod input;
mod parked;
mod pending;
#[cfg(test)]
mod pending_tests;
mod states;
#[cfg(test)]
mod tests;
mod turn;
mod window;

use crate::client::ClientShared;
use crate::command::keyspace::KeysConn;
use crate::observe::stats::Stats;
use crate::{App, Client, Engine, Limits, Now, Output, Peer, Proto, Wake};
pub use ahead::Ahead;
use decoded::Decoded;
use input::{Input, LARGE_BYTES_MIN};
use parked::Parked;
use resp_codec::CommandDecoder;
use states::State;
pub use states::{CloseReason, SessionEvent, SessionStep};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One connection's protocol and state, without its socket.
///
/// The contract, which both servers, the tests and the page follow:
///
/// 1. Whatever happens is told with [`Session::serve`]: bytes that arrived (from the driver's own read
///    buffer, or, those of a large argument, read to [`Session::input_room`]), and every other [`SessionEvent`].
/// 2. It returns a [`SessionStep`], and may have added to `out`; the driver writes that first.
/// 3. [`SessionStep::Flush`]: the turn was used up and more can be answered: [`SessionEvent::Turn`] when `out` is written.
/// 4. [`SessionStep::NeedInput`]: read more once [`Session::wants_input`] says so; [`SessionEvent::Turn`] when
///    [`Session::next_timeout`] passes or the connection's [`Wake`](crate::Wake) rings.
/// 5. [`SessionStep::Close`]: write what is owed, within bounds, and close. The session is done.
///
/// Memory is bounded by one request (whose parts the limits bound), one turn's input, and
/// `output_bytes_max` plus one reply; while calls are pending, by their replies and by
/// `parked_bytes_max` and `output_bytes_max` for those behind them.
///
/// ```
/// use respire_engine::driver::SessionStep;
/// use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
/// use std::time::Duration;
///
/// let now = Now::new(Duration::ZERO, Duration::ZERO);
/// let engine = Engine::new(Router::new(()), Options::default(), now);
/// let mut session = engine.connect(Peer::default(), Box::new(NoWake), now).unwrap();
/// let mut out = Output::new();
/// assert_eq!(session.serve(b"PING\r\n*1\r\n$4\r\nPI", now, &mut out), SessionStep::NeedInput);
/// assert_eq!(session.serve(b"NG\r\n", now, &mut out), SessionStep::NeedInput);
/// assert_eq!(out.to_vec(), b"+PONG\r\n+PONG\r\n");
/// ```
pub struct Session<A: App> {
    engine: Arc<Engine<A>>,
    core: Core<A>,
    wire: Wire,
    decoder: CommandDecoder,
    /// What the decoder's limits were taken from.
    limits_from: LimitsFrom,
    input: Input,
    state: State,
    /// The last turn had more than one request, so that it is worth looking ahead.
    is_pipelined: bool,
    /// Calls whose replies are yet to come.
    parked: Parked,
    /// When pending calls are given up because the peer closed its side.
    leave_by_us: Option<u64>,
    /// How many more requests this turn may answer, kept here while calls are left pending.
    budget: u32,
    /// Bytes arrived since the last turn, which is what keeps a connection from being idle.
    is_heard: bool,
    is_at_eof: bool,
    is_shutting_down: bool,
}

/// The part of a session that running a command may change.
struct Core<A: App> {
    client: Client,
    conn: A::Conn,
    keys: KeysConn<A>,
}

/// Which protocol the first byte chose.
#[derive(Debug)]
enum Wire {
    Undecided,
    Resp,
    Binary(Box<resp_codec::binary::RequestDecoder>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LimitsFrom {
    generation: u32,
    is_stranger: bool,
}

impl<A: App> Session<A> {
    pub(crate) fn new(engine: Arc<Engine<A>>, shared: Arc<ClientShared>) -> Self {
        let is_stranger = engine.tunables.has_password();
        let limits_from = LimitsFrom {
            generation: engine.tunables.limits_generation.load(Ordering::Relaxed),
            is_stranger,
        };
        let decoder = CommandDecoder::new(codec_limits(&engine, is_stranger));
        Self {
            core: Core {
                client: Client::new(shared, !is_stranger),
                conn: A::Conn::default(),
                keys: KeysConn::<A>::default(),
            },
            engine,
            wire: Wire::Undecided,
            decoder,
            limits_from,
            input: Input::default(),
            state: State::Serving,
            is_pipelined: false,
            parked: Parked::default(),
            leave_by_us: None,
            budget: 0,
            is_heard: false,
            is_at_eof: false,
            is_shutting_down: false,
        }
    }

    /// What is known of the connection.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.core.client
    }

    /// Whether the first byte chose the binary protocol.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        matches!(self.wire, Wire::Binary(_))
    }

    /// Whether a connection on which `bytes` arrive next speaks the binary protocol: the first byte
    /// of all chooses.
    #[must_use]
    pub fn is_binary_with(&self, bytes: &[u8]) -> bool {
        match (&self.wire, bytes.first()) {
            (Wire::Undecided, Some(first)) => turn::is_binary(*first),
            _ => self.is_binary(),
        }
    }

    /// Whether what arrives next begins a request: nothing of an earlier one waits to be answered.
    #[must_use]
    pub fn is_between_requests(&self) -> bool {
        self.input.is_empty() && !self.is_partial()
    }

    /// Whether, besides, no reply is yet to come: once the output is written too, the next reply
    /// answers the next request.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.is_between_requests() && self.parked.is_empty() && matches!(self.state, State::Serving)
    }

    /// Where a driver is to read to instead of its own buffer, if anywhere: while a large argument
    /// arrives, the buffer that it lies in, so that it is not copied. What is read goes to the buffer's
    /// end, not past its capacity; [`SessionEvent::Room`] then has it answered.
    ///
    /// ```
    /// use respire_engine::driver::{SessionEvent, SessionStep};
    /// use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
    /// use std::time::Duration;
    ///
    /// let now = Now::new(Duration::ZERO, Duration::ZERO);
    /// let engine = Engine::new(Router::new(()), Options::default(), now);
    /// let mut session = engine.connect(Peer::default(), Box::new(NoWake), now).unwrap();
    /// let mut out = Output::new();
    /// assert!(session.input_room().is_none());
    /// let head = b"*2\r\n$4\r\nECHO\r\n$100000\r\n";
    /// assert_eq!(session.serve(head, now, &mut out), SessionStep::NeedInput);
    /// let room = session.input_room().unwrap();
    /// room.extend_from_slice(&[b'x'; 100_000]);
    /// room.extend_from_slice(b"\r\n");
    /// assert_eq!(session.serve(SessionEvent::Room, now, &mut out), SessionStep::NeedInput);
    /// assert_eq!(out.len(), 100_000 + "$100000\r\n\r\n".len());
    /// ```
    pub fn input_room(&mut self) -> Option<&mut Vec<u8>> {
        let is_serving = matches!(self.state, State::Serving) && self.parked.is_empty();
        // What waits for a reply is bounded more tightly than by the length of an argument.
        let end = self.large_end().filter(|_| is_serving)?;
        Some(self.input.room(end))
    }

    /// How long what is unanswered will be when the large argument is whole that it ends in.
    fn large_end(&self) -> Option<usize> {
        let (bulk, line_end) = match &self.wire {
            Wire::Binary(decoder) => (decoder.pending_bulk(), 0),
            Wire::Resp | Wire::Undecided => (self.decoder.pending_bulk(), b"\r\n".len()),
        };
        bulk.filter(|bulk| bulk.need >= LARGE_BYTES_MIN)
            .map(|bulk| bulk.start + bulk.need + line_end)
    }

    /// Tells the session what happened, and has it answer what can be answered: the one way in.
    ///
    /// Bytes are not copied unless a request is left unfinished.
    pub fn serve<'b>(
        &mut self,
        event: impl Into<SessionEvent<'b, A>>,
        now: Now,
        out: &mut Output,
    ) -> SessionStep {
        match event.into() {
            SessionEvent::Bytes(bytes) => return self.arrived(bytes, None, now, out),
            SessionEvent::Ahead(ahead) => {
                let request = self.foreseen(&ahead);
                return self.arrived(ahead.bytes(), request, now, out);
            }
            SessionEvent::Room => self.is_heard = true,
            SessionEvent::Turn => {}
            SessionEvent::End => self.is_at_eof = true,
            SessionEvent::Stop => {
                self.is_shutting_down = true;
                // What a pause holds back is owed an answer, and there will be no later.
                self.engine.pause.end();
            }
        }
        self.answer_input(now, out)
    }

    /// Answers bytes that arrived, whose first request may be decoded already.
    #[inline]
    fn arrived(
        &mut self,
        bytes: &[u8],
        first: Option<&Decoded<'_, A>>,
        now: Now,
        out: &mut Output,
    ) -> SessionStep {
        self.is_heard = true;
        if !self.input.is_empty() {
            self.input.push(bytes, self.large_end());
            return self.answer_input(now, out);
        }
        let (step, used) = self.turn(bytes, first, now, out);
        debug_assert!(used <= bytes.len());
        if used < bytes.len() && !matches!(step, SessionStep::Close(_)) {
            self.input.push(&bytes[used..], self.large_end());
        }
        step
    }

    /// Answers what can be answered of the input that was taken before.
    fn answer_input(&mut self, now: Now, out: &mut Output) -> SessionStep {
        let end = self.large_end();
        let mut input = std::mem::take(&mut self.input);
        let step = input.lend(end, |bytes, lent| {
            self.core.client.lent = lent;
            let answered = self.turn(bytes, None, now, out);
            self.core.client.lent = None;
            answered
        });
        self.input = input;
        step
    }

    /// Whether the driver should read: not while the peer owes us the reading of its replies, nor
    /// while requests wait for a pause to end.
    #[must_use]
    pub fn wants_input(&self, out: &Output) -> bool {
        let waiting = self.input.len();
        let limits = &self.engine.limits;
        match self.state {
            State::Done(_) => false,
            State::Serving if self.parked.is_empty() || !self.parked.is_full(limits) => {
                out.len() < limits.output_bytes_max
            }
            _ => waiting < limits.waiting_input_bytes_max && out.len() < limits.output_bytes_max,
        }
    }

    /// When [`SessionEvent::Turn`] is due even if nothing arrives, in monotonic microseconds.
    #[must_use]
    pub fn next_timeout(&self) -> Option<u64> {
        let due = match self.state {
            State::Paused { until_us } | State::Waiting { until_us, .. } => Some(until_us),
            State::Serving | State::Pending | State::Ending(_) | State::Done(_) => None,
        };
        let rest = if self.parked.is_empty() {
            self.idle_deadline_us()
        } else {
            // Who waits for a reply is not idle.
            [self.parked.due_us(), self.leave_by_us]
                .into_iter()
                .flatten()
                .min()
        };
        [due, rest].into_iter().flatten().min()
    }

    /// Whether the peer has been idle for longer than `timeout` allows.
    #[must_use]
    pub fn is_idle(&self, now: Now) -> bool {
        let due_us = self.idle_deadline_us();
        self.parked.is_empty() && due_us.is_some_and(|due_us| due_us <= now.monotonic_us())
    }

    fn idle_deadline_us(&self) -> Option<u64> {
        let timeout_s = self.engine.tunables.idle_timeout_s.load(Ordering::Relaxed);
        let last = self
            .core
            .client
            .shared
            .last_active_us
            .load(Ordering::Relaxed);
        // A subscriber is there to listen.
        let is_subscribed = !self.core.client.subscriptions.is_empty();
        (timeout_s > 0 && !is_subscribed)
            .then(|| last.saturating_add(timeout_s.saturating_mul(1_000_000)))
    }
}

impl<A: App> std::fmt::Debug for Session<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("client", &self.core.client)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl<A: App> Drop for Session<A> {
    fn drop(&mut self) {
        self.abandon();
        self.engine.flush_tally(&mut self.core.client);
        self.core.client.shared.mailbox.close();
        let client = &self.core.client;
        self.engine
            .pubsub
            .forget(&client.shared, &client.subscriptions);
        self.engine.clients.close(client.id());
        client.shared.ended();
    }
}

impl<A: App> Engine<A> {
    /// Opens a session for a new connection, or `None` when `maxclients` are open already: then
    /// [`Engine::REFUSAL`] is what the peer should be told.
    pub fn connect(
        self: &Arc<Self>,
        peer: Peer,
        waker: Box<dyn Wake>,
        now: Now,
    ) -> Option<Session<A>> {
        let shared = self
            .clients
            .open(peer, now, waker, self.tunables.clients_max());
        let Some(shared) = shared else {
            Stats::add(&self.stats.rejected_connections, 1);
            return None;
        };
        Stats::add(&self.stats.connections, 1);
        Some(Session::new(Arc::clone(self), shared))
    }

    /// What a connection past `maxclients` is told before it is closed.
    pub const REFUSAL: &'static [u8] = b"-ERR max number of clients reached\r\n";
}

/// The decoder's limits.
fn codec_limits<A: App>(engine: &Engine<A>, is_stranger: bool) -> resp_codec::Limits {
    let limits = Limits {
        bulk_bytes_max: engine.tunables.bulk_bytes_max.load(Ordering::Relaxed),
        ..engine.limits
    };
    if is_stranger {
        limits.codec_before_password()
    } else {
        limits.codec()
    }
}

/// The protocol replies are written in while the binary protocol's `CALL` runs a command.
const CALL: Proto = Proto::Binary;
