//! Small hashes: a listpack in which each field is followed by its value.

use std::collections::HashSet;

use crate::packed::listpack::{Element, Listpack, ListpackBuf, Place};
use crate::types::Limits;

/// A field and its value.
pub(super) type Pair<'a> = (Element<'a>, Element<'a>);

/// Returns the fields and values in their order.
pub(super) fn pairs(list: Listpack<'_>) -> impl Iterator<Item = Pair<'_>> {
    let mut elements = list.iter();
    core::iter::from_fn(move || Some((elements.next()?, elements.next()?)))
}

/// Returns the place of a field and that of its value. O(bytes).
fn find(list: Listpack<'_>, field: &[u8]) -> Option<(Place, Place)> {
    let wanted = Element::of(field);
    let mut at = list.first();
    while let Some((element, value)) = list.at(at) {
        if element == wanted {
            return Some((at, value));
        }
        at = list.at(value)?.1;
    }
    None
}

/// Returns the value of a field. O(bytes).
pub(super) fn get<'a>(list: Listpack<'a>, field: &[u8]) -> Option<Element<'a>> {
    let (_, value) = find(list, field)?;
    Some(list.at(value)?.0)
}

/// Sets a field, and returns whether it is new. O(bytes).
pub(super) fn insert(list: &mut ListpackBuf, field: &[u8], value: &[u8]) -> bool {
    let read = list.read();
    let found = find(read, field).and_then(|(_, value)| Some((value, read.at(value)?.1)));
    match found {
        Some((start, end)) => {
            list.splice(start..end, &[value]);
        }
        None => {
            let end = read.end();
            list.splice(end..end, &[field, value]);
        }
    }
    found.is_none()
}

/// Removes a field and its value, and returns whether there was one. O(bytes).
pub(super) fn remove(list: &mut ListpackBuf, field: &[u8]) -> bool {
    let found = find(list.read(), field);
    if let Some((place, _)) = found {
        list.remove(place, 2);
    }
    found.is_some()
}

/// Returns whether each field is there once, and has a value, and there is one. O(bytes).
pub(super) fn is_valid(list: Listpack<'_>) -> bool {
    let (mut seen, mut elements) = (HashSet::new(), 0);
    let mut is_new = true;
    for (at, element) in list.iter().enumerate() {
        elements += 1;
        // Integers are compared as bytes, for a foreign listpack may have some as text.
        is_new &= at % 2 == 1 || seen.insert(element.to_bytes());
    }
    is_new && elements > 0 && elements % 2 == 0
}

/// Returns whether a hash has to leave the packed form. O(bytes).
pub(super) fn is_beyond(list: Listpack<'_>, limits: &Limits) -> bool {
    let is_long = |element: Element<'_>| element.to_bytes().len() > limits.bytes as usize;
    list.len() / 2 > limits.elements as usize || list.iter().any(is_long)
}
