//! `XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]`: delivers the entries that are pending for too
//! long to another consumer, a part of them at a time.

use super::access::no_group;
use super::ids::{interval_start, reply_id};
use super::xclaim::{Claim, Claimed, reply_claimed};
use crate::Ctx;
use crate::errors::SYNTAX;
use crate::notify;
use crate::options::{Options, is_word};
use resp_codec::number::parse_i64;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Kind, Stream, StreamId, StreamSlice};

pub(super) static XAUTOCLAIM: Spec = Spec {
    name: "xautoclaim",
    summary: "Changes (or acquires) ownership of messages in a consumer group, as if the messages were delivered to the specified consumer.",
    since: "6.2.0",
    complexity: "O(1) if COUNT is small.",
    group: Group::Stream,
    arity: Arity::at_least(6),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("group", ArgKind::String),
        Arg::new("consumer", ArgKind::String),
        Arg::new("min-idle-time", ArgKind::String),
        Arg::new("start", ArgKind::String),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
        Arg::word("justid", "JUSTID").optional(),
    ],
    tips: &["nondeterministic_output"],
    history: &[(
        "7.0.0",
        "Added an element to the reply array, containing deleted entries the command cleared from the PEL",
    )],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XGROUP CREATE s g 0", "+OK\r\n"),
        (
            "XREADGROUP GROUP g Bob COUNT 1 STREAMS s >",
            "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$4\r\nname\r\n$3\r\nAda\r\n",
        ),
        (
            "XAUTOCLAIM s g Cid 0 0 JUSTID",
            "*3\r\n$3\r\n0-0\r\n*1\r\n$3\r\n1-0\r\n*0\r\n",
        ),
        (
            "XAUTOCLAIM s g Cid 3600000 0",
            "*3\r\n$3\r\n0-0\r\n*0\r\n*0\r\n",
        ),
    ],
    ..Spec::EMPTY
};

const MIN_IDLE: Error = Error::fixed("ERR Invalid min-idle-time argument for XAUTOCLAIM");
const COUNT: Error = Error::fixed("ERR COUNT must be > 0");
const COUNT_TOO_HIGH: Error =
    Error::fixed("ERR Insufficient memory, failed allocating transient memory, COUNT too high.");

/// The entries that a request looks at, for each one that it may claim.
const ATTEMPTS_FACTOR: usize = 10;

/// The largest count, for which Redis could number its attempts.
const COUNT_MAX: i64 = i64::MAX / 16;

/// The largest count for which Redis would find memory, about.
const COUNT_WITH_MEMORY_MAX: i64 = 1 << 40;

struct Request {
    min_idle: i64,
    start: StreamId,
    count: usize,
    just_id: bool,
}

fn parse(args: ArgList<'_>) -> Result<Request, Error> {
    let mut request = Request {
        min_idle: parse_i64(&args[0]).ok_or(MIN_IDLE)?,
        start: interval_start(&args[1])?,
        count: 100,
        just_id: false,
    };
    let mut count = 100;
    let mut options = Options::new(args.skip(2));
    while let Some(word) = options.next() {
        if is_word(word, "COUNT") && options.len() > 0 {
            let number = parse_i64(options.value()?);
            count = number
                .filter(|count| (1..=COUNT_MAX).contains(count))
                .ok_or(COUNT)?;
        } else if is_word(word, "JUSTID") {
            request.just_id = true;
        } else {
            return Err(SYNTAX);
        }
    }
    request.count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(request)
}

/// What a request did.
#[derive(Default)]
struct Outcome {
    taken: Vec<(StreamId, StreamSlice)>,
    deleted: Vec<StreamId>,
    /// Where the next request should start; the smallest ID if there are no more entries.
    next: StreamId,
    is_new: bool,
}

fn claim_some(stream: &mut Stream, claim: &Claim<'_>, request: &Request) -> Outcome {
    let mut outcome = Outcome::default();
    let (mut next, mut count) = (Some(request.start), request.count);
    let after = |stream: &Stream, from: Option<StreamId>| {
        let group = stream.read().group(claim.group)?;
        group.pending(from?).next().map(|pending| pending.id)
    };
    for _ in 0..request.count.saturating_mul(ATTEMPTS_FACTOR) {
        let Some(id) = after(stream, next).filter(|_| count > 0) else {
            break;
        };
        next = id.next();
        match claim.apply(stream, id) {
            Claimed::Taken { entry, is_new } => {
                outcome.is_new |= is_new;
                outcome.taken.push((id, entry));
                count -= 1;
            }
            Claimed::Deleted { .. } => {
                outcome.deleted.push(id);
                count -= 1;
            }
            Claimed::Left => {}
        }
    }
    outcome.next = after(stream, next).unwrap_or(StreamId::MIN);
    outcome
}

pub(super) fn xautoclaim(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (key, group, consumer) = (&args[0], &args[1], &args[2]);
    // Redis looks the key up before it reads the options.
    let request = parse(args.skip(3)).inspect_err(|_| ctx.read(key, |_| ()))?;
    let now_ms = ctx.now.unix_ms();
    let claim = Claim {
        group,
        consumer,
        min_idle: request.min_idle,
        delivered_ms: now_ms,
        retry_count: None,
        is_forced: false,
        just_id: request.just_id,
        now_ms,
    };
    let outcome = ctx.edit_stream(key, |stream| {
        if stream.read().group(group).is_none() {
            return Edited::Unchanged(Err(no_group(key, group)));
        }
        if request.count > COUNT_WITH_MEMORY_MAX as usize {
            return Edited::Unchanged(Err(COUNT_TOO_HIGH));
        }
        let outcome = claim_some(stream, &claim, &request);
        match outcome.taken.is_empty() && outcome.deleted.is_empty() {
            true => Edited::Unchanged(Ok(outcome)),
            false => Edited::Changed(Ok(outcome)),
        }
    })?;
    let outcome = outcome.ok_or_else(|| no_group(key, group))??;
    if outcome.is_new {
        ctx.view
            .update(key, |slot| slot.event(notify::XGROUP_CREATECONSUMER));
    }
    reply.array(3);
    reply_id(reply, outcome.next);
    reply_claimed(reply, &outcome.taken, request.just_id);
    reply.array(outcome.deleted.len());
    outcome.deleted.iter().for_each(|id| reply_id(reply, *id));
    Ok(())
}
