//! One connection of a load: its outstanding requests, its read buffer, and its unsent bytes.

use std::collections::VecDeque;
use std::io;

use mio::{Registry, Token};

use super::Stream;
use crate::workload::Expect;

/// The largest read buffer, unless a single reply needs more.
const READ_BYTES: usize = 64 * 1024;

/// The result of a read.
pub(super) enum Filled {
    /// Nothing has arrived.
    Nothing,
    /// Bytes were read; if they fill the buffer, there may be more.
    Bytes { count: usize, full: bool },
    /// The server has closed the connection.
    End,
}

pub(super) struct Connection {
    stream: Stream,
    token: Token,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    unsent: VecDeque<u8>,
    watches_writable: bool,
    /// Requests sent and not answered, oldest first.
    pub(super) pending: VecDeque<Expect>,
    /// The next request's place in the mix.
    pub(super) place: usize,
    /// The key drawn last.
    pub(super) key: u64,
    /// The number of requests sent.
    pub(super) sent: u64,
    /// The number of requests due and not sent (open loop).
    pub(super) owed: u64,
}

impl Connection {
    /// A connection whose buffer holds `batch` bytes of replies, within limits.
    pub(super) fn new(stream: Stream, token: Token, reply: usize, batch: usize) -> Self {
        // One byte more than expected: a read of a whole batch then does not fill the buffer, so
        // nothing is left.
        let room = (reply * batch).clamp(reply.max(256), READ_BYTES.max(reply)) + 1;
        Self {
            stream,
            token,
            buf: vec![0; room],
            start: 0,
            end: 0,
            unsent: VecDeque::new(),
            watches_writable: false,
            pending: VecDeque::with_capacity(batch),
            place: 0,
            key: 0,
            sent: 0,
            owed: 0,
        }
    }

    pub(super) fn register(&mut self, registry: &Registry) -> io::Result<()> {
        self.stream.register(registry, self.token)
    }

    /// Input that was read and not consumed.
    #[inline]
    pub(super) fn input(&self) -> &[u8] {
        &self.buf[self.start..self.end]
    }

    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end, "no more is consumed than was read");
    }

    /// Reads once.
    #[inline]
    pub(super) fn fill(&mut self) -> io::Result<Filled> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        Ok(match self.stream.read_some(&mut self.buf[self.end..])? {
            None => Filled::Nothing,
            Some(0) => Filled::End,
            Some(count) => {
                self.end += count;
                let full = self.end == self.buf.len();
                Filled::Bytes { count, full }
            }
        })
    }

    /// Makes room for a reply of `need` bytes, part of which is in the input.
    pub(super) fn make_room(&mut self, need: usize) {
        if self.start + need >= self.buf.len() {
            self.buf.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if need >= self.buf.len() {
            self.buf.resize(need + 1, 0);
        }
    }

    /// Sends `bytes` after the unsent bytes, as far as the socket takes them; keeps the rest.
    #[inline]
    pub(super) fn send(&mut self, bytes: &[u8], registry: &Registry) -> io::Result<()> {
        let written = if self.unsent.is_empty() {
            self.stream.write_some(bytes)?
        } else {
            0
        };
        if written < bytes.len() {
            self.unsent.extend(&bytes[written..]);
            if !self.watches_writable {
                self.watches_writable = true;
                self.stream.watch_writable(registry, self.token)?;
            }
        }
        Ok(())
    }

    /// Sends the unsent bytes, as far as the socket takes them.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.stream.write_some(self.unsent.as_slices().0)? {
                0 => break,
                count => drop(self.unsent.drain(..count)),
            }
        }
        Ok(())
    }
}
