//! Lists the cases of places.

use crate::cases::{Case, case};

/// Places that lie beside each other.
const FILL: &str = "GEOADD k {all:10_20.#_member:#}";

pub(crate) const CASES: &[Case] = &[
    case("GEOADD", 4000, &[], FILL),
    case("GEOPOS", 4000, &[FILL], "GEOPOS k {all:member:#}"),
    case("GEOHASH", 4000, &[FILL], "GEOHASH k {all:member:#}"),
    case(
        "GEOSEARCH",
        4000,
        &[FILL],
        "GEOSEARCH k FROMLONLAT 10 20 BYRADIUS 500 km",
    ),
    case(
        "GEOSEARCH in order",
        4000,
        &[FILL],
        "GEOSEARCH k FROMLONLAT 10 20 BYBOX 1000 1000 km ASC WITHDIST WITHCOORD",
    ),
    case(
        "GEOSEARCH of the nearest half",
        4000,
        &[FILL],
        "GEOSEARCH k FROMLONLAT 10 20 BYRADIUS 500 km COUNT {n}",
    ),
    case(
        "GEOSEARCHSTORE",
        4000,
        &[FILL],
        "GEOSEARCHSTORE d k FROMLONLAT 10 20 BYRADIUS 500 km",
    ),
    case(
        "GEORADIUS",
        4000,
        &[FILL],
        "GEORADIUS k 10 20 500 km STOREDIST d",
    ),
    case(
        "GEORADIUSBYMEMBER",
        4000,
        &[FILL],
        "GEORADIUSBYMEMBER k member:1 500 km DESC",
    ),
];
