//! The fields of tables that stand for replies of other types.

use crate::lua::failure::COUNTED;

/// The fields. Functions that read or write replies have them as upvalues, as making a string costs time
/// and may fail.
pub(super) const NAMES: [&[u8]; 10] = [
    b"err",
    b"ok",
    b"double",
    b"big_number",
    b"verbatim_string",
    b"format",
    b"string",
    b"map",
    b"set",
    COUNTED.as_bytes(),
];

/// A place in [`NAMES`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    Err,
    Ok,
    Double,
    BigNumber,
    Verbatim,
    Format,
    Text,
    Map,
    Set,
    IsCounted,
}
