//! Output that may not leave yet, because it shows changes that are not kept.
//!
//! The connection goes on serving meanwhile, and all replies stay in one output, in order. They form
//! three groups, from front to back: bytes that may leave, bytes that wait for one ticket, and bytes
//! that wait for another. When the first ticket is kept, the groups move up. So a connection waits for
//! one ticket at a time, however many turns it has.

use super::{Connection, SLICES_MAX, Transport};
use respire_engine::driver::Session;
use respire_engine::{App, Commits, Now, Wake};
use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;

/// The groups of an output, if any part of it may not leave yet. Boxed, as few connections hold
/// anything while they rest.
#[derive(Debug, Default)]
pub(super) struct Held(Option<Box<Groups>>);

#[derive(Debug)]
struct Groups {
    /// How many bytes at the front may leave.
    free: usize,
    /// How many bytes behind them wait for `ticket`.
    front: usize,
    ticket: u64,
    /// What all further bytes wait for; 0 if there are none.
    next: u64,
}

/// What output is left after writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// What may leave is written, or the turn is used up.
    Nothing,
    /// The socket takes no more.
    Blocked,
    /// The rest is held.
    Held,
}

impl Held {
    /// Whether any output may not leave yet.
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        self.0.is_some()
    }

    /// Whether all output is held, so that the peer has nothing to read.
    #[inline]
    pub(super) fn is_all(&self) -> bool {
        self.0.as_ref().is_some_and(|groups| groups.free == 0)
    }

    /// How many of `len` bytes of output may leave.
    #[inline]
    fn writable(&self, len: usize) -> usize {
        self.0.as_ref().map_or(len, |groups| groups.free)
    }

    /// The length of the output changed from `before` to `after`, at its front.
    #[inline]
    fn note_len(&mut self, before: usize, after: usize) {
        if let Some(groups) = &mut self.0 {
            groups.free = groups.free + after - before;
        }
    }

    /// Adds `added` bytes, behind `before` others, which wait for a ticket that is not kept. Returns
    /// whether nothing was held before, so that somebody must wait for the ticket now.
    fn add(&mut self, ticket: u64, before: usize, added: usize) -> bool {
        match &mut self.0 {
            None => {
                self.0 = Some(Box::new(Groups {
                    free: before,
                    front: added,
                    ticket,
                    next: 0,
                }));
                return true;
            }
            Some(groups) if groups.next == 0 && ticket <= groups.ticket => groups.front += added,
            Some(groups) => groups.next = groups.next.max(ticket),
        }
        false
    }

    /// Lets the groups leave whose tickets are kept, of an output of `len` bytes. Returns the ticket
    /// to wait for now, if it is another one.
    fn release(&mut self, len: usize, is_kept: impl Fn(u64) -> bool) -> Option<u64> {
        let groups = self.0.as_mut()?;
        let before = groups.ticket;
        while is_kept(groups.ticket) {
            if groups.next == 0 {
                self.0 = None;
                return None;
            }
            groups.free += groups.front;
            groups.front = len - groups.free;
            groups.ticket = std::mem::take(&mut groups.next);
        }
        (groups.ticket != before).then_some(groups.ticket)
    }
}

impl<A: App> Connection<A> {
    /// Holds what the session appended to `before` bytes of output, if it may not leave yet. Called
    /// after each call of the session.
    #[inline(always)]
    pub(super) fn hold(&mut self, before: usize, now: Now) {
        let ticket = self.session.take_ticket();
        if ticket != 0 || self.held.is_any() {
            self.hold_added(ticket, before, now);
        }
    }

    #[cold]
    fn hold_added(&mut self, ticket: u64, before: usize, now: Now) {
        let added = self.out.len() - before;
        let Some(commits) = self.session.commits().filter(|_| added > 0) else {
            return;
        };
        // Behind held output, other output must keep its place.
        if (self.held.is_any() || !commits.is_kept(ticket)) && self.held.add(ticket, before, added)
        {
            await_ticket(&self.session, &**commits, ticket);
            self.session.set_held(true, now);
        }
    }

    /// Lets output leave that is kept by now. The peer's time to read it begins now.
    #[cold]
    fn release(&mut self, now: Now) {
        let (Some(commits), held) = (self.session.commits(), &mut self.held) else {
            return;
        };
        let (was_all, len) = (held.is_all(), self.out.len());
        if let Some(ticket) = held.release(len, |ticket| commits.is_kept(ticket)) {
            await_ticket(&self.session, &**commits, ticket);
        }
        if was_all && !held.is_all() {
            self.progress_us = now.monotonic_us();
        }
        let is_held = held.is_any();
        self.session.set_held(is_held, now);
    }

    /// Writes what may leave, until nothing is left, the socket is full, or the turn is used up.
    pub(super) fn write_owed(
        &mut self,
        io: &mut impl Transport,
        calls_left: &mut u32,
        now: Now,
    ) -> io::Result<Left> {
        if self.held.is_any() {
            self.release(now);
        }
        loop {
            let most = self.held.writable(self.out.len());
            if most == 0 || *calls_left == 0 {
                break;
            }
            *calls_left -= 1;
            self.pull()?;
            let most = self.held.writable(self.out.len());
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let filled = self.out.fill_up_to(&mut slices, most);
            match io.write_some(&slices[..filled]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => {
                    if self.probe.is_on() {
                        let written = (&slices[..filled], written);
                        self.probe.sent(written, &self.session, now);
                    }
                    self.out.advance(written);
                    self.held.note_len(written, 0);
                    self.probe.wrote(self.out.is_empty());
                    self.progress_us = now.monotonic_us();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Left::Blocked),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let is_held = self.held.is_all();
        Ok(if is_held { Left::Held } else { Left::Nothing })
    }

    /// Pulls the next bytes of a stream at the front. A stream belongs to one group, and the length
    /// that the output counts for it may change.
    fn pull(&mut self) -> io::Result<()> {
        let before = self.out.len();
        self.out.pull().map_err(io::Error::other)?;
        self.held.note_len(before, self.out.len());
        Ok(())
    }
}

/// Has the connection woken once the ticket is kept.
fn await_ticket<A: App>(session: &Session<A>, commits: &dyn Commits, ticket: u64) {
    let wake = Arc::clone(session.client().shared());
    commits.wake_when_kept(ticket, wake as Arc<dyn Wake>);
}
