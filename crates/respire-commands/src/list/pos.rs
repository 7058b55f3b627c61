//! `LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]`: the indexes of the elements that are equal to this
//! one.
//!
//! `RANK` is the match to begin with, from the end if it is negative; `COUNT` asks for an array of so many matches, or
//! of all if it is 0; `MAXLEN` is the number of elements to compare, or 0 for all. A long list is searched without its
//! key's lock.

use super::list_if_any;
use crate::Ctx;
use crate::errors::{LPOS_COUNT, LPOS_MAXLEN, LPOS_RANK, LPOS_RANK_LOWEST, SYNTAX};
use crate::options::{Options, is_word};
use resp_codec::number::parse_i64;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Elements, End, Kind, ListRef};

pub(super) static LPOS: Spec = Spec {
    name: "lpos",
    summary: "Return the index of matching elements on a list",
    since: "6.0.6",
    complexity: "O(N) where N is the number of elements in the list, for the average case. When searching for elements near the head or the tail of the list, or when the MAXLEN option is provided, the command may run in constant time.",
    group: Group::List,
    arity: Arity::at_least(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("element", ArgKind::String),
        Arg::new("rank", ArgKind::Integer).token("RANK").optional(),
        Arg::new("num-matches", ArgKind::Integer)
            .token("COUNT")
            .optional(),
        Arg::new("len", ArgKind::Integer).token("MAXLEN").optional(),
    ],
    examples: &[
        ("RPUSH a x y x y", ":4\r\n"),
        ("LPOS a y", ":1\r\n"),
        ("LPOS a x RANK -1", ":2\r\n"),
        ("LPOS a y COUNT 0", "*2\r\n:1\r\n:3\r\n"),
        ("LPOS a y MAXLEN 1", "$-1\r\n"),
        (
            "LPOS a y RANK 0",
            "-ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list\r\n",
        ),
    ],
    ..Spec::EMPTY
};

/// The length from which on a list is searched without the lock.
const UNLOCKED_LEN_MIN: usize = 4096;

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let search = Search::parse(&args[1], Options::new(args.skip(2)))?;
    let snapshot = ctx.read(&args[0], |entry| {
        Ok::<_, Error>(match list_if_any(entry)? {
            None => {
                search.reply(&[], reply);
                None
            }
            Some(list) if list.len().min(search.compared_max) >= UNLOCKED_LEN_MIN => {
                Some(list.snapshot())
            }
            Some(list) => {
                search.reply(&search.run(list), reply);
                None
            }
        })
    })?;
    if let Some(list) = snapshot {
        search.reply(&search.run(list.read()), reply);
    }
    Ok(())
}

/// The options of one request.
struct Search<'a> {
    element: &'a [u8],
    end: End,
    /// The number of matches to skip.
    skipped: usize,
    /// The most matches to report, if an array is asked for.
    count: Option<usize>,
    compared_max: usize,
}

impl<'a> Search<'a> {
    fn parse(element: &'a [u8], mut options: Options<'a>) -> Result<Self, Error> {
        let mut search = Self {
            element,
            end: End::Left,
            skipped: 0,
            count: None,
            compared_max: usize::MAX,
        };
        while let Some(word) = options.next() {
            if options.len() == 0 {
                return Err(SYNTAX);
            }
            if is_word(word, "RANK") {
                let rank = options.integer()?;
                search.end = if rank < 0 { End::Right } else { End::Left };
                if rank == i64::MIN {
                    return Err(LPOS_RANK_LOWEST);
                }
                let skipped = rank.unsigned_abs().checked_sub(1).ok_or(LPOS_RANK)?;
                search.skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
            } else if is_word(word, "COUNT") {
                search.count = Some(all_if_zero(options.value()?).ok_or(LPOS_COUNT)?);
            } else if is_word(word, "MAXLEN") {
                search.compared_max = all_if_zero(options.value()?).ok_or(LPOS_MAXLEN)?;
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(search)
    }

    /// The indexes of the matches.
    fn run(&self, list: ListRef<'_>) -> Vec<usize> {
        let (mut found, mut skipped) = (Vec::new(), self.skipped);
        let max = self.count.unwrap_or(1);
        list.find(self.end, self.element, self.compared_max, |index| {
            if skipped > 0 {
                skipped -= 1;
            } else {
                found.push(index);
            }
            found.len() < max
        });
        found
    }

    fn reply(&self, found: &[usize], reply: &mut Reply<'_>) {
        if self.count.is_some() {
            reply.array(found.len());
            found.iter().for_each(|index| reply.int(*index as i64));
        } else {
            match found.first() {
                Some(index) => reply.int(*index as i64),
                None => reply.null(),
            }
        }
    }
}

/// Parses a number that is not negative; 0 means no limit.
fn all_if_zero(argument: &[u8]) -> Option<usize> {
    let number = usize::try_from(parse_i64(argument)?).ok()?;
    Some(if number == 0 { usize::MAX } else { number })
}
