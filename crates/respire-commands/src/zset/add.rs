//! `ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]`, `ZINCRBY key increment member`: set or
//! change the scores of members.
//!
//! As in Redis, `ZINCRBY` also accepts the options of `ZADD` in the place of the increment, which then lacks.

use super::{ADDED, INCREMENTED, reply as write};
use crate::Ctx;
use crate::errors::{
    NOT_A_FLOAT, SYNTAX, ZADD_GT_LT_NX, ZADD_INCR_PAIRS, ZADD_NAN, ZADD_NX_XX, wrong_type,
};
use crate::options::{FEW_ARGS, is_word};
use resp_codec::number::parse_f64;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, ZSet};

pub(super) static ZADD: Spec = Spec {
    name: "zadd",
    summary: "Add one or more members to a sorted set, or update its score if it already exists",
    since: "1.2.0",
    complexity: "O(log(N)) for each item added, where N is the number of elements in the sorted set.",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    element: 3,
    args: &[
        Arg::key("key", 0),
        Arg::one_of("condition", &[Arg::word("nx", "NX"), Arg::word("xx", "XX")])
            .since("3.0.2")
            .optional(),
        Arg::one_of(
            "comparison",
            &[Arg::word("gt", "GT"), Arg::word("lt", "LT")],
        )
        .since("6.2.0")
        .optional(),
        Arg::word("change", "CH").since("3.0.2").optional(),
        Arg::word("increment", "INCR").since("3.0.2").optional(),
        Arg::block(
            "score_member",
            &[
                Arg::new("score", ArgKind::Double),
                Arg::new("member", ArgKind::String),
            ],
        )
        .multiple(),
    ],
    history: &[
        ("2.4.0", "Accepts multiple elements."),
        ("3.0.2", "Added the `XX`, `NX`, `CH` and `INCR` options."),
        ("6.2.0", "Added the `GT` and `LT` options."),
    ],
    examples: &[
        ("ZADD z 1 a 2 b", ":2\r\n"),
        ("ZADD z NX 5 a 3 c", ":1\r\n"),
        ("ZADD z XX CH GT 4 a 1 b", ":1\r\n"),
        ("ZADD z INCR 0.5 a", "$3\r\n4.5\r\n"),
        ("ZADD z NX INCR 1 a", "$-1\r\n"),
        (
            "ZADD z NX XX 1 a",
            "-ERR XX and NX options at the same time are not compatible\r\n",
        ),
        ("ZADD z one a", "-ERR value is not a valid float\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZINCRBY: Spec = Spec {
    name: "zincrby",
    summary: "Increment the score of a member in a sorted set",
    since: "1.2.0",
    complexity: "O(log(N)) where N is the number of elements in the sorted set.",
    group: Group::SortedSet,
    arity: Arity::exactly(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).update()],
    element: 3,
    args: &[
        Arg::key("key", 0),
        Arg::new("increment", ArgKind::Integer),
        Arg::new("member", ArgKind::String),
    ],
    examples: &[
        ("ZADD z 1 a", ":1\r\n"),
        ("ZINCRBY z 2 a", "$1\r\n3\r\n"),
        ("ZINCRBY z -inf b", "$4\r\n-inf\r\n"),
        (
            "ZINCRBY z inf b",
            "-ERR resulting score is not a number (NaN)\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) fn zadd(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    update(ctx, args, AddOptions::default(), reply)
}

pub(super) fn zincrby(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let options = AddOptions {
        increments: true,
        ..AddOptions::default()
    };
    update(ctx, args, options, reply)
}

/// Which members get the scores of a request, and what the reply counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AddOptions {
    pub(crate) only_new: bool,
    pub(crate) only_old: bool,
    only_greater: bool,
    only_less: bool,
    pub(crate) counts_changes: bool,
    increments: bool,
}

/// The scores of a request, of which most have one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scores<'s> {
    pub(crate) first: f64,
    pub(crate) others: &'s [f64],
}

impl AddOptions {
    /// Reads the options, and returns the pairs behind them.
    fn parse<'a>(&mut self, args: ArgList<'a>) -> Result<ArgList<'a>, Error> {
        let mut rest = args;
        while let Some(word) = rest.get(0) {
            let option = match word.len() {
                2 if is_word(word, "NX") => &mut self.only_new,
                2 if is_word(word, "XX") => &mut self.only_old,
                2 if is_word(word, "GT") => &mut self.only_greater,
                2 if is_word(word, "LT") => &mut self.only_less,
                2 if is_word(word, "CH") => &mut self.counts_changes,
                4 if is_word(word, "INCR") => &mut self.increments,
                _ => break,
            };
            *option = true;
            rest = rest.skip(1);
        }
        if rest.is_empty() || !rest.len().is_multiple_of(2) {
            return Err(SYNTAX);
        }
        if self.only_new && self.only_old {
            return Err(ZADD_NX_XX);
        }
        let compares = u8::from(self.only_greater) + u8::from(self.only_less);
        if compares + u8::from(self.only_new) > 1 {
            return Err(ZADD_GT_LT_NX);
        }
        if self.increments && rest.len() > 2 {
            return Err(ZADD_INCR_PAIRS);
        }
        Ok(rest)
    }

    /// The score that a member gets; `None` if it keeps the one that it has, or none.
    fn score(self, old: Option<f64>, argument: f64) -> Result<Option<f64>, Error> {
        let Some(old) = old else {
            return Ok(Some(argument).filter(|_| !self.only_old));
        };
        if self.only_new {
            return Ok(None);
        }
        let score = if self.increments {
            old + argument
        } else {
            argument
        };
        if score.is_nan() {
            return Err(ZADD_NAN);
        }
        let is_refused = self.only_less && score >= old || self.only_greater && score <= old;
        Ok(Some(score).filter(|_| !is_refused))
    }
}

/// What became of the pairs of a request.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    added: usize,
    updated: usize,
    /// The score of the last pair, if it was not refused.
    score: Option<f64>,
}

fn update(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    mut options: AddOptions,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let pairs = options.parse(args.skip(1))?;
    // One pair is the common case, which allocates nothing.
    let first = parse(&pairs[0])?;
    let others = (2..pairs.len()).step_by(2).map(|at| parse(&pairs[at]));
    let others = others.collect::<Result<Vec<f64>, Error>>()?;
    let scores = Scores {
        first,
        others: &others,
    };
    add(
        ctx,
        &args[0],
        options,
        scores,
        |nth| &pairs[2 * nth + 1],
        reply,
    )
}

/// Gives the scores to members, and replies with their number, or the last score. `member` returns the member of each
/// score.
#[inline]
pub(crate) fn add<'m>(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    options: AddOptions,
    scores: Scores<'_>,
    member: impl Fn(usize) -> &'m [u8],
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let event = if options.increments {
        INCREMENTED
    } else {
        ADDED
    };
    let edited = ctx.view.update(key, |slot| {
        let growth = slot.growth::<ZSet>();
        slot.edit(event, |set: &mut ZSet| {
            let mut outcome = Outcome::default();
            for (at, argument) in std::iter::once(&scores.first)
                .chain(scores.others)
                .enumerate()
            {
                let mut old = None;
                let changed = set.change_score(member(at), &growth, |found| {
                    old = found;
                    options.score(found, *argument)
                });
                match changed {
                    Ok(score) => outcome.score = score,
                    Err(error) => return Edited::Unchanged(Err(error)),
                }
                match (old, outcome.score) {
                    (None, Some(_)) => outcome.added += 1,
                    (Some(old), Some(new)) if old != new => outcome.updated += 1,
                    _ => {}
                }
            }
            if outcome.added + outcome.updated > 0 {
                Edited::Changed(Ok(outcome))
            } else {
                Edited::Unchanged(Ok(outcome))
            }
        })
    });
    let outcome = edited.map_err(wrong_type)??;
    if options.increments {
        write::score_or_null(reply, outcome.score);
    } else {
        let updated = if options.counts_changes {
            outcome.updated
        } else {
            0
        };
        reply.int((outcome.added + updated) as i64);
    }
    Ok(())
}

pub(super) fn parse(text: &[u8]) -> Result<f64, Error> {
    parse_f64(text).ok_or(NOT_A_FLOAT)
}
