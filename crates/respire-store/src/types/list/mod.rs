//! Lists: elements in an order of their own, added and removed mostly at the ends.
//!
//! A small list is packed: its elements as those of a listpack, then 2 bytes with their number. A large one is a
//! deque of chunks of about 8 KiB.

mod blocks;
mod chunk;
mod deque;
mod rest;
mod run;

use deque::Deque;
use rest::Needle;
use run::Run;

use super::changes::{is_noted, note};
use super::plain::PACKED_BYTES_MAX;
use super::{Elements, Encoding, Kind, Limits, Step, StringRef, allocated};
use crate::packed::listpack;
use crate::raw;

pub use deque::ListIter;

/// A list of byte strings.
///
/// ```
/// use respire_store::{Config, Edited, Elements, End, EventName, List, Store, StringRef};
///
/// const PUSHED: EventName = EventName { class: 1, name: "pushed" };
/// const POPPED: EventName = EventName { class: 1, name: "popped" };
///
/// let store = Store::new(Config::default());
/// let mut view = store.view(0, 0);
/// let len = view.update(b"jobs", |slot| {
///     let limits = slot.limits::<List>();
///     slot.edit(PUSHED, |list: &mut List| {
///         list.push(End::Right, StringRef::Bytes(b"first"), limits);
///         list.push(End::Right, StringRef::Bytes(b"second"), limits);
///         Edited::Changed(list.len())
///     })
/// });
/// assert_eq!(len, Ok(2));
/// let job = view.update(b"jobs", |slot| {
///     slot.edit_existing(POPPED, |list: &mut List| {
///         Edited::Changed(list.pop(End::Left, |element| element.to_vec()))
///     })
/// });
/// assert_eq!(job, Ok(Some(Some(b"first".to_vec()))));
/// view.read(b"jobs", |entry| {
///     let list = entry.unwrap().typed::<List>().unwrap();
///     assert_eq!(list.len(), 1);
///     assert!(list.iter(End::Left).all(|element| element.to_vec() == b"second"));
/// });
/// ```
#[derive(Debug, Clone)]
pub struct List(Form);

#[derive(Debug, Clone)]
enum Form {
    Packed(Vec<u8>),
    Deque(Deque),
}

/// A borrowed list.
#[derive(Debug, Clone, Copy)]
pub struct ListRef<'e>(RefForm<'e>);

#[derive(Debug, Clone, Copy)]
enum RefForm<'e> {
    /// The elements, and their number.
    Packed(&'e [u8], usize),
    Deque(&'e Deque),
}

/// An end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where the first element is.
    Left,
    /// Where the last element is.
    Right,
}

/// Bytes whose freeing is as much work as the freeing of an allocation.
const BYTES_PER_ALLOCATION: usize = 16 << 10;

/// The bytes behind the elements of a packed list, with their number.
const COUNT_BYTES: usize = 2;

impl Default for List {
    fn default() -> List {
        List(Form::Packed(Vec::new()))
    }
}

impl List {
    /// Returns the number of elements. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Returns whether there are no elements. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an element at an end. Amortised O(its bytes). The limits are those of a chunk, not counting elements that
    /// are larger: bytes, and elements.
    pub fn push(&mut self, end: End, element: StringRef<'_>, limits: Limits) {
        if is_noted(self) {
            note_pushed(end, element);
        }
        self.edit(|deque| deque.push(end, element, limits));
    }

    /// Adds elements one after another at an end.
    pub fn extend<'a>(
        &mut self,
        end: End,
        elements: impl Iterator<Item = StringRef<'a>>,
        limits: Limits,
    ) {
        let is_noted = is_noted(self);
        self.edit(|deque| {
            elements.for_each(|element| {
                if is_noted {
                    note_pushed(end, element);
                }
                deque.push(end, element, limits);
            });
        });
    }

    /// Removes an element from an end after `f` has read it; `None` if there is none. O(1), or O(elements) if the list
    /// is packed.
    pub fn pop<R>(&mut self, end: End, f: impl FnOnce(StringRef<'_>) -> R) -> Option<R> {
        if is_noted(self) && !self.is_empty() {
            note(Step::Cut { end, count: 1 });
        }
        self.edit(|deque| deque.pop(end, f))
    }

    /// Removes `count` elements from an end, or as many as there are. O(`count` / 680) for small elements.
    pub fn cut(&mut self, end: End, count: usize) {
        if is_noted(self) {
            let count = count.min(self.len());
            if count > 0 {
                note(Step::Cut { end, count });
            }
        }
        self.edit(|deque| deque.cut(end, count));
    }

    /// Replaces the element of this index; returns false if there is none. O(log elements) in practice: it looks at
    /// one number per 87,000 small elements.
    pub fn set(&mut self, index: usize, element: StringRef<'_>, limits: Limits) -> bool {
        let is_there = index < self.len();
        if is_there {
            if is_noted(self) {
                note_set(index, element);
            }
            self.edit(|deque| deque.set(index, element, limits));
        }
        is_there
    }

    /// Inserts an element before that of this index, or as the last one if there are fewer. Costs like [`List::set`].
    pub fn insert(&mut self, index: usize, element: StringRef<'_>, limits: Limits) {
        if is_noted(self) {
            self.note_inserted(index, element);
        }
        self.edit(|deque| deque.insert(index, element, limits));
    }

    /// Removes up to `max` elements that are equal to `text`, beginning at an end. Returns how many. O(elements).
    pub fn remove_equal(&mut self, end: End, text: &[u8], max: usize, limits: Limits) -> usize {
        let count = self.edit(|deque| deque.remove_equal(end, text, max, limits));
        if count > 0 && is_noted(self) {
            let element = text;
            note(Step::EqualRemoved {
                end,
                element,
                count,
            });
        }
        count
    }

    /// Notes that an element is about to be inserted. O(elements before it).
    #[cold]
    fn note_inserted(&self, index: usize, element: StringRef<'_>) {
        let list = self.read();
        let next = match list.get(index) {
            _ if index == 0 => return note_pushed(End::Left, element),
            None => return note_pushed(End::Right, element),
            Some(next) => next.to_vec(),
        };
        let is_first = |text: &[u8]| {
            let mut first = None;
            list.find(End::Left, text, usize::MAX, |at| {
                first = Some(at);
                false
            });
            first.is_none_or(|first| first >= index)
        };
        let mut digits = [0; 20];
        let element = element.as_bytes(&mut digits);
        if is_first(&next) {
            let before = &next;
            return note(Step::Inserted { before, element });
        }
        // Others are equal to the next element, so it is another one for a moment.
        let mut other = b"\0next".to_vec();
        while !is_first(&other) {
            other.push(b'\0');
        }
        note_set(index, StringRef::Bytes(&other));
        let before = &other;
        note(Step::Inserted { before, element });
        note_set(index + 1, StringRef::Bytes(&next));
    }

    /// Runs `f` on the list as a deque, and packs it again if it was packed and is still small.
    #[inline]
    fn edit<R>(&mut self, f: impl FnOnce(&mut Deque) -> R) -> R {
        let bytes = match &mut self.0 {
            Form::Packed(bytes) => bytes,
            Form::Deque(deque) => return f(deque),
        };
        let mut bytes = core::mem::take(bytes);
        let count = packed_count(&bytes);
        bytes.truncate(bytes.len().saturating_sub(COUNT_BYTES));
        let mut deque = Deque::new(Run::new(bytes, count));
        let answer = f(&mut deque);
        let is_small = |run: &Run| run.used() + COUNT_BYTES <= PACKED_BYTES_MAX;
        self.0 = if deque.run().is_some_and(is_small) {
            let count = deque.len();
            Form::Packed(pack(deque.into_run().into_bytes(), count))
        } else {
            Form::Deque(deque)
        };
        answer
    }
}

/// Adds the number of elements of a packed list.
#[inline]
fn pack(mut elements: Vec<u8>, count: usize) -> Vec<u8> {
    debug_assert!(count <= PACKED_BYTES_MAX);
    elements.extend_from_slice(&(count as u16).to_le_bytes());
    elements
}

/// The number of elements of a packed list.
#[inline]
fn packed_count(bytes: &[u8]) -> usize {
    let count = bytes.last_chunk::<COUNT_BYTES>();
    count.map_or(0, |count| usize::from(u16::from_le_bytes(*count)))
}

#[cold]
fn note_pushed(end: End, element: StringRef<'_>) {
    let mut digits = [0; 20];
    let element = element.as_bytes(&mut digits);
    note(Step::Pushed { end, element });
}

#[cold]
fn note_set(index: usize, element: StringRef<'_>) {
    let mut digits = [0; 20];
    let element = element.as_bytes(&mut digits);
    note(Step::ElementSet { index, element });
}

impl<'e> ListRef<'e> {
    /// Returns a copy, which shares the parts of a large list. O(parts / 128).
    #[must_use]
    pub fn snapshot(self) -> List {
        List(match self.0 {
            RefForm::Packed(elements, count) => Form::Packed(pack(elements.to_vec(), count)),
            RefForm::Deque(deque) => Form::Deque(deque.clone()),
        })
    }

    /// Returns the element of this index; `None` if there are fewer. Costs like [`List::set`].
    #[must_use]
    pub fn get(self, index: usize) -> Option<StringRef<'e>> {
        match self.0 {
            RefForm::Packed(_, count) if index >= count => None,
            RefForm::Packed(_, count) if index > count / 2 => {
                self.iter_from(End::Right, count - 1 - index).next()
            }
            _ => self.iter_from(End::Left, index).next(),
        }
    }

    /// Returns the elements from an end to the other one.
    #[must_use]
    pub fn iter(self, end: End) -> ListIter<'e> {
        self.iter_from(end, 0)
    }

    /// Returns the elements from an end to the other one, without the first `skipped` ones. Finding the place costs
    /// like [`List::set`].
    #[must_use]
    pub fn iter_from(self, end: End, skipped: usize) -> ListIter<'e> {
        match self.0 {
            RefForm::Packed(bytes, _) => ListIter::of_run(bytes, end, skipped),
            RefForm::Deque(deque) => ListIter::of_deque(deque, end, skipped),
        }
    }

    /// Compares up to `max` elements with `text`, beginning at an end. Calls `f` with the index of each that is
    /// equal, and ends when `f` returns false. O(elements compared).
    ///
    /// ```
    /// use respire_store::{End, Kind, List, StringRef};
    ///
    /// let mut list = List::default();
    /// list.extend(End::Right, [3, 1, 3].map(StringRef::Int).into_iter(), List::LIMITS);
    /// let mut found = Vec::new();
    /// list.read().find(End::Right, b"3", usize::MAX, |index| {
    ///     found.push(index);
    ///     true
    /// });
    /// assert_eq!(found, [2, 0]);
    /// ```
    pub fn find(self, end: End, text: &[u8], max: usize, mut f: impl FnMut(usize) -> bool) {
        let (needle, mut iter) = (Needle::new(text), self.iter(end));
        let mut passed = 0;
        loop {
            let (more, is_equal) = iter.find(&needle, max - passed);
            passed += more;
            let index = match end {
                End::Left => passed.wrapping_sub(1),
                End::Right => self.len() - passed,
            };
            if !is_equal || !f(index) {
                return;
            }
        }
    }

    /// Calls `f` with the elements as listpacks of at most about 8 KiB, or of one larger element, in order.
    pub fn listpacks(self, f: &mut dyn FnMut(&[u8])) {
        let mut buffer = Vec::new();
        let mut pass = |elements: &[u8], count| {
            listpack::wrap(elements, count, &mut buffer);
            f(&buffer);
        };
        match self.0 {
            RefForm::Packed(bytes, count) => pass(bytes, count),
            RefForm::Deque(deque) => deque.for_each_run(&mut pass),
        }
    }

    /// Returns the number of listpacks. O(chunks).
    #[must_use]
    pub fn listpacks_len(self) -> usize {
        match self.0 {
            RefForm::Packed(..) => 1,
            RefForm::Deque(deque) => deque.chunks(),
        }
    }
}

impl Kind for List {
    const NAME: &'static str = "list";

    /// The limits of a chunk: any number of elements, and bytes as Redis counts them.
    const LIMITS: Limits = Limits {
        elements: u32::MAX,
        bytes: 8 << 10,
    };

    type Ref<'e> = ListRef<'e>;

    #[inline]
    fn read(&self) -> ListRef<'_> {
        match &self.0 {
            Form::Packed(bytes) => List::read_packed(bytes),
            Form::Deque(deque) => ListRef(RefForm::Deque(deque)),
        }
    }

    #[inline]
    fn read_packed(bytes: &[u8]) -> ListRef<'_> {
        let elements = &bytes[..bytes.len().saturating_sub(COUNT_BYTES)];
        ListRef(RefForm::Packed(elements, packed_count(bytes)))
    }

    fn packed(&self) -> Option<&[u8]> {
        match &self.0 {
            Form::Packed(bytes) => Some(bytes),
            Form::Deque(_) => None,
        }
    }

    fn from_packed(bytes: Vec<u8>) -> List {
        List(Form::Packed(bytes))
    }

    fn into_packed(self) -> Option<Vec<u8>> {
        match self.0 {
            Form::Packed(bytes) => Some(bytes),
            Form::Deque(_) => None,
        }
    }

    fn heap_bytes(&self) -> usize {
        match &self.0 {
            Form::Packed(bytes) => allocated(bytes.capacity()),
            Form::Deque(deque) => deque.heap_bytes(),
        }
    }

    fn free_some(&mut self, budget: &mut usize) -> bool {
        match &mut self.0 {
            Form::Packed(_) => true,
            Form::Deque(deque) => deque.free_some(budget),
        }
    }
}

impl<'e> Elements<'e> for ListRef<'e> {
    type Element = StringRef<'e>;

    fn encoding(self) -> Encoding {
        Encoding::Quicklist
    }

    #[inline]
    fn len(self) -> usize {
        match self.0 {
            RefForm::Packed(_, count) => count,
            RefForm::Deque(deque) => deque.len(),
        }
    }

    fn for_each(self, f: &mut dyn FnMut(StringRef<'e>)) {
        self.iter(End::Left).for_each(f);
    }

    /// Visits all elements in one step: a list that is changed at both ends has no other places that last.
    fn scan(self, _cursor: u64, _count: usize, f: &mut dyn FnMut(StringRef<'e>)) -> u64 {
        self.for_each(f);
        0
    }

    fn sample(self, random: u64) -> Option<StringRef<'e>> {
        self.get(random.checked_rem(self.len() as u64)? as usize)
    }

    /// Loads both ends for any element, as most commands work there.
    fn warm(self, _element: &[u8]) -> bool {
        if let RefForm::Deque(deque) = self.0 {
            raw::prefetch(core::ptr::from_ref(deque).addr());
        }
        false
    }
}

#[cfg(test)]
mod tests;
