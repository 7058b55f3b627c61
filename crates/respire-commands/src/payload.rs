//! Values as the bytes of Redis's snapshot format (RDB), for snapshots and logs.

use crate::rdb;
use crate::table::TYPES;
use respire_rdb::Payload;
use respire_store::ValueRef;

/// Returns the payload of a value as `DUMP` replies with it: the type byte, the value, and the footer.
/// `RESTORE` takes it. O(size of the value). Calls `step` for each element.
///
/// ```
/// use respire_commands::payload::dump;
/// use respire_store::{StringRef, ValueRef};
///
/// let payload = dump(ValueRef::String(StringRef::Bytes(b"cwl")), &mut || ());
/// assert_eq!(payload.as_slice(), b"\x00\x03cwl\n\x00sW{~a/+4");
/// ```
#[must_use]
pub fn dump(value: ValueRef<'_>, step: &mut dyn FnMut()) -> Payload {
    rdb::dump(value, TYPES, step)
}
