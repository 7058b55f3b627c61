//! Where a segment's entries are in its arena, by a tag of 16 bits of their hash.
//!
//! The index consists of groups of 16 places. A group is one line of memory: 16 tags, then 16 offsets. The tag
//! alone decides in which group an entry is looked for, so the index grows without hashing; if that group is
//! full, the entry is in one of those after it. A search ends at a group that has had a free place ever since
//! the index was built.

/// Places of a group.
const GROUP: usize = 16;

/// Bytes of a group: a tag and an offset for each place.
pub(super) const GROUP_BYTES: usize = GROUP * 4;

/// Places of a group that are used on average before the index grows.
const GROUP_FULL: usize = 14;

/// No entry has ever been here since the index was built.
const EMPTY: u16 = 0;

/// The entry that was here is gone, and others may have been put behind it.
const REMOVED: u16 = 1;

/// A part of a hash by which an entry is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag(u16);

impl Tag {
    #[inline]
    pub(super) fn of(hash: u64) -> Tag {
        Tag(((hash >> 48) as u16).max(REMOVED + 1))
    }
}

/// A place in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(usize);

/// Returns the number of groups of an index that has room for so many entries.
pub(super) fn groups_for(entries: usize) -> usize {
    entries.div_ceil(GROUP_FULL).max(1)
}

/// Returns the number of entries for which an index has room.
pub(super) fn room(groups: usize) -> usize {
    groups * GROUP_FULL
}

/// Returns the group where the search for a tag starts.
#[inline]
pub(super) fn home(groups: usize, Tag(tag): Tag) -> usize {
    (usize::from(tag) * groups) >> 16
}

/// Finds the entry with this tag for whose offset `is` returns `true`.
#[inline]
pub(super) fn find(index: &[u8], tag: Tag, mut is: impl FnMut(usize) -> bool) -> Option<Place> {
    let groups = index.len() / GROUP_BYTES;
    let mut at = home(groups, tag);
    for _ in 0..groups {
        let group = group(index, at);
        let mut same = lanes(group, tag.0);
        while same != 0 {
            let lane = (same.trailing_zeros() / 4) as usize;
            same &= same - 1;
            if is(offset_of(group, lane)) {
                return Some(Place(at * GROUP + lane));
            }
        }
        if lanes(group, EMPTY) != 0 {
            return None;
        }
        at = if at + 1 == groups { 0 } else { at + 1 };
    }
    None
}

/// Puts an entry into the index, which must have a free place. Returns whether the place was empty until now.
#[inline]
pub(super) fn insert(index: &mut [u8], tag: Tag, offset: u16) -> bool {
    let groups = index.len() / GROUP_BYTES;
    let mut at = home(groups, tag);
    loop {
        // Both kinds of free place: they differ in the lowest bit.
        let free = lanes_of(group(index, at), EMPTY, !REMOVED);
        if free != 0 {
            let place = Place(at * GROUP + (free.trailing_zeros() / 4) as usize);
            let was_empty = tag_at(index, place) == EMPTY;
            set_tag(index, place, tag.0);
            set_offset(index, place, offset);
            return was_empty;
        }
        at = if at + 1 == groups { 0 } else { at + 1 };
    }
}

/// Removes an entry from the index. Returns whether its place is empty now.
pub(super) fn remove(index: &mut [u8], place: Place) -> bool {
    let has_empty = lanes(group(index, place.0 / GROUP), EMPTY) != 0;
    set_tag(index, place, if has_empty { EMPTY } else { REMOVED });
    has_empty
}

/// Returns the tag of the entry at a place, if there is one.
#[inline]
pub(super) fn tag(index: &[u8], place: Place) -> Option<Tag> {
    let tag = tag_at(index, place);
    (tag > REMOVED).then_some(Tag(tag))
}

/// Returns the tags and offsets of all entries.
pub(super) fn entries(index: &[u8]) -> impl Iterator<Item = (Tag, u16)> {
    places(index).filter_map(|place| Some((tag(index, place)?, offset(index, place) as u16)))
}

/// Returns the entry at one of the places, which a random number selects, if there is one.
pub(super) fn random_place(index: &[u8], random: u64) -> Option<Place> {
    let places = index.len() / GROUP_BYTES * GROUP;
    let place = Place((random % places as u64) as usize);
    tag(index, place).map(|_| place)
}

/// Returns the places that have an entry.
pub(super) fn places(index: &[u8]) -> impl Iterator<Item = Place> {
    let places = (0..index.len() / GROUP_BYTES * GROUP).map(Place);
    places.filter(|&place| tag(index, place).is_some())
}

#[inline]
pub(super) fn offset(index: &[u8], Place(place): Place) -> usize {
    offset_of(group(index, place / GROUP), place % GROUP)
}

fn set_offset(index: &mut [u8], Place(place): Place, offset: u16) {
    let at = place / GROUP * GROUP_BYTES + GROUP * 2 + place % GROUP * 2;
    index[at..at + 2].copy_from_slice(&offset.to_le_bytes());
}

fn tag_at(index: &[u8], Place(place): Place) -> u16 {
    read(group(index, place / GROUP), place % GROUP)
}

fn set_tag(index: &mut [u8], Place(place): Place, tag: u16) {
    let at = place / GROUP * GROUP_BYTES + place % GROUP * 2;
    index[at..at + 2].copy_from_slice(&tag.to_le_bytes());
}

#[inline]
fn group(index: &[u8], at: usize) -> &[u8; GROUP_BYTES] {
    match index[at * GROUP_BYTES..].first_chunk() {
        Some(group) => group,
        None => unreachable!("invariant: an index consists of whole groups"),
    }
}

#[inline]
fn offset_of(group: &[u8; GROUP_BYTES], lane: usize) -> usize {
    usize::from(read(group, GROUP + lane))
}

#[inline]
fn read(group: &[u8; GROUP_BYTES], lane: usize) -> u16 {
    u16::from_le_bytes([group[lane * 2], group[lane * 2 + 1]])
}

/// Returns the places of a group that have this tag: four bits each, of which the lowest is set.
#[inline]
fn lanes(group: &[u8; GROUP_BYTES], tag: u16) -> u64 {
    lanes_of(group, tag, u16::MAX)
}

/// Returns the places of a group that have this tag in the bits of `mask`: four bits each, of which the lowest is
/// set.
#[inline]
fn lanes_of(group: &[u8; GROUP_BYTES], tag: u16, mask: u16) -> u64 {
    const LOW: u64 = 0x7fff_7fff_7fff_7fff;
    const LANES: u64 = 0x0001_0001_0001_0001;
    let (splat, mask) = (u64::from(tag) * LANES, u64::from(mask) * LANES);
    let mut found = 0;
    for (at, word) in group[..GROUP * 2].as_chunks::<8>().0.iter().enumerate() {
        let differs = (u64::from_le_bytes(*word) ^ splat) & mask;
        // The high bit of each lane that is 0: exact, as no carry leaves a lane.
        let same = !(((differs & LOW) + LOW) | differs | LOW);
        // The product moves the four bits, 16 apart, to its top 16 bits, 4 apart.
        let nibbles = ((same >> 15) & LANES).wrapping_mul(0x0001_0010_0100_1000) >> 48;
        found |= nibbles << (16 * at);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_those_with_the_tag() {
        let mut group = [0; GROUP_BYTES];
        for lane in 0..GROUP {
            let tag = [0_u16, 1, 2, 0x8000, 0x7fff, 0xffff][lane % 6];
            group[lane * 2..lane * 2 + 2].copy_from_slice(&tag.to_le_bytes());
        }
        for tag in [0_u16, 1, 2, 3, 0x8000, 0x8001, 0x7fff, 0xffff] {
            let found = lanes(&group, tag);
            for lane in 0..GROUP {
                let is = found >> (4 * lane) & 0xf != 0;
                assert_eq!(is, read(&group, lane) == tag, "{tag:x} {lane}");
            }
        }
    }

    #[test]
    fn entries_of_one_tag_are_all_found_until_removed() {
        let mut index = vec![0; 5 * GROUP_BYTES];
        let tag = Tag::of(u64::MAX);
        for offset in 0..70 {
            assert!(insert(&mut index, tag, offset));
        }
        assert_eq!(places(&index).count(), 70);
        for gone in 0..70 {
            let place = find(&index, tag, |offset| offset == gone).expect("it is there");
            remove(&mut index, place);
            for offset in 0..70 {
                let found = find(&index, tag, |at| at == offset);
                assert_eq!(found.is_some(), offset > gone);
            }
        }
        assert!(find(&index, Tag::of(0), |_| true).is_none());
    }
}
