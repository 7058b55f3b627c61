//! `ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]`: the elements of a range.
//!
//! A long range of a large set is read from a snapshot, so that nobody waits for the reply.

use super::bounds::{Bounds, By};
use super::reply::{Form, member};
use super::set_of;
use crate::Ctx;
use crate::errors::{SYNTAX, ZRANGE_LIMIT, ZRANGE_SCORES_BY_LEX};
use crate::options::{Options, is_word};
use crate::streamed::reply_ranges;
use crate::work::work_begins;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Elements, EntryRef, Owned, ZSetRef};
use std::ops::Range;

pub(super) static ZRANGE: Spec = Spec {
    name: "zrange",
    summary: "Return a range of members in a sorted set",
    since: "1.2.0",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements returned.",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    rank: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("start", ArgKind::String),
        Arg::new("stop", ArgKind::String),
        Arg::one_of(
            "sortby",
            &[Arg::word("byscore", "BYSCORE"), Arg::word("bylex", "BYLEX")],
        )
        .since("6.2.0")
        .optional(),
        Arg::word("rev", "REV").since("6.2.0").optional(),
        Arg::block(
            "offset_count",
            &[
                Arg::new("offset", ArgKind::Integer),
                Arg::new("count", ArgKind::Integer),
            ],
        )
        .token("LIMIT")
        .since("6.2.0")
        .optional(),
        Arg::word("withscores", "WITHSCORES").optional(),
    ],
    history: &[(
        "6.2.0",
        "Added the `REV`, `BYSCORE`, `BYLEX` and `LIMIT` options.",
    )],
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        ("ZRANGE z 0 -1", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"),
        (
            "ZRANGE z (3 1 BYSCORE REV LIMIT 0 1 WITHSCORES",
            "*2\r\n$1\r\nb\r\n$1\r\n2\r\n",
        ),
        (
            "ZRANGE z 0 1 LIMIT 0 1",
            "-ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX\r\n",
        ),
    ],
    ..Spec::EMPTY
};

/// Up to this many elements are written while the key is locked.
const LOCKED_ELEMENTS_MAX: usize = 256;

/// What a request of this family asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<'a> {
    bounds: Bounds<'a>,
    reverse: bool,
    offset: i64,
    count: i64,
    form: Form,
}

/// What the name of a command leaves to its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// Any range in any order.
    Any,
    /// Any range, without scores in the reply.
    Stored,
    /// This range, in this order.
    Only { by: By, reverse: bool },
}

impl<'a> Query<'a> {
    /// Parses two bounds and the options behind them.
    pub(super) fn parse(args: ArgList<'a>, named: Named) -> Result<Self, Error> {
        let (mut by, mut reverse) = match named {
            Named::Only { by, reverse } => (Some(by), reverse),
            Named::Any | Named::Stored => (None, false),
        };
        let is_free = !matches!(named, Named::Only { .. });
        let (mut offset, mut count, mut with_scores) = (0, -1, false);
        let mut options = Options::new(args.skip(2));
        while let Some(word) = options.next() {
            if named != Named::Stored && is_word(word, "WITHSCORES") {
                with_scores = true;
            } else if is_word(word, "LIMIT") && options.len() >= 2 {
                offset = options.integer()?;
                count = options.integer()?;
            } else if is_free && !reverse && is_word(word, "REV") {
                reverse = true;
            } else if by.is_none() && is_word(word, "BYLEX") {
                by = Some(By::Lex);
            } else if by.is_none() && is_word(word, "BYSCORE") {
                by = Some(By::Score);
            } else {
                return Err(SYNTAX);
            }
        }
        let by = by.unwrap_or(By::Rank);
        if count != -1 && by == By::Rank {
            return Err(ZRANGE_LIMIT);
        }
        if with_scores && by == By::Lex {
            return Err(ZRANGE_SCORES_BY_LEX);
        }
        let (Some(first), Some(second)) = (args.get(0), args.get(1)) else {
            return Err(SYNTAX);
        };
        let (min, max) = if reverse && by != By::Rank {
            (second, first)
        } else {
            (first, second)
        };
        Ok(Self {
            bounds: Bounds::parse(by, min, max)?,
            reverse,
            offset,
            count,
            form: Form::new(with_scores),
        })
    }

    /// Whether the elements come from the last to the first.
    pub(super) fn reverse(&self) -> bool {
        self.reverse
    }

    /// Returns the ranks of the elements, from the last one if it is reversed.
    pub(super) fn ranks(&self, set: ZSetRef<'_>) -> Range<usize> {
        let ranks = self.bounds.ranks(set, self.reverse);
        if matches!(self.bounds, Bounds::Ranks(..)) {
            return ranks;
        }
        let ranks = match self.reverse {
            true => set.len() - ranks.end..set.len() - ranks.start,
            false => ranks,
        };
        // A negative offset leads nowhere, and a negative count is no limit.
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        let start = ranks.start.saturating_add(offset).min(ranks.end);
        start..start.saturating_add(count).min(ranks.end)
    }

    fn write(&self, set: ZSetRef<'_>, ranks: Range<usize>, reply: &mut Reply<'_>) {
        let (start, len) = (ranks.start, ranks.len());
        self.form.begin(reply, len);
        match self.form {
            Form::Members => set.for_range(start, len, self.reverse, &mut |(name, _)| {
                member(reply, name);
            }),
            form => set.for_range(start, len, self.reverse, &mut |element| {
                form.element(reply, element);
            }),
        }
    }
}

pub(super) fn zrange(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, Named::Any, reply)
}

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    named: Named,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let query = Query::parse(args.skip(1), named)?;
    let left = ctx.read(&args[0], |entry| {
        let Some(set) = set_of(entry)? else {
            reply.array(0);
            return Ok(None);
        };
        let ranks = query.ranks(set);
        if ranks.len() > LOCKED_ELEMENTS_MAX {
            return Ok(entry.map(EntryRef::owned).map(|owned| (owned, ranks)));
        }
        query.write(set, ranks, reply);
        Ok(None)
    })?;
    if let Some((owned, ranks)) = left {
        work_begins();
        stream(owned, ranks, query, reply);
    }
    Ok(())
}

/// Writes a long range as the peer reads it.
fn stream(owned: Owned, ranks: Range<usize>, query: Query<'_>, reply: &mut Reply<'_>) {
    let (form, reverse, len) = (query.form, query.reverse, ranks.len());
    form.begin(reply, len);
    reply_ranges(reply, (len, Form::BYTES_GUESSED), move |some, reply| {
        if let Ok(set) = owned_set(&owned) {
            let start = ranks.start + some.start;
            set.for_range(start, some.len(), reverse, &mut |element| {
                form.element(reply, element);
            });
        }
    });
}

/// The set of a snapshot.
pub(super) fn owned_set(owned: &Owned) -> Result<ZSetRef<'_>, Error> {
    super::set_in(owned.value())
}
