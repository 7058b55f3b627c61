//! Small sets with members other than integers: listpacks of a few short members.

use crate::packed::listpack::{Element, Listpack, Place};
use crate::types::StringRef;

/// The largest number of members of a listpack. A search looks at every one of them.
pub(super) const MEMBERS_MAX: usize = 128;

/// The longest member of a listpack, in bytes.
const MEMBER_BYTES_MAX: usize = 64;

/// Returns whether packed bytes are a listpack, and no integer set. The first four bytes are the number of bytes of
/// the one, which is 8 only if an element has no bytes at all, and the width of the other: 2, 4 or 8.
#[inline]
pub(super) fn is_list(bytes: &[u8]) -> bool {
    !matches!(bytes, [] | [2 | 4 | 8, 0, 0, 0, ..])
}

/// Returns whether a member may be added.
#[inline]
pub(super) fn has_room(list: Listpack<'_>, member: &[u8]) -> bool {
    member.len() <= MEMBER_BYTES_MAX && list.len() < MEMBERS_MAX
}

/// Returns the place of a member. O(bytes).
#[inline]
pub(super) fn find(list: Listpack<'_>, member: &[u8]) -> Option<Place> {
    let wanted = Element::of(member);
    let mut at = list.first();
    while let Some((element, next)) = list.at(at) {
        if element == wanted {
            return Some(at);
        }
        at = next;
    }
    None
}

pub(super) fn string_of(element: Element<'_>) -> StringRef<'_> {
    match element {
        Element::Bytes(bytes) => StringRef::Bytes(bytes),
        Element::Int(number) => StringRef::Int(number),
    }
}
