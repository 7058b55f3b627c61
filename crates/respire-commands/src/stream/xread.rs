//! `XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]`: returns the entries behind an ID, of
//! several streams, and waits for one. The ID `$` is the stream's last one; `+`, as in Redis 7.4, is the one before the
//! last entry's, so that the reply has that entry.

use super::entries::reply_entries;
use super::xread_request::Request;
use crate::Ctx;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyBegin, KeyFind, KeyFlag, KeySpec, Proto,
    Reply, Spec,
};
use respire_store::{EntryRef, Scope, StreamSlice};

pub(super) static XREAD: Spec = Spec {
    name: "xread",
    summary: "Return never seen elements in multiple streams, with IDs greater than the ones reported by the caller for each stream. Can block.",
    since: "5.0.0",
    complexity: "For each stream mentioned: O(N) with N being the number of elements being returned, it means that XREAD-ing with a fixed COUNT is O(1). Note that when the BLOCK option is used, XADD will pay O(M) time in order to serve the M clients blocked on the stream getting new data.",
    group: Group::Stream,
    arity: Arity::at_least(4),
    flags: Flags::BLOCKING
        .with(Flags::READONLY)
        .with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec {
        begin: KeyBegin::Keyword {
            word: "STREAMS",
            from: 1,
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
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
        Arg::new("milliseconds", ArgKind::Integer)
            .token("BLOCK")
            .optional(),
        Arg::block(
            "streams",
            &[
                Arg::key("key", 0).multiple(),
                Arg::new("id", ArgKind::String).multiple(),
            ],
        )
        .token("STREAMS"),
    ],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        (
            "XREAD STREAMS s t 0 0",
            "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$4\r\nname\r\n$3\r\nAda\r\n",
        ),
        ("XREAD STREAMS s $", "*-1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn xread(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = Request::of_call(ctx, args, false)?;
    let found = read_all(ctx, &request)?;
    let mut found: Vec<(&[u8], StreamSlice)> = request.keys().zip(found).collect();
    found.retain(|(_, slice)| !slice.is_empty());
    if !found.is_empty() {
        begin(reply, found.len());
        for (key, slice) in found {
            begin_stream(reply, key);
            reply_entries(reply, slice);
        }
    } else if request.block.is_none() || !ctx.wait() {
        reply.null_array();
    }
    Ok(())
}

/// The entries that each stream has for the request.
fn read_all(ctx: &mut Ctx<'_>, request: &Request<'_>) -> Result<Vec<StreamSlice>, Error> {
    let scope: Vec<(u32, &[u8])> = request.keys().map(|key| (ctx.view.db(), key)).collect();
    let mut missing = 0;
    let mut read = |at: usize, entry: Option<EntryRef<'_>>| {
        missing += usize::from(entry.is_none());
        request.after(at, entry).map(|(_, slice)| slice)
    };
    let found = match scope[..] {
        [(_, key)] => vec![ctx.read(key, |entry| read(0, entry))?],
        _ => ctx.locked(&Scope::Keys(&scope), |view, stats| {
            let slices = scope.iter().enumerate().map(|(at, (_, key))| {
                view.read(key, |entry| {
                    stats.looked_up(entry.is_some());
                    read(at, entry)
                })
            });
            slices.collect::<Result<Vec<StreamSlice>, Error>>()
        })?,
    };
    if missing > 0 {
        // Redis looks twice, and tells each time of the keys that it misses.
        ctx.read_many(request.keys(), |_| {});
    }
    Ok(found)
}

/// Begins a reply with the entries of so many streams: a map in RESP3, an array of pairs in RESP2.
pub(super) fn begin(reply: &mut Reply<'_>, streams: usize) {
    match reply.proto() {
        Proto::Resp2 => reply.array(streams),
        _ => reply.map(streams),
    }
}

/// Begins the entries of a stream.
pub(super) fn begin_stream(reply: &mut Reply<'_>, key: &[u8]) {
    if reply.proto() == Proto::Resp2 {
        reply.array(2);
    }
    reply.bulk(key);
}
