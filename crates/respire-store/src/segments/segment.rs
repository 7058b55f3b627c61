//! A segment: some hundred elements in one allocation, an index and then the arena with their bytes.

use core::iter;
use std::sync::Arc;

use bytes::Bytes;

use super::entry::{Entry, NEAR_BYTES_MAX, NewText, Part, Text};
use super::index::{self, GROUP_BYTES, Place, Tag};
use super::{Element, NewElement};
use crate::types::allocated;

/// Bytes of the largest arena: offsets have 16 bits.
const ARENA_BYTES_MAX: usize = 1 << 16;

/// Bytes of the largest arena that has further texts put into it. The rest is for entries whose texts are long.
const NEAR_ARENA_BYTES_MAX: usize = ARENA_BYTES_MAX * 3 / 4;

/// Bytes of the longest entry, apart from its texts.
const HEAD_BYTES_MAX: usize = 20;

/// Bytes of holes that a segment may have in any case.
const HOLES_MIN: u32 = 64;

/// Removed long texts that a segment may have in any case.
const FAR_REMOVED_MIN: usize = 8;

/// Bytes that an `Arc` adds to what it holds.
pub(super) const ARC_BYTES: usize = 16;

/// A segment. A clone shares everything until one of both is changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Segment {
    /// The index, then the arena.
    block: Option<Arc<[u8]>>,
    /// Texts that are too long for the arena.
    far: Option<Arc<Far>>,
    groups: u16,
    len: u16,
    /// Places of the index that are not empty: those of elements and of removed ones.
    taken: u16,
    /// Bytes of the arena's entries and of the holes between them.
    used: u32,
    /// Bytes of removed entries.
    holes: u32,
}

/// The long texts of a segment. One that was removed leaves an empty text until the segment is packed.
#[derive(Debug, Clone, Default)]
struct Far {
    texts: Vec<Bytes>,
    removed: usize,
    /// Bytes allocated for the texts.
    bytes: usize,
}

impl Segment {
    /// Returns an empty segment with room for so many elements, with so many bytes of entries.
    pub(super) fn with_room(elements: usize, bytes: usize) -> Self {
        let mut segment = Segment::default();
        segment.grow(index::groups_for(elements), bytes);
        segment
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Bytes of the entries.
    #[inline]
    pub(super) fn entry_bytes(&self) -> usize {
        (self.used - self.holes) as usize
    }

    /// Bytes allocated for the segment.
    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        let block = match &self.block {
            Some(block) => allocated(ARC_BYTES + block.len()),
            None => 0,
        };
        block + self.far.as_deref().map_or(0, Far::heap_bytes)
    }

    /// The number of allocations.
    pub(super) fn allocations(&self) -> usize {
        let far = self.far.as_deref().map_or(0, |far| 2 + far.texts.len());
        usize::from(self.block.is_some()) + far
    }

    #[inline]
    pub(super) fn parts(&self) -> (&[u8], &[u8]) {
        match &self.block {
            Some(block) => block.split_at(usize::from(self.groups) * GROUP_BYTES),
            None => (&[], &[]),
        }
    }

    /// Returns the address of the group where the search for a tag starts.
    #[inline]
    pub(super) fn home_address(&self, tag: Tag) -> usize {
        let home = index::home(self.groups.into(), tag);
        self.parts().0.as_ptr().addr() + home * GROUP_BYTES
    }

    #[inline]
    pub(super) fn find<const VALUES: bool>(&self, tag: Tag, element: &[u8]) -> Option<Place> {
        let (index, arena) = self.parts();
        index::find(index, tag, |offset| {
            let (entry, _) = Entry::<VALUES>::read(&arena[offset..]);
            match entry.element {
                Part::Near(bytes) => crate::hash::is_same_key(bytes, element),
                Part::Far(place) => self.far(place) == element,
            }
        })
    }

    /// Returns the address of the first entry that has a tag, or of the free bytes behind all entries.
    pub(super) fn entry_address(&self, tag: Tag) -> usize {
        let (index, arena) = self.parts();
        let mut at = self.used as usize;
        index::find(index, tag, |offset| {
            at = offset;
            true
        });
        arena.as_ptr().addr() + at
    }

    fn far(&self, place: usize) -> &Bytes {
        match &self.far {
            Some(far) => &far.texts[place],
            None => unreachable!("invariant: entries name long texts that exist"),
        }
    }

    fn text<'a>(&'a self, part: Part<'a>) -> Text<'a> {
        match part {
            Part::Near(bytes) => Text::Near(bytes),
            Part::Far(place) => Text::Far(self.far(place)),
        }
    }

    fn entry<const VALUES: bool>(&self, place: Place) -> (Entry<'_, VALUES>, usize) {
        let (index, arena) = self.parts();
        Entry::read(&arena[index::offset(index, place)..])
    }

    #[inline]
    pub(super) fn at<const VALUES: bool>(&self, place: Place) -> Element<'_> {
        let (entry, _) = self.entry::<VALUES>(place);
        Element {
            element: self.text(entry.element),
            value: self.text(entry.value),
            expires_at: entry.expires_at,
        }
    }

    /// The places of the elements.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        index::places(self.parts().0)
    }

    /// The elements.
    pub(super) fn elements<const VALUES: bool>(&self) -> impl Iterator<Item = Element<'_>> {
        self.places().map(|place| self.at::<VALUES>(place))
    }

    /// Returns the element that a random number selects, or none if it selects a free place.
    pub(super) fn random_place(&self, random: u64) -> Option<Place> {
        index::random_place(self.parts().0, random)
    }

    /// Adds an element that is not there. Amortised O(its bytes).
    pub(super) fn insert<const VALUES: bool>(&mut self, tag: Tag, new: &NewElement<'_>) {
        let (element, value) = (new.element.as_bytes(), new.value.as_bytes());
        let near_bytes = element.len() + value.len();
        // Elements are spread evenly, so hardly any arena is too full for short texts.
        let has_room = self.entry_bytes() + near_bytes + HEAD_BYTES_MAX <= NEAR_ARENA_BYTES_MAX;
        if has_room && element.len().max(value.len()) <= NEAR_BYTES_MAX {
            let entry = Entry::<VALUES> {
                element: Part::Near(element),
                value: Part::Near(value),
                expires_at: new.expires_at,
            };
            self.reserve::<VALUES>(entry.bytes());
            self.insert_entry(tag, &entry);
            return;
        }
        let is_near = |text: &[u8]| text.is_empty() || has_room && text.len() <= NEAR_BYTES_MAX;
        let near = [element, value].into_iter().filter(|text| is_near(text));
        // First of all, because this gives the long texts other places.
        self.reserve::<VALUES>(near.map(<[u8]>::len).sum::<usize>() + HEAD_BYTES_MAX);
        let mut far = |text: &NewText<'_>| {
            (!is_near(text.as_bytes())).then(|| self.push_far(text.clone().into_shared()))
        };
        let places = (far(&new.element), far(&new.value));
        let entry = Entry::<VALUES> {
            element: places.0.map_or(Part::Near(element), Part::Far),
            value: places.1.map_or(Part::Near(value), Part::Far),
            expires_at: new.expires_at,
        };
        self.insert_entry(tag, &entry);
    }

    /// Makes sure that there is room for an entry of so many bytes.
    #[inline]
    fn reserve<const VALUES: bool>(&mut self, bytes: usize) {
        let end = self.used as usize + bytes;
        let has_place = usize::from(self.taken) < index::room(self.groups.into());
        if !has_place || end > self.parts().1.len().min(ARENA_BYTES_MAX) {
            self.make_room::<VALUES>(bytes);
        }
    }

    /// Adds an entry, for which there is room.
    #[inline]
    fn insert_entry<const VALUES: bool>(&mut self, tag: Tag, entry: &Entry<'_, VALUES>) {
        self.add(tag, entry.bytes(), |arena| entry.write(arena));
    }

    /// Writes another value and expiry to an element. Amortised O(bytes of both).
    pub(super) fn replace<const VALUES: bool>(
        &mut self,
        tag: Tag,
        place: Place,
        new: &NewElement<'_>,
    ) {
        let offset = index::offset(self.parts().0, place);
        if new.value.as_bytes().len() <= NEAR_BYTES_MAX {
            let arena = self.parts_mut().1;
            let value = new.value.as_bytes();
            if let Some(saved) =
                Entry::<VALUES>::rewrite(&mut arena[offset..], value, new.expires_at)
            {
                self.holes += saved as u32;
                self.pack_if_sparse::<VALUES>();
                return;
            }
        }
        self.erase::<VALUES>(place);
        self.insert::<VALUES>(tag, new);
        self.pack_if_sparse::<VALUES>();
    }

    /// Removes an element. Amortised O(its bytes).
    pub(super) fn remove<const VALUES: bool>(&mut self, place: Place) {
        self.erase::<VALUES>(place);
        self.pack_if_sparse::<VALUES>();
    }

    pub(super) fn erase<const VALUES: bool>(&mut self, place: Place) {
        let (entry, bytes) = self.entry::<VALUES>(place);
        for far in [entry.element.far(), entry.value.far()]
            .into_iter()
            .flatten()
        {
            self.remove_far(far);
        }
        let is_empty = index::remove(self.parts_mut().0, place);
        self.taken -= u16::from(is_empty);
        self.len -= 1;
        self.holes += bytes as u32;
    }

    /// Makes room for an element of so many bytes.
    fn make_room<const VALUES: bool>(&mut self, bytes: usize) {
        let (len, mut groups) = (self.len(), usize::from(self.groups));
        if usize::from(self.taken) >= index::room(groups) {
            groups = index::groups_for((len + 1) * 3 / 2);
        }
        let bytes = self.entry_bytes() + bytes;
        assert!(
            bytes <= ARENA_BYTES_MAX,
            "invariant: elements are spread evenly over the segments"
        );
        if self.holes == 0 {
            self.grow(groups, bytes);
        } else {
            self.pack::<VALUES>(groups, bytes);
        }
    }

    pub(super) fn pack_if_sparse<const VALUES: bool>(&mut self) {
        let far = self.far.as_deref().is_some_and(Far::is_sparse);
        if self.len == 0 {
            *self = Segment::default();
        } else if far || self.holes > (self.used / 4).max(HOLES_MIN) {
            let groups = index::groups_for(self.len() * 9 / 8 + 1);
            self.pack::<VALUES>(groups, self.entry_bytes());
        }
    }

    /// Moves everything into a new block with so many groups and so many bytes of arena, or more. O(bytes).
    fn grow(&mut self, groups: usize, arena_bytes: usize) {
        debug_assert_eq!(self.taken, self.len, "only removals leave places");
        let mut block = new_block(groups, arena_bytes);
        if let Some(new) = Arc::get_mut(&mut block) {
            let (new_index, new_arena) = new.split_at_mut(groups * GROUP_BYTES);
            let (index, arena) = self.parts();
            if groups == usize::from(self.groups) {
                new_index.copy_from_slice(index);
            } else {
                for (tag, offset) in index::entries(index) {
                    index::insert(new_index, tag, offset);
                }
            }
            let used = self.used as usize;
            new_arena[..used].copy_from_slice(&arena[..used]);
        }
        self.block = Some(block);
        self.groups = groups as u16;
    }

    /// Moves the elements into a new block like [`Segment::grow`], and leaves the holes behind.
    fn pack<const VALUES: bool>(&mut self, groups: usize, arena_bytes: usize) {
        let mut packed = Segment::default();
        packed.grow(groups, arena_bytes);
        for (tag, place) in self.tags() {
            packed.insert_from::<VALUES>(self, tag, place);
        }
        *self = packed;
    }

    /// The places of the elements with their tags.
    pub(super) fn tags(&self) -> impl Iterator<Item = (Tag, Place)> {
        let index = self.parts().0;
        index::places(index).filter_map(|place| Some((index::tag(index, place)?, place)))
    }

    /// Copies an element of another segment that is not here.
    #[inline]
    pub(super) fn insert_from<const VALUES: bool>(
        &mut self,
        other: &Segment,
        tag: Tag,
        place: Place,
    ) {
        let (entry, bytes) = other.entry::<VALUES>(place);
        let is_far = entry.element.far().is_some() || entry.value.far().is_some();
        if is_far || self.entry_bytes() + bytes > NEAR_ARENA_BYTES_MAX {
            return self.insert::<VALUES>(tag, &other.at::<VALUES>(place).into());
        }
        self.reserve::<VALUES>(bytes);
        let (index, arena) = other.parts();
        let start = index::offset(index, place);
        let entry = &arena[start..start + bytes];
        self.add(tag, bytes, |arena| arena[..bytes].copy_from_slice(entry));
    }

    /// Adds an entry behind the others, whose bytes `write` writes.
    #[inline]
    fn add(&mut self, tag: Tag, bytes: usize, write: impl FnOnce(&mut [u8])) {
        let offset = u16::try_from(self.used).expect("invariant: entries are short or far");
        // Once for both parts, because it checks atomically that nothing shares them.
        let (index, arena) = self.parts_mut();
        write(&mut arena[usize::from(offset)..]);
        let was_empty = index::insert(index, tag, offset);
        self.taken += u16::from(was_empty);
        self.len += 1;
        self.used += bytes as u32;
    }

    #[inline]
    fn parts_mut(&mut self) -> (&mut [u8], &mut [u8]) {
        match &mut self.block {
            Some(block) => {
                Arc::make_mut(block).split_at_mut(usize::from(self.groups) * GROUP_BYTES)
            }
            None => (&mut [], &mut []),
        }
    }

    fn push_far(&mut self, text: Bytes) -> usize {
        let far = Arc::make_mut(self.far.get_or_insert_default());
        far.bytes += allocated(text.len());
        far.texts.push(text);
        far.texts.len() - 1
    }

    fn remove_far(&mut self, place: usize) {
        let Some(far) = &mut self.far else { return };
        let far = Arc::make_mut(far);
        far.removed += 1;
        far.bytes -= allocated(far.texts[place].len());
        far.texts[place] = Bytes::new();
        if far.removed == far.texts.len() {
            self.far = None;
        }
    }
}

impl Far {
    fn heap_bytes(&self) -> usize {
        let places = allocated(self.texts.capacity() * size_of::<Bytes>());
        allocated(ARC_BYTES + size_of::<Far>()) + places + self.bytes
    }

    fn is_sparse(&self) -> bool {
        self.removed > FAR_REMOVED_MIN && self.removed > self.texts.len() / 2
    }
}

/// Returns an empty block with so many groups and at least so many bytes of arena. Its allocation has one of four
/// sizes between two powers of two, as allocators round to these.
fn new_block(groups: usize, arena_bytes: usize) -> Arc<[u8]> {
    let needed = ARC_BYTES + groups * GROUP_BYTES + arena_bytes;
    let step = (needed.next_power_of_two() / 8).max(16);
    let len = needed.next_multiple_of(step) - ARC_BYTES;
    if cfg!(debug_assertions) {
        // An iterator that is not optimized makes each byte by itself, which took half the time of tests.
        return vec![0; len].into();
    }
    iter::repeat_n(0, len).collect()
}
