//! `XRANGE key start end [COUNT count]`, `XREVRANGE key end start [COUNT count]`: return the entries of a range of IDs.
//!
//! The entries are written without the key's lock.

use super::entries::reply_entries;
use super::ids::{interval_end, interval_start};
use crate::Ctx;
use crate::errors::SYNTAX;
use crate::options::{Options, is_word};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::StreamRange;

pub(super) static XRANGE: Spec = Spec {
    name: "xrange",
    summary: "Return a range of elements in a stream, with IDs matching the specified IDs interval",
    since: "5.0.0",
    complexity: "O(N) with N being the number of elements being returned. If N is constant (e.g. always asking for the first 10 elements with COUNT), you can consider it O(1).",
    group: Group::Stream,
    arity: Arity::at_least(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro, KeyFlag::Access])],
    args: &[
        Arg::key("key", 0),
        Arg::new("start", ArgKind::String),
        Arg::new("end", ArgKind::String),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
    ],
    history: &[("6.2.0", "Added exclusive ranges.")],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XADD s 2 name Bob", "$3\r\n2-0\r\n"),
        (
            "XRANGE s (1 + COUNT 1",
            "*1\r\n*2\r\n$3\r\n2-0\r\n*2\r\n$4\r\nname\r\n$3\r\nBob\r\n",
        ),
        ("XRANGE nothing - +", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static XREVRANGE: Spec = Spec {
    name: "xrevrange",
    summary: "Return a range of elements in a stream, with IDs matching the specified IDs interval, in reverse order (from greater to smaller IDs) compared to XRANGE",
    since: "5.0.0",
    complexity: "O(N) with N being the number of elements returned. If N is constant (e.g. always asking for the first 10 elements with COUNT), you can consider it O(1).",
    group: Group::Stream,
    arity: Arity::at_least(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro, KeyFlag::Access])],
    args: &[
        Arg::key("key", 0),
        Arg::new("end", ArgKind::String),
        Arg::new("start", ArgKind::String),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
    ],
    history: &[("6.2.0", "Added exclusive ranges.")],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XADD s 2 name Bob", "$3\r\n2-0\r\n"),
        (
            "XREVRANGE s + - COUNT 1",
            "*1\r\n*2\r\n$3\r\n2-0\r\n*2\r\n$4\r\nname\r\n$3\r\nBob\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn xrange(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (start, end) = (&args[1], &args[2]);
    range(ctx, args, (start, end, false), reply)
}

pub(super) fn xrevrange(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (end, start) = (&args[1], &args[2]);
    range(ctx, args, (start, end, true), reply)
}

fn range(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    (start, end, is_reversed): (&[u8], &[u8], bool),
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mut range = StreamRange {
        from: interval_start(start)?,
        to: interval_end(end)?,
        is_reversed,
        ..StreamRange::default()
    };
    let mut options = Options::new(args.skip(3));
    while let Some(word) = options.next() {
        if !is_word(word, "COUNT") || options.len() == 0 {
            return Err(SYNTAX);
        }
        let count = options.integer()?;
        range.count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    }
    let slice = ctx.read_stream(&args[0], |stream| stream.map(|stream| stream.slice(&range)))?;
    match slice {
        Some(_) if range.count == 0 => reply.null_array(),
        Some(slice) => reply_entries(reply, slice),
        None => reply.array(0),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use crate::unlocked::tests::send_and_write_meanwhile;

    #[test]
    fn key_is_not_locked_while_many_entries_are_read() {
        for request in ["XRANGE k - +", "XREVRANGE k + -", "XREAD STREAMS k 0"] {
            let mut client = Client::new();
            for id in 1..=2_000 {
                client.send(&format!("XADD k {id} f v"));
            }
            let write = || "XADD k * meanwhile 1".to_owned();
            let (reply, is_unlocked) = send_and_write_meanwhile(&mut client, request, write);
            assert!(reply.contains("$6\r\n1999-0\r\n"), "{request}");
            assert!(!reply.contains("meanwhile"), "{request}");
            assert_eq!(is_unlocked, [true], "{request}");
        }
    }
}
