//! The output buffer of a connection: bytes, large shared values that are written without a copy,
//! and streams that are produced only when there is room.

use crate::reply::stream::{Body, Broken, Stream};
use bytes::Bytes;
use resp_codec::Sink;
use std::collections::VecDeque;
use std::io::IoSlice;

/// A shared value below this size is copied into the tail: a short copy is cheaper than another
/// element of a vectored write. `respire-commands` checks at compile time that it equals the
/// constant of the same name in `respire-store`.
pub const SHARED_BYTES_MIN: usize = 16 * 1024;

/// The bytes to be sent to the peer, in order.
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
    /// Finished pieces, oldest first. Empty unless a large value was shared or streamed.
    frozen: VecDeque<Piece>,
    /// The bytes of all pieces, including those that streams have not produced yet.
    frozen_bytes: usize,
    /// The bytes that streams have not produced yet, which take no memory.
    streamed_bytes: usize,
    tail: Vec<u8>,
    /// How much of `tail` is written; `written <= tail.len()`.
    written: usize,
}

/// A piece of an output before its tail.
#[derive(Debug)]
enum Piece {
    Bytes(Bytes),
    /// The rest of a stream. It is pulled when it is the first piece.
    Stream(Stream),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Stream(stream) => stream.left(),
        }
    }

    /// Its bytes that take no memory.
    fn streamed(&self) -> usize {
        match self {
            Self::Bytes(_) => 0,
            Self::Stream(stream) => stream.left(),
        }
    }
}

/// A position in an [`Output`] that it can be cut back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    frozen_pieces: usize,
    len: usize,
}

impl Mark {
    /// The number of unsent bytes at that time.
    pub(crate) fn len(self) -> usize {
        self.len
    }
}

impl Output {
    /// An empty output. Allocates no memory.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            frozen: VecDeque::new(),
            frozen_bytes: 0,
            streamed_bytes: 0,
            tail: Vec::new(),
            written: 0,
        }
    }

    /// The number of unsent bytes, including those that a stream has not produced yet.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.frozen_bytes + self.tail.len() - self.written
    }

    /// Whether there are no unsent bytes.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The allocated bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.frozen_bytes - self.streamed_bytes + self.tail.capacity()
    }

    /// Pulls the next bytes of a stream if they are due. Call it before [`Output::fill`]. At most
    /// one pulled piece is held at a time.
    ///
    /// # Errors
    /// If the stream fails or ends too early. Its length was already sent, so the connection can
    /// only be closed.
    pub fn pull(&mut self) -> Result<(), Broken> {
        if let Some(Piece::Stream(stream)) = self.frozen.front_mut() {
            let before = stream.left();
            let bytes = stream.pull()?;
            let left = stream.left();
            // The length of a stream may have been a guess.
            self.frozen_bytes = self.frozen_bytes - before + bytes.len() + left;
            self.streamed_bytes = self.streamed_bytes - before + left;
            if left == 0 {
                self.frozen.pop_front();
            }
            self.frozen.push_front(Piece::Bytes(bytes));
        }
        debug_assert!(self.is_sound());
        Ok(())
    }

    /// As [`Output::fill`], with at most `bytes_max` bytes, oldest first.
    pub fn fill_up_to<'a>(&'a self, slices: &mut [IoSlice<'a>], bytes_max: usize) -> usize {
        let filled = self.fill(slices);
        if bytes_max >= self.len() {
            return filled;
        }
        let mut left = bytes_max;
        let pieces = self.frozen.iter().map_while(|piece| match piece {
            Piece::Bytes(bytes) => Some(&bytes[..]),
            Piece::Stream(_) => None,
        });
        let pieces = pieces.chain([&self.tail[self.written..]]);
        for (at, (slot, piece)) in slices[..filled].iter_mut().zip(pieces).enumerate() {
            if left == 0 {
                return at;
            }
            let taken = left.min(piece.len());
            *slot = IoSlice::new(&piece[..taken]);
            left -= taken;
        }
        filled
    }

    /// Fills `slices` with available unsent bytes, oldest first, and returns how many slices it
    /// filled.
    pub fn fill<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let tail = &self.tail[self.written..];
        let at_hand = self.frozen.iter().map_while(|piece| match piece {
            Piece::Bytes(bytes) => Some(&bytes[..]),
            Piece::Stream(_) => None,
        });
        let has_tail = self.streamed_bytes == 0 && !tail.is_empty();
        let mut filled = 0;
        for (slot, piece) in slices
            .iter_mut()
            .zip(at_hand.chain(has_tail.then_some(tail)))
        {
            *slot = IoSlice::new(piece);
            filled += 1;
        }
        filled
    }

    /// The first piece of available unsent bytes; empty only if there is none.
    #[must_use]
    pub fn first(&self) -> &[u8] {
        match self.frozen.front() {
            Some(Piece::Bytes(bytes)) => bytes,
            Some(Piece::Stream(_)) => &[],
            None => &self.tail[self.written..],
        }
    }

    /// Whether all unsent bytes are in one piece, so that a plain write is enough.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.frozen.is_empty()
    }

    /// Whether the stored lengths match the contents. O(pieces), bounded by a small number.
    fn is_sound(&self) -> bool {
        const LOOKED_AT_MAX: usize = 64;
        let sum = |len: fn(&Piece) -> usize| self.frozen.iter().map(len).sum::<usize>();
        self.written <= self.tail.len()
            && (self.frozen.len() > LOOKED_AT_MAX
                || sum(Piece::len) == self.frozen_bytes
                    && sum(Piece::streamed) == self.streamed_bytes)
    }

    /// Removes the first `bytes` bytes, which were written.
    ///
    /// # Panics
    /// If `bytes` is more than the available unsent bytes.
    pub fn advance(&mut self, mut bytes: usize) {
        assert!(bytes <= self.len(), "advanced past what was owed");
        while let Some(Piece::Bytes(front)) = self.frozen.front_mut() {
            if bytes < front.len() {
                bytes::Buf::advance(front, bytes);
                self.frozen_bytes -= bytes;
                return;
            }
            bytes -= front.len();
            self.frozen_bytes -= front.len();
            self.frozen.pop_front();
        }
        assert!(
            bytes == 0 || self.frozen.is_empty(),
            "advanced past what was pulled"
        );
        self.written += bytes;
        if self.written == self.tail.len() {
            self.tail.clear();
            self.written = 0;
        }
        debug_assert!(self.is_sound());
    }

    /// Frees memory beyond `keep` bytes if there are no unsent bytes.
    pub fn shrink(&mut self, keep: usize) {
        if self.is_empty() && self.tail.capacity() > keep {
            self.tail = Vec::new();
            self.written = 0;
        }
    }

    /// The current end, for [`Output::cut`].
    #[must_use]
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark {
            frozen_pieces: self.frozen.len(),
            len: self.len(),
        }
    }

    /// Drops everything added since `mark` was taken. [`Output::advance`] must not have been called
    /// in between.
    pub fn cut(&mut self, mark: Mark) {
        drop(self.split_off(mark));
    }

    /// Removes everything added since `mark` was taken and returns it as an output.
    /// [`Output::advance`] must not have been called in between.
    pub(crate) fn split_off(&mut self, mark: Mark) -> Self {
        let mut taken = Self::new();
        if self.frozen.len() > mark.frozen_pieces {
            // The tail of that time was frozen since.
            self.freeze_tail();
            while let Some(last) = self.frozen.back_mut()
                && self.frozen_bytes > mark.len
            {
                let piece = match last {
                    Piece::Bytes(bytes) if self.frozen_bytes - bytes.len() < mark.len => {
                        let kept = bytes.len() - (self.frozen_bytes - mark.len);
                        Some(Piece::Bytes(bytes.split_off(kept)))
                    }
                    _ => self.frozen.pop_back(),
                };
                if let Some(piece) = piece {
                    self.forget(&piece);
                    taken.note(&piece);
                    taken.frozen.push_front(piece);
                }
            }
        } else {
            let keep = mark.len - self.frozen_bytes + self.written;
            taken.tail = self.tail.split_off(keep);
        }
        debug_assert!(self.is_sound() && taken.is_sound() && self.len() == mark.len);
        taken
    }

    /// Appends the contents of `other`. Large pieces are moved; short ones are copied.
    pub fn append(&mut self, mut other: Self) {
        if other.frozen.is_empty() {
            let tail = std::mem::take(&mut other.tail);
            if tail.len() - other.written < SHARED_BYTES_MIN {
                self.put(&tail[other.written..]);
            } else {
                self.put_shared(Bytes::from(tail).slice(other.written..));
            }
            return;
        }
        self.freeze_tail();
        other.freeze_tail();
        self.frozen_bytes += other.frozen_bytes;
        self.streamed_bytes += other.streamed_bytes;
        self.frozen.append(&mut other.frozen);
        debug_assert!(self.is_sound());
    }

    /// A copy of all available unsent bytes. O(n); for tests and embedders without sockets.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len() - self.streamed_bytes);
        for piece in &self.frozen {
            match piece {
                Piece::Bytes(bytes) => all.extend_from_slice(bytes),
                Piece::Stream(_) => return all,
            }
        }
        all.extend_from_slice(&self.tail[self.written..]);
        all
    }

    /// Removes all unsent bytes and returns them. Streams are pulled to their end; a stream that
    /// fails ends the result. O(n) only if there are shared values or streams.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        if self.frozen.is_empty() && self.written == 0 {
            return std::mem::take(&mut self.tail);
        }
        let mut all = Vec::new();
        while self.pull().is_ok() && !self.is_empty() {
            let first = self.first();
            all.extend_from_slice(first);
            self.advance(first.len());
        }
        *self = Self::new();
        all
    }

    /// Removes the first unsent bytes and returns them: at least one, if there are any, and about `bytes_max` of
    /// many. A shared value of that size comes alone, and is not copied. There must be no streams.
    ///
    /// ```
    /// use respire_engine::Output;
    /// use resp_codec::Sink;
    ///
    /// let mut out = Output::new();
    /// out.put(b"+OK\r\n");
    /// assert_eq!(out.take_some(100), "+OK\r\n");
    /// assert!(out.take_some(100).is_empty());
    /// ```
    #[must_use]
    pub fn take_some(&mut self, bytes_max: usize) -> Bytes {
        let first = self.first().len();
        if self.frozen.is_empty() || first >= bytes_max {
            if self.frozen.is_empty() {
                self.freeze_tail();
            }
            let Some(piece) = self.frozen.pop_front() else {
                return Bytes::new();
            };
            self.forget(&piece);
            return match piece {
                Piece::Bytes(bytes) => bytes,
                Piece::Stream(_) => Bytes::new(),
            };
        }
        let mut some = Vec::with_capacity(bytes_max);
        loop {
            let first = self.first();
            let len = first.len();
            if len == 0 || !some.is_empty() && some.len() + len > bytes_max {
                return some.into();
            }
            some.extend_from_slice(first);
            self.advance(len);
        }
    }

    /// The bytes added since there were `len` unsent bytes, except shared ones.
    pub(crate) fn put_since(&self, len: usize) -> &[u8] {
        let put = (self.len() - len).min(self.tail.len() - self.written);
        &self.tail[self.tail.len() - put..]
    }

    /// The bytes added since `mark`, if all of them are available in one piece. [`Output::advance`]
    /// must not have been called in between.
    pub(crate) fn put_after(&self, mark: Mark) -> Option<&[u8]> {
        let is_one = self.frozen.len() == mark.frozen_pieces;
        is_one.then(|| &self.tail[mark.len - self.frozen_bytes + self.written..])
    }

    /// Adds a value that is produced while it is written. Its header must be written already.
    pub(crate) fn put_stream(&mut self, stream: Stream) {
        self.freeze_tail();
        self.push(Piece::Stream(stream));
    }

    /// Adds elements of an aggregate that are produced while they are written, as the bytes of RESP. The
    /// header of the aggregate is written already, `len` is a guess of their bytes, and the body's end is
    /// their end. A body that fails, or has no bytes at all, ends the connection.
    ///
    /// ```
    /// use respire_engine::{Bytes, Output, Proto, Reply};
    ///
    /// let mut out = Output::new();
    /// let mut reply = Reply::new(&mut out, Proto::Resp3);
    /// reply.array(100_000);
    /// let mut left = 100;
    /// let body = move |_: usize| {
    ///     left -= 1;
    ///     (left >= 0).then(|| Bytes::from(b":7\r\n".repeat(1_000)))
    /// };
    /// reply.sink().put_elements(400_000, body);
    /// assert_eq!(out.take().len(), 400_009);
    /// ```
    pub fn put_elements(&mut self, len: usize, body: impl Body) {
        self.put_stream(Stream::of_elements(len, body));
    }

    fn freeze_tail(&mut self) {
        let tail = std::mem::take(&mut self.tail);
        let written = std::mem::take(&mut self.written);
        self.push(Piece::Bytes(Bytes::from(tail).slice(written..)));
    }

    fn push(&mut self, piece: Piece) {
        if piece.len() > 0 {
            self.note(&piece);
            self.frozen.push_back(piece);
        }
    }

    fn note(&mut self, piece: &Piece) {
        self.frozen_bytes += piece.len();
        self.streamed_bytes += piece.streamed();
    }

    fn forget(&mut self, piece: &Piece) {
        self.frozen_bytes -= piece.len();
        self.streamed_bytes -= piece.streamed();
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
        self.push(Piece::Bytes(bytes));
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
    fn some_bytes_are_taken_in_order_and_large_values_without_a_copy() {
        let shared = large();
        for (bytes_max, pieces) in [(SHARED_BYTES_MIN, 7), (40_000, 2), (1 << 20, 1)] {
            let mut again = Output::new();
            (0..3).for_each(|_| {
                again.put(b"$16384\r\n");
                again.put_shared(shared.clone());
                again.put(b"\r\n");
            });
            let all = again.to_vec();
            let (mut taken, mut count) = (Vec::new(), 0);
            while !again.is_empty() {
                let some = again.take_some(bytes_max);
                assert!(!some.is_empty() && some.len() <= bytes_max);
                let is_copied = some.as_ptr() != shared.as_ptr();
                assert_eq!(is_copied, some.len() != SHARED_BYTES_MIN);
                taken.extend_from_slice(&some);
                count += 1;
            }
            assert_eq!((taken == all, count), (true, pieces), "{bytes_max}");
        }
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
