//! A run of elements: those of a listpack, without its header, in a buffer with free room at both ends.

use super::End;
use super::rest::Rest;
use crate::packed::listpack::Encoded;
use crate::types::allocated;

/// Up to 64 KiB of elements that follow each other in one buffer.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// The elements are the bytes from `start` on.
    bytes: Vec<u8>,
    start: usize,
    count: usize,
}

/// The smallest buffer.
const CAPACITY_MIN: usize = 64;

/// A buffer of at least this size is made smaller when an eighth of it is used.
const SHRUNK_BYTES_MIN: usize = 1024;

impl Clone for Run {
    fn clone(&self) -> Run {
        Run {
            bytes: self.as_bytes().to_vec(),
            start: 0,
            count: self.count,
        }
    }
}

impl Run {
    /// Takes the elements of a listpack without its header and end. There are `count`.
    pub(super) fn new(bytes: Vec<u8>, count: usize) -> Run {
        let start = 0;
        Run {
            bytes,
            start,
            count,
        }
    }

    /// Returns the elements of a listpack without its header and end.
    #[inline]
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Returns the elements as [`Run::as_bytes`] does, in a buffer that begins with them.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.drain(..self.start);
        self.bytes
    }

    /// Returns the number of elements.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of bytes of the elements.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(super) fn heap_bytes(&self) -> usize {
        allocated(self.bytes.capacity())
    }

    /// Adds an element at an end. Amortised O(its bytes).
    #[inline]
    pub(super) fn push(&mut self, end: End, element: &Encoded<'_>) {
        let len = element.len();
        match end {
            End::Left => {
                if self.start < len {
                    self.make_room(End::Left, len);
                }
                let start = self.start - len;
                element.write(&mut self.bytes[start..self.start]);
                self.start = start;
            }
            End::Right => {
                if self.bytes.capacity() - self.bytes.len() < len {
                    self.make_room(End::Right, len);
                }
                element.append_to(&mut self.bytes);
            }
        }
        self.count += 1;
    }

    /// Removes `count` elements with `len` bytes together from an end.
    #[inline]
    pub(super) fn cut(&mut self, end: End, count: usize, len: usize) {
        match end {
            End::Left => self.start += len,
            End::Right => self.bytes.truncate(self.bytes.len() - len),
        }
        self.count -= count;
        self.shrink_if_sparse();
    }

    /// Replaces `removed` bytes by an element, or by nothing. The caller keeps the number of elements
    /// ([`Run::recount`]).
    pub(super) fn splice(&mut self, at: usize, removed: usize, element: Option<&Encoded<'_>>) {
        let len = element.map_or(0, Encoded::len);
        if len > removed && self.bytes.capacity() - self.bytes.len() < len - removed {
            self.make_room(End::Right, len - removed);
        }
        let (at, end) = (self.start + at, self.bytes.len());
        let (before, after) = (at + removed, at + len);
        let new_end = end - before + after;
        self.bytes.resize(end.max(new_end), 0);
        self.bytes.copy_within(before..end, after);
        self.bytes.truncate(new_end);
        if let Some(element) = element {
            element.write(&mut self.bytes[at..after]);
        }
        self.shrink_if_sparse();
    }

    /// Notes that elements were removed and added.
    pub(super) fn recount(&mut self, removed: usize, added: usize) {
        self.count = self.count - removed + added;
    }

    /// Removes elements of `len` bytes each at these ascending offsets. O(bytes).
    pub(super) fn remove_all(&mut self, offsets: &[usize], len: usize) {
        let mut to = None;
        for (at, offset) in offsets.iter().enumerate() {
            let from = self.start + offset + len;
            let next = offsets.get(at + 1);
            let until = next.map_or(self.bytes.len(), |next| self.start + next);
            let place = to.unwrap_or(self.start + offset);
            self.bytes.copy_within(from..until, place);
            to = Some(place + until - from);
        }
        self.bytes.truncate(to.unwrap_or(self.bytes.len()));
        self.count -= offsets.len();
        self.shrink_if_sparse();
    }

    /// Returns the number of bytes of the element at an offset.
    pub(super) fn len_at(&self, at: usize) -> usize {
        let mut rest = Rest::Run(&self.as_bytes()[at..]);
        let before = rest.run_len();
        rest.skip(End::Left, 1);
        before - rest.run_len()
    }

    /// Removes the elements from `at` bytes on and returns them; `count` elements stay.
    pub(super) fn split_off(&mut self, at: usize, count: usize) -> Run {
        let rest = self.as_bytes()[at..].to_vec();
        let split = Run::new(rest, self.count - count);
        self.cut(End::Right, split.count, split.used());
        split
    }

    /// Adds the elements of another run behind those of this one.
    pub(super) fn append(&mut self, other: &Run) {
        if self.bytes.capacity() - self.bytes.len() < other.used() {
            self.make_room(End::Right, other.used());
        }
        self.bytes.extend_from_slice(other.as_bytes());
        self.count += other.count;
    }

    /// Returns the offset in bytes of the element with this index, or of the end. O(elements from the nearer end).
    pub(super) fn seek(&self, index: usize) -> usize {
        let mut rest = Rest::Run(self.as_bytes());
        if index <= self.count / 2 {
            rest.skip(End::Left, index);
            self.used() - rest.run_len()
        } else {
            rest.skip(End::Right, self.count - index);
            rest.run_len()
        }
    }

    /// Makes the buffer as small as its elements need, if more than an eighth of it is unused.
    pub(super) fn settle(&mut self) {
        if self.bytes.capacity() - self.used() > self.bytes.capacity() / 8 {
            *self = self.clone();
        }
    }

    #[inline]
    fn shrink_if_sparse(&mut self) {
        let capacity = self.bytes.capacity();
        if capacity >= SHRUNK_BYTES_MIN && self.used() < capacity / 8 {
            let used = self.used();
            self.rebuild((2 * used).next_power_of_two().max(CAPACITY_MIN), 0);
        }
    }

    /// Makes room for `len` bytes at an end. Free room at the other end is shared by both ends, so that a list that
    /// is used from both moves its bytes rarely.
    #[inline(never)]
    fn make_room(&mut self, end: End, len: usize) {
        let (used, capacity) = (self.used(), self.bytes.capacity());
        let other_room = match end {
            End::Left => capacity - self.bytes.len(),
            End::Right => self.start,
        };
        let needed = used + len;
        let is_enough = needed <= capacity && (capacity - used) >= capacity / 8;
        let new_capacity = if is_enough {
            capacity
        } else {
            needed.next_power_of_two().max(CAPACITY_MIN)
        };
        let room = new_capacity - used;
        let is_shared = other_room > 0 && room / 2 >= len && room > new_capacity / 8;
        let own_room = if is_shared { room / 2 } else { room };
        let start = match end {
            End::Left => own_room,
            End::Right => room - own_room,
        };
        if new_capacity == capacity {
            self.shift(start);
        } else if start == 0 && self.start == 0 {
            self.bytes.reserve_exact(new_capacity - used);
        } else {
            self.rebuild(new_capacity, start);
        }
    }

    /// Moves the elements to another place in the buffer, which is large enough.
    fn shift(&mut self, start: usize) {
        let (old, used) = (self.start, self.used());
        if start > old {
            self.bytes.resize(start + used, 0);
        }
        self.bytes.copy_within(old..old + used, start);
        self.bytes.truncate(start + used);
        self.start = start;
    }

    /// Moves the elements to a new buffer.
    fn rebuild(&mut self, capacity: usize, start: usize) {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.resize(start, 0);
        bytes.extend_from_slice(self.as_bytes());
        (self.bytes, self.start) = (bytes, start);
    }
}
