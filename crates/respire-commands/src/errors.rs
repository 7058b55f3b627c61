//! The error texts of the key-value commands, word for word as in Redis.
//!
//! `respire_engine::text` has the texts that any service may need.

use respire_engine::{ArgList, Error, Spec};
use respire_store::WrongType;

pub(crate) use respire_engine::text::{DB_INDEX, NOT_AN_INTEGER, SYNTAX, WRONG_TYPE, wrong_arity};

/// A key holds a value of another type.
#[inline(always)]
pub(crate) fn wrong_type(_: WrongType) -> Error {
    WRONG_TYPE
}

/// `SORT` by a text that is not a number.
pub(crate) const SORT_NO_DOUBLE: Error =
    Error::fixed("ERR One or more scores can't be converted into double");
/// The memory limit is reached, and nothing may be evicted.
pub(crate) const OUT_OF_MEMORY: Error =
    Error::fixed("OOM command not allowed when used memory > 'maxmemory'.");
/// An argument that should have been a float.
pub(crate) const NOT_A_FLOAT: Error = Error::fixed("ERR value is not a valid float");
/// A key that had to exist.
pub(crate) const NO_SUCH_KEY: Error = Error::fixed("ERR no such key");
/// An increment that exceeds the range of an integer.
pub(crate) const OVERFLOW: Error = Error::fixed("ERR increment or decrement would overflow");
/// A decrement whose negation does not fit an integer.
pub(crate) const DECREMENT_OVERFLOW: Error = Error::fixed("ERR decrement would overflow");
/// An increment that exceeds the range of a float.
pub(crate) const NOT_FINITE: Error = Error::fixed("ERR increment would produce NaN or Infinity");
/// A float that is not finite, of `HINCRBYFLOAT`.
pub(crate) const NOT_FINITE_ARGUMENT: Error = Error::fixed("ERR value is NaN or Infinity");
/// A field of a hash that should have been an integer.
pub(crate) const HASH_NOT_AN_INTEGER: Error = Error::fixed("ERR hash value is not an integer");
/// A field of a hash that should have been a float.
pub(crate) const HASH_NOT_A_FLOAT: Error = Error::fixed("ERR hash value is not a float");
/// The one number that has no positive counterpart.
pub(crate) const LONG_RANGE: Error = Error::fixed(
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
);
/// A count that is out of range.
pub(crate) const OUT_OF_RANGE: Error = Error::fixed("ERR value is out of range");
/// A string longer than `proto-max-bulk-len`.
pub(crate) const STRING_TOO_LONG: Error =
    Error::fixed("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
/// A negative offset of `SETRANGE`.
pub(crate) const OFFSET_RANGE: Error = Error::fixed("ERR offset is out of range");

/// An index of `LSET` that is not one of the list.
pub(crate) const INDEX_RANGE: Error = Error::fixed("ERR index out of range");
/// A rank of 0 in `LPOS`.
pub(crate) const LPOS_RANK: Error = Error::fixed(
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list",
);
/// The lowest rank of `LPOS`, which cannot be negated. The text is that of Redis 7.2.
pub(crate) const LPOS_RANK_LOWEST: Error = Error::fixed(
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
);
/// A count of `LPOS` that is none.
pub(crate) const LPOS_COUNT: Error = Error::fixed("ERR COUNT can't be negative");
/// A length of `LPOS` that is none.
pub(crate) const LPOS_MAXLEN: Error = Error::fixed("ERR MAXLEN can't be negative");
/// A number of keys that is not positive.
pub(crate) const NUMKEYS_POSITIVE: Error = Error::fixed("ERR numkeys should be greater than 0");
/// A count of elements that is not positive.
pub(crate) const COUNT_POSITIVE: Error = Error::fixed("ERR count should be greater than 0");

/// `MSETEX` of no pairs, or of a number of pairs that is none.
pub(crate) const MSETEX_NUMBER: Error = Error::fixed("ERR invalid numkeys value");
/// `MSETEX` of more pairs than there are.
pub(crate) const MSETEX_PAIRS: Error = Error::fixed("ERR wrong number of key-value pairs");

/// `LCS` on keys that do not hold strings.
pub(crate) const LCS_NOT_STRINGS: Error =
    Error::fixed("ERR The specified keys must contain string values");
/// `LCS` with `LEN` and `IDX`.
pub(crate) const LCS_LEN_AND_IDX: Error =
    Error::fixed("ERR If you want both the length and indexes, please just use IDX.");
/// `LCS` on strings whose table would be too large.
pub(crate) const LCS_MEMORY: Error =
    Error::fixed("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");

/// A timeout that is not a number.
pub(crate) const TIMEOUT: Error = Error::fixed("ERR timeout is not a float or out of range");
/// A timeout below zero.
pub(crate) const TIMEOUT_NEGATIVE: Error = Error::fixed("ERR timeout is negative");

/// A bit that is neither 0 nor 1, in `SETBIT`.
pub(crate) const BIT_VALUE: Error = Error::fixed("ERR bit is not an integer or out of range");
/// A bit that is neither 0 nor 1, in `BITPOS`.
pub(crate) const BIT_ARGUMENT: Error = Error::fixed("ERR The bit argument must be 1 or 0.");
/// A bit offset beyond the longest possible string.
pub(crate) const BIT_OFFSET: Error =
    Error::fixed("ERR bit offset is not an integer or out of range");
/// `BITOP NOT` of several keys.
pub(crate) const BITOP_NOT: Error =
    Error::fixed("ERR BITOP NOT must be called with a single source key.");
/// An invalid field type.
pub(crate) const BITFIELD_TYPE: Error = Error::fixed(
    "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
);
/// An invalid overflow behaviour.
pub(crate) const BITFIELD_OVERFLOW: Error = Error::fixed("ERR Invalid OVERFLOW type specified");
/// A write in `BITFIELD_RO`.
pub(crate) const BITFIELD_READ_ONLY: Error =
    Error::fixed("ERR BITFIELD_RO only supports the GET subcommand");

/// `SINTERCARD` of no keys, or of a number of keys that is none.
pub(crate) const NUMKEYS_ZERO: Error = Error::fixed("ERR numkeys should be greater than 0");
/// `SINTERCARD` of more keys than there are.
pub(crate) const NUMKEYS_ARGS: Error =
    Error::fixed("ERR Number of keys can't be greater than number of args");
/// A negative limit, or one that is no number.
pub(crate) const LIMIT_NEGATIVE: Error = Error::fixed("ERR LIMIT can't be negative");
/// A count of random elements whose negation does not fit an integer.
pub(crate) const COUNT_RANGE: Error = Error::fixed(
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
);

/// A string that is no `HyperLogLog`.
pub(crate) const NOT_A_HLL: Error =
    Error::fixed("WRONGTYPE Key is not a valid HyperLogLog string value.");
/// A `HyperLogLog` whose registers are not those that its header promises.
pub(crate) const CORRUPT_HLL: Error = Error::fixed("INVALIDOBJ Corrupted HLL object detected");
/// `PFDEBUG` of an absent key.
pub(crate) const NO_SUCH_HLL: Error = Error::fixed("ERR The specified key does not exist");
/// `PFDEBUG DECODE` of the dense form.
pub(crate) const HLL_NOT_SPARSE: Error = Error::fixed("ERR HLL encoding is not sparse");
/// `PFSELFTEST` that does not pass.
pub(crate) const HLL_SELF_TEST: Error =
    Error::fixed("ERR TESTFAILED registers or estimates are wrong");

/// An expiry that is out of range.
pub(crate) fn invalid_expire(command: &str) -> Error {
    Error::owned(format!("ERR invalid expire time in '{command}' command"))
}

/// A command on the expiries of fields that does not say `FIELDS`, or not where it belongs.
pub(crate) const FIELDS_MISSING: Error =
    Error::fixed("ERR Mandatory argument FIELDS is missing or not at the right position");
/// A number of fields that is not that of the fields that follow.
pub(crate) const FIELDS_NUMBER: Error =
    Error::fixed("ERR The `numfields` parameter must match the number of arguments");
/// A number of fields that is not positive.
pub(crate) const FIELDS_POSITIVE: Error =
    Error::fixed("ERR Number of fields must be a positive integer");
/// The same, of `HEXPIRE` and its relatives.
pub(crate) const HEXPIRE_POSITIVE: Error =
    Error::fixed("ERR Parameter `numFields` should be greater than 0");
/// The same, of `HSETEX`.
pub(crate) const HSETEX_NUMBER: Error = Error::fixed("ERR invalid number of fields");
/// An expiry of a field before 1970.
pub(crate) const FIELD_EXPIRY_NEGATIVE: Error =
    Error::fixed("ERR invalid expire time, must be >= 0");
/// `HSETEX` with an option for the expiry, but without the time.
pub(crate) const HSETEX_NO_TIME: Error = Error::fixed("ERR missing expire time");
/// `HSETEX` with two conditions.
pub(crate) const HSETEX_CONDITIONS: Error =
    Error::fixed("ERR Only one of FXX or FNX arguments can be specified");
/// `HSETEX` with two expiries.
pub(crate) const HSETEX_EXPIRIES: Error =
    Error::fixed("ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified");

/// `NX` of `EXPIRE` beside another condition.
pub(crate) const EXPIRE_NX: Error =
    Error::fixed("ERR NX and XX, GT or LT options at the same time are not compatible");
/// `GT` and `LT` of `EXPIRE`.
pub(crate) const EXPIRE_GT_AND_LT: Error =
    Error::fixed("ERR GT and LT options at the same time are not compatible");
/// Options of `ZADD` that exclude each other.
pub(crate) const ZADD_NX_XX: Error =
    Error::fixed("ERR XX and NX options at the same time are not compatible");
/// Conditions of `ZADD` on scores that exclude each other, or `NX`.
pub(crate) const ZADD_GT_LT_NX: Error =
    Error::fixed("ERR GT, LT, and/or NX options at the same time are not compatible");
/// `ZADD` with `INCR` and several pairs.
pub(crate) const ZADD_INCR_PAIRS: Error =
    Error::fixed("ERR INCR option supports a single increment-element pair");
/// An increment of an infinite score by its opposite.
pub(crate) const ZADD_NAN: Error = Error::fixed("ERR resulting score is not a number (NaN)");
/// A bound of a range of scores.
pub(crate) const NOT_A_SCORE_RANGE: Error = Error::fixed("ERR min or max is not a float");
/// A bound of a range of members.
pub(crate) const NOT_A_LEX_RANGE: Error =
    Error::fixed("ERR min or max not valid string range item");
/// `LIMIT` of a range of ranks.
pub(crate) const ZRANGE_LIMIT: Error = Error::fixed(
    "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
);
/// `WITHSCORES` of a range of members.
pub(crate) const ZRANGE_SCORES_BY_LEX: Error =
    Error::fixed("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
/// A weight of `ZUNION`.
pub(crate) const NOT_A_WEIGHT: Error = Error::fixed("ERR weight value is not a float");
/// A number of keys that is not positive.
pub(crate) const NUMKEYS_NOT_POSITIVE: Error = Error::fixed("ERR numkeys should be greater than 0");
/// A number of elements that is not positive.
pub(crate) const COUNT_NOT_POSITIVE: Error = Error::fixed("ERR count should be greater than 0");
/// A radius that is not a number.
pub(crate) const GEO_RADIUS: Error = Error::fixed("ERR need numeric radius");
/// A radius below zero.
pub(crate) const GEO_RADIUS_NEGATIVE: Error = Error::fixed("ERR radius cannot be negative");
/// A width that is not a number.
pub(crate) const GEO_WIDTH: Error = Error::fixed("ERR need numeric width");
/// A height that is not a number.
pub(crate) const GEO_HEIGHT: Error = Error::fixed("ERR need numeric height");
/// A width or height below zero.
pub(crate) const GEO_BOX_NEGATIVE: Error = Error::fixed("ERR height or width cannot be negative");
/// A unit of distances that is none.
pub(crate) const GEO_UNIT: Error =
    Error::fixed("ERR unsupported unit provided. please use M, KM, FT, MI");
/// A member in the middle of a search that the set does not have.
pub(crate) const GEO_MEMBER: Error = Error::fixed("ERR could not decode requested zset member");
/// A number of places that is not positive.
pub(crate) const GEO_COUNT: Error = Error::fixed("ERR COUNT must be > 0");
/// `ANY` without `COUNT`.
pub(crate) const GEO_ANY: Error = Error::fixed("ERR the ANY argument requires COUNT argument");
/// `STORE` of a search whose reply has more than members.
pub(crate) const GEO_RADIUS_STORE: Error = Error::fixed(
    "ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options",
);
/// `GEOSEARCHSTORE` with options for a reply that has more than members.
pub(crate) const GEO_SEARCH_STORE: Error = Error::fixed(
    "ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options",
);

/// The option `BLOCK` in a script; the name is as it was sent.
pub(crate) fn block_in_script(name: &[u8]) -> Error {
    Error::owned(format!(
        "ERR {} command is not allowed with BLOCK option from scripts",
        String::from_utf8_lossy(name)
    ))
}

/// No key for a command that combines keys.
pub(crate) fn no_input_key(command: &str) -> Error {
    Error::owned(format!(
        "ERR at least 1 input key is needed for '{command}' command"
    ))
}
/// A `SCAN` cursor that is not a number.
pub(crate) const CURSOR: Error = Error::fixed("ERR invalid cursor");
/// A key copied or moved onto itself.
pub(crate) const SAME_OBJECT: Error =
    Error::fixed("ERR source and destination objects are the same");
/// A number beyond 32 bits.
pub(crate) const INT_RANGE: Error =
    Error::fixed("ERR value is out of range, value must between -2147483648 and 2147483647");
/// A number that must not be negative or too large.
pub(crate) const NOT_POSITIVE: Error = Error::fixed("ERR value is out of range, must be positive");
/// The first argument of `SWAPDB` is not a number.
pub(crate) const FIRST_DB: Error = Error::fixed("ERR invalid first DB index");
/// The second argument of `SWAPDB` is not a number.
pub(crate) const SECOND_DB: Error = Error::fixed("ERR invalid second DB index");
/// `OBJECT IDLETIME` under an LFU policy.
pub(crate) const IDLE_TIME_UNTRACKED: Error = Error::fixed(
    "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.",
);
/// `OBJECT FREQ` under any other policy.
pub(crate) const FREQUENCY_UNTRACKED: Error = Error::fixed(
    "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.",
);

/// `RESTORE` to a key that exists.
pub(crate) const BUSY_KEY: Error = Error::fixed("BUSYKEY Target key name already exists.");
/// A negative time to live of `RESTORE`.
pub(crate) const RESTORE_TTL: Error = Error::fixed("ERR Invalid TTL value, must be >= 0");
/// A negative idle time of `RESTORE`.
pub(crate) const RESTORE_IDLE_TIME: Error =
    Error::fixed("ERR Invalid IDLETIME value, must be >= 0");
/// An access frequency of `RESTORE` that is out of range.
pub(crate) const RESTORE_FREQUENCY: Error =
    Error::fixed("ERR Invalid FREQ value, must be >= 0 and <= 255");
/// A payload of `RESTORE` with a wrong version or checksum.
pub(crate) const PAYLOAD_FOOTER: Error =
    Error::fixed("ERR DUMP payload version or checksum are wrong");
/// A payload of `RESTORE` with a malformed value or an unknown type.
pub(crate) const PAYLOAD_FORMAT: Error = Error::fixed("ERR Bad data format");

/// A type that `DEBUG PROTOCOL` does not know.
pub(crate) const PROTOCOL_TYPE: Error = Error::fixed(
    "ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
);
/// The size of `DEBUG QUICKLIST-PACKED-THRESHOLD` is none, or too large.
pub(crate) const PACKED_THRESHOLD: Error =
    Error::fixed("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
/// `DEBUG PROTOCOL PUSH` for a RESP2 peer.
pub(crate) const RESP2_UNSUPPORTED: Error =
    Error::fixed("ERR RESP2 is not supported by this command");

/// More keys than `DEBUG POPULATE` may make.
pub(crate) const POPULATE_TOO_MUCH: Error = Error::fixed("ERR OOM in dictTryExpand");

/// A word after `EXPIRE` that is not a condition.
pub(crate) fn unsupported_option(option: &[u8]) -> Error {
    Error::quoting("ERR Unsupported option ", option, "")
}

/// A subcommand with arguments that it does not have. [`with_subcommand`] adds its name.
pub(crate) const SUBCOMMAND_SYNTAX: Error =
    Error::fixed("ERR unknown subcommand or wrong number of arguments");

/// Adds the name of the subcommand, as the request has it, to [`SUBCOMMAND_SYNTAX`].
pub(crate) fn with_subcommand(error: Error, spec: &Spec, request: ArgList<'_>) -> Error {
    match (spec.subcommand(), request.get(1)) {
        (Some((container, _)), Some(word)) if error == SUBCOMMAND_SYNTAX => Error::quoting(
            "ERR unknown subcommand or wrong number of arguments for '",
            respire_engine::text::shortened(word),
            &format!("'. Try {} HELP.", container.to_ascii_uppercase()),
        ),
        _ => error,
    }
}

/// A word after `DEBUG` that is not a subcommand, or a subcommand with too few or too many
/// arguments.
pub(crate) fn debug_subcommand(subcommand: &[u8]) -> Error {
    Error::quoting(
        "ERR unknown subcommand or wrong number of arguments for '",
        respire_engine::text::shortened(subcommand),
        "'. Try DEBUG HELP.",
    )
}
