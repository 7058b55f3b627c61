//! `XACK key group id [id ...]`: notes that entries were processed, so that they are no longer pending.

use super::ids::strict_id;
use crate::Ctx;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Stream, StreamId};

pub(super) static XACK: Spec = Spec {
    name: "xack",
    summary: "Marks a pending message as correctly processed, effectively removing it from the pending entries list of the consumer group. Return value of the command is the number of messages successfully acknowledged, that is, the IDs we were actually able to resolve in the PEL.",
    since: "5.0.0",
    complexity: "O(1) for each message ID processed.",
    group: Group::Stream,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("group", ArgKind::String),
        Arg::new("id", ArgKind::String).multiple(),
    ],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XGROUP CREATE s g 0", "+OK\r\n"),
        (
            "XREADGROUP GROUP g Bob COUNT 1 STREAMS s >",
            "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$4\r\nname\r\n$3\r\nAda\r\n",
        ),
        ("XACK s g 1 2", ":1\r\n"),
        ("XACK s nothing 1", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn xack(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (group, ids) = (&args[1], args.skip(2));
    let acknowledged =
        ctx.edit_stream(&args[0], |stream| match acknowledge(stream, group, ids) {
            Ok(0) => Edited::Unchanged(Ok(0)),
            Ok(acknowledged) => Edited::Unwatched(Ok(acknowledged)),
            Err(error) => Edited::Unchanged(Err(error)),
        })?;
    reply.int(acknowledged.transpose()?.unwrap_or(0) as i64);
    Ok(())
}

fn acknowledge(stream: &mut Stream, group: &[u8], ids: ArgList<'_>) -> Result<usize, Error> {
    let acknowledged = stream.edit_group(group, |group, _| {
        if ids.len() == 1 {
            let id = strict_id(&ids[0], 0)?;
            return Ok(usize::from(group.acknowledge(id)));
        }
        let ids: Result<Vec<StreamId>, Error> = ids.iter().map(|id| strict_id(id, 0)).collect();
        let ids = ids?.into_iter();
        Ok(ids.filter(|id| group.acknowledge(*id)).count())
    });
    acknowledged.unwrap_or(Ok(0))
}
