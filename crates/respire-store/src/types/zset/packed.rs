//! The packed form: a listpack of members, each followed by its score, in their order.

use core::cmp::Ordering;

use super::score::{self, ScoreText};
use super::{Bound, Scored};
use crate::decimal::write_decimal;
use crate::packed::listpack::{Element, Listpack, ListpackBuf, Place};

/// A longer listpack does not grow. It is the limit of Redis.
pub(super) const LISTPACK_BYTES_MAX: usize = 1 << 30;

/// The pairs of a listpack, from the first to the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pairs<'e> {
    list: Listpack<'e>,
    place: Place,
}

impl<'e> Pairs<'e> {
    pub(super) fn new(list: Listpack<'e>) -> Self {
        Pairs {
            list,
            place: list.first(),
        }
    }

    /// The pairs from this index on.
    pub(super) fn skip_to(list: Listpack<'e>, index: usize) -> Self {
        let place = i64::try_from(2 * index)
            .ok()
            .and_then(|index| list.seek(index));
        Pairs {
            list,
            place: place.unwrap_or(list.end()),
        }
    }

    /// The place of the next pair.
    pub(super) fn place(&self) -> Place {
        self.place
    }
}

impl<'e> Iterator for Pairs<'e> {
    type Item = Scored<'e>;

    #[inline]
    fn next(&mut self) -> Option<Scored<'e>> {
        let (member, place) = self.list.at(self.place)?;
        let (score, next) = self.list.at(place)?;
        self.place = next;
        Some((member, score::read(score).unwrap_or(0.0)))
    }
}

/// The pairs before this index, from the last to the first.
pub(super) fn back(list: Listpack<'_>, index: usize) -> impl Iterator<Item = Scored<'_>> {
    let place = i64::try_from(2 * index)
        .ok()
        .and_then(|index| list.seek(index));
    let mut place = place.unwrap_or(list.end());
    core::iter::from_fn(move || {
        let score = list.before(place)?;
        place = list.before(score)?;
        let score = score::read(list.at(score)?.0).unwrap_or(0.0);
        Some((list.at(place)?.0, score))
    })
}

/// Compares a member with bytes.
pub(super) fn compare(member: Element<'_>, bytes: &[u8]) -> Ordering {
    match member {
        Element::Bytes(member) => member.cmp(bytes),
        Element::Int(number) => write_decimal(number, &mut [0; 20]).cmp(bytes),
    }
}

/// Finds a member: its index, its place, its score and the place after it.
pub(super) fn find(list: Listpack<'_>, member: &[u8]) -> Option<(usize, Place, f64, Place)> {
    let member = Element::of(member);
    let (mut place, mut index) = (list.first(), 0);
    while let Some((found, after)) = list.at(place) {
        let (score, next) = list.at(after)?;
        if found == member {
            return Some((index, place, score::read(score).unwrap_or(0.0), next));
        }
        (place, index) = (next, index + 1);
    }
    None
}

/// Adds a member that is not there.
pub(super) fn insert(list: &mut ListpackBuf, member: &[u8], score: f64) {
    let is_before = |(other, other_score): Scored<'_>| {
        other_score < score || other_score == score && compare(other, member).is_lt()
    };
    let mut pairs = Pairs::new(list.read());
    let mut place = pairs.place();
    while pairs.next().is_some_and(is_before) {
        place = pairs.place();
    }
    list.splice(place..place, &[member, ScoreText::packed(score).as_bytes()]);
}

/// Removes a range of pairs, and calls `f` with each.
pub(super) fn remove_range(
    list: &mut ListpackBuf,
    start: usize,
    count: usize,
    f: &mut dyn FnMut(Scored<'_>),
) {
    let mut pairs = Pairs::skip_to(list.read(), start);
    let from = pairs.place();
    pairs.by_ref().take(count).for_each(f);
    let to = pairs.place();
    list.splice(from..to, &[]);
}

/// Returns the number of elements before a bound. For a bound of members it is that of the elements before the first
/// one that is not before the bound, whatever their scores.
pub(super) fn count_below(list: Listpack<'_>, bound: Bound<'_>) -> usize {
    let is_below = |(member, score): &Scored<'_>| match bound {
        Bound::Start => false,
        Bound::End => true,
        Bound::BelowScore(limit) => *score < limit,
        Bound::ThroughScore(limit) => *score <= limit,
        Bound::BelowMember(limit) => compare(*member, limit).is_lt(),
        Bound::ThroughMember(limit) => compare(*member, limit).is_le(),
    };
    Pairs::new(list).take_while(is_below).count()
}

/// Returns whether bytes from outside are pairs of members and scores in their order, none twice.
pub(super) fn is_valid(list: Listpack<'_>) -> bool {
    let elements: Vec<Element<'_>> = list.iter().collect();
    let (pairs, []) = elements.as_chunks::<2>() else {
        return false;
    };
    let mut members: Vec<_> = pairs.iter().map(|[member, _]| member.to_bytes()).collect();
    let scores: Option<Vec<f64>> = pairs.iter().map(|[_, score]| score::read(*score)).collect();
    let Some(scores) = scores else { return false };
    let is_sorted = (1..pairs.len()).all(|at| {
        let by_score = scores[at - 1].partial_cmp(&scores[at]);
        by_score.is_some_and(|by_score| {
            by_score
                .then_with(|| members[at - 1].cmp(&members[at]))
                .is_lt()
        })
    });
    members.sort_unstable();
    is_sorted && members.windows(2).all(|pair| pair[0] != pair[1])
}
