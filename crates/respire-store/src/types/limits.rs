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

/// What a value needs to know to grow.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// The limits of the packed form.
    pub limits: Limits,
    /// The seed of the hash function of the large form, if it has one.
    pub seed: [u64; 4],
}

/// The limits of each type, which any thread may change.
#[derive(Debug)]
pub(crate) struct LimitTable {
    limits: Box<[(AtomicU32, AtomicU32)]>,
    seed: [u64; 4],
}

impl LimitTable {
    pub(crate) fn new(seed: [u64; 4]) -> Self {
        let types = DEFAULT_LIMITS.iter().map(|(id, _)| *id as usize + 1).max();
        let table = LimitTable {
            limits: (0..types.unwrap_or(0))
                .map(|_| Default::default())
                .collect(),
            seed,
        };
        DEFAULT_LIMITS
            .iter()
            .for_each(|(id, limits)| table.set(*id, *limits));
        table
    }

    pub(crate) fn growth(&self, id: TypeId) -> Growth {
        Growth {
            limits: self.get(id),
            seed: self.seed,
        }
    }

    pub(crate) fn get(&self, id: TypeId) -> Limits {
        let (elements, bytes) = &self.limits[id as usize];
        Limits {
            elements: elements.load(Ordering::Relaxed),
            bytes: bytes.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn set(&self, id: TypeId, limits: Limits) {
        let (elements, bytes) = &self.limits[id as usize];
        elements.store(limits.elements, Ordering::Relaxed);
        bytes.store(limits.bytes, Ordering::Relaxed);
    }
}
