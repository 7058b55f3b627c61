//! `XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]`: returns
//! entries that no consumer of the group has got (`>`), and waits for one; or those that this consumer has got and not
//! acknowledged.

use super::access::{edit_quietly, no_group_to_read};
use super::entries::{reply_entries, reply_one};
use super::ids::reply_id;
use super::xread::{begin, begin_stream};
use super::xread_request::{GroupRead, Request, slice_after};
use crate::Ctx;
use crate::notify;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyBegin, KeyFind, KeyFlag, KeySpec, Reply,
    Spec,
};
use respire_store::{Edited, Kind, Scope, Stream, StreamId, StreamSlice, View};

pub(super) static XREADGROUP: Spec = Spec {
    name: "xreadgroup",
    summary: "Return new entries from a stream using a consumer group, or access the history of the pending entries for a given consumer. Can block.",
    since: "5.0.0",
    complexity: "For each stream mentioned: O(M) with M being the number of elements returned. If M is constant (e.g. always asking for the first 10 elements with COUNT), you can consider it O(1). On the other side when XREADGROUP blocks, XADD will pay the O(N) time in order to serve the N clients blocked on the stream getting new data.",
    group: Group::Stream,
    arity: Arity::at_least(7),
    flags: Flags::BLOCKING.with(Flags::WRITE).with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec {
        begin: KeyBegin::Keyword {
            word: "STREAMS",
            from: 4,
        },
        find: KeyFind::Range {
            last: -1,
            step: 1,
            limit: 2,
        },
        flags: &[KeyFlag::Ro, KeyFlag::Access],
        notes: "",
    }],
    args: &[
        Arg::block(
            "group_consumer",
            &[
                Arg::new("group", ArgKind::String),
                Arg::new("consumer", ArgKind::String),
            ],
        )
        .token("GROUP"),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
        Arg::new("milliseconds", ArgKind::Integer)
            .token("BLOCK")
            .optional(),
        Arg::word("noack", "NOACK").optional(),
        Arg::block(
            "streams",
            &[
                Arg::key("key", 0).multiple(),
                Arg::new("ID", ArgKind::String).multiple(),
            ],
        )
        .token("STREAMS"),
    ],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XGROUP CREATE s g 0", "+OK\r\n"),
        (
            "XREADGROUP GROUP g Bob STREAMS s >",
            "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$4\r\nname\r\n$3\r\nAda\r\n",
        ),
        ("XREADGROUP GROUP g Bob STREAMS s >", "*-1\r\n"),
        ("XACK s g 1", ":1\r\n"),
        (
            "XREADGROUP GROUP g Bob STREAMS s 0",
            "*1\r\n*2\r\n$1\r\ns\r\n*0\r\n",
        ),
    ],
    ..Spec::EMPTY
};

/// The entries that a consumer gets of a stream.
enum Given {
    New(StreamSlice),
    /// Entries with their IDs; those that were deleted have no entry.
    History(Vec<(StreamId, StreamSlice)>),
}

impl Given {
    fn reply(self, reply: &mut Reply<'_>) {
        let history = match self {
            Self::New(slice) => return reply_entries(reply, slice),
            Self::History(history) => history,
        };
        reply.array(history.len());
        for (id, slice) in history {
            if slice.is_empty() {
                reply.array(2);
                reply_id(reply, id);
                reply.null_array();
            } else {
                reply_one(reply, &slice);
            }
        }
    }
}

pub(super) fn xreadgroup(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = Request::of_call(ctx, args, true)?;
    let Some((group, consumer)) = request.group else {
        unreachable!("invariant: XREADGROUP has a group");
    };
    let scope: Vec<(u32, &[u8])> = request.keys().map(|key| (ctx.view.db(), key)).collect();
    let given = ctx.locked(&Scope::Keys(&scope), |view, stats| {
        let mut reads = Vec::with_capacity(scope.len());
        for (at, key) in request.keys().enumerate() {
            let read = view.read(key, |entry| {
                stats.looked_up(entry.is_some());
                request.of_group((at, key), group, entry)
            });
            reads.push(read?);
        }
        let mut given = Vec::new();
        for (key, read) in request.keys().zip(reads) {
            let to = Consumer {
                key,
                group,
                name: consumer,
            };
            let found = match read {
                GroupRead::New => to.read_new(view, &request)?.map(Given::New),
                GroupRead::History(after) => Some(Given::History(to.read_history(
                    view,
                    after,
                    request.count_max(),
                )?)),
            };
            given.extend(found.map(|found| (key, found)));
        }
        Ok::<_, Error>(given)
    })?;
    if !given.is_empty() {
        begin(reply, given.len());
        for (key, given) in given {
            begin_stream(reply, key);
            given.reply(reply);
        }
    } else if request.block.is_none() || !ctx.wait() {
        reply.null_array();
    }
    Ok(())
}

/// A consumer of a stream.
#[derive(Clone, Copy)]
pub(super) struct Consumer<'a> {
    pub(super) key: &'a [u8],
    pub(super) group: &'a [u8],
    pub(super) name: &'a [u8],
}

impl Consumer<'_> {
    fn read_new(
        self,
        view: &mut View<'_>,
        request: &Request<'_>,
    ) -> Result<Option<StreamSlice>, Error> {
        let slice = view.peek(self.key, |entry| {
            let stream = entry?.typed::<Stream>().ok()?;
            let group = stream.group(self.group)?;
            Some(slice_after(stream, group.last_id, request.count_max()))
        });
        let Some(slice) = slice.filter(|slice| !slice.is_empty()) else {
            return Ok(None);
        };
        self.deliver(view, &slice, request.no_ack)?;
        Ok(Some(slice))
    }

    /// Notes that the consumer gets entries that are new to the group.
    pub(super) fn deliver(
        self,
        view: &mut View<'_>,
        slice: &StreamSlice,
        no_ack: bool,
    ) -> Result<(), Error> {
        let now_ms = view.now_ms();
        let consumer = (!no_ack).then_some(self.name);
        self.edit(view, |stream| {
            stream.deliver(self.group, slice, consumer, now_ms);
            stream.edit_group(self.group, |group, _| group.set_active(self.name, now_ms));
        })?;
        Ok(())
    }

    fn read_history(
        self,
        view: &mut View<'_>,
        after: StreamId,
        count: usize,
    ) -> Result<Vec<(StreamId, StreamSlice)>, Error> {
        let now_ms = view.now_ms();
        let history = self.edit(view, |stream| {
            let pending: Vec<StreamId> = stream
                .read()
                .group(self.group)
                .and_then(|group| group.consumer(self.name))
                .zip(after.next())
                .map(|(consumer, from)| consumer.pending(from).take(count).collect())
                .unwrap_or_default();
            let slices = stream.read().entries(pending.iter().copied());
            let slices: Vec<StreamSlice> = slices.collect();
            let entries: Vec<(StreamId, StreamSlice)> = pending.into_iter().zip(slices).collect();
            stream.edit_group(self.group, |group, _| {
                for (id, slice) in &entries {
                    if !slice.is_empty() {
                        group.deliver_again(*id, now_ms);
                    }
                }
            });
            entries
        })?;
        history.ok_or_else(|| no_group_to_read(self.key, self.group))
    }

    /// Changes the stream, and tells of the consumer if it is new.
    fn edit<R>(
        self,
        view: &mut View<'_>,
        f: impl FnOnce(&mut Stream) -> R,
    ) -> Result<Option<R>, Error> {
        let (now_ms, mut is_new) = (view.now_ms(), false);
        let edited = edit_quietly(view, self.key, |stream| {
            let seen = |group: &mut respire_store::StreamGroup, _: &_| {
                group.see_consumer(self.name, now_ms)
            };
            is_new = stream.edit_group(self.group, seen).unwrap_or(false);
            Edited::Changed(f(stream))
        })?;
        if is_new {
            view.update(self.key, |slot| slot.event(notify::XGROUP_CREATECONSUMER));
        }
        Ok(edited)
    }
}
