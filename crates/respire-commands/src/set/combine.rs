//! Combines sets: union, intersection and difference.
//!
//! Large sets of one store have equal members at nearly the same place, so an intersection or a
//! difference walks through all of them together.

use super::picked::Picked;
use super::read::{Snapshot, stream_set};
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
pub(super) enum Combined {
    /// Members of the sets with these numbers, each once.
    Picked(Vec<(usize, Picked)>),
    Set(Set),
}

impl Operation {
    /// Combines sets, of which those that do not exist are empty. O(members of all sets), or for an
    /// intersection O(members of the smallest set * sets).
    ///
    /// Calls `step` for each member.
    pub(super) fn run(
        self,
        sets: &[Option<SetRef<'_>>],
        growth: &Growth,
        step: &mut dyn FnMut(),
    ) -> Combined {
        let numbered = sets.iter().copied().enumerate();
        let mut existing: Vec<(usize, SetRef<'_>)> = numbered
            .filter_map(|(number, set)| Some((number, set?)))
            .collect();
        match self {
            Self::Intersection if existing.len() < sets.len() => Combined::Picked(Vec::new()),
            Self::Intersection => {
                existing.sort_by_key(|(_, set)| set.len());
                Combined::Picked(intersect_all(&existing, step))
            }
            Self::Union => match *existing {
                [] => Combined::Picked(Vec::new()),
                [(number, one)] => Combined::Picked(vec![(number, Picked::all(one))]),
                // As in Redis, the members of integer sets come in their order.
                [one, other] if one.1.ints().is_none() || other.1.ints().is_none() => {
                    Combined::Picked(unite(one, other, step))
                }
                _ => Combined::Set(unite_all(existing.iter().map(|it| it.1), growth, step)),
            },
            Self::Difference => match *sets {
                [Some(first), ref others @ ..] => {
                    let others = others.iter().copied().flatten().collect();
                    subtract(first, others, growth, step)
                }
                _ => Combined::Picked(Vec::new()),
            },
        }
    }
}

impl Combined {
    /// The number of members.
    fn len(&self) -> usize {
        match self {
            Self::Picked(picked) => picked.iter().map(|(_, picked)| picked.len()).sum(),
            Self::Set(set) => set_ref(set).len(),
        }
    }

    /// Replies with the members as a set, while the client reads them. The sets are those that were combined.
    pub(super) fn reply(self, mut sets: Vec<Option<Snapshot>>, reply: &mut Reply<'_>) {
        reply.set(self.len());
        match self {
            Self::Picked(all) => {
                for (number, picked) in all {
                    if let Some(snapshot) = sets[number].take() {
                        picked.reply(snapshot, reply);
                    }
                }
            }
            Self::Set(set) => stream_set(reply, set),
        }
    }

    /// The set to store. The sets are those that were combined. O(members).
    ///
    /// Calls `step` for each member.
    pub(super) fn into_set(
        self,
        sets: &[Option<SetRef<'_>>],
        growth: &Growth,
        step: &mut dyn FnMut(),
    ) -> Set {
        let all = match self {
            Self::Set(set) => return set,
            Self::Picked(all) => all,
        };
        let mut set = Set::default();
        for (number, picked) in all {
            if let Some(source) = sets[number] {
                picked.for_each(source, |member| {
                    step();
                    set.insert(member.as_bytes(&mut [0; 20]), growth);
                });
            }
        }
        set
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

/// The members that all sets have. The first set is the smallest.
fn intersect_all(sets: &[(usize, SetRef<'_>)], step: &mut dyn FnMut()) -> Vec<(usize, Picked)> {
    let Some(((number, smallest), others)) = sets.split_first() else {
        return Vec::new();
    };
    let is_common = |member: StringRef<'_>| others.iter().all(|(_, set)| set.has(member));
    vec![(*number, Picked::pick(*smallest, step, is_common))]
}

/// The members of two sets, each once.
fn unite(
    one: (usize, SetRef<'_>),
    other: (usize, SetRef<'_>),
    step: &mut dyn FnMut(),
) -> Vec<(usize, Picked)> {
    let (large, small) = if one.1.len() < other.1.len() {
        (other, one)
    } else {
        (one, other)
    };
    let is_new = |member: StringRef<'_>| !large.1.has(member);
    let picked = Picked::pick(small.1, step, is_new);
    vec![(large.0, Picked::all(large.1)), (small.0, picked)]
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
fn subtract(
    first: SetRef<'_>,
    mut others: Vec<SetRef<'_>>,
    growth: &Growth,
    step: &mut dyn FnMut(),
) -> Combined {
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
    let is_left = |member: StringRef<'_>| !others.iter().any(|set| set.has(member));
    Combined::Picked(vec![(0, Picked::pick(first, step, is_left))])
}

#[cfg(test)]
mod tests;
