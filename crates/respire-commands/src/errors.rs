//! The error texts of the key-value commands, word for word as Redis has them, in one place.
//! The ones any service may need stand in `respire_engine::text`.

use respire_engine::Error;

pub(crate) use respire_engine::text::{DB_INDEX, NOT_AN_INTEGER, SYNTAX, WRONG_TYPE};

/// An argument that should have been a float.
pub(crate) const NOT_A_FLOAT: Error = Error::fixed("ERR value is not a valid float");
/// A key that had to exist.
pub(crate) const NO_SUCH_KEY: Error = Error::fixed("ERR no such key");
/// An increment past the range of an integer.
pub(crate) const OVERFLOW: Error = Error::fixed("ERR increment or decrement would overflow");
/// A string past `proto-max-bulk-len`.
pub(crate) const STRING_TOO_LONG: Error =
    Error::fixed("ERR string exceeds maximum allowed size (proto-max-bulk-len)");

/// An expiry that is no time a key can live for.
pub(crate) fn invalid_expire(command: &str) -> Error {
    Error::owned(format!("ERR invalid expire time in '{command}' command"))
}
