//! `ZSCAN key cursor [MATCH pattern] [COUNT count]`: returns one step of an iteration over a set's elements, with their
//! scores.
//!
//! An element that is there during the whole iteration is returned at least once, even if its score changes.

use super::bounds::bytes_of;
use super::reply as write;
use super::set_of;
use crate::Ctx;
use crate::options::Options;
use crate::scan_options::{ScanOptions, parse_cursor};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Elements, ScoreText};

pub(super) static ZSCAN: Spec = Spec {
    name: "zscan",
    summary: "Incrementally iterate sorted sets elements and associated scores",
    since: "2.8.0",
    complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection..",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("cursor", ArgKind::Integer),
        Arg::new("pattern", ArgKind::Pattern)
            .token("MATCH")
            .optional(),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
    ],
    tips: &["nondeterministic_output"],
    examples: &[
        ("ZADD z 1 a 2 b", ":2\r\n"),
        (
            "ZSCAN z 0",
            "*2\r\n$1\r\n0\r\n*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n",
        ),
        (
            "ZSCAN z 0 MATCH b*",
            "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n",
        ),
        ("ZSCAN y 0", "*2\r\n$1\r\n0\r\n*0\r\n"),
        ("ZSCAN z next", "-ERR invalid cursor\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zscan(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let cursor = parse_cursor(&args[1])?;
    ctx.read(&args[0], |entry| {
        let set = set_of(entry)?;
        if set.is_none() {
            // As in Redis, the options of an absent key are not read.
            reply.array(2);
            reply.bulk("0");
            reply.array(0);
            return Ok(());
        }
        let options = ScanOptions::parse(Options::new(args.skip(2)), false)?;
        let (mut found, mut next) = (Vec::new(), 0);
        if let Some(set) = set {
            next = set.scan(cursor, options.count, &mut |element| {
                if options
                    .pattern
                    .matches(bytes_of(element.0, &mut itoa::Buffer::new()))
                {
                    found.push(element);
                }
            });
        }
        // The scores of a listpack are replied as they are in it.
        let is_packed = set.is_some_and(|set| set.listpack().is_some());
        let text_of = if is_packed {
            ScoreText::packed
        } else {
            ScoreText::new
        };
        reply.array(2);
        reply.bulk(itoa::Buffer::new().format(next));
        reply.array(2 * found.len());
        for (member, score) in found {
            write::member(reply, member);
            reply.bulk(text_of(score).as_bytes());
        }
        Ok(())
    })
}
