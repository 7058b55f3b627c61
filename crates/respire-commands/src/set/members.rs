//! Members of several sets, collected for a reply whose length must be known before its first
//! member.

use crate::value::reply_string;
use respire_engine::Reply;
use respire_store::{Elements, SetRef, StringRef};

/// Borrowed members.
#[derive(Default)]
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

    pub(super) fn push(&mut self, member: StringRef<'s>) {
        self.0.push(member);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = StringRef<'s>> {
        self.0.iter().copied()
    }

    /// Keeps `count` of them, and every choice is equally likely.
    pub(super) fn choose(&mut self, count: usize, random: u64) {
        let len = self.0.len();
        for (at, random) in (0..count.min(len)).zip(numbers(random)) {
            self.0.swap(at, at + below(random, len - at));
        }
        self.0.truncate(count);
    }

    /// Chooses among them without end, each time with the same probability for all. There must be one.
    pub(super) fn draw(&self, random: u64) -> impl Iterator<Item = StringRef<'s>> {
        numbers(random).map(|random| self.0[below(random, self.0.len())])
    }

    /// Writes the members, without their number.
    pub(super) fn reply(&self, reply: &mut Reply<'_>) {
        self.iter().for_each(|member| reply_string(reply, member));
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
