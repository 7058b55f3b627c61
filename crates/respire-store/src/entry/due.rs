//! Entries that are due: by their own expiry, or by that of elements of their value.

use super::{Body, BodyMut, Entry, NEVER, Owned, packed};

impl Entry {
    /// Returns when the entry has to be looked at next, in unix milliseconds: its expiry, or the expiry of an
    /// element if that may be earlier. `None` is never.
    #[inline(always)]
    pub(crate) fn due_at(&self) -> Option<u64> {
        match self.body() {
            Body::Cell(cell) => packed::expires_at(cell),
            Body::Full(full) => {
                let at = full
                    .value
                    .due_at()
                    .map_or(full.expires_at, |at| at.min(full.expires_at));
                (at != NEVER).then_some(at)
            }
        }
    }

    /// Returns whether the entry has expired, or readers would see elements that are due.
    #[inline(always)]
    pub(crate) fn is_due(&self, now_ms: u64) -> bool {
        match self.body() {
            Body::Cell(cell) => packed::expires_at(cell).is_some_and(|at| at <= now_ms),
            Body::Full(full) => full.expires_at <= now_ms || full.value.is_due(now_ms),
        }
    }

    /// Returns whether readers see the entry: it has not expired, and not all of its elements are due.
    #[inline]
    pub(crate) fn is_live(&self, now_ms: u64) -> bool {
        !self.is_due(now_ms) || self.settled(now_ms).is_some()
    }

    /// Calls `f` with the entry as readers see it, if they do.
    #[inline]
    pub(crate) fn while_live(&self, now_ms: u64, f: impl FnOnce(&Entry)) {
        if !self.is_due(now_ms) {
            f(self);
        } else if let Some(settled) = self.settled(now_ms) {
            f(&settled);
        }
    }

    /// Returns a copy of an entry without the elements that are due, for readers that may not remove them from the
    /// entry itself; `None` if it has expired or nothing is left. Its parts stay shared.
    #[cold]
    pub(crate) fn settled(&self, now_ms: u64) -> Option<Entry> {
        if self.is_expired(now_ms) {
            return None;
        }
        let Owned { value, expires_at } = self.owned();
        let mut copy = Entry::new(self.key(), self.tag(), value, expires_at, self.clock());
        let (_, is_empty) = copy.expire_elements(now_ms, 1);
        (!is_empty).then_some(copy)
    }

    /// Removes due elements until about `budget` have been looked at. Returns whether there were any, and whether
    /// readers see none of the rest; the entry must then be removed.
    pub(crate) fn expire_elements(&mut self, now_ms: u64, budget: usize) -> (bool, bool) {
        match self.body_mut() {
            BodyMut::Cell(_) => (false, false),
            BodyMut::Full(full) => full.value.expire(now_ms, budget),
        }
    }
}
