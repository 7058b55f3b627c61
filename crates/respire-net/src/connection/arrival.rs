//! Reads ahead from connections that are ready together. A driver reads from all of them before it
//! answers the first, so that the keys of their requests are loaded meanwhile.

use super::{Connection, Pace, Scratch, Transport};
use crate::Limits;
use respire_engine::driver::{Ahead, SessionEvent, SessionStep};
use respire_engine::{App, Now};
use std::io::{self, ErrorKind};

/// The most bytes that are read ahead. A peer that sends more has a pipeline or large values; its
/// own turn reads those into a larger buffer.
const BYTES_MAX: usize = 1024;

/// Input that was read ahead; the connection's turn serves it ([`Connection::read_ahead`]).
#[derive(Debug)]
pub struct Arrival<'b, A: App> {
    /// The bytes, with their hint for the keyspace; empty at the end of the peer's side.
    read: io::Result<Ahead<'b, A>>,
    len: usize,
}

impl<'b, A: App> Arrival<'b, A> {
    /// Bytes that were read ahead and not looked ahead to, or the error of reading them.
    #[must_use]
    pub fn new(read: io::Result<&'b [u8]>) -> Self {
        Self {
            len: read.as_ref().map_or(0, |bytes| bytes.len()),
            read: read.map(Ahead::unseen),
        }
    }
}

/// A buffer for the bytes read ahead from one connection within these limits, at most 1 KiB.
#[must_use]
pub fn arrival_buffer(limits: &Limits) -> Box<[u8]> {
    vec![0; limits.buffer_bytes.min(BYTES_MAX)].into()
}

/// Whether a connection that read this many bytes is read ahead next time.
pub(super) fn is_little(read: usize) -> bool {
    read < BYTES_MAX
}

impl<A: App> Connection<A> {
    /// The first of five steps for connections that became ready together. Take this step and the
    /// second one for all of them before the third. It reads once, if little input is likely. Returns
    /// the number of bytes, 0 at the end of the peer's side, or the error that ends the connection;
    /// `None` if nothing was read. The result must be driven as an [`Arrival`].
    pub fn read_ahead(
        &mut self,
        io: &mut impl Transport,
        buffer: &mut [u8],
    ) -> Option<io::Result<usize>> {
        let is_resting =
            self.step == SessionStep::NeedInput && self.out.is_empty() && !self.is_at_eof;
        // A tap copies every read, and only one place does that.
        if !is_resting || !self.reads_little || self.probe.is_on() || !self.session.is_quiet() {
            return None;
        }
        match io.read_some(buffer) {
            Err(error) if is_transient(&error) => None,
            read => Some(read),
        }
    }

    /// The second step: announces the request in the bytes read ahead to the keyspace
    /// ([`Session::look_ahead`](respire_engine::driver::Session::look_ahead)).
    pub fn look_ahead<'b>(&mut self, bytes: &'b [u8]) -> Arrival<'b, A> {
        Arrival {
            len: bytes.len(),
            read: Ok(self.session.look_ahead(bytes)),
        }
    }

    /// The third step: the keyspace finds the keys of the request, as far as they are loaded by
    /// now.
    pub fn find_ahead(&self, arrival: &mut Arrival<'_, A>) {
        if let Ok(ahead) = &mut arrival.read {
            self.session.find_ahead(ahead);
        }
    }

    /// The fourth step: the keyspace begins to load the element that the request names, if it names one.
    pub fn warm_ahead(&self, arrival: &Arrival<'_, A>) {
        if let Ok(ahead) = &arrival.read {
            self.session.warm_ahead(ahead);
        }
    }

    /// The fifth step: a turn, as [`Connection::drive`], that begins with the input read ahead.
    pub fn drive_arrived(
        &mut self,
        io: &mut impl Transport,
        arrival: Arrival<'_, A>,
        scratch: &mut Scratch,
        now: Now,
    ) -> Pace {
        self.take_turn(io, Some(arrival), scratch, now)
    }

    /// Serves the input read ahead, if there is any.
    pub(super) fn take_arrival(&mut self, arrival: Arrival<'_, A>, now: Now) -> io::Result<()> {
        match arrival.read {
            Ok(_) if arrival.len == 0 => self.take_end(now),
            Ok(ahead) => {
                self.reads_little = is_little(arrival.len);
                let before = self.out.len();
                let step = self
                    .session
                    .serve(SessionEvent::Ahead(ahead), now, &mut self.out);
                self.hold(before, now);
                self.take(step, now);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Whether a retry may succeed.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
