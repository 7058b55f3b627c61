//! `XPENDING key group [[IDLE ms] start end count [consumer]]`: tells which entries were delivered and not acknowledged.

use super::access::{no_group, stream_if_any};
use super::ids::{interval_end, interval_start, reply_id};
use super::pending::PendingRange;
use crate::Ctx;
use crate::errors::SYNTAX;
use crate::options::{integer, is_word};
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, LongWork, Reply, Spec,
};
use respire_store::{Pending, StreamGroup};

pub(super) static XPENDING: Spec = Spec {
    name: "xpending",
    summary: "Return information and entries from a stream consumer group pending entries list, that are messages fetched but never acknowledged.",
    since: "5.0.0",
    complexity: "O(N) with N being the number of elements returned, so asking for a small fixed number of entries per call is O(1). O(M), where M is the total number of entries scanned when used with the IDLE filter. When the command returns just the summary and the list of consumers is small, it runs in O(1) time; otherwise, an additional O(N) time for iterating every consumer.",
    group: Group::Stream,
    arity: Arity::at_least(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro, KeyFlag::Access])],
    args: &[
        Arg::key("key", 0),
        Arg::new("group", ArgKind::String),
        Arg::block(
            "filters",
            &[
                Arg::new("min-idle-time", ArgKind::Integer)
                    .token("IDLE")
                    .since("6.2.0")
                    .optional(),
                Arg::new("start", ArgKind::String),
                Arg::new("end", ArgKind::String),
                Arg::new("count", ArgKind::Integer),
                Arg::new("consumer", ArgKind::String).optional(),
            ],
        )
        .optional(),
    ],
    tips: &["nondeterministic_output"],
    history: &[(
        "6.2.0",
        "Added the `IDLE` option and exclusive range intervals.",
    )],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XGROUP CREATE s g 0", "+OK\r\n"),
        (
            "XREADGROUP GROUP g Bob COUNT 1 STREAMS s >",
            "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$4\r\nname\r\n$3\r\nAda\r\n",
        ),
        (
            "XPENDING s g",
            "*4\r\n:1\r\n$3\r\n1-0\r\n$3\r\n1-0\r\n*1\r\n*2\r\n$3\r\nBob\r\n$1\r\n1\r\n",
        ),
        ("XPENDING s g - + 10 Ada", "*0\r\n"),
        (
            "XPENDING s nothing",
            "-NOGROUP No such key 's' or consumer group 'nothing'\r\n",
        ),
    ],
    ..Spec::EMPTY
};

/// Up to this many entries are read under the key's lock.
const LOCKED_ENTRIES_MAX: usize = 1_000;

/// Which entries are told.
struct Filter {
    range: PendingRange,
    count: usize,
}

impl Filter {
    fn parse(args: ArgList<'_>, now_ms: u64) -> Result<Self, Error> {
        if !(3..=6).contains(&args.len()) {
            return Err(SYNTAX);
        }
        let (mut rest, mut min_idle) = (args, 0);
        if is_word(&args[0], "IDLE") {
            min_idle = integer(&args[1])?;
            if args.len() < 5 {
                return Err(SYNTAX);
            }
            rest = args.skip(2);
        }
        let count = usize::try_from(integer(&rest[2])?.max(0)).unwrap_or(usize::MAX);
        let range = PendingRange {
            from: interval_start(&rest[0])?,
            to: interval_end(&rest[1])?,
            consumer: rest.get(3).map(Into::into),
            until_ms: (min_idle != 0).then(|| now_ms.cast_signed().saturating_sub(min_idle)),
        };
        Ok(Self { range, count })
    }

    fn is_slow(&self) -> bool {
        self.count > LOCKED_ENTRIES_MAX || self.range.until_ms.is_some()
    }
}

/// Replies with an entry: its ID, its consumer, the time since its delivery, and the number of deliveries.
fn reply_pending(reply: &mut Reply<'_>, pending: &Pending<'_>, now_ms: u64) {
    let idle_ms = now_ms
        .cast_signed()
        .wrapping_sub(pending.delivered_ms.cast_signed());
    reply.array(4);
    reply_id(reply, pending.id);
    reply.bulk(pending.consumer.name());
    reply.int(idle_ms.max(0));
    reply.int(pending.count.cast_signed());
}

pub(super) fn xpending(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (key, name, rest) = (&args[0], &args[1], args.skip(2));
    let now_ms = ctx.now.unix_ms();
    let filter = match rest.len() {
        0 => None,
        _ => Some(Filter::parse(rest, now_ms)?),
    };
    let snapshot = ctx.read(key, |entry| {
        let stream = stream_if_any(entry)?;
        let group = stream.and_then(|stream| stream.group(name));
        let group = group.ok_or_else(|| no_group(key, name))?;
        match &filter {
            None => reply_summary(group, reply),
            Some(filter) if filter.is_slow() => {
                return Ok(stream.and_then(|stream| stream.share_group(name)));
            }
            Some(Filter { range, count }) => {
                let mut left = range.count(group, *count, &mut || ());
                reply.array(left);
                if left > 0 {
                    range.for_each(group, &mut |pending| {
                        reply_pending(reply, &pending, now_ms);
                        left -= 1;
                        left > 0
                    });
                }
            }
        }
        Ok(None)
    })?;
    if let (Some(group), Some(Filter { range, count })) = (snapshot, filter) {
        work_begins();
        let mut long = ctx.long_work();
        let mut step = || long.iter_mut().for_each(LongWork::step);
        let count = range.count(&group, count, &mut step);
        range.reply(reply, (group, count), move |reply, pending| {
            reply_pending(reply, pending, now_ms);
        });
    }
    Ok(())
}

fn reply_summary(group: &StreamGroup, reply: &mut Reply<'_>) {
    reply.array(4);
    reply.int(group.pending_len() as i64);
    let Some((first, last)) = group.pending_bounds() else {
        reply.null();
        reply.null();
        return reply.null_array();
    };
    reply_id(reply, first);
    reply_id(reply, last);
    let busy = || {
        group
            .consumers()
            .filter(|consumer| consumer.pending_len() > 0)
    };
    reply.array(busy().count());
    for consumer in busy() {
        reply.array(2);
        reply.bulk(consumer.name());
        reply.bulk_int(consumer.pending_len() as i64);
    }
}
