//! Defines what each type of value must provide for commands on keys of any type: `DUMP`,
//! `DEBUG OBJECT`, `DEBUG DIGEST`, `SORT`.

use crate::digest::Digest;
use crate::rdb::{Payload, Reader};
use respire_store::{NewValue, Store, StringRef, ValueRef};

/// A type of value, for commands on keys of any type. Each type implements it once, in the folder
/// of its family.
pub(crate) trait ValueType {
    /// Adds the type byte ([`Payload::begin`]) and the value as in `DUMP`, without the footer. O(size of the
    /// value), and called without a lock if the value is large. Calls `step` for each element. The family must
    /// [restore](crate::family::Family::restores) every type byte that it writes.
    fn payload(&self, payload: &mut Payload, step: &mut dyn FnMut());

    /// Adds the value, with the number of its type, to a digest as Redis's `DEBUG DIGEST` does.
    /// O(size of the value). Calls `step` for each element.
    fn digest(&self, digest: &mut Digest, step: &mut dyn FnMut());

    /// The elements for `SORT`, in their own order; `None` if it refuses the type. O(size of the
    /// value), and called without a lock.
    fn elements(&self) -> Option<Vec<Vec<u8>>>;

    /// Calls `f` with the elements for `SORT`, in their own order; returns false if it refuses the
    /// type. O(size of the value), and called without a lock if the value is large.
    fn for_each_element(&self, f: &mut dyn FnMut(StringRef<'_>)) -> bool {
        let elements = self.elements();
        let all = elements.iter().flatten();
        all.for_each(|element| f(StringRef::Bytes(element)));
        elements.is_some()
    }

    /// The value that a `BY` or `GET` of `SORT` finds in a key of this type: the whole value, or
    /// the field of this name. `None` if there is none.
    fn part(&self, field: Option<&[u8]>) -> Option<Vec<u8>>;
}

/// Runs `f` on a value as its type. Only this function lists the types.
pub(crate) fn with_type<R>(value: ValueRef<'_>, f: impl FnOnce(&dyn ValueType) -> R) -> R {
    match value {
        ValueRef::String(string) => f(&string),
        ValueRef::Hash(hash) => f(&hash),
        ValueRef::Set(set) => f(&set),
        ValueRef::ZSet(set) => f(&set),
        ValueRef::List(list) => f(&list),
        ValueRef::Stream(stream) => f(&stream),
        #[cfg(feature = "toy")]
        ValueRef::Stack(stack) => f(&stack),
    }
}

/// Reads a value from the payload after its type byte; `None` if it is malformed. The payload is
/// untrusted input: anybody can compute a correct checksum. The store says in which form values are
/// kept.
pub(crate) type Restore = for<'p> fn(&mut Reader<'p>, &Store) -> Option<NewValue<'p>>;

/// Creates a list of at least one element.
pub(crate) type ListOf = fn(&mut dyn Iterator<Item = &[u8]>) -> NewValue<'static>;

/// The functions that the families of a service provide for values of their types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Types {
    /// The function that reads values of this type byte, if there is one.
    pub(crate) restore_of: fn(u8) -> Option<Restore>,
    /// The function that creates a list, if the service has lists.
    pub(crate) list_of: fn() -> Option<ListOf>,
}
