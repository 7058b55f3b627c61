//! A stack of byte strings: the simplest complete implementation of a type of value. Redis has no such type; the
//! tests of this crate and of the crates above use it.

use std::sync::Arc;

use super::{Elements, Encoding, Kind, Limits, allocated};
use crate::raw;

/// A stack of byte strings, which tests use as a type of value with elements.
///
/// ```
/// use respire_store::{Config, Edited, Elements, EventName, Stack, Store};
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
/// let len = view.read(b"k", |entry| entry.map(|entry| entry.typed::<Stack>().map(Elements::len)));
/// assert_eq!(len, Some(Ok(1)));
/// ```
#[derive(Debug, Clone)]
pub struct Stack(Form);

#[derive(Debug, Clone)]
enum Form {
    /// Each element with a byte for its length before it and one after it. No bytes are no elements.
    Packed(Vec<u8>),
    Parts(Parts),
}

/// A borrowed stack.
#[derive(Debug, Clone, Copy)]
pub enum StackRef<'e> {
    /// The bytes of a packed stack.
    Packed(&'e [u8]),
    /// A large stack.
    Parts(&'e Parts),
}

/// A stack that is not packed.
#[derive(Debug, Clone, Default)]
pub struct Parts {
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

impl Default for Stack {
    fn default() -> Stack {
        Stack(Form::Packed(Vec::new()))
    }
}

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
        if let Form::Packed(bytes) = &mut self.0 {
            let fits = element.len() <= (Self::LIMITS.bytes as usize).min(usize::from(u8::MAX));
            if fits && StackRef::Packed(bytes).len() < Self::LIMITS.elements as usize {
                bytes.push(element.len() as u8);
                bytes.extend_from_slice(element);
                bytes.push(element.len() as u8);
                return;
            }
            let mut parts = Parts::default();
            StackRef::Packed(bytes).for_each(&mut |element| parts.push(element));
            self.0 = Form::Parts(parts);
        }
        if let Form::Parts(parts) = &mut self.0 {
            parts.push(element);
        }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes and returns the element that was added last; `None` if there is none.
    pub fn pop(&mut self) -> Option<Box<[u8]>> {
        match &mut self.0 {
            Form::Packed(bytes) => {
                let end = bytes.len().checked_sub(1)?;
                let start = end - usize::from(bytes[end]);
                let element = bytes[start..end].into();
                bytes.truncate(start - 1);
                Some(element)
            }
            Form::Parts(parts) => parts.pop(),
        }
    }
}

impl Parts {
    fn push(&mut self, element: &[u8]) {
        if self.len.is_multiple_of(PART_ELEMENTS) {
            self.parts.push(Arc::default());
        }
        if let Some(part) = self.parts.last_mut() {
            Arc::make_mut(part).0.push(element.into());
        }
        self.len += 1;
        self.element_bytes += allocated(element.len());
    }

    fn pop(&mut self) -> Option<Box<[u8]>> {
        let part = Arc::make_mut(self.parts.last_mut()?);
        let element = part.0.pop()?;
        if part.0.is_empty() {
            self.parts.pop();
        }
        self.len -= 1;
        self.element_bytes -= allocated(element.len());
        Some(element)
    }

    fn get(&self, at: usize) -> Option<&[u8]> {
        let part = self.parts.get(at / PART_ELEMENTS)?;
        part.0.get(at % PART_ELEMENTS).map(|element| &**element)
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
}

impl<'e> StackRef<'e> {
    /// Returns the element of this index, counted from the bottom.
    #[must_use]
    pub fn get(self, at: usize) -> Option<&'e [u8]> {
        match self {
            StackRef::Packed(bytes) => elements(bytes).nth(at),
            StackRef::Parts(parts) => parts.get(at),
        }
    }
}

/// The elements of a packed stack, from the bottom to the top.
fn elements(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let (&len, rest) = bytes.split_first()?;
        let (element, rest) = rest.split_at(usize::from(len));
        bytes = &rest[1..];
        Some(element)
    })
}

impl Kind for Stack {
    const NAME: &'static str = "stack";

    const LIMITS: Limits = Limits {
        elements: 8,
        bytes: 64,
    };

    type Ref<'e> = StackRef<'e>;

    fn read(&self) -> StackRef<'_> {
        match &self.0 {
            Form::Packed(bytes) => StackRef::Packed(bytes),
            Form::Parts(parts) => StackRef::Parts(parts),
        }
    }

    fn read_packed(bytes: &[u8]) -> StackRef<'_> {
        StackRef::Packed(bytes)
    }

    fn packed(&self) -> Option<&[u8]> {
        match &self.0 {
            Form::Packed(bytes) => Some(bytes),
            Form::Parts(_) => None,
        }
    }

    fn from_packed(bytes: Vec<u8>) -> Stack {
        Stack(Form::Packed(bytes))
    }

    fn into_packed(self) -> Option<Vec<u8>> {
        match self.0 {
            Form::Packed(bytes) => Some(bytes),
            Form::Parts(_) => None,
        }
    }

    fn heap_bytes(&self) -> usize {
        match &self.0 {
            Form::Packed(bytes) => allocated(bytes.capacity()),
            Form::Parts(parts) => parts.heap_bytes(),
        }
    }

    fn free_some(&mut self, budget: &mut usize) -> bool {
        match &mut self.0 {
            Form::Packed(_) => true,
            Form::Parts(parts) => parts.free_some(budget),
        }
    }
}

impl<'e> Elements<'e> for StackRef<'e> {
    type Element = &'e [u8];

    fn encoding(self) -> Encoding {
        Encoding::Stack
    }

    fn len(self) -> usize {
        match self {
            StackRef::Packed(bytes) => elements(bytes).count(),
            StackRef::Parts(parts) => parts.len,
        }
    }

    fn for_each(self, f: &mut dyn FnMut(&'e [u8])) {
        match self {
            StackRef::Packed(bytes) => elements(bytes).for_each(f),
            StackRef::Parts(Parts { parts, .. }) => {
                let elements = parts.iter().flat_map(|part| &part.0);
                elements.for_each(|element| f(element));
            }
        }
    }

    /// Visits the elements from the top to the bottom: elements that are pushed meanwhile are above the cursor.
    fn scan(self, cursor: u64, count: usize, f: &mut dyn FnMut(&'e [u8])) -> u64 {
        let StackRef::Parts(parts) = self else {
            self.for_each(f);
            return 0;
        };
        // The elements below the cursor have yet to come; 0 is both ends.
        let below = usize::try_from(cursor).map_or(parts.len, |below| below.min(parts.len));
        let below = if cursor == 0 { parts.len } else { below };
        let next = below.saturating_sub(count.max(1));
        (next..below)
            .rev()
            .filter_map(|at| parts.get(at))
            .for_each(f);
        next as u64
    }

    fn sample(self, random: u64) -> Option<&'e [u8]> {
        let at = random.checked_rem(self.len() as u64)?;
        self.get(at as usize)
    }

    /// Loads the last part for any element, as commands work on the top.
    fn warm(self, _element: &[u8]) -> bool {
        if let StackRef::Parts(Parts { parts, .. }) = self
            && let Some(part) = parts.last()
        {
            raw::prefetch(core::ptr::from_ref(&**part).addr());
        }
        false
    }
}
