//! Lists the cases of sorted sets.

use crate::cases::{Case, case};

/// Members with scores that grow.
const FILL: &str = "ZADD k {all:#_member:#}";
/// The same members in another set, with scores that fall.
const FILL_OTHER: &str = "ZADD other {all:-#_member:#}";

pub(crate) const CASES: &[Case] = &[
    case("ZADD", 4000, &[], FILL),
    case(
        "ZADD of other scores",
        4000,
        &[FILL],
        "ZADD k {all:-#_member:#}",
    ),
    case("ZREM", 4000, &[FILL], "ZREM k {all:member:#}"),
    case("ZMSCORE", 4000, &[FILL], "ZMSCORE k {all:member:#}"),
    case("ZRANK of all", 4000, &[FILL], "n: ZRANK k member:{i}"),
    case("ZRANGE", 4000, &[FILL], "ZRANGE k 0 -1 WITHSCORES"),
    case("ZRANGEBYSCORE", 4000, &[FILL], "ZRANGEBYSCORE k -inf {n}"),
    case("ZRANGESTORE", 4000, &[FILL], "ZRANGESTORE d k 0 -1"),
    case("ZPOPMIN", 4000, &[FILL], "ZPOPMIN k {n}"),
    case("ZPOPMAX", 4000, &[FILL], "ZPOPMAX k {n}"),
    case("BZMPOP", 4000, &[FILL], "BZMPOP 1 1 k MAX COUNT {n}"),
    case("ZREMRANGEBYRANK", 4000, &[FILL], "ZREMRANGEBYRANK k 0 {n}"),
    case("ZUNION", 4000, &[FILL, FILL_OTHER], "ZUNION 2 k other"),
    case("ZINTER", 4000, &[FILL, FILL_OTHER], "ZINTER 2 k other"),
    case(
        "ZINTERCARD",
        4000,
        &[FILL, FILL_OTHER],
        "ZINTERCARD 2 k other",
    ),
    case(
        "ZDIFF",
        4000,
        &[FILL, FILL_OTHER, "ZADD k 1 more"],
        "ZDIFF 2 k other",
    ),
    case(
        "ZUNIONSTORE",
        4000,
        &[FILL, FILL_OTHER],
        "ZUNIONSTORE d 2 k other",
    ),
    case("ZRANDMEMBER of most", 4000, &[FILL], "ZRANDMEMBER k {n}"),
    case(
        "ZRANDMEMBER, repeated",
        4000,
        &["ZADD k 1 a 2 b 3 c"],
        "ZRANDMEMBER k -{n}",
    ),
    case("ZSCAN", 4000, &[FILL], "ZSCAN k 0 COUNT {n}"),
    case("DUMP of a sorted set", 4000, &[FILL], "DUMP k"),
    case(
        "RESTORE of a sorted set",
        4000,
        &[FILL, "DUMP k"],
        "RESTORE r 0 {reply}",
    ),
    case("SORT of a sorted set", 4000, &[FILL], "SORT k ALPHA"),
];
