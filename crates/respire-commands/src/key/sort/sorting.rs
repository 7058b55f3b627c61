//! Sorts the elements for `SORT`: orders them, selects a range, and looks up the keys that `BY` and
//! `GET` name.

use crate::errors::{SORT_NO_DOUBLE, SYNTAX, WRONG_TYPE};
use crate::options::{Options, is_word};
use crate::value_type::with_type;
use resp_codec::number::parse_f64;
use respire_engine::Error;
use respire_store::{EntryRef, ValueRef, View};
use std::cmp::Ordering;

/// Distinguishes `SORT` from `SORT_RO`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    ReadWrite,
    ReadOnly,
}

/// The options of one request.
#[derive(Default)]
pub(super) struct Sorting<'a> {
    by: Option<&'a [u8]>,
    gets: Vec<&'a [u8]>,
    limit: Option<(i64, i64)>,
    is_descending: bool,
    is_alphabetical: bool,
    pub(super) destination: Option<&'a [u8]>,
}

/// The criterion that orders an element.
enum Rank {
    Number(f64),
    Text(Option<Vec<u8>>),
}

impl<'a> Sorting<'a> {
    pub(super) fn parse(mut options: Options<'a>, form: Form) -> Result<Self, Error> {
        let mut sorting = Self::default();
        while let Some(word) = options.next() {
            if is_word(word, "ASC") {
                sorting.is_descending = false;
            } else if is_word(word, "DESC") {
                sorting.is_descending = true;
            } else if is_word(word, "ALPHA") {
                sorting.is_alphabetical = true;
            } else if is_word(word, "LIMIT") && options.len() >= 2 {
                sorting.limit = Some((options.integer()?, options.integer()?));
            } else if is_word(word, "STORE") && form == Form::ReadWrite {
                sorting.destination = Some(options.value()?);
            } else if is_word(word, "BY") {
                sorting.by = Some(options.value()?);
            } else if is_word(word, "GET") {
                sorting.gets.push(options.value()?);
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(sorting)
    }

    /// Whether the sort reads other keys besides its source.
    pub(super) fn reads_other_keys(&self) -> bool {
        let mut patterns = self.by.iter().chain(&self.gets);
        patterns.any(|pattern| pattern.contains(&b'*'))
    }

    /// Sorts the elements of the key. With `GET`, each element is replaced by the values found for
    /// it. `None` if there is no such key.
    pub(super) fn run(
        &self,
        view: &mut View<'_>,
        key: &[u8],
    ) -> Result<Option<Vec<Option<Vec<u8>>>>, Error> {
        let Some(owned) = view.read(key, |entry| entry.map(EntryRef::owned)) else {
            return Ok(None);
        };
        let mut elements = with_type(owned.value(), |value| value.elements()).ok_or(WRONG_TYPE)?;
        let has_order = !matches!(owned.value(), ValueRef::Set(_));
        // A sorted set that is not sorted again can still be read from its end.
        if self.is_descending && !self.sorts() && matches!(owned.value(), ValueRef::ZSet(_)) {
            elements.reverse();
        }
        let elements = self.select_range(self.order(view, elements, has_order)?);
        if self.gets.is_empty() {
            return Ok(Some(elements.into_iter().map(Some).collect()));
        }
        let gets = |element: &Vec<u8>| -> Vec<_> {
            let gets = self.gets.iter();
            gets.map(|get| look_up(view, get, element)).collect()
        };
        Ok(Some(elements.iter().flat_map(gets).collect()))
    }

    /// Whether there is an order: a pattern without a `*` means none.
    fn sorts(&self) -> bool {
        self.by.is_none_or(|by| by.contains(&b'*'))
    }

    fn order(
        &self,
        view: &mut View<'_>,
        mut elements: Vec<Vec<u8>>,
        has_order: bool,
    ) -> Result<Vec<Vec<u8>>, Error> {
        if !self.sorts() {
            // What is stored must not depend on the order in which a set keeps its members.
            if self.destination.is_some() && !has_order {
                elements.sort();
                if self.is_descending {
                    elements.reverse();
                }
            }
            return Ok(elements);
        }
        let ranked: Result<Vec<(Rank, Vec<u8>)>, Error> = elements
            .into_iter()
            .map(|element| Ok((self.rank(view, &element)?, element)))
            .collect();
        let mut ranked = ranked?;
        ranked.sort_by(|a, b| {
            let order = compare(a, b);
            if self.is_descending {
                order.reverse()
            } else {
                order
            }
        });
        Ok(ranked.into_iter().map(|(_, element)| element).collect())
    }

    fn rank(&self, view: &mut View<'_>, element: &[u8]) -> Result<Rank, Error> {
        let text = match self.by {
            Some(by) => look_up(view, by, element),
            None => Some(element.to_vec()),
        };
        if self.is_alphabetical {
            return Ok(Rank::Text(text));
        }
        // A missing value counts as 0.
        // So does no text at all, as C's `strtod` reads it.
        let text = text.filter(|text| !text.is_empty());
        let number = text.map_or(Some(0.0), |text| parse_f64(&text));
        number.map(Rank::Number).ok_or(SORT_NO_DOUBLE)
    }

    fn select_range(&self, elements: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let Some((offset, count)) = self.limit else {
            return elements;
        };
        let offset = usize::try_from(offset).unwrap_or(0);
        // A negative count means all elements.
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        elements.into_iter().skip(offset).take(count).collect()
    }
}

/// Compares two ranked elements. Elements with equal numbers are ordered by their bytes.
fn compare(a: &(Rank, Vec<u8>), b: &(Rank, Vec<u8>)) -> Ordering {
    match (&a.0, &b.0) {
        (Rank::Number(x), Rank::Number(y)) => {
            let order = x.partial_cmp(y).unwrap_or(Ordering::Equal);
            order.then_with(|| a.1.cmp(&b.1))
        }
        (Rank::Text(x), Rank::Text(y)) => x.cmp(y),
        (Rank::Number(_), Rank::Text(_)) => Ordering::Less,
        (Rank::Text(_), Rank::Number(_)) => Ordering::Greater,
    }
}

/// Looks up a pattern for an element. `#` is the element itself. Otherwise the element replaces the
/// first `*`, and the text after a following `->` names a field. `None` if there is no `*`, no such
/// key, or no such value in it.
fn look_up(view: &mut View<'_>, pattern: &[u8], element: &[u8]) -> Option<Vec<u8>> {
    if pattern == b"#" {
        return Some(element.to_vec());
    }
    let star = pattern.iter().position(|byte| *byte == b'*')?;
    let (before, after) = (&pattern[..star], &pattern[star + 1..]);
    let arrow = after.windows(2).position(|pair| pair == b"->");
    // An arrow at the end is a part of the key.
    let (after, field) = match arrow {
        Some(at) if at + 2 < after.len() => (&after[..at], Some(&after[at + 2..])),
        _ => (after, None),
    };
    let key = [before, element, after].concat();
    view.read(&key, |entry| {
        with_type(entry?.value(), |value| value.part(field))
    })
}
