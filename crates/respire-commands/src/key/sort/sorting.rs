//! Sorts the elements for `SORT`: orders them, selects a range, and looks up the keys that `BY` and
//! `GET` name.

use super::elements::{Elements, Work};
use super::number::{number, number_and_text};
use crate::errors::{SORT_NO_DOUBLE, SYNTAX};
use crate::options::{Options, is_word};
use crate::value_type::with_type;
use respire_engine::Error;
use respire_store::{Place, TextRanks, View};
use std::cmp::Ordering;
use std::ops::Range;

/// Distinguishes `SORT` from `SORT_RO`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    ReadWrite,
    ReadOnly,
}

/// The options of one request.
#[derive(Clone, Default)]
pub(super) struct Sorting<'a> {
    by: Option<&'a [u8]>,
    gets: Vec<&'a [u8]>,
    limit: Option<(i64, i64)>,
    is_descending: bool,
    is_alphabetical: bool,
    pub(super) destination: Option<&'a [u8]>,
    /// Whether a set is put in order even if it need not be sorted, so that the result depends only on its members.
    pub(super) orders_sets: bool,
}

/// The result of a sort.
pub(super) enum Sorted {
    /// The elements at these places.
    Elements(Elements, Vec<u32>),
    /// What `GET` found for each of them.
    Values(Vec<Option<Vec<u8>>>),
}

impl Sorted {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Elements(_, places) => places.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// The result at this place; `None` if `GET` did not find it.
    pub(super) fn at(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Elements(elements, places) => Some(elements.text(places[at] as usize)),
            Self::Values(values) => values[at].as_deref(),
        }
    }

    /// The results in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.len()).map(|at| self.at(at))
    }
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
                sorting.orders_sets = true;
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

    /// Sorts elements, which are those of a set or have an order of their own. With `GET`, each
    /// element is replaced by the values found for it.
    pub(super) fn run(
        &self,
        view: &mut View<'_>,
        (elements, is_set): (Elements, bool),
        work: &mut Work<'_>,
    ) -> Result<Sorted, Error> {
        let places = self.order(view, &elements, is_set, work)?;
        if self.gets.is_empty() {
            return Ok(Sorted::Elements(elements, places));
        }
        let mut values = Vec::with_capacity(places.len() * self.gets.len());
        for place in places {
            work.step();
            let text = elements.text(place as usize);
            values.extend(self.gets.iter().map(|get| look_up(view, get, text)));
        }
        Ok(Sorted::Values(values))
    }

    /// The places of the chosen elements, in the order of the reply.
    fn order(
        &self,
        view: &mut View<'_>,
        elements: &Elements,
        is_set: bool,
        work: &mut Work<'_>,
    ) -> Result<Vec<u32>, Error> {
        let range = self.range(elements.len());
        // A pattern without a `*` means: do not sort.
        let is_unsorted = self.by.is_some_and(|by| !by.contains(&b'*'));
        if is_unsorted && is_set && self.orders_sets {
            return Ok(self.by_text(elements, range, work));
        }
        if is_unsorted {
            // A set has no order that could be reversed.
            let last = elements.len().saturating_sub(1) as u32;
            let is_reversed = self.is_descending && !is_set;
            let place = |at: usize| {
                if is_reversed {
                    last - at as u32
                } else {
                    at as u32
                }
            };
            return Ok(range.map(place).collect());
        }
        match (self.by, self.is_alphabetical) {
            (None, true) => Ok(self.by_text(elements, range, work)),
            (None, false) => self.by_number(elements, range, number_and_text, work),
            (Some(by), true) => Ok(self.by_value(view, by, elements, range, work)),
            (Some(by), false) => {
                let rank = |text: &[u8]| match look_up(view, by, text) {
                    Some(value) => Some((number(&value)?, false)),
                    // A missing value counts as 0.
                    None => Some((0.0, false)),
                };
                self.by_number(elements, range, rank, work)
            }
        }
    }

    /// Orders by a number for each element's text; equal numbers by the texts, unless the number is that of no other
    /// text.
    fn by_number(
        &self,
        elements: &Elements,
        range: Range<usize>,
        mut rank: impl FnMut(&[u8]) -> Option<(f64, bool)>,
        work: &mut Work<'_>,
    ) -> Result<Vec<u32>, Error> {
        let mut are_texts_equal = true;
        let place = |at: usize| {
            work.step();
            let (number, is_of_one_text) = rank(elements.text(at))?;
            are_texts_equal &= is_of_one_text;
            Some(Place::by_number(number, at))
        };
        let places: Option<Vec<Place>> = (0..elements.len()).map(place).collect();
        let places = places.ok_or(SORT_NO_DOUBLE)?;
        if are_texts_equal {
            return Ok(self.select(places, range, |_, _| Ordering::Equal, work));
        }
        let tie = |a: usize, b: usize| elements.text(a).cmp(elements.text(b));
        Ok(self.select(places, range, tie, work))
    }

    /// Orders by the elements' texts.
    fn by_text(&self, elements: &Elements, range: Range<usize>, work: &mut Work<'_>) -> Vec<u32> {
        let mut ranks = TextRanks::default();
        for at in 0..elements.len() {
            work.step();
            ranks.add(elements.text(at));
        }
        let place = |at| Place::new(ranks.rank(elements.text(at)), at);
        let places = (0..elements.len()).map(place).collect();
        let tie = |a: usize, b: usize| elements.text(a).cmp(elements.text(b));
        self.select(places, range, tie, work)
    }

    /// Orders by the texts of other keys.
    fn by_value(
        &self,
        view: &mut View<'_>,
        by: &[u8],
        elements: &Elements,
        range: Range<usize>,
        work: &mut Work<'_>,
    ) -> Vec<u32> {
        let values: Vec<Option<Vec<u8>>> = (0..elements.len())
            .inspect(|_| work.step())
            .map(|at| look_up(view, by, elements.text(at)))
            .collect();
        let mut ranks = TextRanks::default();
        values.iter().flatten().for_each(|value| ranks.add(value));
        // Absent values come first.
        let rank = |value: &Option<Vec<u8>>| value.as_ref().map_or(0, |value| ranks.rank(value));
        let place = |(at, value)| Place::new(rank(value), at);
        let places = values.iter().enumerate().map(place).collect();
        self.select(places, range, |a, b| values[a].cmp(&values[b]), work)
    }

    /// The places of the elements that are in a range once they are ordered. O(n) for a short range
    /// among n elements, otherwise O(n log n).
    fn select(
        &self,
        mut places: Vec<Place>,
        range: Range<usize>,
        tie: impl Fn(usize, usize) -> Ordering,
        work: &mut Work<'_>,
    ) -> Vec<u32> {
        if range.is_empty() {
            return Vec::new();
        }
        let is_descending = self.is_descending;
        if is_descending {
            places
                .iter_mut()
                .for_each(|place| *place = place.reversed());
        }
        // Elements that are equal otherwise keep their order.
        let mut compare = |a: &Place, b: &Place| {
            work.step();
            a.compare(*b, |a, b| if is_descending { tie(b, a) } else { tie(a, b) })
        };
        if range.end < places.len() {
            places.select_nth_unstable_by(range.end, &mut compare);
            places.truncate(range.end);
        }
        if range.start > 0 {
            places.select_nth_unstable_by(range.start, &mut compare);
            places.drain(..range.start);
        }
        places.sort_unstable_by(compare);
        places.into_iter().map(|it| it.index() as u32).collect()
    }

    /// The range of the ordered elements that is asked for.
    fn range(&self, len: usize) -> Range<usize> {
        let Some((offset, count)) = self.limit else {
            return 0..len;
        };
        let start = usize::try_from(offset).unwrap_or(0).min(len);
        // A negative count means all elements.
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        start..start.saturating_add(count).min(len)
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
