//! `GEOPOS key [member ...]`, `GEOHASH key [member ...]`, `GEODIST key member1 member2 [M | KM | FT | MI]`: where
//! members are, and how far from each other.

use super::cell::Point;
use super::read::{reply_distance, reply_point, unit};
use super::shape::distance;
use crate::Ctx;
use crate::errors::SYNTAX;
use crate::zset::set_of;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

/// What the commands on given members have in common.
const MEMBERS: Spec = Spec {
    since: "3.2.0",
    group: Group::Geo,
    arity: Arity::at_least(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("member", ArgKind::String).multiple(),
    ],
    ..Spec::EMPTY
};

const ADDED: (&str, &str) = (
    "GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania",
    ":2\r\n",
);

pub(super) static GEOPOS: Spec = Spec {
    name: "geopos",
    summary: "Returns longitude and latitude of members of a geospatial index",
    complexity: "O(N) where N is the number of members requested.",
    examples: &[
        ADDED,
        (
            "GEOPOS Sicily Palermo nobody",
            "*2\r\n*2\r\n$20\r\n13.36138933897018433\r\n$20\r\n38.11555639549629859\r\n*-1\r\n",
        ),
    ],
    ..MEMBERS
};

pub(super) static GEOHASH: Spec = Spec {
    name: "geohash",
    summary: "Returns members of a geospatial index as standard geohash strings",
    complexity: "O(log(N)) for each member requested, where N is the number of elements in the sorted set.",
    examples: &[
        ADDED,
        (
            "GEOHASH Sicily Palermo nobody",
            "*2\r\n$11\r\nsqc8b49rny0\r\n$-1\r\n",
        ),
    ],
    ..MEMBERS
};

pub(super) static GEODIST: Spec = Spec {
    name: "geodist",
    summary: "Returns the distance between two members of a geospatial index",
    complexity: "O(log(N))",
    arity: Arity::at_least(4),
    args: &[
        Arg::key("key", 0),
        Arg::new("member1", ArgKind::String),
        Arg::new("member2", ArgKind::String),
        super::unit::UNIT.optional(),
    ],
    examples: &[
        ADDED,
        ("GEODIST Sicily Palermo Catania", "$11\r\n166274.1516\r\n"),
        ("GEODIST Sicily Palermo Catania km", "$8\r\n166.2742\r\n"),
        ("GEODIST Sicily Palermo nobody", "$-1\r\n"),
        (
            "GEODIST Sicily Palermo Catania au",
            "-ERR unsupported unit provided. please use M, KM, FT, MI\r\n",
        ),
    ],
    ..MEMBERS
};

/// Replies with what `write` makes of the place of each member; `None` is a member that the set does not have.
fn reply_each(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    write: fn(&mut Reply<'_>, Option<Point>),
) -> Result<(), Error> {
    ctx.read(&args[0], |entry| {
        let set = set_of(entry)?;
        let members = args.skip(1);
        reply.array(members.len());
        for member in members.iter() {
            let score = set.and_then(|set| set.score(member));
            write(reply, score.map(Point::of_score));
        }
        Ok(())
    })
}

pub(super) fn geopos(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_each(ctx, args, reply, |reply, point| match point {
        Some(point) => reply_point(reply, point),
        None => reply.null_array(),
    })
}

pub(super) fn geohash(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_each(ctx, args, reply, |reply, point| match point {
        Some(point) => reply.bulk(point.geohash().as_slice()),
        None => reply.null(),
    })
}

pub(super) fn geodist(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    if args.len() > 4 {
        return Err(SYNTAX);
    }
    let unit = args.get(3).map_or(Ok(1.0), unit)?;
    let scores = ctx.read(&args[0], |entry| {
        let set = set_of(entry)?;
        let score = |member: &[u8]| set.and_then(|set| set.score(member));
        Ok(score(&args[1]).zip(score(&args[2])))
    })?;
    match scores {
        Some((from, to)) => {
            let meters = distance(Point::of_score(from), Point::of_score(to));
            reply_distance(reply, meters / unit);
        }
        None => reply.null(),
    }
    Ok(())
}
