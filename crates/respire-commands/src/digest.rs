//! Computes digests of values and of the whole data, equal to those of Redis's `DEBUG DIGEST`.
//!
//! Two servers can be compared by them without a full read of either.

use crate::value_type::with_type;
use crate::work::work_begins;
use respire_store::{EntryRef, ValueRef};
use sha1::{Digest as _, Sha1};

/// A digest that is built from parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest([u8; 20]);

impl Digest {
    /// The digest of a value and whether it expires. Calls `step` for each element.
    pub(crate) fn of_value(
        value: ValueRef<'_>,
        expires_at: Option<u64>,
        step: &mut dyn FnMut(),
    ) -> Self {
        work_begins();
        let mut digest = Self::default();
        digest.add_value(value, expires_at, step);
        digest
    }

    /// The digest of a key and its value.
    pub(crate) fn of_entry(key: &[u8], entry: EntryRef<'_>) -> Self {
        let mut digest = Self::default();
        digest.mix(key);
        digest.add_value(entry.value(), entry.expires_at(), &mut || ());
        digest
    }

    /// Adds a part whose order matters.
    pub(crate) fn mix(&mut self, part: &[u8]) {
        self.combine(part);
        self.0 = Sha1::digest(self.0).into();
    }

    /// Adds a part whose order does not matter.
    pub(crate) fn combine(&mut self, part: &[u8]) {
        let hash = Sha1::digest(part);
        self.0
            .iter_mut()
            .zip(hash)
            .for_each(|(byte, other)| *byte ^= other);
    }

    /// Adds another digest, whose order does not matter.
    pub(crate) fn combine_digest(&mut self, other: Self) {
        self.combine(&other.0);
    }

    /// The digest as 40 hexadecimal digits.
    pub(crate) fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn add_value(&mut self, value: ValueRef<'_>, expires_at: Option<u64>, step: &mut dyn FnMut()) {
        with_type(value, |value| value.digest(self, step));
        if expires_at.is_some() {
            self.combine(b"!!expire!!");
        }
    }
}
