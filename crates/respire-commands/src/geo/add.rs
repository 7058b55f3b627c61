//! `GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]`: adds members at places, or
//! moves them.

use super::read::point;
use crate::Ctx;
use crate::errors::SYNTAX;
use crate::options::is_word;
use crate::zset::add::{AddOptions, Scores, add};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};

pub(super) static GEOADD: Spec = Spec {
    name: "geoadd",
    summary: "Add one or more geospatial items in the geospatial index represented using a sorted set",
    since: "3.2.0",
    complexity: "O(log(N)) for each item added, where N is the number of elements in the sorted set.",
    group: Group::Geo,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::one_of("condition", &[Arg::word("nx", "NX"), Arg::word("xx", "XX")])
            .since("6.2.0")
            .optional(),
        Arg::word("change", "CH").since("6.2.0").optional(),
        Arg::block(
            "longitude_latitude_member",
            &[
                Arg::new("longitude", ArgKind::Double),
                Arg::new("latitude", ArgKind::Double),
                Arg::new("member", ArgKind::String),
            ],
        )
        .multiple(),
    ],
    history: &[("6.2.0", "Added the `CH`, `NX` and `XX` options.")],
    examples: &[
        (
            "GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania",
            ":2\r\n",
        ),
        ("ZSCORE Sicily Palermo", "$16\r\n3479099956230698\r\n"),
        ("GEOADD Sicily CH 13.5 38 Palermo", ":1\r\n"),
        (
            "GEOADD Sicily 181 0 Nowhere",
            "-ERR invalid longitude,latitude pair 181.000000,0.000000\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn geoadd(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mut options = AddOptions::default();
    let mut rest = args.skip(1);
    while let Some(word) = rest.get(0) {
        let option = match word {
            _ if is_word(word, "NX") => &mut options.only_new,
            _ if is_word(word, "XX") => &mut options.only_old,
            _ if is_word(word, "CH") => &mut options.counts_changes,
            _ => break,
        };
        *option = true;
        rest = rest.skip(1);
    }
    if !rest.len().is_multiple_of(3) || options.only_new && options.only_old {
        return Err(SYNTAX);
    }
    let scores = (0..rest.len()).step_by(3);
    let scores = scores.map(|at| Ok(point(&rest[at], &rest[at + 1])?.score()));
    let scores = scores.collect::<Result<Vec<f64>, Error>>()?;
    let (first, others) = scores.split_first().ok_or(SYNTAX)?;
    let scores = Scores {
        first: *first,
        others,
    };
    add(
        ctx,
        &args[0],
        options,
        scores,
        |nth| &rest[3 * nth + 2],
        reply,
    )
}
