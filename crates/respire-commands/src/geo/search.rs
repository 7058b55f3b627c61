//! `GEOSEARCH key FROMMEMBER member | FROMLONLAT longitude latitude BYRADIUS radius unit | BYBOX width height unit
//! [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]`, `GEOSEARCHSTORE destination source [...]
//! [STOREDIST]`: the members in an area.
//!
//! Only the members of the cells that cover the area are looked at. If they are many, the search works on a snapshot,
//! and the reply is written as the peer reads it.

use super::SEARCH_STORED;
use super::cell::Point;
use super::find::Points;
use super::read::{integer, reply_distance, reply_point};
use super::request::{Form, Hit, Request};
use super::shape::opposite_if_none;
use super::unit::UNIT;
use crate::Ctx;
use crate::streamed::reply_ranges;
use crate::work::work_begins;
use crate::zset::combine::{self, Store};
use crate::zset::set_of;
use core::ops::Range;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, LongWork, Reply, Spec,
};
use respire_store::packed::listpack::Element;
use respire_store::{EntryRef, EventName, Owned};

/// The arguments of `GEOSEARCH` behind the key, up to those that only one command has.
const FROM: Arg = Arg::one_of(
    "from",
    &[
        Arg::new("member", ArgKind::String).token("FROMMEMBER"),
        Arg::block(
            "longitude_latitude",
            &[
                Arg::new("longitude", ArgKind::Double),
                Arg::new("latitude", ArgKind::Double),
            ],
        )
        .token("FROMLONLAT"),
    ],
);
const BY: Arg = Arg::one_of(
    "by",
    &[
        Arg::block(
            "circle",
            &[Arg::new("radius", ArgKind::Double).token("BYRADIUS"), UNIT],
        ),
        Arg::block(
            "box",
            &[
                Arg::new("width", ArgKind::Double).token("BYBOX"),
                Arg::new("height", ArgKind::Double),
                UNIT,
            ],
        ),
    ],
);
const ORDER: Arg = Arg::one_of(
    "order",
    &[Arg::word("asc", "ASC"), Arg::word("desc", "DESC")],
)
.optional();
const COUNT: Arg = Arg::block(
    "count",
    &[
        Arg::new("count", ArgKind::Integer).token("COUNT"),
        Arg::word("any", "ANY").optional(),
    ],
)
.optional();

const COMPLEXITY: &str = "O(N+log(M)) where N is the number of elements in the grid-aligned bounding box area around the shape provided as the filter and M is the number of items inside the shape";
const UPPERCASE_ADDED: (&str, &str) = ("7.0.0", "Added support for uppercase unit names.");
const ADDED: (&str, &str) = (
    "GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania",
    ":2\r\n",
);

pub(super) static GEOSEARCH: Spec = Spec {
    name: "geosearch",
    summary: "Query a sorted set representing a geospatial index to fetch members inside an area of a box or a circle.",
    since: "6.2.0",
    complexity: COMPLEXITY,
    group: Group::Geo,
    arity: Arity::at_least(7),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        FROM,
        BY,
        ORDER,
        COUNT,
        Arg::word("withcoord", "WITHCOORD").optional(),
        Arg::word("withdist", "WITHDIST").optional(),
        Arg::word("withhash", "WITHHASH").optional(),
    ],
    history: &[UPPERCASE_ADDED],
    examples: &[
        ADDED,
        (
            "GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 200 km ASC",
            "*2\r\n$7\r\nCatania\r\n$7\r\nPalermo\r\n",
        ),
        (
            "GEOSEARCH Sicily FROMMEMBER Palermo BYBOX 400 400 KM COUNT 1 WITHDIST",
            "*1\r\n*2\r\n$7\r\nPalermo\r\n$6\r\n0.0000\r\n",
        ),
        (
            "GEOSEARCH Sicily BYRADIUS 200 km ASC COUNT 1",
            "-ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for GEOSEARCH\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static GEOSEARCHSTORE: Spec = Spec {
    name: "geosearchstore",
    summary: "Query a sorted set representing a geospatial index to fetch members inside an area of a box or a circle, and store the result in another key.",
    since: "6.2.0",
    complexity: COMPLEXITY,
    group: Group::Geo,
    arity: Arity::at_least(8),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update]),
        KeySpec::at(2),
    ],
    args: &[
        Arg::key("destination", 0),
        Arg::key("source", 1),
        FROM,
        BY,
        ORDER,
        COUNT,
        Arg::word("storedist", "STOREDIST").optional(),
    ],
    history: &[UPPERCASE_ADDED],
    examples: &[
        ADDED,
        (
            "GEOSEARCHSTORE near Sicily FROMLONLAT 15 37 BYRADIUS 100 km STOREDIST",
            ":1\r\n",
        ),
        ("ZSCORE near Catania", "$18\r\n56.441257870158204\r\n"),
        (
            "GEOSEARCHSTORE near Sicily FROMLONLAT 15 37 BYRADIUS 1 km",
            ":0\r\n",
        ),
        ("EXISTS near", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

/// Up to this many members are looked at while the key is locked, which takes a tenth of a millisecond.
const LOCKED_MEMBERS_MAX: usize = 1_000;

/// The bytes of a member and of what comes with it in a usual reply, to guess the length of a longer one.
const MEMBER_BYTES_GUESSED: usize = 20;
const OPTION_BYTES_GUESSED: usize = 25;

pub(super) fn geosearch(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_found(ctx, Form::Search { stores: false }, args, reply)
}

pub(super) fn geosearchstore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (form, destination) = (Form::Search { stores: true }, (&args[0], SEARCH_STORED));
    store_found(ctx, form, destination, args.skip(1), reply)
}

/// The members that were found; their names stand one behind the other.
#[derive(Debug, Default)]
struct Found {
    names: Vec<u8>,
    hits: Vec<Hit<Name>>,
}

type Name = (usize, usize);

impl Found {
    fn new(points: &Points<'_>, request: &Request, step: &mut dyn FnMut()) -> Self {
        let (mut names, mut room) = (Vec::new(), itoa::Buffer::new());
        let mut name = |member: Element<'_>| {
            let start = names.len();
            names.extend_from_slice(match member {
                Element::Bytes(bytes) => bytes,
                Element::Int(number) => room.format(number).as_bytes(),
            });
            (start, names.len())
        };
        let mut hits = points.find(request, step, &mut name);
        request.choose(&mut hits);
        Self { names, hits }
    }

    /// Writes some of the members, with what the request asks for.
    fn write(&self, range: Range<usize>, request: &Request, reply: &mut Reply<'_>) {
        for hit in &self.hits[range] {
            if options(request) > 0 {
                reply.array(1 + options(request));
            }
            reply.bulk(&self.names[hit.name.0..hit.name.1]);
            if request.with_distance {
                reply_distance(reply, hit.distance / request.shape.unit);
            }
            if request.with_hash {
                reply.int(integer(hit.score));
            }
            if request.with_coordinates {
                reply_point(reply, Point::of_score(hit.score));
            }
        }
    }

    fn reply(self, request: Request, reply: &mut Reply<'_>) {
        let len = self.hits.len();
        reply.array(len);
        let member_bytes = MEMBER_BYTES_GUESSED + options(&request) * OPTION_BYTES_GUESSED;
        reply_ranges(reply, (len, member_bytes), move |some, reply| {
            self.write(some, &request, reply);
        });
    }
}

/// The number of things that come with each member.
fn options(request: &Request) -> usize {
    let asked = [
        request.with_distance,
        request.with_hash,
        request.with_coordinates,
    ];
    asked.into_iter().filter(|is_asked| *is_asked).count()
}

/// Replies with the members that are found. `args` begin with the key of the set.
pub(super) fn reply_found(
    ctx: &mut Ctx<'_>,
    form: Form,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let name = &ctx.request[0];
    let left: Option<(Owned, Request)> = ctx.read(&args[0], |entry| {
        let set = set_of(entry)?;
        let request = Request::parse(form, name, args, set)?;
        let Some(set) = set else {
            reply.array(0);
            return Ok(None);
        };
        let points = Points::new(set, &request.shape);
        if points.len() > LOCKED_MEMBERS_MAX {
            return Ok(entry.map(EntryRef::owned).map(|owned| (owned, request)));
        }
        Found::new(&points, &request, &mut || ()).reply(request, reply);
        Ok(None)
    })?;
    if let Some((owned, request)) = left {
        work_begins();
        let mut work = ctx.long_work();
        let points = Points::new(crate::zset::set_in(owned.value())?, &request.shape);
        let mut step = || work.iter_mut().for_each(LongWork::step);
        let found = Found::new(&points, &request, &mut step);
        drop(owned);
        found.reply(request, reply);
    }
    Ok(())
}

/// Stores the members that are found under a key, and tells the event. `args` begin with the key of the set that is
/// searched.
pub(super) fn store_found(
    ctx: &mut Ctx<'_>,
    form: Form,
    (destination, event): (&[u8], EventName),
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let name = &ctx.request[0];
    let store = Store {
        destination,
        sources: vec![&args[0]],
        event,
    };
    let len = combine::store(ctx, store, &mut |sources, step| {
        let set = sources[0].sorted_set()?;
        let request = Request::parse(form, name, args, set)?;
        let Some(set) = set else {
            return Ok(Vec::new());
        };
        let points = Points::new(set, &request.shape);
        let mut hits = points.find(&request, step, &mut |member| member);
        request.choose(&mut hits);
        let score = |hit: &Hit<Element<'_>>| match request.stores_distances {
            true => opposite_if_none(hit.distance) / request.shape.unit,
            false => hit.score,
        };
        let stored = hits.iter().map(|hit| (hit.name.to_bytes(), score(hit)));
        Ok(stored.collect())
    })?;
    reply.int(len as i64);
    Ok(())
}

#[cfg(test)]
mod tests;
