//! `XPENDING key group [[IDLE ms] start end count [consumer]]`: tells which entries were delivered and not acknowledged.

use super::access::{no_group, stream_if_any};
use super::ids::{interval_end, interval_start, reply_id};
use crate::Ctx;
use crate::errors::SYNTAX;
use crate::options::{integer, is_word};
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Pending, StreamGroup, StreamId};

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
struct Filter<'a> {
    min_idle: i64,
    from: StreamId,
    to: StreamId,
    count: usize,
    consumer: Option<&'a [u8]>,
    now_ms: u64,
}

impl<'a> Filter<'a> {
    fn parse(args: ArgList<'a>, now_ms: u64) -> Result<Self, Error> {
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
        Ok(Self {
            min_idle,
            from: interval_start(&rest[0])?,
            to: interval_end(&rest[1])?,
            count,
            consumer: rest.get(3),
            now_ms,
        })
    }

    fn is_slow(&self) -> bool {
        self.count > LOCKED_ENTRIES_MAX || self.min_idle != 0
    }

    fn idle_ms(&self, pending: &Pending<'_>) -> i64 {
        self.now_ms
            .cast_signed()
            .wrapping_sub(pending.delivered_ms.cast_signed())
    }

    fn is_wanted(&self, pending: &Pending<'_>) -> bool {
        self.min_idle == 0 || self.idle_ms(pending) >= self.min_idle
    }

    /// Calls `f` with the entries.
    fn for_each(&self, group: &StreamGroup, f: &mut dyn FnMut(Pending<'_>)) {
        let mut left = self.count;
        let mut take = |pending: Pending<'_>| {
            if left == 0 || pending.id > self.to {
                return false;
            }
            if self.is_wanted(&pending) {
                left -= 1;
                f(pending);
            }
            true
        };
        match self.consumer {
            None => {
                group.pending(self.from).all(&mut take);
            }
            Some(name) => {
                let of = group
                    .consumer(name)
                    .into_iter()
                    .flat_map(|consumer| consumer.pending(self.from));
                of.filter_map(|id| group.pending_of(id)).all(&mut take);
            }
        }
    }

    fn reply(&self, group: &StreamGroup, reply: &mut Reply<'_>) {
        let mut count = 0;
        self.for_each(group, &mut |_| count += 1);
        reply.array(count);
        self.for_each(group, &mut |pending| {
            reply.array(4);
            reply_id(reply, pending.id);
            reply.bulk(pending.consumer.name());
            reply.int(self.idle_ms(&pending).max(0));
            reply.int(pending.count.cast_signed());
        });
    }
}

pub(super) fn xpending(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (key, name, rest) = (&args[0], &args[1], args.skip(2));
    let filter = match rest.len() {
        0 => None,
        _ => Some(Filter::parse(rest, ctx.now.unix_ms())?),
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
            Some(filter) => filter.reply(group, reply),
        }
        Ok(None)
    })?;
    if let (Some(group), Some(filter)) = (snapshot, filter) {
        work_begins();
        filter.reply(&group, reply);
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
