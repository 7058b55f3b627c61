//! The elements that `SORT` orders, and how each is ranked.

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
