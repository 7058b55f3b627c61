//! The unit of distances, as an argument.

use respire_engine::Arg;

pub(super) const UNIT: Arg = Arg::one_of(
    "unit",
    &[
        Arg::word("m", "M"),
        Arg::word("km", "KM"),
        Arg::word("ft", "FT"),
        Arg::word("mi", "MI"),
    ],
);
