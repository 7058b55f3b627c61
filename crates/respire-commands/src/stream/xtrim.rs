//! `XTRIM key MAXLEN | MINID [= | ~] threshold [LIMIT count]`: removes the first entries of a stream, in steps if they
//! are looked up in groups.

use super::references::CONDITION;
use super::trim_options::TrimOptions;
use super::trimming::{finish, lookups_max, step};
use crate::Ctx;
use crate::errors::{SYNTAX, wrong_type};
use crate::options::Options;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Stream, Trimming};

pub(super) static XTRIM: Spec = Spec {
    name: "xtrim",
    summary: "Trims the stream to (approximately if '~' is passed) a certain size",
    since: "5.0.0",
    complexity: "O(N), with N being the number of evicted entries. Constant times are very small however, since entries are organized in macro nodes containing multiple entries that can be released with a single deallocation.",
    group: Group::Stream,
    arity: Arity::at_least(4),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::block(
            "trim",
            &[
                Arg::one_of(
                    "strategy",
                    &[
                        Arg::word("maxlen", "MAXLEN"),
                        Arg::word("minid", "MINID").since("6.2.0"),
                    ],
                ),
                Arg::one_of(
                    "operator",
                    &[Arg::word("equal", "="), Arg::word("approximately", "~")],
                )
                .optional(),
                Arg::new("threshold", ArgKind::String),
                Arg::new("count", ArgKind::Integer)
                    .token("LIMIT")
                    .since("6.2.0")
                    .optional(),
            ],
        ),
        CONDITION.since("8.2.0"),
    ],
    tips: &["nondeterministic_output"],
    history: &[
        (
            "6.2.0",
            "Added the `MINID` trimming strategy and the `LIMIT` option.",
        ),
        (
            "8.2.0",
            "Added the `KEEPREF`, `DELREF` and `ACKED` options.",
        ),
    ],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XADD s 2 name Bob", "$3\r\n2-0\r\n"),
        ("XTRIM s MAXLEN = 1", ":1\r\n"),
        ("XTRIM s MINID 2", ":0\r\n"),
        ("XTRIM s MAXLEN ~ 0 LIMIT 100", ":1\r\n"),
    ],
    ..Spec::EMPTY
};

const NO_STRATEGY: Error =
    Error::fixed("ERR syntax error, XTRIM must be called with a trimming strategy");

pub(super) fn xtrim(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (mut options, mut trim) = (Options::new(args.skip(1)), TrimOptions::default());
    while let Some(word) = options.next() {
        if !trim.parse(word, &mut options)? {
            return Err(SYNTAX);
        }
    }
    let request = trim.finish_with(NO_STRATEGY)?;
    let lookups_max = lookups_max(ctx);
    let begun = ctx.view.update(&args[0], |slot| {
        let mut trimming = Trimming::new(request.of(&slot.limits::<Stream>()));
        let trimmed = step(slot, &mut trimming, (lookups_max, false))?;
        Ok(trimmed.map(|trimmed| (trimming, trimmed)))
    });
    let entries = match begun.map_err(wrong_type)? {
        Some(begun) => finish(ctx, &args[0], begun),
        None => 0,
    };
    reply.int(entries as i64);
    Ok(())
}
