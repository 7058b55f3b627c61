//! Drives one connection without its socket: read, reply, write, in bounded turns.

mod arrival;
mod held;

use crate::Limits;
use crate::limits::ConnectionLimits;
use crate::tap::{Probe, Tap};
use crate::throttle::Throttle;
pub use arrival::{Arrival, arrival_buffer};
use held::{Held, Left};
use respire_engine::driver::{CloseReason, Session, SessionEvent, SessionStep};
use respire_engine::{App, Now, Output};
use std::io::{self, ErrorKind, IoSlice};

/// The socket, as a turn uses it. No method blocks: an operation that would block returns
/// [`ErrorKind::WouldBlock`], and the driver calls [`Connection::drive`] again once the socket is
/// ready.
pub trait Transport {
    /// Reads once; 0 bytes mean that the peer will send nothing more.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] when nothing has arrived; anything else ends the connection.
    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Reads once and appends to `buffer`, up to its capacity, which is larger than its length; 0
    /// bytes mean that the peer will send nothing more. Large arguments arrive this way: in pieces,
    /// in memory that need not be initialised.
    ///
    /// # Errors
    /// As [`Transport::read_some`].
    fn read_onto(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize>;

    /// Writes once, as much as the socket takes.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] when it takes nothing; anything else ends the connection.
    fn write_some(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Shuts down our side, so that the peer reads the end of the stream after the last reply.
    fn finish(&mut self);
}

/// What the driver must do next with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Pace {
    /// Wait for the socket, for a wake-up, or for [`Connection::deadline_us`].
    Wait,
    /// The turn is used up: drive the connection again after the others had a turn.
    Again,
    /// Drop the connection and its socket.
    Closed,
}

/// Buffers that connections use during their turns and do not keep: one `Scratch` per thread is
/// enough.
///
/// An idle connection therefore holds no buffer.
#[derive(Debug)]
pub struct Scratch {
    buffer: Box<[u8]>,
    out: Output,
}

impl Scratch {
    /// Buffers of the size these limits ask for.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            buffer: vec![0; limits.buffer_bytes].into(),
            out: Output::new(),
        }
    }

    /// Keeps the buffers if they have the size of these limits, otherwise replaces them.
    pub fn fit(&mut self, limits: &Limits) {
        if self.buffer.len() != limits.buffer_bytes {
            *self = Self::new(limits);
        }
    }
}

/// An output buffer larger than this is freed after the turn that needed it.
const OUT_KEPT_BYTES_MAX: usize = 256 << 10;

/// The most slices that one write gathers. More would only help replies made of many large values.
const SLICES_MAX: usize = 16;

/// A session and the output it owes its peer: a connection without its socket.
///
/// A driver calls [`Connection::drive`] when the socket becomes ready, after
/// [`Connection::handle_wake`], [`Connection::handle_timeout`] and [`Connection::handle_shutdown`],
/// and as long as it returns [`Pace::Again`].
#[derive(Debug)]
pub struct Connection<A: App> {
    session: Session<A>,
    out: Output,
    /// The part of the output that may not leave yet.
    held: Held,
    step: SessionStep,
    limits: ConnectionLimits,
    is_at_eof: bool,
    /// The last read was short.
    reads_little: bool,
    stopping: Stopping,
    /// When a byte was last written, or the close began. A peer's time limit counts from here.
    progress_us: u64,
    /// Bytes discarded since our side was shut down; `None` before that.
    discarded: Option<usize>,
    probe: Probe,
}

/// How far the shutdown of the server has reached this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopping {
    No,
    /// The bytes that have arrived are read first.
    Pending,
    /// The session knows.
    Notified {
        /// Whether the peer got a reply lately, or is about to get one.
        is_busy: bool,
    },
}

impl<A: App> Connection<A> {
    /// A newly accepted connection.
    #[must_use]
    pub fn new(session: Session<A>, limits: Limits, now: Now) -> Self {
        Self {
            session,
            out: Output::new(),
            held: Held::default(),
            step: SessionStep::NeedInput,
            limits: ConnectionLimits::of(&limits),
            is_at_eof: false,
            reads_little: false,
            stopping: Stopping::No,
            progress_us: now.monotonic_us(),
            discarded: None,
            probe: Probe::default(),
        }
    }

    /// The same connection, with copies of its traffic going to `tap`.
    #[must_use]
    pub fn with_tap(mut self, tap: &Tap, now: Now) -> Self {
        self.probe = Probe::new(tap, &self.session, now);
        self
    }

    /// The session inside.
    #[must_use]
    pub fn session(&self) -> &Session<A> {
        &self.session
    }

    /// Call this when the connection's [`Wake`](respire_engine::Wake) was called.
    pub fn handle_wake(&mut self, now: Now) {
        if self.takes_events() {
            self.poll(now);
        }
    }

    /// Call this when [`Connection::deadline_us`] may have passed.
    pub fn handle_timeout(&mut self, now: Now) {
        if self
            .deadline_us()
            .is_none_or(|due| due > now.monotonic_us())
        {
            return;
        }
        match self.step {
            SessionStep::NeedInput => self.poll(now),
            // The peer is idle or gone, and does not read its replies either.
            SessionStep::Flush if self.session.is_idle(now) => self.close(CloseReason::Idle, now),
            SessionStep::Flush if self.is_at_eof => self.close(CloseReason::Eof, now),
            SessionStep::Flush => self.poll(now),
            SessionStep::Close(_) => {}
        }
    }

    /// Call this when the server stops. Further calls have no effect.
    pub fn handle_shutdown(&mut self) {
        if self.stopping == Stopping::No {
            self.stopping = Stopping::Pending;
        }
    }

    /// When the connection must be driven, after [`Connection::handle_timeout`], even if nothing
    /// happens, in monotonic microseconds.
    #[must_use]
    pub fn deadline_us(&self) -> Option<u64> {
        let stalled_us = self
            .progress_us
            .saturating_add(us(self.limits.stall_ms_max));
        match self.step {
            SessionStep::NeedInput => self.session.next_timeout(),
            // The peer waits for the server here, and not the other way round.
            SessionStep::Flush if self.held.is_all() => None,
            SessionStep::Flush => self.session.next_timeout().map(|due| due.max(stalled_us)),
            SessionStep::Close(_) if self.discarded.is_some() => {
                Some(self.progress_us.saturating_add(us(self.limits.linger_ms)))
            }
            SessionStep::Close(_) if self.held.is_all() => {
                Some(self.progress_us.saturating_add(us(self.limits.held_ms_max)))
            }
            SessionStep::Close(_) => Some(stalled_us),
        }
    }

    /// One turn: writes pending output, reads and replies, until the socket would block or the
    /// limits of the turn are reached.
    pub fn drive(&mut self, io: &mut impl Transport, scratch: &mut Scratch, now: Now) -> Pace {
        self.take_turn(io, None, scratch, now)
    }

    #[inline]
    fn take_turn(
        &mut self,
        io: &mut impl Transport,
        arrival: Option<Arrival<'_, A>>,
        scratch: &mut Scratch,
        now: Now,
    ) -> Pace {
        if self.out.is_empty() {
            std::mem::swap(&mut self.out, &mut scratch.out);
        }
        let pace = self.turn(io, arrival, &mut scratch.buffer, now);
        if self.out.is_empty() {
            let out = std::mem::take(&mut self.out);
            if out.capacity() > scratch.out.capacity() {
                scratch.out = out;
            }
            scratch.out.shrink(OUT_KEPT_BYTES_MAX);
        }
        if pace == Pace::Again && self.stopping == Stopping::Pending {
            self.notify_shutdown(now);
        }
        pace
    }

    fn turn(
        &mut self,
        io: &mut impl Transport,
        arrival: Option<Arrival<'_, A>>,
        buffer: &mut [u8],
        now: Now,
    ) -> Pace {
        let mut calls_left = self.limits.io_calls_per_turn_max;
        if let Some(arrival) = arrival
            && let Err(error) = self.take_arrival(arrival, now)
        {
            return self.lost(&error);
        }
        loop {
            let left = match self.write_owed(io, &mut calls_left, now) {
                Ok(left) => left,
                Err(error) => return self.lost(&error),
            };
            if calls_left == 0 {
                return Pace::Again;
            }
            calls_left -= 1;
            match self.step {
                SessionStep::Close(reason) => return self.end(io, buffer, reason, now),
                SessionStep::Flush if left == Left::Blocked => return Pace::Wait,
                SessionStep::Flush if left == Left::Held && !self.session.has_room(&self.out) => {
                    return Pace::Wait;
                }
                SessionStep::Flush => self.poll(now),
                SessionStep::NeedInput => match self.receive(io, buffer, now) {
                    Ok(()) => {}
                    Err(error) if error.kind() != ErrorKind::WouldBlock => {
                        return self.lost(&error);
                    }
                    Err(_) if self.stopping == Stopping::Pending => self.notify_shutdown(now),
                    Err(_) => return Pace::Wait,
                },
            }
        }
    }

    /// Reads once and serves the bytes. While the session must not get more input, this acts as if
    /// nothing had arrived.
    fn receive(&mut self, io: &mut impl Transport, buffer: &mut [u8], now: Now) -> io::Result<()> {
        if self.is_at_eof || !self.session.wants_input(&self.out) {
            return Err(ErrorKind::WouldBlock.into());
        }
        // The tap copies every read, so all reads go through the one buffer.
        let is_watched = self.probe.is_on();
        let room = if is_watched {
            None
        } else {
            self.session.input_room()
        };
        let has_room = room.is_some();
        let read = match room {
            Some(room) => io.read_onto(room),
            None => io.read_some(buffer),
        };
        match read {
            Ok(0) => {
                self.take_end(now);
                Ok(())
            }
            Ok(read) => {
                self.reads_little = arrival::is_little(read);
                if is_watched {
                    let bytes = &buffer[..read];
                    self.probe.received(bytes, &self.session, &self.out, now);
                }
                let before = self.out.len();
                let step = if has_room {
                    self.session.serve(SessionEvent::Room, now, &mut self.out)
                } else {
                    self.session.serve(&buffer[..read], now, &mut self.out)
                };
                self.hold(before, now);
                self.take(step, now);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn take_end(&mut self, now: Now) {
        self.is_at_eof = true;
        self.handle(SessionEvent::End, now);
    }

    fn poll(&mut self, now: Now) {
        self.handle(SessionEvent::Turn, now);
    }

    fn handle(&mut self, event: SessionEvent<'_, A>, now: Now) {
        let before = self.out.len();
        let step = self.session.serve(event, now, &mut self.out);
        self.hold(before, now);
        self.take(step, now);
    }

    fn take(&mut self, step: SessionStep, now: Now) {
        match step {
            SessionStep::Close(reason) => self.close(reason, now),
            SessionStep::NeedInput | SessionStep::Flush => self.step = step,
        }
    }

    fn close(&mut self, reason: CloseReason, now: Now) {
        self.step = SessionStep::Close(reason);
        self.progress_us = now.monotonic_us();
        self.warn(reason, now);
    }

    /// Warns the operator of a peer that does not speak the protocol: a client with a defect, or a
    /// client of another protocol.
    fn warn(&self, reason: CloseReason, now: Now) {
        static MISTAKES: Throttle = Throttle::new();
        let what = match reason {
            CloseReason::Protocol(error) => error.to_string(),
            CloseReason::CrossProtocol => reason.text().to_owned(),
            _ => return,
        };
        if let Some(held_back) = MISTAKES.pass(now) {
            let client = self.session.client();
            let (id, peer) = (client.id(), &client.shared().peer().address);
            tracing::warn!(id, %peer, "{what}{held_back}");
        }
    }

    /// Whether the session still takes events. A session that is killed while it closes takes one
    /// more, so that it is not waited for.
    fn takes_events(&self) -> bool {
        !self.is_closing() || self.session.client().shared().is_killed()
    }

    fn is_closing(&self) -> bool {
        matches!(self.step, SessionStep::Close(_))
    }

    fn notify_shutdown(&mut self, now: Now) {
        let patience_us = us(self.limits.linger_ms);
        let was_answered = self.progress_us.saturating_add(patience_us) > now.monotonic_us();
        self.stopping = Stopping::Notified {
            is_busy: was_answered || !self.out.is_empty(),
        };
        if self.takes_events() {
            self.handle(SessionEvent::Stop, now);
        }
    }

    /// Ends a finished session: waits, within limits, until the peer has read its output.
    fn end(
        &mut self,
        io: &mut impl Transport,
        buffer: &mut [u8],
        reason: CloseReason,
        now: Now,
    ) -> Pace {
        let is_due = self
            .deadline_us()
            .is_none_or(|due| due <= now.monotonic_us());
        let is_owed = !self.out.is_empty();
        // A killed connection must go at once, and free its memory. A connection that overran its
        // output limit has had enough time.
        let is_patient = !matches!(reason, CloseReason::Killed | CloseReason::Overrun);
        if is_owed && is_patient && !is_due {
            return Pace::Wait;
        }
        if !is_owed && self.lingers(reason) && self.discard(io, buffer, now) {
            return Pace::Wait;
        }
        self.log_end(reason.text());
        Pace::Closed
    }

    /// Whether to read on before closing, because the peer may still be sending. A socket that is
    /// closed with unread input drops replies on their way to the peer.
    fn lingers(&self, reason: CloseReason) -> bool {
        let is_in_midst = match (reason, self.stopping) {
            (CloseReason::ShuttingDown, Stopping::Notified { is_busy }) => is_busy,
            (
                CloseReason::Protocol(_) | CloseReason::CrossProtocol | CloseReason::Unanswerable,
                Stopping::No,
            ) => true,
            _ => false,
        };
        is_in_midst && !self.is_at_eof
    }

    /// Shuts down our side and discards incoming bytes; returns `true` while that must go on.
    fn discard(&mut self, io: &mut impl Transport, buffer: &mut [u8], now: Now) -> bool {
        if self.discarded.is_none() {
            io.finish();
            self.discarded = Some(0);
            self.progress_us = now.monotonic_us();
        }
        if self
            .deadline_us()
            .is_some_and(|due| due <= now.monotonic_us())
        {
            return false;
        }
        loop {
            match io.read_some(buffer) {
                Ok(0) => return false,
                Ok(read) => {
                    let discarded = self.discarded.get_or_insert(0);
                    *discarded += read;
                    if *discarded > self.limits.linger_bytes_max {
                        return false;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }

    fn lost(&mut self, error: &io::Error) -> Pace {
        self.log_end(format_args!("lost: {error}"));
        Pace::Closed
    }

    fn log_end(&mut self, why: impl std::fmt::Display) {
        self.probe.ended(&why);
        let client = self.session.client();
        tracing::debug!(id = client.id(), peer = %client.shared().peer().address, "closed: {why}");
    }
}

fn us(ms: u32) -> u64 {
    u64::from(ms) * 1000
}

#[cfg(test)]
mod tests;
