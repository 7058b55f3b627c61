//! An entry, lent to be read.

use core::fmt;

use super::{Clock, Entry, Owned, SLOT_BYTES};
use crate::types::{Encoding, Kind, StringRef, ValueRef, WrongType};

/// An entry, borrowed for the time of a closure.
#[derive(Clone, Copy)]
pub struct EntryRef<'e> {
    entry: &'e Entry,
    clock: Clock,
}

impl<'e> EntryRef<'e> {
    pub(crate) fn new(entry: &'e Entry, clock: Clock) -> EntryRef<'e> {
        EntryRef { entry, clock }
    }

    /// The value.
    #[must_use]
    #[inline]
    pub fn value(self) -> ValueRef<'e> {
        self.entry.value()
    }

    /// How the value is kept.
    #[must_use]
    pub fn encoding(self) -> Encoding {
        self.entry.encoding()
    }

    /// When the key expires, in unix milliseconds; `None` is never.
    #[must_use]
    #[inline]
    pub fn expires_at(self) -> Option<u64> {
        self.entry.expires_at()
    }

    /// Milliseconds since the key was last used, in steps of a second; 0 under an LFU policy.
    #[must_use]
    pub fn idle_ms(self, now_ms: u64) -> u64 {
        self.clock.idle_ms(self.entry.clock(), now_ms)
    }

    /// The logarithmic counter of uses, decayed to `now_ms`; 0 unless the policy is an LFU one.
    #[must_use]
    pub fn freq(self, now_ms: u64) -> u8 {
        self.clock.freq(self.entry.clock(), now_ms)
    }

    /// Bytes of memory the entry takes, its place in the table included.
    #[must_use]
    pub fn memory(self) -> usize {
        SLOT_BYTES + self.entry.heap_bytes()
    }

    /// The value as a string.
    ///
    /// # Errors
    /// [`WrongType`] if it is of another type.
    #[inline(always)]
    pub fn string(self) -> Result<StringRef<'e>, WrongType> {
        self.entry.value().as_string().ok_or(WrongType)
    }

    /// The value as one of type `K`.
    ///
    /// # Errors
    /// [`WrongType`] if it is of another type.
    pub fn typed<K: Kind>(self) -> Result<&'e K, WrongType> {
        K::of(self.entry.value()).ok_or(WrongType)
    }

    /// A copy of value and expiry. Large strings are shared, not copied, and so are the parts of other types.
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
