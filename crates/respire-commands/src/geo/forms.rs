//! `GEORADIUS key longitude latitude radius unit [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]
//! [STORE key | STOREDIST key]`, `GEORADIUSBYMEMBER key member radius unit [...]`, and their forms that only read.
//!
//! They are the older forms of `GEOSEARCH`, whose file has the work.

use super::RADIUS_STORED;
use super::request::Form;
use super::search::{reply_found, store_found};
use super::unit::UNIT;
use crate::Ctx;
use crate::options::is_word;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyBegin, KeyFlag, KeySpec, Reply, Spec,
    keys_by_spec,
};

const WITHIN: &str = "O(N+log(M)) where N is the number of elements inside the bounding box of the circular area delimited by center and radius and M is the number of items inside the index.";
const ANY_ADDED: (&str, &str) = ("6.2.0", "Added the `ANY` option for `COUNT`.");
const UPPERCASE_ADDED: (&str, &str) = ("7.0.0", "Added support for uppercase unit names.");

/// The key behind a word that stands anywhere behind the fixed arguments.
const fn stored(word: &'static str, from: i16) -> KeySpec {
    KeySpec {
        begin: KeyBegin::Keyword { word, from },
        ..KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update])
    }
}

const RADIUS: Arg = Arg::new("radius", ArgKind::Double);
const WITH_COORDINATES: Arg = Arg::word("withcoord", "WITHCOORD").optional();
const WITH_DISTANCE: Arg = Arg::word("withdist", "WITHDIST").optional();
const WITH_HASH: Arg = Arg::word("withhash", "WITHHASH").optional();
const ANY: Arg = Arg::word("any", "ANY").optional();
const COUNT: Arg = Arg::new("count", ArgKind::Integer).token("COUNT");
const ORDER: Arg = Arg::one_of(
    "order",
    &[Arg::word("asc", "ASC"), Arg::word("desc", "DESC")],
)
.optional();

/// The arguments of `GEORADIUS`. The last two belong to the form that writes.
const AROUND: &[Arg] = &[
    Arg::key("key", 0),
    Arg::new("longitude", ArgKind::Double),
    Arg::new("latitude", ArgKind::Double),
    RADIUS,
    UNIT,
    WITH_COORDINATES,
    WITH_DISTANCE,
    WITH_HASH,
    Arg::block("count", &[COUNT, ANY.since("6.2.0")]).optional(),
    ORDER,
    Arg::key("key", 1).token("STORE").optional(),
    Arg::key("key", 2).token("STOREDIST").optional(),
];

/// The arguments of `GEORADIUSBYMEMBER`, likewise.
const AROUND_MEMBER: &[Arg] = &[
    Arg::key("key", 0),
    Arg::new("member", ArgKind::String),
    RADIUS,
    UNIT,
    WITH_COORDINATES,
    WITH_DISTANCE,
    WITH_HASH,
    Arg::block("count", &[COUNT, ANY]).optional(),
    ORDER,
    Arg::key("key", 1).token("STORE").optional(),
    Arg::key("key", 2).token("STOREDIST").optional(),
];

/// All arguments but the two that store.
const fn only_read(args: &'static [Arg]) -> &'static [Arg] {
    args.split_at(args.len() - 2).0
}

const ADDED: (&str, &str) = (
    "GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania",
    ":2\r\n",
);

pub(super) static GEORADIUS: Spec = Spec {
    name: "georadius",
    summary: "Query a sorted set representing a geospatial index to fetch members matching a given maximum distance from a point",
    since: "3.2.0",
    complexity: WITHIN,
    group: Group::Geo,
    arity: Arity::at_least(6),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::at(1), stored("STORE", 6), stored("STOREDIST", 6)],
    args: AROUND,
    history: &[ANY_ADDED, UPPERCASE_ADDED],
    deprecated: Some((
        "6.2.0",
        "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument",
    )),
    examples: &[
        ADDED,
        (
            "GEORADIUS Sicily 15 37 200 km WITHDIST DESC",
            "*2\r\n*2\r\n$7\r\nPalermo\r\n$8\r\n190.4424\r\n*2\r\n$7\r\nCatania\r\n$7\r\n56.4413\r\n",
        ),
        ("GEORADIUS Sicily 15 37 100 km STOREDIST near", ":1\r\n"),
        ("ZSCORE near Catania", "$18\r\n56.441257870158204\r\n"),
        (
            "GEORADIUS Sicily 15 37 -1 km",
            "-ERR radius cannot be negative\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static GEORADIUS_RO: Spec = Spec {
    name: "georadius_ro",
    summary: "A read-only variant for GEORADIUS",
    since: "3.2.10",
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: only_read(AROUND),
    history: &[ANY_ADDED],
    deprecated: Some(("6.2.0", "`GEOSEARCH` with the `BYRADIUS` argument")),
    examples: &[
        ADDED,
        (
            "GEORADIUS_RO Sicily 15 37 200 km ASC COUNT 1",
            "*1\r\n$7\r\nCatania\r\n",
        ),
        (
            "GEORADIUS_RO Sicily 15 37 200 km STORE near",
            "-ERR syntax error\r\n",
        ),
    ],
    ..GEORADIUS
};

pub(super) static GEORADIUSBYMEMBER: Spec = Spec {
    name: "georadiusbymember",
    summary: "Query a sorted set representing a geospatial index to fetch members matching a given maximum distance from a member",
    arity: Arity::at_least(5),
    keys: &[KeySpec::at(1), stored("STORE", 5), stored("STOREDIST", 5)],
    args: AROUND_MEMBER,
    history: &[UPPERCASE_ADDED],
    deprecated: Some((
        "6.2.0",
        "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
    )),
    examples: &[
        ADDED,
        (
            "GEORADIUSBYMEMBER Sicily Palermo 100 mi",
            "*1\r\n$7\r\nPalermo\r\n",
        ),
        (
            "GEORADIUSBYMEMBER Sicily Palermo 200 km STORE near",
            ":2\r\n",
        ),
        (
            "GEORADIUSBYMEMBER Sicily nobody 200 km",
            "-ERR could not decode requested zset member\r\n",
        ),
    ],
    ..GEORADIUS
};

pub(super) static GEORADIUSBYMEMBER_RO: Spec = Spec {
    name: "georadiusbymember_ro",
    summary: "A read-only variant for GEORADIUSBYMEMBER",
    since: "3.2.10",
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: only_read(AROUND_MEMBER),
    history: &[],
    deprecated: Some((
        "6.2.0",
        "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments",
    )),
    examples: &[
        ADDED,
        (
            "GEORADIUSBYMEMBER_RO Sicily Palermo 200 km WITHHASH COUNT 1",
            "*1\r\n*2\r\n$7\r\nPalermo\r\n:3479099956230698\r\n",
        ),
    ],
    ..GEORADIUSBYMEMBER
};

/// The place of the destination in a whole request: behind the last word that stores.
fn destination(request: ArgList<'_>) -> Option<usize> {
    const FIRST: usize = 5;
    let (mut found, mut at) = (None, FIRST);
    while at + 1 < request.len() {
        if is_word(&request[at], "STORE") || is_word(&request[at], "STOREDIST") {
            at += 1;
            found = Some(at);
        }
        at += 1;
    }
    found
}

/// The keys of `GEORADIUS`.
pub(super) fn radius_keys(request: ArgList<'_>, found: &mut dyn FnMut(usize)) -> Result<(), Error> {
    keys(&GEORADIUS, request, found)
}

/// The keys of `GEORADIUSBYMEMBER`.
pub(super) fn radius_by_member_keys(
    request: ArgList<'_>,
    found: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    keys(&GEORADIUSBYMEMBER, request, found)
}

/// The keys that the description gives, and the destination if the word before it is not the first of its kind.
fn keys(spec: &Spec, request: ArgList<'_>, found: &mut dyn FnMut(usize)) -> Result<(), Error> {
    let mut destination = destination(request);
    keys_by_spec(spec, request, &mut |at| {
        destination = destination.filter(|last| *last != at);
        found(at);
    })?;
    destination.into_iter().for_each(found);
    Ok(())
}

/// Replies with what a search finds, or stores it.
fn run(
    ctx: &mut Ctx<'_>,
    form: Form,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    // The name is argument 0 of the whole request.
    match destination(*ctx.request).and_then(|at| args.get(at - 1)) {
        Some(destination) => store_found(ctx, form, (destination, RADIUS_STORED), args, reply),
        None => reply_found(ctx, form, args, reply),
    }
}

pub(super) fn georadius(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, Form::Around { stores: true }, args, reply)
}

pub(super) fn georadiusbymember(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, Form::AroundMember { stores: true }, args, reply)
}

pub(super) fn georadius_ro(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_found(ctx, Form::Around { stores: false }, args, reply)
}

pub(super) fn georadiusbymember_ro(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_found(ctx, Form::AroundMember { stores: false }, args, reply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::testing::Client;
    use resp_codec::Span;

    #[test]
    fn destination_is_behind_the_last_word_that_stores() {
        let keys_of = |request: &str| {
            let (mut spans, mut at) = (Vec::new(), 0);
            for word in request.split(' ') {
                spans.push(Span::new(at, word.len() as u32));
                at += word.len() as u32 + 1;
            }
            let mut found = Vec::new();
            let request = ArgList::new(request.as_bytes(), &[], &spans);
            radius_keys(request, &mut |at| found.push(at)).expect("always known");
            found
        };
        assert_eq!(keys_of("GEORADIUS k 0 0 1 m"), [1]);
        assert_eq!(keys_of("GEORADIUS k 0 0 1 m STORE"), [1]);
        assert_eq!(keys_of("GEORADIUS k 0 0 1 m store d ASC"), [1, 7]);
        assert_eq!(
            keys_of("GEORADIUS k 0 0 1 m STORE d STOREDIST e"),
            [1, 7, 9]
        );
        assert_eq!(keys_of("GEORADIUS k 0 0 1 m STORE d STORE e"), [1, 7, 9]);
    }

    #[test]
    fn getkeys_names_the_first_destination_of_each_kind_as_redis_does() {
        Client::new().check(&[
            (
                "COMMAND GETKEYS GEORADIUS k 0 0 1 m STORE d STORE e",
                "*2\r\n$1\r\nk\r\n$1\r\nd\r\n",
            ),
            (
                "COMMAND GETKEYS GEORADIUSBYMEMBER k x 1 m STOREDIST d STORE e",
                "*3\r\n$1\r\nk\r\n$1\r\ne\r\n$1\r\nd\r\n",
            ),
        ]);
    }
}
