//! The union, intersection and difference of sets, and their arguments.

use super::combine::{Found, Members, Source};
use crate::errors::{NOT_A_WEIGHT, SYNTAX, no_input_key};
use crate::options::{Options, integer, is_word};
use resp_codec::number::parse_f64;
use respire_engine::{ArgList, Error};
use respire_store::packed::listpack::Element;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Union,
    Intersection,
    Difference,
}

/// How the scores of a member in several sets become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn parse(word: &[u8]) -> Result<Self, Error> {
        const WORDS: [(&str, Aggregate); 3] = [
            ("SUM", Aggregate::Sum),
            ("MIN", Aggregate::Min),
            ("MAX", Aggregate::Max),
        ];
        let found = WORDS.iter().find(|(name, _)| is_word(word, name));
        found.map(|(_, aggregate)| *aggregate).ok_or(SYNTAX)
    }

    fn add(self, total: f64, score: f64) -> f64 {
        match self {
            // The sum of opposite infinities is 0, as in Redis.
            Self::Sum => number_or_zero(total + score),
            Self::Min if score < total => score,
            Self::Max if score > total => score,
            Self::Min | Self::Max => total,
        }
    }
}

fn number_or_zero(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// The keys of a request, and the arguments behind them, which are read after the keys.
#[derive(Clone)]
pub(super) struct Request<'a> {
    pub(super) operation: Operation,
    pub(super) keys: Vec<&'a [u8]>,
    rest: ArgList<'a>,
}

/// The options of a request.
pub(super) struct Plan {
    weights: Vec<f64>,
    aggregate: Aggregate,
    pub(super) with_scores: bool,
}

impl<'a> Request<'a> {
    /// Parses a number of keys and the keys.
    pub(super) fn parse(
        operation: Operation,
        command: &str,
        args: ArgList<'a>,
    ) -> Result<Self, Error> {
        let count = integer(&args[0])?;
        if count < 1 {
            return Err(no_input_key(command));
        }
        let rest = args.skip(1);
        let count = usize::try_from(count)
            .ok()
            .filter(|count| *count <= rest.len())
            .ok_or(SYNTAX)?;
        Ok(Self {
            operation,
            keys: rest.iter().take(count).collect(),
            rest: rest.skip(count),
        })
    }

    /// The arguments behind the keys.
    pub(super) fn options(&self) -> Options<'a> {
        Options::new(self.rest)
    }

    pub(super) fn plan(&self, is_stored: bool) -> Result<Plan, Error> {
        let mut plan = Plan {
            weights: vec![1.0; self.keys.len()],
            aggregate: Aggregate::Sum,
            with_scores: false,
        };
        let has_scores = self.operation != Operation::Difference;
        let mut options = self.options();
        while let Some(word) = options.next() {
            if has_scores && options.len() >= self.keys.len() && is_word(word, "WEIGHTS") {
                for weight in &mut plan.weights {
                    *weight = parse_f64(options.value()?).ok_or(NOT_A_WEIGHT)?;
                }
            } else if has_scores && options.len() > 0 && is_word(word, "AGGREGATE") {
                plan.aggregate = Aggregate::parse(options.value()?)?;
            } else if !is_stored && is_word(word, "WITHSCORES") {
                plan.with_scores = true;
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(plan)
    }

    /// Computes the result. Errors of types come before those of options. Calls `step` for each element, and now and
    /// then for each comparison.
    pub(super) fn compute<'s>(
        &self,
        sources: &'s [Source],
        is_stored: bool,
        step: &mut dyn FnMut(),
    ) -> Result<(Found<'s>, Plan), Error> {
        let members = sources
            .iter()
            .map(Source::members)
            .collect::<Result<Vec<_>, Error>>()?;
        let plan = self.plan(is_stored)?;
        let weighted = || members.iter().copied().zip(plan.weights.iter().copied());
        let mut by_size: Vec<(Members<'s>, f64)> = weighted().collect();
        // Scores are added from the smallest set to the largest, as in Redis.
        by_size.sort_by_key(|(members, _)| members.len());
        let found = match self.operation {
            Operation::Union => union(&by_size, plan.aggregate, step),
            Operation::Intersection => {
                let mut found = Vec::new();
                intersect(
                    &by_size,
                    plan.aggregate,
                    &mut |member, score| {
                        found.push((member, score));
                    },
                    step,
                );
                found
            }
            Operation::Difference => difference(&members, step),
        };
        Ok((found, plan))
    }
}

/// A score of a member in one of the sets.
struct Part<'s> {
    /// The first bytes of the member, which decide most comparisons.
    start: u64,
    member: Cow<'s, [u8]>,
    set: usize,
    score: f64,
}

/// The members of all sets, sorted so that those of several sets stand together.
fn union<'s>(
    sets: &[(Members<'s>, f64)],
    aggregate: Aggregate,
    step: &mut dyn FnMut(),
) -> Found<'s> {
    let mut parts = Vec::with_capacity(sets.iter().map(|(members, _)| members.len()).sum());
    for (set, (members, weight)) in sets.iter().enumerate() {
        members.for_each(&mut |(member, score)| {
            step();
            let member = member.to_bytes();
            parts.push(Part {
                start: start_of(&member),
                member,
                set,
                score: number_or_zero(weight * score),
            });
        });
    }
    parts.sort_unstable_by(|a, b| {
        step();
        let by_member = a.start.cmp(&b.start).then_with(|| a.member.cmp(&b.member));
        by_member.then(a.set.cmp(&b.set))
    });
    let mut found: Found<'s> = Vec::with_capacity(parts.len());
    for part in parts {
        step();
        match found.last_mut() {
            Some((member, score)) if *member == part.member => {
                *score = aggregate.add(*score, part.score)
            }
            _ => found.push((part.member, part.score)),
        }
    }
    found
}

/// The first eight bytes of a member as a number that sorts as they do.
fn start_of(member: &[u8]) -> u64 {
    let mut start = [0; 8];
    let len = member.len().min(8);
    start[..len].copy_from_slice(&member[..len]);
    u64::from_be_bytes(start)
}

/// Calls `f` with each member that all sets have, until it returns `false`. The first set is the smallest. Calls
/// `step` for each of its members.
pub(super) fn each_common<'s>(
    sets: &[(Members<'s>, f64)],
    f: &mut dyn FnMut(Element<'s>, &[f64]) -> bool,
    step: &mut dyn FnMut(),
) {
    let Some(((first, _), others)) = sets.split_first() else {
        return;
    };
    let mut room = itoa::Buffer::new();
    let (mut scores, mut goes_on) = (Vec::with_capacity(sets.len()), true);
    first.for_each(&mut |(member, score)| {
        if !goes_on {
            return;
        }
        step();
        scores.clear();
        scores.push(score);
        let bytes = super::bounds::bytes_of(member, &mut room);
        scores.extend(others.iter().map_while(|(members, _)| members.score(bytes)));
        if scores.len() == sets.len() {
            goes_on = f(member, &scores);
        }
    });
}

fn intersect<'s>(
    sets: &[(Members<'s>, f64)],
    aggregate: Aggregate,
    f: &mut dyn FnMut(Cow<'s, [u8]>, f64),
    step: &mut dyn FnMut(),
) {
    let mut add = |member: Element<'s>, scores: &[f64]| {
        let mut weighted = scores
            .iter()
            .zip(sets)
            .map(|(score, (_, weight))| score * weight);
        let first = number_or_zero(weighted.next().unwrap_or(0.0));
        let score = weighted.fold(first, |total, score| aggregate.add(total, score));
        f(member.to_bytes(), score);
        true
    };
    each_common(sets, &mut add, step);
}

/// The elements of the first set whose members no other set has.
fn difference<'s>(sets: &[Members<'s>], step: &mut dyn FnMut()) -> Found<'s> {
    let Some((first, others)) = sets.split_first() else {
        return Vec::new();
    };
    let (mut found, mut room) = (Vec::new(), itoa::Buffer::new());
    first.for_each(&mut |(member, score)| {
        step();
        let bytes = super::bounds::bytes_of(member, &mut room);
        if others.iter().all(|members| members.score(bytes).is_none()) {
            found.push((member.to_bytes(), score));
        }
    });
    found
}
