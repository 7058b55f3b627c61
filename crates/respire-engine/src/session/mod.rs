//! The protocol state of one connection: it takes bytes and the time, and returns replies and a
//! deadline.

mod ahead;
mod binary;
mod committed;
mod decoded;
mod dispatch;
mod held_back;
mod input;
mod parked;
mod pending;
#[cfg(test)]
mod pending_tests;
mod replay;
mod states;
#[cfg(test)]
mod tests;
mod turn;
mod window;

use crate::client::ClientShared;
use crate::command::keyspace::KeysConn;
use crate::observe::stats::Stats;
use crate::{App, Client, Engine, GateKind, Limits, Now, Output, Peer, Proto, Wake};
pub use ahead::Ahead;
use committed::Committed;
use decoded::Decoded;
use input::{Input, LARGE_BYTES_MIN};
use parked::Parked;
pub(crate) use replay::Failed;
pub use replay::{Replay, ReplayError};
use resp_codec::CommandDecoder;
use states::State;
pub use states::{CloseReason, SessionEvent, SessionStep};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One connection's protocol and state, without its socket.
///
/// The contract, which both servers, the tests and the explorer page follow:
///
/// 1. [`Session::serve`] takes every event: bytes that arrived in the driver's own read buffer,
///    bytes of a large argument that were read to [`Session::input_room`], and every other
///    [`SessionEvent`].
/// 2. It returns a [`SessionStep`] and may append to `out`. The driver writes `out` first.
/// 3. [`SessionStep::Flush`]: the turn reached a limit and more can be answered. Send
///    [`SessionEvent::Turn`] once `out` is written.
/// 4. [`SessionStep::NeedInput`]: read more if [`Session::wants_input`] allows it. Send
///    [`SessionEvent::Turn`] when [`Session::next_timeout`] passes or the connection's
///    [`Wake`](crate::Wake) handle is called.
/// 5. [`SessionStep::Close`]: write the remaining output, within bounds, and close. The session is
///    done.
/// 6. If the engine has [`Commits`](crate::Commits), the driver calls [`Session::take_ticket`] after each call of
///    [`Session::serve`], and does not write what this call appended before the ticket is kept.
///
/// Memory is bounded by one request (whose parts the limits bound), the input of one turn, and
/// `output_bytes_max` plus one reply. While calls are pending, their replies come on top, and the
/// replies that wait behind them, bounded by `parked_bytes_max` and `output_bytes_max`.
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
    /// The settings that the decoder's limits were computed from.
    limits_from: LimitsFrom,
    input: Input,
    state: State,
    /// The last turn had more than one request, so looking ahead is likely to pay.
    is_pipelined: bool,
    /// Pending calls.
    parked: Parked,
    /// The time at which pending calls are cancelled because the peer closed its side.
    give_up_at_us: Option<u64>,
    /// How many more requests this turn may answer. Kept here because pending calls may interrupt
    /// the turn.
    budget: u32,
    /// Bytes arrived since the last turn. They keep a connection from being idle.
    has_input: bool,
    is_at_eof: bool,
    is_shutting_down: bool,
    /// What keeps the changes of its commands, if anything does; absent during a turn.
    committed: Option<Box<Committed>>,
}

/// The part of a session that running a command may change.
struct Core<A: App> {
    client: Client,
    conn: A::Conn,
    keys: KeysConn<A>,
}

/// The protocol, chosen by the first byte.
#[derive(Debug)]
enum Wire {
    Undecided,
    Resp,
    Binary(Box<resp_codec::binary::RequestDecoder>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LimitsFrom {
    generation: u32,
    is_unauthenticated: bool,
}

impl<A: App> Session<A> {
    pub(crate) fn new(engine: Arc<Engine<A>>, shared: Arc<ClientShared>) -> Self {
        let is_unauthenticated = engine.tunables.has_password();
        let limits_from = LimitsFrom {
            generation: engine.tunables.limits_generation.load(Ordering::Relaxed),
            is_unauthenticated,
        };
        let decoder = CommandDecoder::new(codec_limits(&engine, is_unauthenticated));
        let committed = engine.commits().map(Committed::new);
        Self {
            core: Core {
                client: Client::new(shared, !is_unauthenticated),
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
            give_up_at_us: None,
            budget: 0,
            has_input: false,
            is_at_eof: false,
            is_shutting_down: false,
            committed,
        }
    }

    /// The connection's state as commands see it.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.core.client
    }

    /// Whether the first byte chose the binary protocol.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        matches!(self.wire, Wire::Binary(_))
    }

    /// Whether the connection speaks the binary protocol if `bytes` arrive next. The first byte of
    /// a connection chooses the protocol.
    #[must_use]
    pub fn is_binary_with(&self, bytes: &[u8]) -> bool {
        match (&self.wire, bytes.first()) {
            (Wire::Undecided, Some(first)) => turn::is_binary(*first),
            _ => self.is_binary(),
        }
    }

    /// Whether the next byte begins a request: all input of earlier requests is answered.
    #[must_use]
    pub fn is_between_requests(&self) -> bool {
        self.input.is_empty() && !self.is_partial()
    }

    /// Whether the session is between requests and no reply is pending. If the output is written
    /// too, the next reply answers the next request.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.is_between_requests() && self.parked.is_empty() && matches!(self.state, State::Serving)
    }

    /// The buffer to read into instead of the driver's own, while a large argument arrives; `None`
    /// at other times. It avoids a copy of the argument. Append to the buffer, within its capacity,
    /// and then send [`SessionEvent::Room`].
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
        // Input behind a pending call has a tighter bound than the length of an argument.
        let end = self.large_end().filter(|_| is_serving)?;
        Some(self.input.room(end))
    }

    /// The length of the unanswered input once the large argument at its end is complete.
    fn large_end(&self) -> Option<usize> {
        let (bulk, line_end) = match &self.wire {
            Wire::Binary(decoder) => (decoder.pending_bulk(), 0),
            Wire::Resp | Wire::Undecided => (self.decoder.pending_bulk(), b"\r\n".len()),
        };
        bulk.filter(|bulk| bulk.need >= LARGE_BYTES_MIN)
            .map(|bulk| bulk.start + bulk.need + line_end)
    }

    /// Takes an event and answers the requests that can be answered. All input goes through this
    /// function.
    ///
    /// Bytes are copied only if a request is left unfinished.
    pub fn serve<'b>(
        &mut self,
        event: impl Into<SessionEvent<'b, A>>,
        now: Now,
        out: &mut Output,
    ) -> SessionStep {
        if self.committed.is_some() {
            return self.serve_committed(event.into(), now, out);
        }
        self.take_event(event.into(), now, out)
    }

    #[inline(always)]
    fn take_event(
        &mut self,
        event: SessionEvent<'_, A>,
        now: Now,
        out: &mut Output,
    ) -> SessionStep {
        match event {
            SessionEvent::Bytes(bytes) => return self.arrived(bytes, None, now, out),
            SessionEvent::Ahead(ahead) => {
                let request = self.foreseen(&ahead);
                return self.arrived(ahead.bytes(), request, now, out);
            }
            SessionEvent::Room => self.has_input = true,
            SessionEvent::Turn => {}
            SessionEvent::End => self.is_at_eof = true,
            SessionEvent::Stop => {
                self.is_shutting_down = true;
                // Requests that a pause holds back must be answered before the server stops.
                self.engine.pause.end();
                self.engine.open_gate(GateKind::Pace);
            }
        }
        self.answer_input(now, out)
    }

    /// Answers bytes that arrived. Their first request may be decoded already.
    #[inline]
    fn arrived(
        &mut self,
        bytes: &[u8],
        first: Option<&Decoded<'_, A>>,
        now: Now,
        out: &mut Output,
    ) -> SessionStep {
        self.has_input = true;
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

    /// Answers buffered input, as far as possible.
    fn answer_input(&mut self, now: Now, out: &mut Output) -> SessionStep {
        let end = self.large_end();
        let mut input = std::mem::take(&mut self.input);
        let step = input.with_unanswered(end, |bytes, shared_buffer| {
            self.core.client.shared_buffer = shared_buffer;
            let answered = self.turn(bytes, None, now, out);
            self.core.client.shared_buffer = None;
            answered
        });
        self.input = input;
        step
    }

    /// Whether the driver should read. It should not while the peer is slow to read its replies,
    /// nor while requests wait for a pause to end.
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

    /// The time, in monotonic microseconds, at which [`SessionEvent::Turn`] is due even if nothing
    /// arrives.
    #[must_use]
    pub fn next_timeout(&self) -> Option<u64> {
        let due = match self.state {
            State::Paused { until_us } | State::Waiting { until_us, .. } => Some(until_us),
            State::Serving | State::Pending | State::Ending(_) | State::Done(_) => None,
        };
        let rest = if self.parked.is_empty() {
            self.idle_deadline_us()
        } else {
            // A peer that waits for a reply is not idle.
            [self.parked.due_us(), self.give_up_at_us]
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
        let client = &self.core.client;
        let last = client.shared.last_active_us.load(Ordering::Relaxed);
        // A subscriber only listens, so it is never idle. Nor is a peer that waits for a reply.
        let is_waiting =
            !client.subscriptions.is_empty() || client.shared.is_held.load(Ordering::Relaxed);
        (timeout_s > 0 && !is_waiting)
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
        self.cancel_pending();
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
    /// Opens a session for a new connection. Returns `None` when `maxclients` connections are open;
    /// the driver then sends [`Engine::REFUSAL`] and closes.
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

    /// The error sent to a connection beyond `maxclients` before it is closed.
    pub const REFUSAL: &'static [u8] = b"-ERR max number of clients reached\r\n";
}

/// The decoder's limits.
fn codec_limits<A: App>(engine: &Engine<A>, is_unauthenticated: bool) -> resp_codec::Limits {
    let limits = Limits {
        bulk_bytes_max: engine.tunables.bulk_bytes_max.load(Ordering::Relaxed),
        ..engine.limits
    };
    if is_unauthenticated {
        limits.codec_before_password()
    } else {
        limits.codec()
    }
}

/// The reply format while `CALL` of the binary protocol runs a command.
const CALL: Proto = Proto::Binary;
