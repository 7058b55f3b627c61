//! What goes with a value: its expiry, and both together outside the store.

use crate::types::{NewValue, ValueRef};

/// What becomes of a key's expiry when its value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expiry {
    /// The key no longer expires.
    #[default]
    Clear,
    /// The key keeps the expiry it has, if it has one.
    Keep,
    /// The key expires at this unix time in milliseconds. A time that is not in the future removes it;
    /// `u64::MAX` is never.
    At(u64),
}

/// A value and its expiry taken out of the store, to be put under another key or in another
/// database ([`Slot::take`](crate::Slot::take), [`Slot::put`](crate::Slot::put)).
#[derive(Debug, Clone)]
pub struct Owned {
    pub(crate) value: NewValue<'static>,
    pub(crate) expires_at: Option<u64>,
}

impl Owned {
    /// The value.
    #[must_use]
    pub fn value(&self) -> ValueRef<'_> {
        self.value.as_ref()
    }

    /// When it expires, in unix milliseconds; `None` is never.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        self.expires_at
    }

    /// Replaces the expiry.
    #[must_use]
    pub fn with_expiry(mut self, expires_at: Option<u64>) -> Self {
        self.expires_at = expires_at;
        self
    }
}
