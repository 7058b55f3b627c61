//! `XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [CLAIM min-idle-time] [NOACK] STREAMS key [key ...]
//! id [id ...]`: returns entries that no consumer of the group has got (`>`), and waits for one; or those that this
//! consumer has got and not acknowledged. With `CLAIM`, entries that are pending for too long come first.

use super::access::others_first;
use super::consumer::Consumer;
use super::reading::{Reading, STEP_ENTRIES_MAX};
use super::xread::{begin, begin_stream};
use super::xread_request::Request;
use crate::Ctx;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyBegin, KeyFind, KeyFlag, KeySpec, Reply,
    Spec,
};
use respire_store::Scope;

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
        Arg::new("min-idle-time", ArgKind::Integer)
            .token("CLAIM")
            .since("8.4.0")
            .optional(),
        Arg::word("noack", "NOACK").optional(),
        Arg::block(
            "streams",
            &[
                Arg::key("key", 0).multiple(),
                Arg::new("id", ArgKind::String).multiple(),
            ],
        )
        .token("STREAMS"),
    ],
    history: &[("8.4.0", "Added the `CLAIM` option.")],
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
    // Inside a section, everything is read at once.
    let mut long = ctx.long_work();
    let step = match long {
        Some(_) => STEP_ENTRIES_MAX,
        None => usize::MAX,
    };
    let mut readings = ctx.locked(&Scope::Keys(&scope), |view, stats| {
        let mut readings = Vec::with_capacity(scope.len());
        for (at, key) in request.keys().enumerate() {
            let read = view.read(key, |entry| {
                stats.looked_up(entry.is_some());
                request.of_group((at, key), group, entry)
            });
            let to = Consumer {
                key,
                group,
                name: consumer,
            };
            readings.push(Reading::new(to, read?, &request));
        }
        // All keys are locked meanwhile.
        let first_step = (step / scope.len()).max(1);
        for reading in &mut readings {
            reading.step(view, first_step)?;
        }
        Ok::<_, Error>(readings)
    })?;
    for reading in &mut readings {
        while !reading.is_over() {
            others_first(ctx, reading.key(), (&mut long, step));
            reading.step(&mut ctx.view, step)?;
        }
    }
    readings.retain(|reading| !reading.is_empty());
    if !readings.is_empty() {
        begin(reply, readings.len());
        for reading in readings {
            begin_stream(reply, reading.key());
            reading.reply(reply);
        }
    } else if request.block.is_none() || !ctx.wait() {
        reply.null_array();
    }
    Ok(())
}
