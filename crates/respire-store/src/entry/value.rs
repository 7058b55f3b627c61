//! The expiry of a write, and a value with its expiry outside the store.

use crate::types::{NewValue, ValueRef};

/// The effect of a write on the key's expiry.
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

/// A value and its expiry outside the store, for writing them to another key or database
/// ([`Slot::take`](crate::Slot::take), [`Slot::put`](crate::Slot::put)).
#[derive(Debug, Clone)]
pub struct Owned {
    pub(crate) value: NewValue<'static>,
    pub(crate) expires_at: Option<u64>,
}

impl Owned {
    /// Returns the value.
    #[must_use]
    pub fn value(&self) -> ValueRef<'_> {
        self.value.as_ref()
    }

    /// Returns the expiry in unix milliseconds; `None` is never.
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
