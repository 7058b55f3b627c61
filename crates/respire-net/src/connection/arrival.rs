//! Reading ahead: a driver that has several connections ready at once reads from all of them before it
//! answers the first, so that what their requests ask for is loaded meanwhile.

use super::{Connection, Pace, Scratch, Transport};
use crate::Limits;
use respire_engine::{Ahead, App, Event, Now, Step};
use std::io::{self, ErrorKind};

/// The most that is read ahead. Who sends more has pipelines or large values, and is better read at its
/// turn, to a buffer that takes them as a whole.
const BYTES_MAX: usize = 1024;

/// What was read from a connection and is answered at its turn ([`Connection::receive_ahead`]).
#[derive(Debug)]
pub struct Arrival<'b, A: App> {
    /// The bytes, and what is known of them; none at the end of the peer's side.
    read: io::Result<Ahead<'b, A>>,
    len: usize,
}

/// Room for what is read ahead from one connection within these limits, at most 1 KiB.
#[must_use]
pub fn arrival_buffer(limits: &Limits) -> Box<[u8]> {
    vec![0; limits.buffer_bytes.min(BYTES_MAX)].into()
}

/// Whether who was read that much will be read ahead next time.
pub(super) fn is_little(read: usize) -> bool {
    read < BYTES_MAX
}

impl<A: App> Connection<A> {
    /// The first of three steps for each of several connections that became ready together, all of them
    /// taken before the second: reads once, if little is likely to come, and tells the keyspace of the
    /// request ([`Session::look_ahead`](respire_engine::Session::look_ahead)). `None` if nothing was read.
    pub fn receive_ahead<'b>(
        &mut self,
        io: &mut impl Transport,
        buffer: &'b mut [u8],
    ) -> Option<Arrival<'b, A>> {
        let is_resting = self.step == Step::NeedInput && self.out.is_empty() && !self.is_at_eof;
        // Whoever looks on sees every read, which is done in one place.
        if !is_resting || !self.reads_little || self.probe.is_on() || !self.session.is_quiet() {
            return None;
        }
        let read = io.read_some(buffer);
        Some(Arrival {
            len: *read.as_ref().unwrap_or(&0),
            read: read.map(|read| self.session.look_ahead(&buffer[..read])),
        })
    }

    /// The second step: the keyspace finds what the request asks for, as far as that is loaded by now.
    pub fn find_ahead(&self, arrival: &mut Arrival<'_, A>) {
        if let Ok(ahead) = &mut arrival.read {
            self.session.find_ahead(ahead);
        }
    }

    /// The third step: a turn, as [`Connection::drive`], that begins with what was read.
    pub fn drive_arrived(
        &mut self,
        io: &mut impl Transport,
        arrival: Arrival<'_, A>,
        scratch: &mut Scratch,
        now: Now,
    ) -> Pace {
        self.take_turn(io, Some(arrival), scratch, now)
    }

    /// Answers what was read, if anything was.
    pub(super) fn take_arrival(&mut self, arrival: Arrival<'_, A>, now: Now) -> io::Result<()> {
        match arrival.read {
            Ok(_) if arrival.len == 0 => self.take_end(now),
            Ok(ahead) => {
                self.reads_little = is_little(arrival.len);
                let step = self.session.serve(Event::Ahead(ahead), now, &mut self.out);
                self.take(step, now);
            }
            Err(error) if !is_transient(&error) => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }
}

/// Whether the same may be tried again.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
