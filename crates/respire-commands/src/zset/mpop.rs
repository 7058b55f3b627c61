//! `ZMPOP numkeys key [key ...] MIN | MAX [COUNT count]`: removes elements of the first key that has any.

use super::pop::{End, take};
use super::reply as write;
use super::set_of;
use crate::Ctx;
use crate::errors::{COUNT_NOT_POSITIVE, NUMKEYS_NOT_POSITIVE, SYNTAX};
use crate::options::{Options, is_word, positive};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Elements, Scope};

pub(super) static ZMPOP: Spec = Spec {
    name: "zmpop",
    summary: "Remove and return members with scores in a sorted set",
    since: "7.0.0",
    complexity: "O(K) + O(M*log(N)) where K is the number of provided keys, N being the number of elements in the sorted set, and M being the number of elements popped.",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::counted(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete])],
    args: &[
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).multiple(),
        Arg::one_of("where", &[Arg::word("min", "MIN"), Arg::word("max", "MAX")]),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
    ],
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        (
            "ZMPOP 2 y z MIN",
            "*2\r\n$1\r\nz\r\n*1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n",
        ),
        ("ZMPOP 1 y MAX COUNT 3", "*-1\r\n"),
        ("ZMPOP 0 z MAX", "-ERR numkeys should be greater than 0\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zmpop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    if !Request::parse(args)?.pop(ctx, reply)? {
        reply.null_array();
    }
    Ok(())
}

/// A parsed request.
pub(super) struct Request<'a> {
    pub(super) keys: Vec<&'a [u8]>,
    pub(super) end: End,
    pub(super) count: usize,
}

impl<'a> Request<'a> {
    pub(super) fn parse(args: ArgList<'a>) -> Result<Self, Error> {
        let numkeys = positive(&args[0], NUMKEYS_NOT_POSITIVE)?;
        let mut options = Options::new(args.skip(numkeys.saturating_add(1).min(args.len())));
        let end = options.value()?;
        let end = if is_word(end, "MIN") {
            End::Min
        } else if is_word(end, "MAX") {
            End::Max
        } else {
            return Err(SYNTAX);
        };
        let mut count = None;
        while let Some(word) = options.next() {
            if count.is_some() || !is_word(word, "COUNT") || options.len() == 0 {
                return Err(SYNTAX);
            }
            count = Some(positive(options.value()?, COUNT_NOT_POSITIVE)?);
        }
        Ok(Self {
            keys: args.skip(1).iter().take(numkeys).collect(),
            end,
            count: count.unwrap_or(1),
        })
    }
    /// Removes the elements and replies with them; returns false if no key has any.
    pub(super) fn pop(&self, ctx: &mut Ctx<'_>, reply: &mut Reply<'_>) -> Result<bool, Error> {
        let db = ctx.view.db();
        let keys: Vec<(u32, &[u8])> = self.keys.iter().map(|key| (db, *key)).collect();
        ctx.locked(&Scope::Keys(&keys), |view, _| {
            for key in &self.keys {
                let is_found = view.update(key, |slot| {
                    let Some(set) = set_of(slot.get())? else {
                        return Ok(false);
                    };
                    let len = set.len().min(self.count);
                    reply.array(2);
                    reply.bulk(key);
                    reply.array(len);
                    take(slot, self.end, len, &mut |(member, score)| {
                        reply.array(2);
                        write::member(reply, member);
                        write::score(reply, score);
                    })?;
                    Ok(true)
                })?;
                if is_found {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }
}
