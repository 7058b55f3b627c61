//! Entries that are due: by their own expiry, or by that of elements of their value.

use super::{Body, BodyMut, Entry, packed};

impl Entry {
    /// Returns when the entry has to be looked at next, in unix milliseconds: its expiry, or the expiry of an
    /// element if that may be earlier. `None` is never.
    #[inline(always)]
    pub(crate) fn due_at(&self) -> Option<u64> {
        match self.body() {
            Body::Cell(cell) => packed::expires_at(cell),
            Body::Full(full) => {
                let elements = full.value.due_at();
                elements.into_iter().chain(self.expires_at()).min()
            }
        }
    }

    /// Returns whether the entry has expired, or readers would see elements that are due.
    #[inline(always)]
    pub(crate) fn is_due(&self, now_ms: u64) -> bool {
        match self.body() {
            Body::Cell(_) => self.is_expired(now_ms),
            Body::Full(full) => full.expires_at <= now_ms || full.value.is_due(now_ms),
        }
    }

    /// Removes due elements until about `budget` have been looked at. Returns whether there were any, and whether
    /// none is left; an empty value must be removed.
    pub(crate) fn expire_elements(&mut self, now_ms: u64, budget: usize) -> (bool, bool) {
        match self.body_mut() {
            BodyMut::Cell(_) => (false, false),
            BodyMut::Full(full) => full.value.expire(now_ms, budget),
        }
    }
}
