//! The elements that `SORT` orders, and how each is ranked.

use super::number::number;
use crate::Ctx;
use crate::value_type::with_type;
use respire_engine::LongWork;
use respire_store::{StringRef, ValueRef};

/// Work during which others are served, unless it holds keys.
pub(super) struct Work<'w>(Option<LongWork<'w>>);

impl<'w> Work<'w> {
    /// Work that holds keys.
    pub(super) fn locked() -> Self {
        Self(None)
    }

    /// Work that holds no keys, unless the command is in a section.
    pub(super) fn unlocked(ctx: &Ctx<'w>) -> Self {
        Self(ctx.long_work())
    }

    /// Says that a step of at most a microsecond or so is done.
    #[inline]
    pub(super) fn step(&mut self) {
        if let Some(work) = &mut self.0 {
            work.step();
        }
    }
}

/// The elements of a value, in their own order.
#[derive(Debug, Default)]
pub(super) struct Elements {
    /// The texts, one after another.
    texts: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl Elements {
    /// The elements of a value; `None` if `SORT` refuses its type. O(size of the value).
    pub(super) fn of(value: ValueRef<'_>, work: &mut Work<'_>) -> Option<Self> {
        let mut elements = Self::default();
        let mut digits = [0; 20];
        let mut push = |element: StringRef<'_>| {
            work.step();
            let text = element.as_bytes(&mut digits);
            elements.texts.extend_from_slice(text);
            elements.ends.push(elements.texts.len());
        };
        with_type(value, |value| value.for_each_element(&mut push)).then_some(elements)
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text of an element.
    #[inline]
    pub(super) fn text(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[index]]
    }
}

/// An element by its place in the value, with what ranks it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked {
    rank: u64,
    pub(super) index: u32,
}

impl Ranked {
    /// Ranks an element by a number.
    pub(super) fn by_number(text: &[u8], index: usize) -> Option<Self> {
        // The negative zero equals the positive one.
        let bits = (number(text)? + 0.0).to_bits();
        let rank = if bits >> 63 == 0 {
            bits | 1 << 63
        } else {
            !bits
        };
        Some(Self::new(rank, index))
    }

    /// Ranks an element by the first bytes of a text; absent texts come first.
    pub(super) fn by_text(text: Option<&[u8]>, index: usize) -> Self {
        let text = text.unwrap_or_default();
        let mut first = [0; 8];
        let len = text.len().min(8);
        first[..len].copy_from_slice(&text[..len]);
        Self::new(u64::from_be_bytes(first), index)
    }

    fn new(rank: u64, index: usize) -> Self {
        let index = u32::try_from(index).expect("a value has less than 2^32 elements");
        Self { rank, index }
    }

    /// The order of two elements as far as the ranks tell.
    #[inline]
    pub(super) fn order(self, other: Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn ranks_are_ordered_like_the_numbers() {
        let ascending = [
            "-inf", "-1e300", "-2", "-1e-300", "0", "1e-300", "1", "10", "inf",
        ];
        let rank = |text: &&str| Ranked::by_number(text.as_bytes(), 0).expect("a number");
        let ranks: Vec<Ranked> = ascending.iter().map(rank).collect();
        assert!(ranks.is_sorted_by(|a, b| a.order(*b) == Ordering::Less));
        assert_eq!(rank(&"-0").order(rank(&"0")), Ordering::Equal);
    }
}
