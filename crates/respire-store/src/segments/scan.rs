//! Iterations whose only state is a number, and random elements.
//!
//! An iteration visits the elements in the order of the reversed low 48 bits of their hashes. The elements of a
//! segment follow one another in this order, whatever the number of segments, so an element that stays is
//! never missed. A cursor is the place where the next step starts.

use super::{Element, Segments};
use crate::hash::mix;

/// The bits of a hash that decide the order.
const CURSOR_BITS: u32 = 48;

/// Random places that are tried before the elements are counted.
const TRIES: u64 = 100;

impl<const VALUES: bool> Segments<VALUES> {
    /// Runs one step of an iteration: calls `f` with about `count` elements, and returns the cursor for the next
    /// step. The cursor 0 starts an iteration; a returned 0 ends it. Every element that exists from the start to
    /// the end is visited exactly once, whatever is added or removed meanwhile. Any number is a valid cursor.
    /// O(`count`) and the work of a few hundred elements.
    pub fn scan<'a>(&'a self, cursor: u64, count: usize, mut f: impl FnMut(Element<'a>)) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let mut at = cursor & (CURSOR_MAX - 1);
        let mut left = count.max(1);
        loop {
            let address = self.address(order(at));
            let mut found: Vec<(u64, Element<'a>)> = self
                .part(address)
                .map(|element| (order(self.hash(element.element.as_bytes())), element))
                .filter(|(order, _)| *order >= at)
                .collect();
            if found.len() > left {
                let next = select(&mut found, left);
                let visited = found.into_iter().filter(|(order, _)| *order < next);
                visited.for_each(|(_, element)| f(element));
                return next & (CURSOR_MAX - 1);
            }
            left -= found.len();
            found.into_iter().for_each(|(_, element)| f(element));
            // The first place behind those of the segment.
            at = (at | ((1 << (CURSOR_BITS - self.depth(address))) - 1)) + 1;
            if left == 0 || at == CURSOR_MAX {
                return at & (CURSOR_MAX - 1);
            }
        }
    }

    /// Returns the element that a random number selects, all with the same probability; `None` if there are none.
    /// O(1) on average.
    #[must_use]
    pub fn sample(&self, random: u64) -> Option<Element<'_>> {
        if self.len == 0 {
            return None;
        }
        // A place below `len_max` in any segment: each element has one, so that all are equally likely.
        for step in 0..TRIES {
            let random = mix(random.wrapping_add(step.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            let segment = self.segment((random % self.count as u64) as usize);
            if mix(random) % self.len_max as u64 >= segment.len() as u64 {
                continue;
            }
            for step in 1..=TRIES {
                if let Some(place) = segment.random_place(mix(random.wrapping_add(step))) {
                    let element = segment.at::<VALUES>(place);
                    if self.is_gone(&element) {
                        break;
                    }
                    return Some(element);
                }
            }
        }
        let nth = mix(random).checked_rem(self.live_len() as u64)?;
        self.nth(nth as usize)
    }

    /// Returns an element by its place in the order of [`Segments::for_each`]. O(segments), or O(elements) if some
    /// expire.
    fn nth(&self, mut nth: usize) -> Option<Element<'_>> {
        if self.has_expiries() {
            return (0..self.count).flat_map(|at| self.part(at)).nth(nth);
        }
        for at in 0..self.count {
            let len = self.segment(at).len();
            if nth < len {
                return self.part(at).nth(nth);
            }
            nth -= len;
        }
        None
    }
}

/// One past the last place of the order.
const CURSOR_MAX: u64 = 1 << CURSOR_BITS;

/// Returns the place of a hash in the order; of a place, the low bits of its hashes.
fn order(hash: u64) -> u64 {
    hash.reverse_bits() >> (u64::BITS - CURSOR_BITS)
}

/// Returns the place before which about `count` of the elements are, and at least one. Elements of the same place
/// stay together.
fn select<T>(found: &mut [(u64, T)], count: usize) -> u64 {
    let (_, (place, _), _) = found.select_nth_unstable_by_key(count, |(order, _)| *order);
    let (place, first) = (*place, found.iter().map(|(order, _)| *order).min());
    if first == Some(place) {
        place + 1
    } else {
        place
    }
}
