//! What arrived and is not yet answered, and the room that what is still to come is read into.

use crate::client::Lent;

/// From this size on an argument has an allocation of its own: what is read goes straight there, and
/// a command may keep it as it is. Below it, a copy is cheaper than the shorter reads.
pub(super) const LARGE_BYTES_MIN: usize = 64 << 10;

/// Room behind a large argument, for the few bytes that end its request.
const BEHIND_BYTES: usize = 64;

/// A length is the peer's word. So no more is reserved than this, or so many times what has arrived,
/// whichever is more; twice that where it is the whole, so that no step is left for a few bytes. It is
/// addresses that are reserved: memory is taken up as it is written.
const TRUSTED_BYTES: usize = 256 << 10;
const TRUST: usize = 16;

/// A buffer above this size is given back when it runs empty, so that a connection that rests costs
/// little, whatever came over it before. Asking for it again is cheap beside the read that fills it.
const KEPT_BYTES_MAX: usize = 512;

/// Bytes that arrived and are not yet answered: `buffer[start..]`.
#[derive(Default)]
pub(super) struct Input {
    buffer: Vec<u8>,
    start: usize,
}

impl Input {
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.buffer.len()
    }

    pub(super) fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Takes bytes that arrived, by copy. `end` is how long what is unanswered will be when the
    /// argument is whole that it ends in, if it ends in a large one.
    pub(super) fn push(&mut self, bytes: &[u8], end: Option<usize>) {
        if self.buffer.capacity() - self.buffer.len() < bytes.len() {
            self.grow(bytes.len(), end);
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The buffer, with room for more of a large argument at its end.
    pub(super) fn room(&mut self, end: usize) -> &mut Vec<u8> {
        if self.buffer.capacity() == self.buffer.len() {
            self.grow(1, Some(end));
        }
        &mut self.buffer
    }

    /// Grows by at least `incoming` bytes: exactly to the end of a large argument as far as its length
    /// is to be trusted, otherwise by doubling. What is answered is left behind.
    fn grow(&mut self, incoming: usize, end: Option<usize>) {
        let arrived = self.len();
        let least = arrived + incoming;
        let wanted = match end {
            Some(end) => {
                let whole = end + BEHIND_BYTES;
                let trusted = least.saturating_mul(TRUST).max(TRUSTED_BYTES);
                if whole / 2 <= trusted { whole } else { trusted }
            }
            None => arrived.saturating_mul(2),
        };
        let mut grown = Vec::with_capacity(wanted.max(least));
        grown.extend_from_slice(&self.buffer[self.start..]);
        self.buffer = grown;
        self.start = 0;
    }

    /// Lends what is unanswered to `f`, which answers some of it and returns how much. When a large
    /// argument that began before is whole, the buffer is lent as a [`Lent`], parts of which may be kept.
    pub(super) fn lend<R>(
        &mut self,
        end: Option<usize>,
        f: impl FnOnce(&[u8], Option<Lent>) -> (R, usize),
    ) -> R {
        let is_whole = end.is_some_and(|end| end <= self.len());
        let buffer = std::mem::take(&mut self.buffer);
        if is_whole {
            return self.lend_shared(buffer, f);
        }
        let (answer, used) = f(&buffer[self.start..], None);
        self.take_back(buffer, used);
        answer
    }

    fn lend_shared<R>(
        &mut self,
        buffer: Vec<u8>,
        f: impl FnOnce(&[u8], Option<Lent>) -> (R, usize),
    ) -> R {
        let lent = Lent::new(buffer);
        let bytes = lent.shared();
        let (answer, used) = f(&bytes[self.start..], Some(lent));
        let done = std::mem::take(&mut self.start) + used;
        let is_used_up = done == bytes.len();
        if !is_used_up && bytes.is_unique() {
            self.take_back(bytes.into(), done);
        } else {
            // What is kept by a command is most of it, and what came behind that is little.
            self.buffer = bytes[done..].to_vec();
        }
        answer
    }

    fn take_back(&mut self, buffer: Vec<u8>, used: usize) {
        self.buffer = buffer;
        self.start += used;
        if self.is_empty() {
            self.start = 0;
            self.buffer.clear();
            if self.buffer.capacity() > KEPT_BYTES_MAX {
                self.buffer = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests;
