//! Where replies go: a growing tail of bytes, with large shared values kept apart so that they are
//! written from where they lie.

use bytes::Bytes;
use resp_codec::Sink;
use std::collections::VecDeque;
use std::io::IoSlice;

/// A shared value below this size is copied into the tail: one short copy is cheaper than one more
/// element of a vectored write.
pub const SHARED_BYTES_MIN: usize = 16 * 1024;

/// The bytes a connection still owes its peer, in order.
///
/// ```
/// use respire_engine::Output;
/// use resp_codec::Sink;
///
/// let mut out = Output::new();
/// out.put(b"+OK\r\n");
/// assert_eq!(out.len(), 5);
/// out.advance(3);
/// assert_eq!(out.to_vec(), b"\r\n");
/// ```
#[derive(Debug, Default)]
pub struct Output {
    /// Finished pieces, oldest first; only filled when a large value was shared.
    frozen: VecDeque<Bytes>,
    frozen_bytes: usize,
    tail: Vec<u8>,
    /// How much of `tail` is written already; `written <= tail.len()`.
    written: usize,
}

/// A place in an [`Output`] to which it can be cut back.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    frozen_pieces: usize,
    len: usize,
}

impl Output {
    /// An empty output; allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            frozen: VecDeque::new(),
            frozen_bytes: 0,
            tail: Vec::new(),
            written: 0,
        }
    }

    /// The bytes owed.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.frozen_bytes + self.tail.len() - self.written
    }

    /// Whether nothing is owed.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of memory held, owed or not.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.frozen_bytes + self.tail.capacity()
    }

    /// Fills `slices` with what is owed, oldest first, and returns how many were filled.
    pub fn fill<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let tail = &self.tail[self.written..];
        let pieces = self.frozen.iter().map(|piece| &piece[..]);
        let mut filled = 0;
        for (slot, piece) in slices
            .iter_mut()
            .zip(pieces.chain((!tail.is_empty()).then_some(tail)))
        {
            *slot = IoSlice::new(piece);
            filled += 1;
        }
        filled
    }

    /// The first piece owed; empty only when nothing is owed.
    #[must_use]
    pub fn first(&self) -> &[u8] {
        self.frozen
            .front()
            .map_or(&self.tail[self.written..], |piece| &piece[..])
    }

    /// Whether all that is owed lies in one piece, so that a plain write serves.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.frozen.is_empty()
    }

    /// Takes note that the first `bytes` owed were written.
    ///
    /// # Panics
    /// When more is taken than was owed.
    pub fn advance(&mut self, mut bytes: usize) {
        assert!(bytes <= self.len(), "advanced past what was owed");
        while let Some(front) = self.frozen.front_mut() {
            if bytes < front.len() {
                bytes::Buf::advance(front, bytes);
                self.frozen_bytes -= bytes;
                return;
            }
            bytes -= front.len();
            self.frozen_bytes -= front.len();
            self.frozen.pop_front();
        }
        self.written += bytes;
        if self.written == self.tail.len() {
            self.tail.clear();
            self.written = 0;
        }
    }

    /// Gives memory beyond `keep` bytes back when nothing is owed.
    pub fn shrink(&mut self, keep: usize) {
        if self.is_empty() && self.tail.capacity() > keep {
            self.tail = Vec::new();
            self.written = 0;
        }
    }

    /// The present end, to come back to with [`Output::cut`].
    #[must_use]
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark {
            frozen_pieces: self.frozen.len(),
            len: self.len(),
        }
    }

    /// Drops everything put since `mark` was taken. Nothing may have been advanced in between.
    pub fn cut(&mut self, mark: Mark) {
        if self.frozen.len() == mark.frozen_pieces {
            let keep = mark.len - self.frozen_bytes + self.written;
            self.tail.truncate(keep);
            return;
        }
        let mut kept = self.to_vec();
        kept.truncate(mark.len);
        *self = Self {
            tail: kept,
            ..Self::new()
        };
    }

    /// A copy of all that is owed. O(n); for tests and embedders without sockets.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len());
        for piece in &self.frozen {
            all.extend_from_slice(piece);
        }
        all.extend_from_slice(&self.tail[self.written..]);
        all
    }

    /// Takes all that is owed. O(n) only when a shared value is among it.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        if self.frozen.is_empty() && self.written == 0 {
            return std::mem::take(&mut self.tail);
        }
        let all = self.to_vec();
        *self = Self::new();
        all
    }

    /// What was put since `len` bytes were owed, as far as it was not shared.
    pub(crate) fn put_since(&self, len: usize) -> &[u8] {
        let put = (self.len() - len).min(self.tail.len() - self.written);
        &self.tail[self.tail.len() - put..]
    }

    fn freeze_tail(&mut self) {
        let tail = std::mem::take(&mut self.tail);
        if tail.len() > self.written {
            let mut piece = Bytes::from(tail);
            bytes::Buf::advance(&mut piece, self.written);
            self.frozen_bytes += piece.len();
            self.frozen.push_back(piece);
        }
        self.written = 0;
    }
}

impl Sink for Output {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
    }

    #[inline]
    fn put_short(&mut self, bytes: [u8; 16], len: usize) {
        self.tail.put_short(bytes, len);
    }

    #[inline]
    fn reserve(&mut self, bytes: usize) {
        self.tail.reserve(bytes);
    }

    fn put_shared(&mut self, bytes: Bytes) {
        if bytes.len() < SHARED_BYTES_MIN {
            self.put(&bytes);
            return;
        }
        self.freeze_tail();
        self.frozen_bytes += bytes.len();
        self.frozen.push_back(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn large() -> Bytes {
        Bytes::from(vec![b'x'; SHARED_BYTES_MIN])
    }

    #[test]
    fn pieces_keep_their_order_around_a_shared_value() {
        let mut out = Output::new();
        out.put(b"before");
        out.put_shared(large());
        out.put(b"after");
        let mut expected = b"before".to_vec();
        expected.extend_from_slice(&large());
        expected.extend_from_slice(b"after");
        assert_eq!(out.to_vec(), expected);

        let mut slices = [IoSlice::new(&[]); 8];
        let filled = out.fill(&mut slices);
        let gathered: Vec<u8> = slices[..filled].iter().flat_map(|s| s.to_vec()).collect();
        assert_eq!(gathered, expected);
    }

    #[test]
    fn advance_takes_bytes_across_pieces() {
        let mut out = Output::new();
        out.put(b"before");
        out.put_shared(large());
        out.put(b"after");
        let all = out.to_vec();
        for step in [1, 5, SHARED_BYTES_MIN - 1, 3] {
            let owed = out.len();
            out.advance(step);
            assert_eq!(out.len(), owed - step);
            assert_eq!(out.to_vec(), all[all.len() - out.len()..]);
        }
        out.advance(out.len());
        assert!(out.is_empty());
    }

    #[test]
    fn cut_returns_to_the_mark_with_and_without_shared_values() {
        let mut out = Output::new();
        out.put(b"keepXX");
        out.advance(2);
        let mark = out.mark();
        out.put(b"gone");
        out.cut(mark);
        assert_eq!(out.to_vec(), b"epXX");
        out.put_shared(large());
        out.put(b"gone");
        out.cut(mark);
        assert_eq!(out.to_vec(), b"epXX");
    }
}
