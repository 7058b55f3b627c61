//! A borrowed entry, for reading.

use core::fmt;

use super::{Clock, Entry, Owned, SLOT_BYTES};
use crate::types::{Encoding, Kind, StringRef, ValueRef, WrongType};

/// A borrowed entry: a key's value, expiry and access clock. It lives as long as the closure's call.
#[derive(Clone, Copy)]
pub struct EntryRef<'e> {
    entry: &'e Entry,
    clock: Clock,
}

impl<'e> EntryRef<'e> {
    pub(crate) fn new(entry: &'e Entry, clock: Clock) -> EntryRef<'e> {
        EntryRef { entry, clock }
    }

    /// Returns the value. O(1); nothing is copied.
    #[must_use]
    #[inline]
    pub fn value(self) -> ValueRef<'e> {
        self.entry.value()
    }

    /// Returns the value's encoding.
    #[must_use]
    pub fn encoding(self) -> Encoding {
        self.entry.encoding()
    }

    /// Returns when the key expires, in unix milliseconds; `None` is never.
    #[must_use]
    #[inline]
    pub fn expires_at(self) -> Option<u64> {
        self.entry.expires_at()
    }

    /// Returns the milliseconds since the key's last access, in steps of a second; 0 under an LFU policy.
    #[must_use]
    pub fn idle_ms(self, now_ms: u64) -> u64 {
        self.clock.idle_ms(self.entry.clock(), now_ms)
    }

    /// Returns the logarithmic counter of accesses, decayed to `now_ms`; 0 unless the policy is an LFU one.
    #[must_use]
    pub fn freq(self, now_ms: u64) -> u8 {
        self.clock.freq(self.entry.clock(), now_ms)
    }

    /// Returns the bytes of memory that the entry takes, including its place in the table. O(1).
    #[must_use]
    pub fn memory(self) -> usize {
        SLOT_BYTES + self.entry.heap_bytes()
    }

    /// Returns the value as a string.
    ///
    /// # Errors
    /// [`WrongType`] if it is of another type.
    #[inline(always)]
    pub fn string(self) -> Result<StringRef<'e>, WrongType> {
        self.entry.string().ok_or(WrongType)
    }

    /// Returns the value as one of type `K`.
    ///
    /// # Errors
    /// [`WrongType`] if it is of another type.
    pub fn typed<K: Kind>(self) -> Result<K::Ref<'e>, WrongType> {
        K::of(self.entry.value()).ok_or(WrongType)
    }

    /// Returns a copy of the value and the expiry. Large shared strings, and the parts of other types, are
    /// shared instead of copied.
    #[must_use]
    pub fn owned(self) -> Owned {
        self.entry.owned()
    }
}

impl fmt::Debug for EntryRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryRef")
            .field("value", &self.value())
            .field("expires_at", &self.expires_at())
            .finish_non_exhaustive()
    }
}
