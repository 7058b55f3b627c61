//! `XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]`: delivers the entries that are pending for too
//! long to another consumer, a part of them at a time.

use super::access::{edit_quietly, no_group, others_first};
use super::batches::Batches;
use super::ids::{interval_start, reply_id};
use super::reading::ENTRY_BYTES;
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
    taken: Batches<(StreamId, StreamSlice)>,
    deleted: Batches<StreamId>,
    is_new: bool,
}

/// A request that is carried out in steps, so that the key is never locked for long.
struct Work<'a> {
    claim: Claim<'a>,
    /// Where the next step starts; `None` if there are no more IDs.
    next: Option<StreamId>,
    /// How many entries may still be claimed, and how many may still be looked at.
    count: usize,
    attempts: usize,
    outcome: Outcome,
}

/// Entries that a step looks at.
const STEP_ENTRIES_MAX: usize = 384;

impl Work<'_> {
    /// Looks at some entries. Returns whether it changed any.
    fn step(&mut self, stream: &mut Stream) -> bool {
        let most = self.count.min(self.attempts).min(STEP_ENTRIES_MAX);
        let ids: Vec<StreamId> = self.pending(stream).take(most).collect();
        let entries: Vec<_> = stream.read().entries(ids.iter().copied()).collect();
        self.attempts -= ids.len();
        if ids.len() < most {
            self.count = 0;
        }
        self.next = match ids.last() {
            Some(last) => last.next(),
            None => self.next,
        };
        let (mut taken, mut deleted) = (Vec::new(), Vec::new());
        stream.edit_group(self.claim.group, |group, _| {
            for (id, entry) in ids.into_iter().zip(entries) {
                match self.claim.apply(group, id, entry) {
                    Claimed::Taken { entry, is_new } => {
                        self.outcome.is_new |= is_new;
                        taken.push((id, entry));
                    }
                    Claimed::Deleted { .. } => deleted.push(id),
                    Claimed::Left => continue,
                }
                self.count = self.count.saturating_sub(1);
            }
        });
        let has_changed = !taken.is_empty() || !deleted.is_empty();
        self.outcome.taken.push(taken);
        self.outcome.deleted.push(deleted);
        has_changed
    }

    fn is_over(&self) -> bool {
        self.count == 0 || self.attempts == 0 || self.next.is_none()
    }

    /// The IDs that are pending from the next one on.
    fn pending<'s>(&self, stream: &'s Stream) -> impl Iterator<Item = StreamId> + use<'s> {
        let group = stream.read().group(self.claim.group);
        let pending = group.zip(self.next).into_iter();
        pending.flat_map(|(group, from)| group.pending(from).map(|pending| pending.id))
    }

    /// Steps, and returns where the next request should start once there is no more to do: the smallest ID if there
    /// are no more entries.
    fn step_or_end(&mut self, stream: &mut Stream) -> Edited<Option<StreamId>> {
        let has_changed = self.step(stream);
        let end = self
            .is_over()
            .then(|| self.pending(stream).next().unwrap_or(StreamId::MIN));
        match has_changed {
            true => Edited::Unwatched(end),
            false => Edited::Unchanged(end),
        }
    }
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
    let mut work = Work {
        claim,
        next: Some(request.start),
        count: request.count,
        attempts: request.count.saturating_mul(ATTEMPTS_FACTOR),
        outcome: Outcome::default(),
    };
    let begun = ctx.edit_stream(key, |stream| {
        if stream.read().group(group).is_none() {
            return Edited::Unchanged(Err(no_group(key, group)));
        }
        if request.count > COUNT_WITH_MEMORY_MAX as usize {
            return Edited::Unchanged(Err(COUNT_TOO_HIGH));
        }
        work.step_or_end(stream).map(Ok)
    })?;
    let mut end = begun.ok_or_else(|| no_group(key, group))??;
    let mut long = ctx.long_work();
    let end = loop {
        if let Some(end) = end {
            break end;
        }
        others_first(ctx, key, (&mut long, STEP_ENTRIES_MAX));
        // The stream may be gone or something else by now; then there are no more entries.
        let stepped = edit_quietly(&mut ctx.view, key, |stream| work.step_or_end(stream));
        end = stepped.unwrap_or(None).unwrap_or(Some(StreamId::MIN));
    };
    let outcome = work.outcome;
    if outcome.is_new {
        ctx.view
            .update(key, |slot| slot.event(notify::XGROUP_CREATECONSUMER));
    }
    reply.array(3);
    reply_id(reply, end);
    reply_claimed(reply, outcome.taken, request.just_id);
    reply.array(outcome.deleted.len());
    outcome.deleted.reply(reply, ENTRY_BYTES, reply_id);
    Ok(())
}
