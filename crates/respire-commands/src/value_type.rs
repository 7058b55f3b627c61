//! What commands on keys of any type need of each type of value: `DUMP`, `DEBUG OBJECT`, `DEBUG DIGEST`, `SORT`.

use crate::digest::Digest;
use crate::rdb::{Payload, Reader};
use respire_store::{NewValue, ValueRef};

/// A type of value, as commands on keys of any type need it. Implemented once a type, in the folder of its family.
pub(crate) trait ValueType {
    /// The type byte and the value as `DUMP` has them, without the footer. O(the value's size), and called
    /// without a lock where the value is large. Every type byte it writes is one that the family
    /// [restores](crate::family::Family::restores).
    fn payload(&self) -> Payload;

    /// Mixes the value, with the number of its type, into a digest as Redis's `DEBUG DIGEST` does. O(the value's
    /// size).
    fn digest(&self, digest: &mut Digest);

    /// The elements that `SORT` sorts, in their own order; `None` if it refuses the type. O(the value's size), and
    /// called without a lock.
    fn elements(&self) -> Option<Vec<Vec<u8>>>;

    /// What a `BY` or `GET` of `SORT` finds in a key of this type: its value, or the field of this name. `None` if
    /// it has no such thing.
    fn part(&self, field: Option<&[u8]>) -> Option<Vec<u8>>;
}

/// Runs `f` on a value as its type. This is the one place that lists the types.
pub(crate) fn with_type<R>(value: ValueRef<'_>, f: impl FnOnce(&dyn ValueType) -> R) -> R {
    match value {
        ValueRef::String(string) => f(&string),
        #[cfg(feature = "toy")]
        ValueRef::Stack(stack) => f(stack),
    }
}

/// Reads a value from a payload, behind its type byte; `None` if it is malformed. Nothing of the payload is to
/// be trusted but that its checksum is right, which anybody can compute.
pub(crate) type Restore = for<'p> fn(&mut Reader<'p>) -> Option<NewValue<'p>>;

/// Makes a list of at least one element.
pub(crate) type ListOf = fn(&mut dyn Iterator<Item = &[u8]>) -> NewValue<'static>;

/// What the families of a service bring for values of their types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Types {
    /// What reads the values of this type byte, if any does.
    pub(crate) restore_of: fn(u8) -> Option<Restore>,
    /// What makes a list, if there are lists.
    pub(crate) list_of: fn() -> Option<ListOf>,
}
