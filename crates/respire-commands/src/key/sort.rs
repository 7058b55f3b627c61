//! `SORT key [BY pattern] [LIMIT offset count] [GET pattern ...] [ASC | DESC] [ALPHA] [STORE
//! destination]`, `SORT_RO key [...]` (without `STORE`): sorts a list, set or sorted set.
//!
//! Each type's [`ValueType`](crate::value_type::ValueType) tells whether it has elements to sort,
//! and what a `BY` or `GET` finds in it. An absent key gives an empty result, so `STORE` removes
//! its destination. A sort that reads other keys locks all of them, because it learns their names
//! only while it runs; one of many elements locks none, and reads other keys one after another.

mod elements;
mod number;
mod sorting;

use crate::Ctx;
use crate::errors::WRONG_TYPE;
use crate::notify;
use crate::options::{Options, is_word};
use crate::streamed::reply_ranges;
use crate::value_type::ListOf;
use crate::work::work_begins;
use elements::{Elements, Work};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyBegin, KeyFind, KeyFlag, KeySpec, Reply,
    Spec,
};
use respire_store::{Expiry, NewValue, Scope, ValueRef, View};
use sorting::{Form, Sorted, Sorting};

/// The keys of `SORT`. The last one belongs to `STORE`, which the read-only form does not have.
const KEYS: &[KeySpec] = &[
    KeySpec::at(1),
    KeySpec {
        begin: KeyBegin::Unknown,
        find: KeyFind::Unknown,
        flags: &[KeyFlag::Ro, KeyFlag::Access],
        notes: "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive from the content of the key we sort",
    },
    KeySpec {
        begin: KeyBegin::Unknown,
        find: KeyFind::Unknown,
        flags: &[KeyFlag::Ow, KeyFlag::Update],
        notes: "For the optional STORE keyword. It is marked 'unknown' because the keyword can appear anywhere in the argument array",
    },
];

/// The arguments of `SORT`; as in [`KEYS`], the last one belongs to `STORE`.
const ARGS: &[Arg] = &[
    Arg::key("key", 0),
    Arg {
        key_spec: Some(1),
        ..Arg::new("pattern", ArgKind::Pattern)
    }
    .token("BY")
    .optional(),
    Arg::block(
        "offset_count",
        &[
            Arg::new("offset", ArgKind::Integer),
            Arg::new("count", ArgKind::Integer),
        ],
    )
    .token("LIMIT")
    .optional(),
    Arg {
        key_spec: Some(1),
        ..Arg::new("pattern", ArgKind::Pattern)
    }
    .token("GET")
    .optional()
    .multiple_token(),
    Arg::one_of(
        "order",
        &[Arg::word("asc", "ASC"), Arg::word("desc", "DESC")],
    )
    .optional(),
    Arg::word("sorting", "ALPHA").optional(),
    Arg::key("destination", 2).token("STORE").optional(),
];

pub(super) static SORT: Spec = Spec {
    name: "sort",
    summary: "Sort the elements in a list, set or sorted set",
    since: "1.0.0",
    complexity: "O(N+M*log(M)) where N is the number of elements in the list or set to sort, and M the number of returned elements. When the elements are not sorted, complexity is O(N).",
    group: Group::Generic,
    arity: Arity::at_least(2),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::MOVABLE_KEYS)
        .with(Flags::ALL_KEYS),
    categories: &["dangerous", "list", "set", "sortedset"],
    keys: KEYS,
    args: ARGS,
    examples: &[
        ("SORT a LIMIT 0 10 ALPHA DESC", "*0\r\n"),
        ("SET a 1", "+OK\r\n"),
        (
            "SORT a",
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
        ),
        ("SORT b BY w* GET # STORE a", ":0\r\n"),
        ("EXISTS a", ":0\r\n"),
        ("SORT b LIMIT 0", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static SORT_RO: Spec = Spec {
    name: "sort_ro",
    summary: "Sort the elements in a list, set or sorted set. Read-only variant of SORT.",
    since: "7.0.0",
    complexity: "O(N+M*log(M)) where N is the number of elements in the list or set to sort, and M the number of returned elements. When the elements are not sorted, complexity is O(N).",
    group: Group::Generic,
    arity: Arity::at_least(2),
    flags: Flags::READONLY
        .with(Flags::MOVABLE_KEYS)
        .with(Flags::ALL_KEYS),
    categories: &["dangerous", "list", "set", "sortedset"],
    keys: KEYS.split_at(KEYS.len() - 1).0,
    args: ARGS.split_at(ARGS.len() - 1).0,
    examples: &[
        ("SORT_RO a BY w* GET #", "*0\r\n"),
        ("SORT_RO a STORE b", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn sort(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mut sorting = Sorting::parse(Options::new(args.skip(1)), Form::ReadWrite)?;
    sorting.orders_sets |= ctx.client.is_in_script();
    match sorting.destination {
        None => reply_sorted(ctx, &args[0], &sorting, reply),
        Some(destination) => store_sorted(ctx, &args[0], &sorting, destination, reply),
    }
}

pub(super) fn sort_ro(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mut sorting = Sorting::parse(Options::new(args.skip(1)), Form::ReadOnly)?;
    sorting.orders_sets = ctx.client.is_in_script();
    reply_sorted(ctx, &args[0], &sorting, reply)
}

/// The keys of a `SORT` request: the source, and the last destination.
pub(super) fn keys(request: ArgList<'_>, found: &mut dyn FnMut(usize)) -> Result<(), Error> {
    const KEY: usize = 1;
    found(KEY);
    let mut destination = None;
    let mut at = KEY + 1;
    while let Some(word) = request.get(at) {
        let values = match word {
            _ if is_word(word, "LIMIT") => 2,
            _ if is_word(word, "BY") || is_word(word, "GET") => 1,
            _ => 0,
        };
        if is_word(word, "STORE") && at + 1 < request.len() {
            destination = Some(at + 1);
        }
        at += 1 + values;
    }
    destination.into_iter().for_each(found);
    Ok(())
}

/// Up to this many elements are sorted while all keys that the sort reads are locked, which takes
/// less than a millisecond.
const LOCKED_ELEMENTS_MAX: usize = 1000;

/// The number of attempts to sort more elements without the locks before they are stored. An attempt
/// fails if the source changes in the meantime. After the last one they are sorted under the locks.
const UNLOCKED_TRIES_MAX: u32 = 3;

/// What a sort reads: the elements, and whether they are those of a set.
type Source = (Elements, bool);

fn source_of(value: ValueRef<'_>, work: &mut Work<'_>) -> Result<Source, Error> {
    let elements = Elements::of(value, work).ok_or(WRONG_TYPE)?;
    Ok((elements, matches!(value, ValueRef::Set(_))))
}

fn reply_sorted(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    sorting: &Sorting<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let Some(owned) = ctx.read_owned(key) else {
        reply.array(0);
        return Ok(());
    };
    work_begins();
    let mut work = Work::unlocked(ctx);
    let source = source_of(owned.value(), &mut work)?;
    drop(owned);
    let is_atomic = sorting.reads_other_keys() && source.0.len() <= LOCKED_ELEMENTS_MAX;
    let sorted = if is_atomic {
        let run = |view: &mut View<'_>| sort_locked(view, key, sorting);
        ctx.view.locked(&Scope::Everything, run)?
    } else {
        Some(sorting.run(&mut ctx.view, source, &mut work)?)
    };
    let Some(sorted) = sorted else {
        reply.array(0);
        return Ok(());
    };
    let len = sorted.len();
    reply.array(len);
    reply_ranges(reply, (len, ELEMENT_BYTES), move |some, reply| {
        for at in some {
            match sorted.at(at) {
                Some(element) => reply.bulk(element),
                None => reply.null(),
            }
        }
    });
    Ok(())
}

/// The bytes of an element in a usual reply.
const ELEMENT_BYTES: usize = 20;

/// Sorts the elements of a key whose lock is held, with those of all keys that the sort reads.
fn sort_locked(
    view: &mut View<'_>,
    key: &[u8],
    sorting: &Sorting<'_>,
) -> Result<Option<Sorted>, Error> {
    // The look-up has been counted and told before.
    let source = view.peek(key, |entry| {
        let source = entry.map(|entry| source_of(entry.value(), &mut Work::locked()));
        source.transpose()
    })?;
    let sorted = source.map(|source| sorting.run(view, source, &mut Work::locked()));
    sorted.transpose()
}

fn store_sorted(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    sorting: &Sorting<'_>,
    destination: &[u8],
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (db, now_ms) = (ctx.view.db(), ctx.view.now_ms());
    let keys = [(db, key), (db, destination)];
    let list_of = (ctx.kv.types.list_of)();
    for _ in 0..UNLOCKED_TRIES_MAX {
        let watch = ctx.view.watch(key);
        let Some(owned) = ctx.read_owned(key) else {
            break;
        };
        work_begins();
        let mut work = Work::unlocked(ctx);
        let source = source_of(owned.value(), &mut work)?;
        if source.0.len() <= LOCKED_ELEMENTS_MAX || ctx.view.is_in_section() {
            break;
        }
        let sorted = sorting.run(&mut ctx.view, source, &mut work)?;
        let list = list([&sorted], list_of)?;
        let is_stored = ctx.view.locked(&Scope::Keys(&keys), |view| {
            let is_same = !watch.is_dirty(now_ms);
            if is_same {
                store(view, destination, list);
            }
            is_same
        });
        if is_stored {
            reply.int(sorted.len() as i64);
            return Ok(());
        }
    }
    let scope = if sorting.reads_other_keys() {
        Scope::Everything
    } else {
        Scope::Keys(&keys)
    };
    let stored = ctx.view.locked(&scope, |view| {
        let sorted = sort_locked(view, key, sorting)?;
        store(view, destination, list(sorted.iter(), list_of)?);
        Ok::<_, Error>(sorted.map_or(0, |sorted| sorted.len()))
    })?;
    reply.int(stored as i64);
    Ok(())
}

/// The list of the sorted elements; a missing element becomes an empty one. `None` if there are no elements.
fn list<'s>(
    sorted: impl IntoIterator<Item = &'s Sorted>,
    list_of: Option<ListOf>,
) -> Result<Option<NewValue<'static>>, Error> {
    let elements = sorted.into_iter().flat_map(Sorted::iter);
    let mut elements = elements.map(Option::unwrap_or_default).peekable();
    if elements.peek().is_none() {
        return Ok(None);
    }
    let list_of = list_of.ok_or(WRONG_TYPE)?;
    Ok(Some(list_of(&mut elements)))
}

/// Sets the destination to a list, or removes it.
fn store(view: &mut View<'_>, destination: &[u8], list: Option<NewValue<'_>>) {
    let Some(list) = list else {
        return remove(view, destination);
    };
    view.update(destination, |slot| {
        slot.set(list, Expiry::Clear);
        slot.event(notify::SORTSTORE);
    });
}

fn remove(view: &mut View<'_>, key: &[u8]) {
    view.update(key, |slot| {
        if slot.remove() {
            slot.event(notify::DEL);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::testing::Client;
    use resp_codec::Span;

    fn key_positions(request: &str) -> Vec<usize> {
        let mut spans = Vec::new();
        let mut at = 0;
        for word in request.split(' ') {
            spans.push(Span::new(at, word.len() as u32));
            at += word.len() as u32 + 1;
        }
        let mut found = Vec::new();
        keys(ArgList::new(request.as_bytes(), &[], &spans), &mut |at| {
            found.push(at)
        })
        .expect("always known");
        found
    }

    #[test]
    fn keys_of_a_request_are_the_source_and_the_last_destination() {
        assert_eq!(key_positions("SORT k"), [1]);
        assert_eq!(key_positions("SORT k STORE d"), [1, 3]);
        assert_eq!(key_positions("SORT k store d STORE e"), [1, 5]);
        assert_eq!(
            key_positions("SORT k BY store GET store ASC STORE d"),
            [1, 8]
        );
        assert_eq!(key_positions("SORT k LIMIT STORE d"), [1]);
        assert_eq!(key_positions("SORT k STORE"), [1]);
    }

    #[test]
    fn sort_options_are_checked_before_the_type() {
        const NO_INTEGER: &str = "-ERR value is not an integer or out of range\r\n";
        const WRONG: &str =
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
        Client::new().check(&[
            ("SET s 1", "+OK\r\n"),
            ("SORT s LIMIT x 1", NO_INTEGER),
            ("SORT s LIMIT 1 x", NO_INTEGER),
            ("SORT s BY", "-ERR syntax error\r\n"),
            ("SORT s GET", "-ERR syntax error\r\n"),
            ("SORT s STORE", "-ERR syntax error\r\n"),
            ("SORT s UP", "-ERR syntax error\r\n"),
            ("SORT s STORE s", WRONG),
            ("SORT_RO s ASC", WRONG),
        ]);
    }
}
