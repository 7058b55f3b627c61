//! The painter, which appends marks one after the other.

use alloc::vec::Vec;

use super::{Mark, Role};
use crate::error::Error;

/// Appends marks from left to right without gaps. Paints nothing after `stop`.
pub(super) struct Painter<'b, 'o> {
    buf: &'b [u8],
    out: &'o mut Vec<Mark>,
    at: usize,
    stop: usize,
    depth: u16,
    node: u32,
}

impl<'b, 'o> Painter<'b, 'o> {
    pub(super) const fn new(buf: &'b [u8], at: usize, out: &'o mut Vec<Mark>) -> Self {
        Self {
            buf,
            out,
            at,
            stop: buf.len(),
            depth: 0,
            node: 0,
        }
    }

    pub(super) const fn buf(&self) -> &'b [u8] {
        self.buf
    }

    /// Offset of the first byte without a mark.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The next byte, unless it is at or after the stop.
    pub(super) fn byte(&self) -> Option<u8> {
        if self.at < self.stop {
            self.buf.get(self.at).copied()
        } else {
            None
        }
    }

    /// Sets the stop: later calls paint no further.
    pub(super) fn stop_at(&mut self, stop: usize) {
        self.stop = stop.min(self.buf.len());
    }

    pub(super) fn set_depth(&mut self, depth: usize) {
        self.depth = u16::try_from(depth).unwrap_or(u16::MAX);
    }

    /// Starts the next node: the marks that follow belong to it.
    pub(super) const fn next_node(&mut self) {
        self.node += 1;
    }

    /// Paints up to `end`.
    pub(super) fn to(&mut self, end: usize, role: Role) {
        let end = end.min(self.stop);
        if end > self.at {
            self.push(end - self.at, role);
            self.at = end;
        }
    }

    /// Paints `len` bytes.
    pub(super) fn run(&mut self, len: usize, role: Role) {
        self.to(self.at.saturating_add(len), role);
    }

    /// Paints the bytes for which `is` is true.
    pub(super) fn run_while(&mut self, role: Role, is: impl Fn(u8) -> bool) {
        let rest = &self.buf[self.at..self.stop.max(self.at)];
        let len = rest.iter().take_while(|&&byte| is(byte)).count();
        self.run(len, role);
    }

    /// Paints CRLF, or the part of it that the buffer holds.
    pub(super) fn crlf(&mut self) {
        let len = match (self.byte(), self.buf.get(self.at + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(b'\r' | b'\n'), _) => 1,
            _ => 0,
        };
        self.run(len, Role::Crlf);
    }

    pub(super) fn missing(&mut self) {
        self.stop = self.buf.len();
        self.to(self.stop, Role::Payload);
        self.push(0, Role::Missing);
        self.next_node();
    }

    /// Paints an error up to `end`, at least one byte, and resets the painter for the next frame.
    pub(super) fn bad(&mut self, error: Error, end: usize) {
        self.stop = self.buf.len();
        self.to(end, Role::Bad(error.kind));
        self.next_node();
    }

    fn push(&mut self, len: usize, role: Role) {
        let (at, len) = (self.at as u32, len as u32);
        self.out.push(Mark {
            at,
            len,
            role,
            depth: self.depth,
            node: self.node,
        });
    }
}
