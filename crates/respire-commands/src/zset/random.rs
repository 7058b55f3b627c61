//! `ZRANDMEMBER key [count [WITHSCORES]]`: members chosen at random; different ones, or with a negative count any.

use super::reply::{self as write, Form};
use super::{range::owned_set, set_of};
use crate::Ctx;
use crate::errors::{LONG_RANGE, OUT_OF_RANGE, SYNTAX};
use crate::options::{integer, is_word};
use crate::streamed::{REPEATED_MAX, reply_ranges};
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, LongWork, Reply, Spec,
};
use respire_store::{Elements, EntryRef};
use std::collections::HashSet;

pub(super) static ZRANDMEMBER: Spec = Spec {
    name: "zrandmember",
    summary: "Get one or multiple random elements from a sorted set",
    since: "6.2.0",
    complexity: "O(N) where N is the number of elements returned",
    group: Group::SortedSet,
    arity: Arity::at_least(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::block(
            "options",
            &[
                Arg::new("count", ArgKind::Integer),
                Arg::word("withscores", "WITHSCORES").optional(),
            ],
        )
        .optional(),
    ],
    tips: &["nondeterministic_output"],
    examples: &[
        ("ZADD z 1 a", ":1\r\n"),
        ("ZRANDMEMBER z", "$1\r\na\r\n"),
        ("ZRANDMEMBER z 5 WITHSCORES", "*2\r\n$1\r\na\r\n$1\r\n1\r\n"),
        (
            "ZRANDMEMBER z -3",
            "*3\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n",
        ),
        ("ZRANDMEMBER y", "$-1\r\n"),
        ("ZRANDMEMBER y 1", "*0\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zrandmember(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let random = ctx.view.random();
    let Some(count) = args.get(1) else {
        return ctx.read(&args[0], |entry| {
            match set_of(entry)?.and_then(|set| set.sample(random)) {
                Some((member, _)) => write::member(reply, member),
                None => reply.null(),
            }
            Ok(())
        });
    };
    let count = Some(integer(count)?)
        .filter(|count| *count != i64::MIN)
        .ok_or(LONG_RANGE)?;
    let with_scores = match args.get(2) {
        None => false,
        Some(word) if args.len() == 3 && is_word(word, "WITHSCORES") => true,
        Some(_) => return Err(SYNTAX),
    };
    if with_scores && count.unsigned_abs() > i64::MAX.unsigned_abs() / 2 {
        return Err(OUT_OF_RANGE);
    }
    let owned = ctx.read(&args[0], |entry| {
        Ok(set_of(entry)?.and(entry.map(EntryRef::owned)))
    })?;
    let Some(owned) = owned else {
        reply.array(0);
        return Ok(());
    };
    work_begins();
    let (set, form) = (owned_set(&owned)?, Form::new(with_scores));
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if count < 0 {
        if count.unsigned_abs() > REPEATED_MAX {
            return Err(OUT_OF_RANGE);
        }
        form.begin(reply, wanted);
        reply_ranges(reply, (wanted, Form::BYTES_GUESSED), move |some, reply| {
            let Ok(set) = owned_set(&owned) else { return };
            for nth in some {
                let element = set.sample(mix(random.wrapping_add(nth as u64)));
                let element = element.into_iter();
                element.for_each(|element| form.element(reply, element));
            }
        });
        return Ok(());
    }
    let mut work = ctx.long_work();
    let mut step = || work.iter_mut().for_each(LongWork::step);
    let wanted = wanted.min(set.len());
    let ranks = distinct(set.len(), wanted, random, &mut step);
    form.begin(reply, wanted);
    reply_ranges(reply, (wanted, Form::BYTES_GUESSED), move |some, reply| {
        let Ok(set) = owned_set(&owned) else { return };
        for rank in &ranks[some] {
            set.for_range(*rank, 1, false, &mut |element| form.element(reply, element));
        }
    });
    Ok(())
}

/// Returns this many different ranks. Few are drawn until they differ; many are those that are left when the others
/// are drawn. Calls `step` for each that is drawn.
fn distinct(len: usize, wanted: usize, random: u64, step: &mut dyn FnMut()) -> Vec<usize> {
    if wanted == len {
        return (0..len).collect();
    }
    let is_most = wanted > len / 2;
    let drawn_count = if is_most { len - wanted } else { wanted };
    let (mut drawn, mut order, mut nth) = (HashSet::new(), Vec::new(), 0_u64);
    while order.len() < drawn_count {
        nth += 1;
        step();
        let rank = (mix(random.wrapping_add(nth)) % len as u64) as usize;
        if drawn.insert(rank) {
            order.push(rank);
        }
    }
    if is_most {
        return (0..len).filter(|rank| !drawn.contains(rank)).collect();
    }
    order
}

/// The output function of SplitMix64, which makes a sequence of random numbers from one.
fn mix(state: u64) -> u64 {
    let state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
