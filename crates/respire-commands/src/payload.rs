//! Values as the bytes of Redis's snapshot format (RDB), for snapshots and logs.

use crate::rdb;
use crate::table::TYPES;
use respire_rdb::{Payload, Reader};
use respire_store::{NewValue, Store, ValueRef};

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

/// Adds the type byte ([`Payload::begin`]) and the bytes of a value, without a footer. O(size of the value).
/// Calls `step` for each element.
///
/// ```
/// use respire_commands::payload::write;
/// use respire_rdb::Payload;
/// use respire_store::{StringRef, ValueRef};
///
/// let mut payload = Payload::default();
/// write(ValueRef::String(StringRef::Int(7)), &mut payload, &mut || ());
/// assert_eq!(payload.as_slice(), b"\x00\xc0\x07");
/// ```
pub fn write(value: ValueRef<'_>, payload: &mut Payload, step: &mut dyn FnMut()) {
    rdb::write(value, payload, step);
}

/// Reads a value from its type byte and all of its bytes, borrowed from them where possible. `None` if this
/// server does not have the type, or if anything is wrong with the bytes: everything inside is checked, as by
/// `RESTORE`. The store says in which form values are kept. O(bytes), and O(length) of strings that were packed.
///
/// ```
/// use respire_commands::payload::read;
/// use respire_store::{Config, Store};
///
/// let store = Store::new(Config::default());
/// let value = read(0, b"\x03cwl", &store).unwrap();
/// assert_eq!(value.as_ref().as_string().unwrap().to_vec(), b"cwl");
/// assert!(read(0, b"\x03cw", &store).is_none());
/// assert!(read(0, b"\x03cwl!", &store).is_none());
/// ```
#[must_use]
pub fn read<'p>(type_byte: u8, bytes: &'p [u8], store: &Store) -> Option<NewValue<'p>> {
    let mut reader = Reader::new(bytes);
    let value = rdb::read(type_byte, &mut reader, TYPES, store)?;
    reader.is_at_end().then_some(value)
}
