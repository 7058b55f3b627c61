//! `ZUNION numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX] [WITHSCORES]`, `ZINTER
//! numkeys key [...]`, `ZDIFF numkeys key [key ...] [WITHSCORES]`: the union, intersection or difference of sets.
//!
//! They are computed from snapshots of the sets at one moment, without a lock.

use super::combine::{Found, read_all};
use super::operation::{Operation, Request};
use super::reply::Form;
use crate::Ctx;
use crate::streamed::reply_ranges;
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, LongWork, Reply, Spec,
};
use respire_store::packed::listpack::Element;
use respire_store::{Scored, ZSet};
use std::ops::Range;

pub(super) static ZUNION: Spec = Spec {
    name: "zunion",
    summary: "Add multiple sorted sets",
    since: "6.2.0",
    complexity: "O(N)+O(M*log(M)) with N being the sum of the sizes of the input sorted sets, and M being the number of elements in the resulting sorted set.",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::counted(1)],
    args: &[
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).multiple(),
        Arg::new("weight", ArgKind::Integer)
            .token("WEIGHTS")
            .optional()
            .multiple(),
        Arg::one_of(
            "aggregate",
            &[
                Arg::word("sum", "SUM"),
                Arg::word("min", "MIN"),
                Arg::word("max", "MAX"),
            ],
        )
        .token("AGGREGATE")
        .optional(),
        Arg::word("withscores", "WITHSCORES").optional(),
    ],
    examples: &[
        ("ZADD a 1 x 2 y", ":2\r\n"),
        ("ZADD b 10 y 20 z", ":2\r\n"),
        (
            "ZUNION 2 a b WEIGHTS 1 2 WITHSCORES",
            "*6\r\n$1\r\nx\r\n$1\r\n1\r\n$1\r\ny\r\n$2\r\n22\r\n$1\r\nz\r\n$2\r\n40\r\n",
        ),
        (
            "ZUNION 0 a",
            "-ERR at least 1 input key is needed for 'zunion' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) static ZINTER: Spec = Spec {
    name: "zinter",
    summary: "Intersect multiple sorted sets",
    since: "6.2.0",
    complexity: "O(N*K)+O(M*log(M)) worst case with N being the smallest input sorted set, K being the number of input sorted sets and M being the number of elements in the resulting sorted set.",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::counted(1)],
    args: &[
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).multiple(),
        Arg::new("weight", ArgKind::Integer)
            .token("WEIGHTS")
            .optional()
            .multiple(),
        Arg::one_of(
            "aggregate",
            &[
                Arg::word("sum", "SUM"),
                Arg::word("min", "MIN"),
                Arg::word("max", "MAX"),
            ],
        )
        .token("AGGREGATE")
        .optional(),
        Arg::word("withscores", "WITHSCORES").optional(),
    ],
    examples: &[
        ("ZADD a 1 x 2 y", ":2\r\n"),
        ("ZADD b 10 y 20 z", ":2\r\n"),
        (
            "ZINTER 2 a b AGGREGATE MAX WITHSCORES",
            "*2\r\n$1\r\ny\r\n$2\r\n10\r\n",
        ),
        ("ZINTER 3 a b", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZDIFF: Spec = Spec {
    name: "zdiff",
    summary: "Subtract multiple sorted sets",
    since: "6.2.0",
    complexity: "O(L + (N-K)log(N)) worst case where L is the total number of elements in all the sets, N is the size of the first set, and K is the size of the result set.",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::counted(1)],
    args: &[
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).multiple(),
        Arg::word("withscores", "WITHSCORES").optional(),
    ],
    examples: &[
        ("ZADD a 1 x 2 y", ":2\r\n"),
        ("ZADD b 10 y 20 z", ":2\r\n"),
        ("ZDIFF 2 a b", "*1\r\n$1\r\nx\r\n"),
        ("ZDIFF 1 a WEIGHTS 1", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zunion(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        Request::parse(Operation::Union, "zunion", args)?,
        reply,
    )
}

pub(super) fn zinter(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        Request::parse(Operation::Intersection, "zinter", args)?,
        reply,
    )
}

pub(super) fn zdiff(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        Request::parse(Operation::Difference, "zdiff", args)?,
        reply,
    )
}

fn run(ctx: &mut Ctx<'_>, request: Request<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let sources = read_all(ctx, &request.keys)?;
    work_begins();
    let mut work = ctx.long_work();
    let mut step = || work.iter_mut().for_each(LongWork::step);
    let (mut found, plan) = request.compute(&sources, false, &mut step)?;
    ZSet::sort(&mut found, &mut step);
    let form = Form::new(plan.with_scores);
    form.begin(reply, found.len());
    let own = Listed::of(found, &mut step);
    drop(sources);
    let size = (own.ends.len(), Form::BYTES_GUESSED);
    reply_ranges(reply, size, move |some, reply| {
        own.for_range(some, |element| form.element(reply, element));
    });
    Ok(())
}

/// Elements in the order of a reply, with their members one behind the other.
struct Listed {
    members: Vec<u8>,
    /// Where each member ends, and its score.
    ends: Vec<(usize, f64)>,
}

impl Listed {
    fn of(elements: Found<'_>, step: &mut dyn FnMut()) -> Self {
        let (mut members, mut ends) = (Vec::new(), Vec::with_capacity(elements.len()));
        for (member, score) in elements {
            step();
            members.extend_from_slice(&member);
            ends.push((members.len(), score));
        }
        Self { members, ends }
    }

    fn for_range(&self, range: Range<usize>, mut f: impl FnMut(Scored<'_>)) {
        let before = range.start.checked_sub(1);
        let mut start = before.map_or(0, |before| self.ends[before].0);
        for (end, score) in &self.ends[range] {
            f((Element::Bytes(&self.members[start..*end]), *score));
            start = *end;
        }
    }
}
