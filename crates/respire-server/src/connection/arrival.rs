//! Reading ahead: a driver that has several connections ready at once reads from all of them before it
//! answers the first, so that what their requests ask for is loaded meanwhile.

use super::{Connection, Pace, Scratch, Transport};
use crate::Limits;
use respire_engine::{Ahead, App, Now, Step};
use std::io::{self, ErrorKind};

/// The most that is read ahead. Who sends more has pipelines or large values, and is better read at its
/// turn, to a buffer that takes them as a whole.
const BYTES_MAX: usize = 1024;

/// What was read from a connection and is answered at its turn ([`Connection::receive_ahead`]).
///
/// A driver needs one for each connection that it reads from before it answers them, and uses them again.
#[derive(Debug)]
pub struct Arrival {
    buffer: Box<[u8]>,
    read: Option<io::Result<usize>>,
    ahead: Ahead,
}

impl Arrival {
    /// Room for what is read at once within these limits, at most 1 KiB.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            buffer: vec![0; limits.buffer_bytes.min(BYTES_MAX)].into(),
            read: None,
            ahead: Ahead::default(),
        }
    }
}

/// Whether who was read that much will be read ahead next time.
pub(super) fn is_little(read: usize) -> bool {
    read < BYTES_MAX
}

impl<A: App> Connection<A> {
    /// The first of three steps for each of several connections that became ready together, all of them
    /// taken before the second: reads once, if little is likely to come, and tells the service of the
    /// request ([`Session::look_ahead`](respire_engine::Session::look_ahead)).
    ///
    /// No other method of this connection is called before [`Connection::drive_arrived`].
    pub fn receive_ahead(&mut self, io: &mut impl Transport, arrival: &mut Arrival) {
        arrival.read = None;
        let is_resting = self.step == Step::NeedInput && self.out.is_empty() && !self.is_at_eof;
        // Whoever looks on sees every read, which is done in one place.
        if !is_resting || !self.reads_little || self.probe.is_on() || !self.session.is_quiet() {
            return;
        }
        let read = io.read_some(&mut arrival.buffer);
        if let Ok(read) = read {
            let bytes = &arrival.buffer[..read];
            self.session.look_ahead(bytes, &mut arrival.ahead);
        }
        arrival.read = Some(read);
    }

    /// The second step: the service finds what the request asks for, as far as that is loaded by now.
    pub fn find_ahead(&self, arrival: &mut Arrival) {
        if let Some(Ok(_)) = arrival.read {
            self.session.find_ahead(&mut arrival.ahead);
        }
    }

    /// The third step: a turn, as [`Connection::drive`], that begins with what was read.
    pub fn drive_arrived(
        &mut self,
        io: &mut impl Transport,
        arrival: &mut Arrival,
        scratch: &mut Scratch,
        now: Now,
    ) -> Pace {
        self.take_turn(io, Some(arrival), scratch, now)
    }

    /// Answers what was read, if anything was.
    pub(super) fn take_arrival(&mut self, arrival: &mut Arrival, now: Now) -> io::Result<()> {
        match arrival.read.take() {
            Some(Ok(0)) => self.take_end(now),
            Some(Ok(read)) => {
                self.reads_little = is_little(read);
                let bytes = &arrival.buffer[..read];
                let out = &mut self.out;
                let step = self.session.serve_ahead(bytes, &arrival.ahead, now, out);
                self.take(step, now);
            }
            Some(Err(error)) if !is_transient(&error) => return Err(error),
            Some(Err(_)) | None => {}
        }
        Ok(())
    }
}

/// Whether the same may be tried again.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
