//! `XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-ms] [RETRYCOUNT count] [FORCE] [JUSTID]
//! [LASTID id]`: delivers entries that are pending for too long to another consumer.

use super::access::no_group;
use super::batches::Batches;
use super::entries::reply_one;
use super::ids::{reply_id, strict_id};
use super::reading::ENTRY_BYTES;
use crate::Ctx;
use crate::notify;
use crate::options::{Options, is_word};
use resp_codec::number::parse_i64;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Delivery, Edited, Kind, Stream, StreamGroup, StreamId, StreamSlice};

pub(super) static XCLAIM: Spec = Spec {
    name: "xclaim",
    summary: "Changes (or acquires) ownership of a message in a consumer group, as if the message was delivered to the specified consumer.",
    since: "5.0.0",
    complexity: "O(log N) with N being the number of messages in the PEL of the consumer group.",
    group: Group::Stream,
    arity: Arity::at_least(6),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("group", ArgKind::String),
        Arg::new("consumer", ArgKind::String),
        Arg::new("min-idle-time", ArgKind::String),
        Arg::new("id", ArgKind::String).multiple(),
        Arg::new("ms", ArgKind::Integer).token("IDLE").optional(),
        Arg::new("unix-time-milliseconds", ArgKind::UnixTime)
            .token("TIME")
            .optional(),
        Arg::new("count", ArgKind::Integer)
            .token("RETRYCOUNT")
            .optional(),
        Arg::word("force", "FORCE").optional(),
        Arg::word("justid", "JUSTID").optional(),
        Arg::new("id", ArgKind::String).token("LASTID").optional(),
    ],
    tips: &["nondeterministic_output"],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XGROUP CREATE s g 0", "+OK\r\n"),
        (
            "XREADGROUP GROUP g Bob COUNT 1 STREAMS s >",
            "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$4\r\nname\r\n$3\r\nAda\r\n",
        ),
        ("XCLAIM s g Cid 0 1 JUSTID", "*1\r\n$3\r\n1-0\r\n"),
        ("XCLAIM s g Cid 3600000 1", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

const MIN_IDLE: Error = Error::fixed("ERR Invalid min-idle-time argument for XCLAIM");
const IDLE: Error = Error::fixed("ERR Invalid IDLE option argument for XCLAIM");
const TIME: Error = Error::fixed("ERR Invalid TIME option argument for XCLAIM");
const RETRY_COUNT: Error = Error::fixed("ERR Invalid RETRYCOUNT option argument for XCLAIM");

/// A claim of entries for a consumer.
pub(super) struct Claim<'a> {
    pub(super) group: &'a [u8],
    pub(super) consumer: &'a [u8],
    /// Entries that were delivered more recently stay where they are.
    pub(super) min_idle: i64,
    /// When the entries were delivered, as the consumer will find it.
    pub(super) delivered_ms: u64,
    pub(super) retry_count: Option<u64>,
    pub(super) is_forced: bool,
    /// Only the IDs are wanted, and the number of deliveries stays.
    pub(super) just_id: bool,
    pub(super) now_ms: u64,
}

/// What a claim did with an entry.
pub(super) enum Claimed {
    /// It is the consumer's, who may be new.
    Taken { entry: StreamSlice, is_new: bool },
    /// It was deleted, and is no longer pending if it was.
    Deleted { was_pending: bool },
    /// It is not pending, or not for long enough.
    Left,
}

impl Claim<'_> {
    /// Claims an entry, which the stream has unless the slice is empty.
    pub(super) fn apply(
        &self,
        group: &mut StreamGroup,
        id: StreamId,
        entry: StreamSlice,
    ) -> Claimed {
        if entry.is_empty() {
            let was_pending = group.acknowledge(id);
            return Claimed::Deleted { was_pending };
        }
        let count = match group.pending_of(id) {
            Some(pending) => {
                let idle = self
                    .now_ms
                    .cast_signed()
                    .wrapping_sub(pending.delivered_ms.cast_signed());
                if self.min_idle > 0 && idle < self.min_idle {
                    return Claimed::Left;
                }
                pending.count
            }
            None if self.is_forced => 1,
            None => return Claimed::Left,
        };
        let is_new = group.see_consumer(self.consumer, self.now_ms);
        let delivery = Delivery {
            delivered_ms: self.delivered_ms,
            count: self.retry_count.unwrap_or(count + u64::from(!self.just_id)),
        };
        group.claim(id, self.consumer, delivery);
        group.set_active(self.consumer, self.now_ms);
        Claimed::Taken { entry, is_new }
    }
}

struct Request {
    min_idle: i64,
    ids: Vec<StreamId>,
    /// `None` is now.
    delivered: Option<i64>,
    retry_count: Option<u64>,
    is_forced: bool,
    just_id: bool,
    last_id: StreamId,
}

fn parse(args: ArgList<'_>, now_ms: i64) -> Result<Request, Error> {
    let min_idle = parse_i64(&args[0]).ok_or(MIN_IDLE)?;
    let ids: Vec<StreamId> = args
        .skip(1)
        .iter()
        .map_while(|id| strict_id(id, 0).ok())
        .collect();
    let mut options = Options::new(args.skip(1 + ids.len()));
    let mut request = Request {
        min_idle,
        ids,
        delivered: None,
        retry_count: None,
        is_forced: false,
        just_id: false,
        last_id: StreamId::MIN,
    };
    while let Some(word) = options.next() {
        let has_value = options.len() > 0;
        let mut number = |error| options.value().ok().and_then(parse_i64).ok_or(error);
        if is_word(word, "FORCE") {
            request.is_forced = true;
        } else if is_word(word, "JUSTID") {
            request.just_id = true;
        } else if is_word(word, "IDLE") && has_value {
            request.delivered = Some(now_ms.wrapping_sub(number(IDLE)?));
        } else if is_word(word, "TIME") && has_value {
            request.delivered = Some(number(TIME)?);
        } else if is_word(word, "RETRYCOUNT") && has_value {
            request.retry_count = u64::try_from(number(RETRY_COUNT)?).ok();
        } else if is_word(word, "LASTID") && has_value {
            request.last_id = strict_id(options.value()?, 0)?;
        } else {
            return Err(Error::quoting(
                "ERR Unrecognized XCLAIM option '",
                word,
                "'",
            ));
        }
    }
    Ok(request)
}

/// What the claims of a request did.
#[derive(Default)]
struct Outcome {
    taken: Vec<(StreamId, StreamSlice)>,
    is_new: bool,
    has_changed: bool,
    just_id: bool,
}

fn claim(stream: &mut Stream, args: ArgList<'_>, now_ms: u64) -> Result<Outcome, Error> {
    let (key, group, consumer) = (&args[0], &args[1], &args[2]);
    if stream.read().group(group).is_none() {
        return Err(no_group(key, group));
    }
    let request = parse(args.skip(3), now_ms.cast_signed())?;
    let mut outcome = Outcome {
        just_id: request.just_id,
        ..Outcome::default()
    };
    stream.edit_group(group, |group, _| {
        outcome.has_changed = request.last_id > group.last_id;
        group.last_id = group.last_id.max(request.last_id);
    });
    // A time in the future or before 1970 is a mistake.
    let delivered = request.delivered.and_then(|ms| u64::try_from(ms).ok());
    let claim = Claim {
        group,
        consumer,
        min_idle: request.min_idle,
        delivered_ms: delivered.filter(|ms| *ms <= now_ms).unwrap_or(now_ms),
        retry_count: request.retry_count,
        is_forced: request.is_forced,
        just_id: request.just_id,
        now_ms,
    };
    let entries: Vec<_> = stream.read().entries(request.ids.iter().copied()).collect();
    stream.edit_group(group, |group, _| {
        for (id, entry) in request.ids.into_iter().zip(entries) {
            match claim.apply(group, id, entry) {
                Claimed::Taken { entry, is_new } => {
                    outcome.is_new |= is_new;
                    outcome.has_changed = true;
                    outcome.taken.push((id, entry));
                }
                Claimed::Deleted { was_pending } => outcome.has_changed |= was_pending,
                Claimed::Left => {}
            }
        }
    });
    Ok(outcome)
}

pub(super) fn xclaim(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (key, now_ms) = (&args[0], ctx.now.unix_ms());
    let outcome = ctx.edit_stream(key, |stream| match claim(stream, args, now_ms) {
        Ok(outcome) if outcome.has_changed => Edited::Unwatched(Ok(outcome)),
        outcome => Edited::Unchanged(outcome),
    })?;
    let outcome = outcome.ok_or_else(|| no_group(key, &args[1]))??;
    if outcome.is_new {
        ctx.view
            .update(key, |slot| slot.event(notify::XGROUP_CREATECONSUMER));
    }
    let mut taken = Batches::default();
    taken.push(outcome.taken);
    reply_claimed(reply, taken, outcome.just_id);
    Ok(())
}

/// Replies with entries that were claimed, or with their IDs.
pub(super) fn reply_claimed(
    reply: &mut Reply<'_>,
    taken: Batches<(StreamId, StreamSlice)>,
    just_id: bool,
) {
    reply.array(taken.len());
    taken.reply(reply, ENTRY_BYTES, move |reply, (id, entry)| {
        if just_id {
            reply_id(reply, id);
        } else {
            reply_one(reply, &entry);
        }
    });
}
