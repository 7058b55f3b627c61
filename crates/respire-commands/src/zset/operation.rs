//! The union, intersection and difference of sets, and their arguments.

use super::combine::{Found, Members, Source};
use crate::errors::{NOT_A_WEIGHT, SYNTAX, no_input_key};
use crate::options::{Options, integer, is_word};
use resp_codec::number::parse_f64;
use respire_engine::{ArgList, Error};
use respire_store::packed::listpack::Element;
use respire_store::{Place, TextRanks};
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

/// The members of all sets in their order, each once.
fn union<'s>(
    sets: &[(Members<'s>, f64)],
    aggregate: Aggregate,
    step: &mut dyn FnMut(),
) -> Found<'s> {
    let mut parts: Found<'s> =
        Vec::with_capacity(sets.iter().map(|(members, _)| members.len()).sum());
    let mut ranks = TextRanks::default();
    for (members, weight) in sets {
        members.for_each(&mut |(member, score)| {
            step();
            let member = member.to_bytes();
            ranks.add(&member);
            parts.push((member, number_or_zero(weight * score)));
        });
    }
    let place = |(at, (member, _)): (usize, &(Cow<'_, [u8]>, f64))| {
        step();
        Place::new(ranks.rank(member), at)
    };
    let mut places: Vec<Place> = parts.iter().enumerate().map(place).collect();
    // The parts of a member stay in the order of the sets.
    places.sort_unstable_by(|a, b| {
        step();
        a.compare(*b, |a, b| parts[a].0.cmp(&parts[b].0))
    });
    let mut found: Found<'s> = Vec::with_capacity(parts.len());
    for place in places {
        step();
        let (member, score) = std::mem::take(&mut parts[place.index()]);
        match found.last_mut() {
            Some((last, total)) if *last == member => *total = aggregate.add(*total, score),
            _ => found.push((member, score)),
        }
    }
    found
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
