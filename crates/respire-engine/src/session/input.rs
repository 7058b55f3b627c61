//! The input buffer of a session: bytes that are not answered yet, and room for the rest of a large
//! argument.

use crate::client::SharedBuffer;

/// An argument of at least this size has an allocation of its own: it is read straight into it, and
/// a command may keep it without a copy. Below this size a copy is cheaper than shorter reads.
pub(super) const LARGE_BYTES_MIN: usize = 64 << 10;

/// Room after a large argument for the few bytes that end its request.
const BEHIND_BYTES: usize = 64;

/// The peer announces the length and cannot be trusted. So at most this many bytes are reserved, or
/// `TRUST` times what has arrived if that is more; or twice that if it covers the whole argument,
/// to avoid a further step for a few bytes. Only address space is reserved: the system provides
/// memory as it is written.
const TRUSTED_BYTES: usize = 256 << 10;
const TRUST: usize = 16;

/// A larger buffer is freed when it becomes empty, so an idle connection costs little. Allocating
/// it again is cheap compared with the read that fills it.
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

    /// Appends a copy of bytes that arrived. `end` is the length of the unanswered input once the
    /// large argument at its end is complete, if there is one.
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

    /// Grows by at least `incoming` bytes: to the end of a large argument as far as its length is
    /// trusted, otherwise by doubling. Answered bytes are dropped.
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

    /// Passes the unanswered bytes to `f`, which answers some of them and returns how many. When a
    /// large argument is complete, `f` also gets the buffer as a [`SharedBuffer`], whose parts may
    /// be kept.
    pub(super) fn with_unanswered<R>(
        &mut self,
        end: Option<usize>,
        f: impl FnOnce(&[u8], Option<SharedBuffer>) -> (R, usize),
    ) -> R {
        let is_whole = end.is_some_and(|end| end <= self.len());
        let buffer = std::mem::take(&mut self.buffer);
        if is_whole {
            return self.with_shared(buffer, f);
        }
        let (answer, used) = f(&buffer[self.start..], None);
        self.take_back(buffer, used);
        answer
    }

    fn with_shared<R>(
        &mut self,
        buffer: Vec<u8>,
        f: impl FnOnce(&[u8], Option<SharedBuffer>) -> (R, usize),
    ) -> R {
        let shared_buffer = SharedBuffer::new(buffer);
        let bytes = shared_buffer.shared();
        let (answer, used) = f(&bytes[self.start..], Some(shared_buffer));
        let done = std::mem::take(&mut self.start) + used;
        let is_used_up = done == bytes.len();
        if !is_used_up && bytes.is_unique() {
            self.take_back(bytes.into(), done);
        } else {
            // A command keeps nearly the whole buffer, so the bytes after it are few.
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
