//! The payload of `FUNCTION DUMP` and `FUNCTION RESTORE`: the opcode and the text of each library, and
//! the footer that payloads of `DUMP` have. It is Redis's, so it moves to and from a real Redis.

use super::load::{Loading, load};
use super::{Library, Table};
use crate::lua::{Registered, State};
use respire_engine::Error;
use respire_rdb::{Payload, Reader, Text};
use std::sync::Arc;

/// The opcode before a library.
const FUNCTION2: u8 = 245;

/// The opcode that candidates of Redis 7.0 wrote.
const FUNCTION_PRE_GA: u8 = 246;

/// The most bytes that the packed libraries of a payload may have when they are unpacked. A payload
/// of a megabyte could otherwise take 264 of them.
const UNPACKED_BYTES_MAX: usize = 64 << 20;

/// The payload of these libraries. O(bytes).
pub(crate) fn dump(table: &Table) -> Payload {
    let mut payload = Payload::default();
    for library in table.libraries() {
        payload.byte(FUNCTION2);
        payload.string(&library.code);
    }
    payload.finish();
    payload
}

/// The libraries of a payload, and their functions on this thread. Loads all of them.
///
/// # Errors
/// The error for the client, if one of them is wrong.
pub(crate) fn restore(
    state: &State,
    payload: &[u8],
    loading: &mut Loading<'_>,
) -> Result<(Table, Vec<Restored>), Error> {
    const FAILED: Error = Error::fixed("ERR Failed loading library payload");
    let body = respire_rdb::open(payload).ok_or(Error::fixed(
        "ERR DUMP payload version or checksum are wrong",
    ))?;
    let mut reader = Reader::new(body);
    let mut table = Table::default();
    let mut restored = Vec::new();
    let mut unpacked_max = UNPACKED_BYTES_MAX;
    while let Some(opcode) = reader.byte() {
        if opcode == FUNCTION_PRE_GA {
            let text = "ERR Pre-GA function format not supported";
            return Err(Error::fixed(text));
        }
        if opcode != FUNCTION2 {
            return Err(Error::fixed("ERR given type is not a function"));
        }
        let code = match reader.string_up_to(unpacked_max).ok_or(FAILED)? {
            Text::Bytes(bytes) => bytes.to_vec(),
            Text::Int(number) => number.to_string().into_bytes(),
            Text::Unpacked(bytes) => {
                unpacked_max -= bytes.len();
                bytes
            }
        };
        let is_known = |name: &str| table.get(name).is_some();
        let (library, registered) = load(state, &code, loading, is_known)?;
        let added = table.add(Arc::clone(&library), false);
        added.map_err(|text| Error::new("ERR", text))?;
        restored.push((library, registered));
    }
    Ok((table, restored))
}

/// A library, and its functions on the thread that restored it.
pub(crate) type Restored = (Arc<Library>, Vec<Registered>);
