//! `LMPOP numkeys key [key ...] LEFT | RIGHT [COUNT count]`: removes elements from the first list that exists, and
//! replies with its key and the elements.

use super::pop::pop_many;
use super::{end, list_if_any};
use crate::Ctx;
use crate::errors::{COUNT_POSITIVE, NUMKEYS_POSITIVE, SYNTAX, wrong_type};
use crate::options::{Options, is_word};
use resp_codec::number::parse_i64;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{End, Scope, View};

pub(super) static LMPOP: Spec = Spec {
    name: "lmpop",
    summary: "Pop elements from a list",
    since: "7.0.0",
    complexity: "O(N+M) where N is the number of provided keys and M is the number of elements returned.",
    group: Group::List,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::counted(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete])],
    args: &[
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).multiple(),
        Arg::one_of(
            "where",
            &[Arg::word("left", "LEFT"), Arg::word("right", "RIGHT")],
        ),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
    ],
    examples: &[
        ("RPUSH b x y z", ":3\r\n"),
        ("LMPOP 2 a b LEFT", "*2\r\n$1\r\nb\r\n*1\r\n$1\r\nx\r\n"),
        (
            "LMPOP 2 a b RIGHT COUNT 5",
            "*2\r\n$1\r\nb\r\n*2\r\n$1\r\nz\r\n$1\r\ny\r\n",
        ),
        ("LMPOP 2 a b LEFT", "*-1\r\n"),
        (
            "LMPOP 0 a LEFT",
            "-ERR numkeys should be greater than 0\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = Request::parse(args)?;
    if !request.pop(ctx, reply)? {
        reply.null_array();
    }
    Ok(())
}

/// The arguments of `LMPOP`.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    args: ArgList<'a>,
    number: usize,
    pub(super) end: End,
    pub(super) count: usize,
}

impl<'a> Request<'a> {
    pub(super) fn parse(args: ArgList<'a>) -> Result<Self, Error> {
        let number = positive(&args[0]).ok_or(NUMKEYS_POSITIVE)?;
        let word = number.checked_add(1).and_then(|at| args.get(at));
        let (end, mut count) = (end(word.ok_or(SYNTAX)?)?, None);
        let mut options = Options::new(args.skip(number + 2));
        while let Some(word) = options.next() {
            if count.is_some() || !is_word(word, "COUNT") {
                return Err(SYNTAX);
            }
            count = Some(positive(options.value()?).ok_or(COUNT_POSITIVE)?);
        }
        Ok(Self {
            args,
            number,
            end,
            count: count.unwrap_or(1),
        })
    }

    pub(super) fn keys(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        self.args.skip(1).iter().take(self.number)
    }

    /// Removes the elements and replies with them; returns false if no key has any.
    pub(super) fn pop(&self, ctx: &mut Ctx<'_>, reply: &mut Reply<'_>) -> Result<bool, Error> {
        let db = ctx.view.db();
        let scope: Vec<(u32, &[u8])> = self.keys().map(|key| (db, key)).collect();
        let run = |view: &mut View<'_>| {
            for key in self.keys() {
                let popped = view.update(key, |slot| {
                    if list_if_any(slot.get())?.is_none() {
                        return Ok(None);
                    }
                    reply.array(2);
                    reply.bulk(key);
                    let popped = pop_many(slot, self.end, self.count, reply);
                    popped.map(Some).map_err(wrong_type)
                })?;
                if let Some(snapshot) = popped {
                    return Ok(Some(snapshot));
                }
            }
            Ok::<_, Error>(None)
        };
        let popped = ctx.view.locked(&Scope::Keys(&scope), run)?;
        let is_popped = popped.is_some();
        if let Some(snapshot) = popped.flatten() {
            snapshot.reply(reply);
        }
        Ok(is_popped)
    }
}

fn positive(argument: &[u8]) -> Option<usize> {
    let number = usize::try_from(parse_i64(argument)?).ok()?;
    (number > 0).then_some(number)
}
