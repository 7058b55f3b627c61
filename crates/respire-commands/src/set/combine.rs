//! Combines sets: union, intersection and difference.
//!
//! Large sets of one store have equal members at nearly the same place, so an intersection or a
//! difference walks through all of them together.

use super::members::Members;
use respire_engine::Reply;
use respire_store::{Elements, Growth, Set, SetRef, StringRef};
use std::cmp::Reverse;

/// How sets are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Union,
    Intersection,
    Difference,
}

/// The result.
pub(super) enum Combined<'s> {
    /// Members of the sets that were combined, each once.
    Members(Members<'s>),
    Set(Set),
}

impl Operation {
    /// Combines sets, of which those that do not exist are empty. O(members of all sets), or for an
    /// intersection O(members of the smallest set * sets).
    ///
    /// Calls `step` for each member.
    pub(super) fn run<'s>(
        self,
        sets: &[Option<SetRef<'s>>],
        growth: &Growth,
        step: &mut dyn FnMut(),
    ) -> Combined<'s> {
        let existing = || sets.iter().copied().flatten();
        match self {
            Self::Intersection => {
                let mut members = Members::default();
                if existing().count() == sets.len() {
                    intersect(existing().collect(), step, |member| {
                        members.push(member);
                        true
                    });
                }
                Combined::Members(members)
            }
            Self::Union => match *existing().collect::<Vec<_>>() {
                [] => Combined::Members(Members::default()),
                [one] => Combined::Members(Members::of(one)),
                // As in Redis, the members of integer sets come in their order.
                [one, other] if one.ints().is_none() || other.ints().is_none() => {
                    Combined::Members(unite(one, other, step))
                }
                _ => Combined::Set(unite_all(existing(), growth, step)),
            },
            Self::Difference => match *sets {
                [Some(first), ref others @ ..] => {
                    let others = others.iter().copied().flatten().collect();
                    subtract(first, others, growth, step)
                }
                _ => Combined::Members(Members::default()),
            },
        }
    }
}

impl Combined<'_> {
    /// Replies with the members as a set.
    pub(super) fn reply(&self, reply: &mut Reply<'_>) {
        match self {
            Self::Members(members) => {
                reply.set(members.len());
                members.reply(reply);
            }
            Self::Set(set) => super::read::reply_members(reply, set_ref(set)),
        }
    }

    /// The set to store. O(members).
    ///
    /// Calls `step` for each member.
    pub(super) fn into_set(self, growth: &Growth, step: &mut dyn FnMut()) -> Set {
        match self {
            Self::Set(set) => set,
            Self::Members(members) => {
                let mut set = Set::default();
                for member in members.iter() {
                    step();
                    set.insert(member.as_bytes(&mut [0; 20]), growth);
                }
                set
            }
        }
    }
}

fn set_ref(set: &Set) -> SetRef<'_> {
    respire_store::Kind::read(set)
}

/// Calls `f` with each member that all sets have, until it returns `false`. There must be a set.
pub(super) fn intersect<'s>(
    mut sets: Vec<SetRef<'s>>,
    step: &mut dyn FnMut(),
    mut f: impl FnMut(StringRef<'s>) -> bool,
) {
    sets.sort_by_key(|set| set.len());
    let Some((smallest, others)) = sets.split_first() else {
        return;
    };
    let mut is_wanted = true;
    for part in 0..smallest.parts() {
        smallest.for_part(part, |member| {
            step();
            if is_wanted && others.iter().all(|set| set.has(member)) {
                is_wanted = f(member);
            }
        });
        if !is_wanted {
            return;
        }
    }
}

/// The members of two sets, each once.
fn unite<'s>(one: SetRef<'s>, other: SetRef<'s>, step: &mut dyn FnMut()) -> Members<'s> {
    let (large, small) = if one.len() < other.len() {
        (other, one)
    } else {
        (one, other)
    };
    let mut members = Members::of(large);
    for part in 0..small.parts() {
        small.for_part(part, |member| {
            step();
            if !large.has(member) {
                members.push(member);
            }
        });
    }
    members
}

fn unite_all<'s>(
    sets: impl Iterator<Item = SetRef<'s>>,
    growth: &Growth,
    step: &mut dyn FnMut(),
) -> Set {
    let mut all = Set::default();
    sets.for_each(|set| insert_all(&mut all, set, growth, step));
    all
}

fn insert_all(all: &mut Set, set: SetRef<'_>, growth: &Growth, step: &mut dyn FnMut()) {
    for part in 0..set.parts() {
        set.for_part(part, |member| {
            step();
            all.insert(member.as_bytes(&mut [0; 20]), growth);
        });
    }
}

/// The members of the first set that no other one has.
///
/// Like Redis, it looks up the first set's members in the others, or removes the others' members
/// from a copy, whichever is less work. The second way may leave integers in a set that is none of
/// integers, so the choice can be seen.
fn subtract<'s>(
    first: SetRef<'s>,
    mut others: Vec<SetRef<'s>>,
    growth: &Growth,
    step: &mut dyn FnMut(),
) -> Combined<'s> {
    let sets = 1 + others.len();
    let looked_up = first.len() * sets / 2;
    let removed = first.len() + others.iter().map(|set| set.len()).sum::<usize>();
    if looked_up > removed {
        let mut left = Set::default();
        insert_all(&mut left, first, growth, step);
        for set in others {
            for part in 0..set.parts() {
                set.for_part(part, |member| {
                    step();
                    left.remove(member.as_bytes(&mut [0; 20]));
                });
            }
        }
        return Combined::Set(left);
    }
    // Members are found sooner in larger sets.
    others.sort_by_key(|set| Reverse(set.len()));
    let mut left = Members::default();
    for part in 0..first.parts() {
        first.for_part(part, |member| {
            step();
            if !others.iter().any(|set| set.has(member)) {
                left.push(member);
            }
        });
    }
    Combined::Members(left)
}

#[cfg(test)]
mod tests;
