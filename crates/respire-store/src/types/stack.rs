//! A stack of byte strings: the simplest complete implementation of a type of value. Redis has no such type; the
//! tests of this crate and of the crates above use it.

use std::sync::Arc;

use super::{Encoding, Kind, allocated};
use crate::raw;

/// A stack of byte strings, which tests use as a type of value with elements.
///
/// ```
/// use respire_store::{Config, Edited, EventName, Kind, Stack, Store};
///
/// const PUSHED: EventName = EventName { class: 1, name: "pushed" };
///
/// let store = Store::new(Config::default());
/// let mut view = store.view(0, 0);
/// let pushed = view.update(b"k", |slot| {
///     slot.edit(PUSHED, |stack: &mut Stack| {
///         stack.push(b"top");
///         Edited::Changed(stack.len())
///     })
/// });
/// assert_eq!(pushed, Ok(1));
/// let len = view.read(b"k", |entry| entry.map(|entry| entry.typed::<Stack>().map(Stack::len)));
/// assert_eq!(len, Some(Ok(1)));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stack {
    /// All parts except the last one are full, and none is empty.
    parts: Vec<Arc<Part>>,
    len: usize,
    /// Bytes allocated for the elements.
    element_bytes: usize,
}

/// A part of the elements, which snapshots share.
#[derive(Debug)]
struct Part(Vec<Box<[u8]>>);

const PART_ELEMENTS: usize = 64;

/// Bytes allocated for a part: the places of its elements, the part itself, and two reference counters.
const PART_BYTES: usize = PART_ELEMENTS * size_of::<Box<[u8]>>() + size_of::<Part>() + 16;

/// Bytes whose freeing is as much work as the freeing of an allocation.
const BYTES_PER_ALLOCATION: usize = 16 << 10;

impl Default for Part {
    fn default() -> Part {
        Part(Vec::with_capacity(PART_ELEMENTS))
    }
}

impl Clone for Part {
    /// Returns a copy with the same capacity, because the accounting assumes it.
    fn clone(&self) -> Part {
        let mut part = Part::default();
        part.0.extend_from_slice(&self.0);
        part
    }
}

impl Stack {
    /// Adds an element. O(its length).
    pub fn push(&mut self, element: &[u8]) {
        if self.len.is_multiple_of(PART_ELEMENTS) {
            self.parts.push(Arc::default());
        }
        if let Some(part) = self.parts.last_mut() {
            Arc::make_mut(part).0.push(element.into());
        }
        self.len += 1;
        self.element_bytes += allocated(element.len());
    }

    /// Removes and returns the element that was added last; `None` if there is none.
    pub fn pop(&mut self) -> Option<Box<[u8]>> {
        let part = Arc::make_mut(self.parts.last_mut()?);
        let element = part.0.pop()?;
        if part.0.is_empty() {
            self.parts.pop();
        }
        self.len -= 1;
        self.element_bytes -= allocated(element.len());
        Some(element)
    }

    /// Returns the element of this index, counted from the bottom.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        let part = self.parts.get(at / PART_ELEMENTS)?;
        part.0.get(at % PART_ELEMENTS).map(|element| &**element)
    }
}

impl Kind for Stack {
    const NAME: &'static str = "stack";

    type Element<'e> = &'e [u8];

    fn encoding(&self) -> Encoding {
        Encoding::Stack
    }

    fn len(&self) -> usize {
        self.len
    }

    fn heap_bytes(&self) -> usize {
        let places = allocated(self.parts.capacity() * size_of::<Arc<Part>>());
        places + self.parts.len() * PART_BYTES + self.element_bytes
    }

    fn free_some(&mut self, budget: &mut usize) -> bool {
        while let Some(part) = self.parts.pop() {
            let bytes: usize = part.0.iter().map(|element| allocated(element.len())).sum();
            let work = 1 + part.0.len() + bytes / BYTES_PER_ALLOCATION;
            self.len -= part.0.len();
            self.element_bytes -= bytes;
            *budget = budget.saturating_sub(work);
            if *budget == 0 {
                break;
            }
        }
        self.parts.is_empty()
    }

    fn for_each(&self, f: &mut dyn FnMut(&[u8])) {
        let elements = self.parts.iter().flat_map(|part| &part.0);
        elements.for_each(|element| f(element));
    }

    /// Visits the elements from the top to the bottom: elements that are pushed meanwhile are above the cursor.
    fn scan(&self, cursor: u64, count: usize, f: &mut dyn FnMut(&[u8])) -> u64 {
        // The elements below the cursor have yet to come; 0 is both ends.
        let below = usize::try_from(cursor).map_or(self.len, |below| below.min(self.len));
        let below = if cursor == 0 { self.len } else { below };
        let next = below.saturating_sub(count.max(1));
        (next..below)
            .rev()
            .filter_map(|at| self.get(at))
            .for_each(f);
        next as u64
    }

    fn sample(&self, random: u64) -> Option<&[u8]> {
        let at = random.checked_rem(self.len as u64)?;
        self.get(at as usize)
    }

    /// Loads the last part for any element, as commands work on the top.
    fn warm(&self, _element: &[u8]) {
        if let Some(part) = self.parts.last() {
            raw::prefetch(core::ptr::from_ref(&**part).addr());
        }
    }
}
