//! The limits up to which values with elements are kept packed.

use core::sync::atomic::{AtomicU32, Ordering};

use super::{DEFAULT_LIMITS, TypeId};

/// The limits up to which a value of a type is kept packed. A change applies to the next edit of each value; a value
/// that has left its packed form never returns to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of elements.
    pub elements: u32,
    /// The largest number of bytes: of an element, or of the value if its type says so.
    pub bytes: u32,
}

/// The limits of each type, which any thread may change.
#[derive(Debug)]
pub(crate) struct LimitTable(Box<[(AtomicU32, AtomicU32)]>);

impl Default for LimitTable {
    fn default() -> Self {
        let types = DEFAULT_LIMITS.iter().map(|(id, _)| *id as usize + 1).max();
        let table = LimitTable(
            (0..types.unwrap_or(0))
                .map(|_| Default::default())
                .collect(),
        );
        DEFAULT_LIMITS
            .iter()
            .for_each(|(id, limits)| table.set(*id, *limits));
        table
    }
}

impl LimitTable {
    pub(crate) fn get(&self, id: TypeId) -> Limits {
        let (elements, bytes) = &self.0[id as usize];
        Limits {
            elements: elements.load(Ordering::Relaxed),
            bytes: bytes.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn set(&self, id: TypeId, limits: Limits) {
        let (elements, bytes) = &self.0[id as usize];
        elements.store(limits.elements, Ordering::Relaxed);
        bytes.store(limits.bytes, Ordering::Relaxed);
    }
}
