//! The types of value: the trait that each implements, and the list of them.
//!
//! A type is a file or folder here that implements [`Kind`], and a line of the list at the end of this file.
//! All code that works on values of any type uses that list: reading, copying, accounting, freeing.

mod changes;
mod hash;
mod limits;
mod list;
mod plain;
mod scratch;
mod set;
#[cfg(any(test, feature = "toy"))]
mod stack;
mod stream;
mod string;
mod zset;

use core::fmt;
use std::borrow::Cow;

use bytes::Bytes;

pub use changes::{Change, Step};
pub(crate) use changes::{Recording, Span, read_notes};
pub use hash::{Hash, HashRef};
pub(crate) use limits::LimitTable;
pub use limits::{Growth, Limits};
pub use list::{End, List, ListIter, ListRef};
pub(crate) use plain::Plain;
pub(crate) use scratch::{give_back, scratch};
pub use set::{Set, SetRef};
#[cfg(any(test, feature = "toy"))]
pub use stack::{Stack, StackRef};
pub use stream::{
    Consumer, Deletion, Delivery, Keep, Pairs, Pending, References, Stream, StreamBlocks,
    StreamEntry, StreamFields, StreamGroup, StreamId, StreamMarks, StreamParts, StreamRange,
    StreamRef, StreamSlice, Trim, Trimmed, Trimming,
};
pub(crate) use string::LongString;
pub use string::{SHARED_BYTES_MIN, StringRef};
pub use zset::{Bound, Ranked, ScoreText, Scored, ZSet, ZSetRef};

/// A type of value that has elements. The trait is sealed: only this crate implements it.
///
/// A small value is one run of bytes, its packed form, which lies in the key's own cell. A large one has parts with
/// allocations of their own.
///
/// A clone is a snapshot. It costs O(parts), not O(elements), because both share the parts; a later change of
/// one copies the part that it changes. `COPY`, `DUMP` and others make a snapshot under the key's lock, and use
/// it without the lock.
///
/// The default value is empty and packed. A key never holds an empty value: [`Slot::edit`](crate::Slot::edit) and
/// [`Slot::set`](crate::Slot::set) remove it.
pub trait Kind: Clone + Default + fmt::Debug + Sealed + 'static {
    /// The type's name, as `TYPE` replies it.
    const NAME: &'static str;

    /// The limits of the packed form in a new store.
    const LIMITS: Limits;

    /// A borrowed value, in either form.
    type Ref<'e>: Elements<'e>;

    /// Returns the value for reading.
    fn read(&self) -> Self::Ref<'_>;

    /// Returns a packed value for reading. The bytes come from [`Kind::packed`].
    fn read_packed(bytes: &[u8]) -> Self::Ref<'_>;

    /// Returns the bytes of the packed form; `None` if the value is not packed.
    fn packed(&self) -> Option<&[u8]>;

    /// Converts the bytes of the packed form into a value. No bytes are the empty value.
    fn from_packed(bytes: Vec<u8>) -> Self;

    /// Converts a packed value into its bytes; `None` if the value is not packed.
    fn into_packed(self) -> Option<Vec<u8>>;

    /// Returns whether there are no elements. O(1).
    fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    /// Returns the bytes allocated for the elements, in an allocator's steps of 16. O(1): changes keep the count.
    fn heap_bytes(&self) -> usize;

    /// Frees elements until `budget` is used up, and at least one part. Returns whether the rest is small enough to
    /// be dropped at once. An allocation takes 1 from the budget, plus 1 per 16 KiB.
    fn free_some(&mut self, budget: &mut usize) -> bool;

    /// Returns a time in unix milliseconds before which no element expires; `None` if none does. O(1). Elements
    /// of packed values do not expire.
    fn due_at(&self) -> Option<u64> {
        None
    }

    /// Returns whether elements may be due that readers still see ([`Kind::expire`]). O(1).
    fn is_due(&self, _now_ms: u64) -> bool {
        false
    }

    /// Removes due elements until about `budget` elements have been looked at, and returns how many. From then on,
    /// readers see none that are due.
    fn expire(&mut self, _now_ms: u64, _budget: usize) -> usize {
        0
    }

    /// Returns whether readers see an element, or more due ones than some thousands are left. O(1) in the number
    /// of elements.
    fn is_live(&self) -> bool {
        true
    }
}

/// A borrowed value of a type that has elements, for reading.
pub trait Elements<'e>: Copy + fmt::Debug {
    /// A borrowed element.
    type Element;

    /// Returns the value's encoding.
    fn encoding(self) -> Encoding;

    /// Returns the number of elements. O(1).
    fn len(self) -> usize;

    /// Returns whether there are no elements. O(1).
    fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with every element. The order depends only on the elements and the value's history. O(elements).
    fn for_each(self, f: &mut dyn FnMut(Self::Element));

    /// Runs one step of an iteration: calls `f` with about `count` elements and returns the cursor for the next
    /// step. The cursor 0 starts an iteration; a returned 0 ends it. Every element that exists from the start to the
    /// end is visited at least once, whatever is added or removed meanwhile. Any number is a valid cursor. O(`count`),
    /// or O(elements) for a packed value, of which a step visits all elements.
    fn scan(self, cursor: u64, count: usize, f: &mut dyn FnMut(Self::Element)) -> u64;

    /// Returns the element that a random number selects, all with the same probability; `None` if there are none.
    fn sample(self, random: u64) -> Option<Self::Element>;

    /// Begins to load the memory that a command on this element reads first. It is a hint without a visible effect.
    /// Returns whether the command reads more behind it, which [`Elements::warm_found`] can load.
    fn warm(self, element: &[u8]) -> bool {
        let _ = element;
        false
    }

    /// Begins to load the element itself, some time after [`Elements::warm`]. It is a hint without a visible effect.
    fn warm_found(self, element: &[u8]) {
        let _ = element;
    }

    /// Begins to load the element of a rank, which counts from the last one, -1, if it is negative. It is a hint
    /// without a visible effect.
    fn warm_rank(self, rank: i64) {
        let _ = rank;
    }
}

/// The error of an operation on a key whose value has another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongType;

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key holds a value of another type")
    }
}

impl core::error::Error for WrongType {}

/// The encoding of a value, by Redis's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// An integer.
    Int,
    /// A short string in one allocation with its key.
    Embstr,
    /// Any other string.
    Raw,
    /// A small hash or sorted set.
    Listpack,
    /// A large hash, or a set that has or had a member other than an integer.
    Hashtable,
    /// A set that has only had integers, and not too many of them.
    Intset,
    /// A large sorted set. Its name is that of Redis's structure.
    Skiplist,
    /// A list.
    Quicklist,
    /// A stream.
    Stream,
    /// A stack.
    #[cfg(any(test, feature = "toy"))]
    Stack,
}

impl Encoding {
    /// Returns the name that `OBJECT ENCODING` replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Int => "int",
            Encoding::Embstr => "embstr",
            Encoding::Raw => "raw",
            Encoding::Listpack => "listpack",
            Encoding::Hashtable => "hashtable",
            Encoding::Intset => "intset",
            Encoding::Skiplist => "skiplist",
            Encoding::Quicklist => "quicklist",
            Encoding::Stream => "stream",
            #[cfg(any(test, feature = "toy"))]
            Encoding::Stack => "stack",
        }
    }
}

/// Converts between a type and the list of types. The trait is not exported, so other crates cannot implement
/// [`Kind`].
pub trait Sealed: Sized {
    /// The type's place in the list.
    const ID: TypeId;

    /// Returns the value if it is of this type.
    fn of(value: ValueRef<'_>) -> Option<<Self as Kind>::Ref<'_>>
    where
        Self: Kind;

    /// Returns the value for changing it, if it is of this type.
    fn of_mut(value: &mut Value) -> Option<&mut Self>;

    /// Converts the value into one with its own allocation.
    fn into_value(self) -> Value;
}

macro_rules! types {
    ($($(#[cfg($($when:tt)*)])? $kind:ident = $doc:literal,)*) => {
        /// A type, as cells name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum TypeId {
            /// A string.
            String,
            $($(#[cfg($($when)*)])? #[doc = $doc] $kind,)*
        }

        impl TypeId {
            /// Returns the type of this number.
            pub(crate) fn of(number: u8) -> TypeId {
                match number {
                    $($(#[cfg($($when)*)])? it if it == TypeId::$kind as u8 => TypeId::$kind,)*
                    _ => TypeId::String,
                }
            }
        }

        /// The limits of a new store.
        pub(crate) const DEFAULT_LIMITS: &[(TypeId, Limits)] = &[
            $($(#[cfg($($when)*)])? (TypeId::$kind, $kind::LIMITS),)*
        ];

        /// A value to be written.
        ///
        /// ```
        /// use respire_store::NewValue;
        ///
        /// assert!(matches!(NewValue::from(b"42".as_slice()), NewValue::Bytes(b"42")));
        /// assert!(matches!(NewValue::from(42), NewValue::Int(42)));
        /// ```
        #[derive(Debug, Clone)]
        pub enum NewValue<'a> {
            /// A string; canonical decimal integers (`-17`, not `017`) are kept as integers.
            Bytes(&'a [u8]),
            /// An integer.
            Int(i64),
            /// A string that is kept as text even if it is a canonical integer.
            Text(Cow<'a, [u8]>),
            /// A string whose bytes are already shared; kept without a copy from [`SHARED_BYTES_MIN`] up.
            Shared(Bytes),
            /// A string that is kept as raw bytes with room to grow, even if it is a canonical integer.
            Raw(Vec<u8>),
            $($(#[cfg($($when)*)])? #[doc = $doc] $kind(Box<$kind>),)*
        }

        /// A borrowed value.
        #[derive(Debug, Clone, Copy)]
        pub enum ValueRef<'e> {
            /// A string.
            String(StringRef<'e>),
            $($(#[cfg($($when)*)])? #[doc = $doc] $kind(<$kind as Kind>::Ref<'e>),)*
        }

        /// A value with its own allocation.
        #[derive(Debug)]
        pub enum Value {
            /// A string that is large or grows.
            String(LongString),
            $($(#[cfg($($when)*)])? #[doc = $doc] $kind(Box<$kind>),)*
        }

        impl<'e> ValueRef<'e> {
            /// Returns the type's name, as `TYPE` replies it.
            #[must_use]
            pub fn type_name(self) -> &'static str {
                match self {
                    ValueRef::String(_) => "string",
                    $($(#[cfg($($when)*)])? ValueRef::$kind(_) => $kind::NAME,)*
                }
            }

            /// The string, or `None` if the value is of another type.
            #[must_use]
            #[inline]
            pub fn as_string(self) -> Option<StringRef<'e>> {
                match self {
                    ValueRef::String(string) => Some(string),
                    $($(#[cfg($($when)*)])? ValueRef::$kind(_) => None,)*
                }
            }

            /// Returns a packed value, from the bytes in its cell.
            pub(crate) fn of_packed(id: TypeId, bytes: &'e [u8]) -> ValueRef<'e> {
                match id {
                    TypeId::String => ValueRef::String(StringRef::Bytes(bytes)),
                    $($(#[cfg($($when)*)])? TypeId::$kind => ValueRef::$kind($kind::read_packed(bytes)),)*
                }
            }

            /// Returns the value's encoding if it is of a type with elements.
            pub(crate) fn encoding_of_elements(self) -> Option<Encoding> {
                match self {
                    ValueRef::String(_) => None,
                    $($(#[cfg($($when)*)])? ValueRef::$kind(value) => Some(value.encoding()),)*
                }
            }

            /// [`Elements::warm`].
            pub(crate) fn warm(self, element: &[u8]) -> bool {
                match self {
                    ValueRef::String(_) => false,
                    $($(#[cfg($($when)*)])? ValueRef::$kind(value) => value.warm(element),)*
                }
            }

            /// [`Elements::warm_found`].
            pub(crate) fn warm_found(self, element: &[u8]) {
                match self {
                    ValueRef::String(_) => {}
                    $($(#[cfg($($when)*)])? ValueRef::$kind(value) => value.warm_found(element),)*
                }
            }

            /// [`Elements::warm_rank`].
            pub(crate) fn warm_rank(self, rank: i64) {
                match self {
                    ValueRef::String(_) => {}
                    $($(#[cfg($($when)*)])? ValueRef::$kind(value) => value.warm_rank(rank),)*
                }
            }
        }

        impl NewValue<'_> {
            /// Returns the value for reading it.
            #[must_use]
            pub fn as_ref(&self) -> ValueRef<'_> {
                match self {
                    NewValue::Int(number) => ValueRef::String(StringRef::Int(*number)),
                    NewValue::Bytes(bytes) => ValueRef::String(StringRef::Bytes(bytes)),
                    NewValue::Text(text) => ValueRef::String(StringRef::Bytes(text)),
                    NewValue::Shared(bytes) => ValueRef::String(StringRef::Shared(bytes)),
                    NewValue::Raw(bytes) => ValueRef::String(StringRef::Bytes(bytes)),
                    $($(#[cfg($($when)*)])? NewValue::$kind(value) => ValueRef::$kind(value.read()),)*
                }
            }

            /// Returns the value in a cell's form, or `None` if it is too large for a cell or is to be removed.
            #[inline]
            pub(crate) fn plain(&self) -> Option<Plain<'_>> {
                let plain = match self {
                    NewValue::Int(number) => Plain::Int(*number),
                    NewValue::Bytes(bytes) => string::plain(bytes),
                    NewValue::Shared(bytes) => string::plain(bytes),
                    NewValue::Text(text) => Plain::Bytes(text),
                    NewValue::Raw(bytes) => Plain::Raw(bytes),
                    _ => return self.plain_elements(),
                };
                (plain.len() < SHARED_BYTES_MIN).then_some(plain)
            }

            /// Like `plain`, for the types with elements: apart, so that it does not slow strings down.
            #[cold]
            fn plain_elements(&self) -> Option<Plain<'_>> {
                match self {
                    NewValue::Int(_)
                    | NewValue::Bytes(_)
                    | NewValue::Shared(_)
                    | NewValue::Text(_)
                    | NewValue::Raw(_) => None,
                    $($(#[cfg($($when)*)])? NewValue::$kind(value) => {
                        let packed = value.packed().filter(|_| !value.is_empty());
                        Plain::packed(TypeId::$kind, packed?)
                    })*
                }
            }

            /// Returns whether the value is of a type with elements and has none.
            pub(crate) fn has_no_elements(&self) -> bool {
                match self {
                    NewValue::Bytes(_)
                    | NewValue::Int(_)
                    | NewValue::Text(_)
                    | NewValue::Shared(_)
                    | NewValue::Raw(_) => false,
                    $($(#[cfg($($when)*)])? NewValue::$kind(value) => value.is_empty(),)*
                }
            }

            /// Returns a copy of a packed value, from the bytes in its cell.
            pub(crate) fn of_packed(id: TypeId, bytes: &[u8]) -> NewValue<'static> {
                match id {
                    TypeId::String => NewValue::Raw(bytes.to_vec()),
                    $($(#[cfg($($when)*)])? TypeId::$kind => {
                        NewValue::$kind(Box::new($kind::from_packed(bytes.to_vec())))
                    })*
                }
            }

            /// Converts the value into one with its own allocation.
            pub(crate) fn into_value(self) -> Value {
                match self {
                    NewValue::Raw(bytes) => Value::String(LongString::growing(bytes)),
                    NewValue::Shared(bytes) => Value::String(LongString::shared(bytes)),
                    NewValue::Bytes(bytes) => Value::String(LongString::shared(Bytes::copy_from_slice(bytes))),
                    NewValue::Text(text) => Value::String(LongString::shared(Bytes::from(text.into_owned()))),
                    NewValue::Int(number) => Value::String(LongString::growing(number.to_string().into_bytes())),
                    $($(#[cfg($($when)*)])? NewValue::$kind(value) => Value::$kind(value),)*
                }
            }
        }

        impl Value {
            #[inline(always)]
            pub(crate) fn as_ref(&self) -> ValueRef<'_> {
                match self {
                    Value::String(string) => ValueRef::String(string.as_ref()),
                    $($(#[cfg($($when)*)])? Value::$kind(value) => ValueRef::$kind(value.read()),)*
                }
            }

            pub(crate) fn as_string_mut(&mut self) -> Option<&mut LongString> {
                match self {
                    Value::String(string) => Some(string),
                    $($(#[cfg($($when)*)])? Value::$kind(_) => None,)*
                }
            }

            /// Bytes allocated for the value.
            #[inline(always)]
            pub(crate) fn heap_bytes(&self) -> usize {
                match self {
                    Value::String(string) => string.heap_bytes(),
                    $($(#[cfg($($when)*)])? Value::$kind(value) => {
                        allocated(size_of::<$kind>()) + value.heap_bytes()
                    })*
                }
            }

            /// [`Kind::free_some`].
            pub(crate) fn free_some(&mut self, budget: &mut usize) -> bool {
                match self {
                    Value::String(string) => string.free_some(budget),
                    $($(#[cfg($($when)*)])? Value::$kind(value) => value.free_some(budget),)*
                }
            }

            /// [`Kind::due_at`].
            #[inline(always)]
            pub(crate) fn due_at(&self) -> Option<u64> {
                match self {
                    Value::String(_) => None,
                    $($(#[cfg($($when)*)])? Value::$kind(value) => value.due_at(),)*
                }
            }

            /// [`Kind::is_due`].
            #[inline(always)]
            pub(crate) fn is_due(&self, now_ms: u64) -> bool {
                match self {
                    Value::String(_) => false,
                    $($(#[cfg($($when)*)])? Value::$kind(value) => value.is_due(now_ms),)*
                }
            }

            /// [`Kind::expire`]. Returns whether elements were removed, and whether readers see none of the rest.
            pub(crate) fn expire(&mut self, now_ms: u64, budget: usize) -> (bool, bool) {
                match self {
                    Value::String(_) => (false, false),
                    $($(#[cfg($($when)*)])? Value::$kind(value) => {
                        (value.expire(now_ms, budget) > 0, !value.is_live())
                    })*
                }
            }

            /// Returns a snapshot.
            pub(crate) fn to_new(&self) -> NewValue<'static> {
                match self {
                    Value::String(string) => string.to_new(),
                    $($(#[cfg($($when)*)])? Value::$kind(value) => NewValue::$kind(value.clone()),)*
                }
            }

            /// Moves the value out.
            pub(crate) fn into_new(self) -> NewValue<'static> {
                match self {
                    Value::String(string) => string.into_new(),
                    $($(#[cfg($($when)*)])? Value::$kind(value) => NewValue::$kind(value),)*
                }
            }
        }

        $(
            $(#[cfg($($when)*)])?
            impl Sealed for $kind {
                const ID: TypeId = TypeId::$kind;

                fn of(value: ValueRef<'_>) -> Option<<Self as Kind>::Ref<'_>> {
                    match value {
                        ValueRef::$kind(value) => Some(value),
                        _ => None,
                    }
                }

                fn of_mut(value: &mut Value) -> Option<&mut Self> {
                    match value {
                        Value::$kind(value) => Some(value),
                        _ => None,
                    }
                }

                fn into_value(self) -> Value {
                    Value::$kind(Box::new(self))
                }
            }

            $(#[cfg($($when)*)])?
            impl From<$kind> for NewValue<'_> {
                fn from(value: $kind) -> Self {
                    NewValue::$kind(Box::new(value))
                }
            }
        )*
    };
}

types! {
    Hash = "A hash.",
    Set = "A set.",
    ZSet = "A sorted set.",
    List = "A list.",
    Stream = "A stream.",
    #[cfg(any(test, feature = "toy"))]
    Stack = "A stack of byte strings, for tests.",
}

// More types must not make a large string take more memory: the types' tags share the byte of `LongString`'s tag.
// With pointers of 32 bits there is no such byte.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Value>() == size_of::<LongString>());

/// Returns the bytes that an allocator uses for `bytes`, in steps of 16. For cells, mimalloc uses as much up to
/// 128 bytes, or 8 less up to 64 as the binary compiles it. glibc needs a word of its own, and uses 16 more for
/// multiples of 16.
pub(crate) const fn allocated(bytes: usize) -> usize {
    bytes.next_multiple_of(16)
}

impl<'a> From<&'a [u8]> for NewValue<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        NewValue::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for NewValue<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        NewValue::Bytes(bytes)
    }
}

impl From<i64> for NewValue<'_> {
    fn from(number: i64) -> Self {
        NewValue::Int(number)
    }
}

impl From<Bytes> for NewValue<'_> {
    fn from(bytes: Bytes) -> Self {
        NewValue::Shared(bytes)
    }
}

impl From<Vec<u8>> for NewValue<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        NewValue::Raw(bytes)
    }
}

#[cfg(test)]
mod tests;
