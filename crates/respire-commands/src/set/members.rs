//! The members of a set, collected to choose among them.

use crate::value::reply_string;
use respire_engine::Reply;
use respire_store::{Elements, SetRef, StringRef};

/// Borrowed members.
pub(super) struct Members<'s>(Vec<StringRef<'s>>);

impl<'s> Members<'s> {
    /// All members of a set.
    pub(super) fn of(set: SetRef<'s>) -> Self {
        let mut members = Vec::with_capacity(set.len());
        for part in 0..set.parts() {
            set.for_part(part, |member| members.push(member));
        }
        Self(members)
    }

    /// Keeps `count` of them, and every choice is equally likely. Calls `step` for each.
    pub(super) fn choose(&mut self, count: usize, random: u64, step: &mut dyn FnMut()) {
        let len = self.0.len();
        for (at, random) in (0..count.min(len)).zip(numbers(random)) {
            step();
            self.0.swap(at, at + below(random, len - at));
        }
        self.0.truncate(count);
    }

    /// The member that a random number selects, all with the same probability; `None` if there are none.
    pub(super) fn sample(&self, random: u64) -> Option<StringRef<'s>> {
        let mixed = numbers(random).next().unwrap_or(random);
        self.0.get(below(mixed, self.0.len())).copied()
    }

    /// Writes the members, without their number.
    pub(super) fn reply(&self, reply: &mut Reply<'_>) {
        let members = self.0.iter();
        members.for_each(|member| reply_string(reply, *member));
    }
}

/// The number below `end` that a random number selects.
fn below(random: u64, end: usize) -> usize {
    ((u128::from(random) * end as u128) >> u64::BITS) as usize
}

/// Random numbers from a first one, by `SplitMix64`.
fn numbers(mut state: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    })
}
