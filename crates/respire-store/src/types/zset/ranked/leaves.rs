//! The leaves of a set by number, so that the index of members can name them.

use std::sync::Arc;

use super::leaf::Leaf;
use crate::types::allocated;

/// Leaves of one part.
const PART_LEAVES: usize = 64;

/// The leaves. A clone costs O(leaves / 64).
#[derive(Debug, Clone, Default)]
pub(super) struct Leaves {
    /// All parts but the last are full.
    parts: Vec<Arc<Part>>,
    /// The first of the numbers in use no more.
    free: Option<u32>,
    /// Bytes allocated for parts and leaves.
    bytes: usize,
}

#[derive(Debug, Default)]
struct Part(Vec<Place>);

#[derive(Debug, Clone)]
enum Place {
    Leaf(Leaf),
    /// The next of the numbers in use no more.
    Free(Option<u32>),
}

impl Clone for Part {
    /// Returns a copy with the same capacity, because the accounting assumes it.
    fn clone(&self) -> Self {
        let mut places = Vec::with_capacity(self.0.capacity());
        places.extend_from_slice(&self.0);
        Part(places)
    }
}

impl Part {
    /// Bytes allocated for the part, without its leaves.
    fn heap_bytes(&self) -> usize {
        allocated(16 + size_of::<Part>()) + allocated(self.0.capacity() * size_of::<Place>())
    }
}

impl Leaves {
    /// Returns the bytes allocated for all of it. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes + allocated(self.parts.capacity() * size_of::<Arc<Part>>())
    }

    /// Returns a leaf in use.
    #[inline]
    pub(super) fn get(&self, id: u32) -> &Leaf {
        let id = id as usize;
        match &self.parts[id / PART_LEAVES].0[id % PART_LEAVES] {
            Place::Leaf(leaf) => leaf,
            Place::Free(_) => unreachable!("invariant: the leaf is in use"),
        }
    }

    /// Changes a leaf in use.
    pub(super) fn edit<R>(&mut self, id: u32, f: impl FnOnce(&mut Leaf) -> R) -> R {
        let Place::Leaf(leaf) = self.place(id) else {
            unreachable!("invariant: the leaf is in use");
        };
        let before = leaf.heap_bytes();
        let result = f(leaf);
        let after = leaf.heap_bytes();
        self.bytes = self.bytes - before + after;
        result
    }

    fn place(&mut self, id: u32) -> &mut Place {
        let id = id as usize;
        &mut Arc::make_mut(&mut self.parts[id / PART_LEAVES]).0[id % PART_LEAVES]
    }

    /// Adds a leaf and returns its number.
    pub(super) fn add(&mut self, leaf: Leaf) -> u32 {
        self.bytes += leaf.heap_bytes();
        if let Some(id) = self.free {
            let place = self.place(id);
            if let Place::Free(next) = *place {
                *place = Place::Leaf(leaf);
                self.free = next;
            }
            return id;
        }
        let is_full = |part: &Arc<Part>| part.0.len() == PART_LEAVES;
        if self.parts.last().is_none_or(is_full) {
            let part = Arc::new(Part::default());
            self.bytes += part.heap_bytes();
            self.parts.push(part);
        }
        let last = self.parts.len() - 1;
        let part = Arc::make_mut(&mut self.parts[last]);
        let before = part.heap_bytes();
        part.0.push(Place::Leaf(leaf));
        self.bytes = self.bytes - before + part.heap_bytes();
        let id = last * PART_LEAVES + part.0.len() - 1;
        u32::try_from(id).expect("a set has less than 2^32 leaves")
    }

    /// Frees a leaf in use; its number can be used again.
    pub(super) fn free(&mut self, id: u32) {
        let next = Place::Free(self.free);
        if let Place::Leaf(leaf) = core::mem::replace(self.place(id), next) {
            self.bytes -= leaf.heap_bytes();
        }
        self.free = Some(id);
    }

    /// Frees leaves of the last parts, whether in use or not, until the budget is used up
    /// ([`Kind::free_some`](crate::Kind::free_some)). Returns whether no part is left.
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        while let Some(last) = self.parts.last_mut() {
            let part = Arc::make_mut(last);
            while let Some(place) = part.0.pop() {
                if let Place::Leaf(leaf) = place {
                    self.bytes -= leaf.heap_bytes();
                    *budget =
                        budget.saturating_sub(1 + leaf.heap_bytes() / super::BYTES_PER_ALLOCATION);
                }
                if *budget == 0 {
                    return false;
                }
            }
            self.bytes -= part.heap_bytes();
            self.parts.pop();
        }
        true
    }

    /// Counts the bytes again.
    #[cfg(test)]
    pub(super) fn recount(&self) -> usize {
        let places = self.parts.iter().flat_map(|part| &part.0);
        let leaves = places.map(|place| match place {
            Place::Leaf(leaf) => leaf.heap_bytes(),
            Place::Free(_) => 0,
        });
        let parts: usize = self.parts.iter().map(|part| part.heap_bytes()).sum();
        leaves.sum::<usize>() + parts + allocated(self.parts.capacity() * size_of::<Arc<Part>>())
    }
}
