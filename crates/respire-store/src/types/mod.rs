//! The types of value: what each must do, and the one list of them.
//!
//! A type is a file here, or a folder, that implements [`Kind`], and a line of the list at the end of this file.
//! All that works on values of whatever type goes through that list: reading, copying, accounting, freeing.

mod plain;
#[cfg(any(test, feature = "toy"))]
mod stack;
mod string;

use core::fmt;
use std::borrow::Cow;

use bytes::Bytes;

pub(crate) use plain::Plain;
#[cfg(any(test, feature = "toy"))]
pub use stack::Stack;
pub(crate) use string::LongString;
pub use string::{SHARED_BYTES_MIN, StringRef};

/// What every type of value that has elements must do. Sealed: the types are those of this crate.
///
/// A clone is a snapshot: it costs O(parts), not O(elements), as it shares the parts; whoever changes one of the
/// two copies the part that it changes. `COPY`, `DUMP` and the like take one under the key's lock, and work on it
/// without.
///
/// The default value is empty. A key never holds an empty value: [`Slot::edit`](crate::Slot::edit) and
/// [`Slot::set`](crate::Slot::set) remove it.
pub trait Kind: Clone + Default + fmt::Debug + Sealed + 'static {
    /// The type's name, as `TYPE` answers it.
    const NAME: &'static str;

    /// An element, lent.
    type Element<'e>;

    /// How the value is kept.
    fn encoding(&self) -> Encoding;

    /// Elements. O(1).
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes allocated for the elements, in an allocator's steps of 16. O(1): they are counted as they change.
    fn heap_bytes(&self) -> usize;

    /// Frees elements until `budget` is used up, and at least one part; whether so little is left that it can be
    /// dropped at once. An allocation takes 1 from the budget, and each 16 KiB of it another.
    fn free_some(&mut self, budget: &mut usize) -> bool;

    /// Calls `f` with every element, in an order that follows from the elements and the history of the value.
    /// O(elements).
    fn for_each(&self, f: &mut dyn FnMut(Self::Element<'_>));

    /// A step of an iteration: calls `f` with some elements, about `count`, and returns the cursor to go on with.
    /// 0 starts, and when 0 is returned the iteration is over. Every element that is there from start to end is
    /// given at least once, whatever comes and goes between the steps; any number is a valid cursor. O(`count`).
    fn scan(&self, cursor: u64, count: usize, f: &mut dyn FnMut(Self::Element<'_>)) -> u64;

    /// The element that a random number chooses, each as likely as any other; `None` if there are none.
    fn sample(&self, random: u64) -> Option<Self::Element<'_>>;

    /// Begins to load the memory that a command on the element of this name reads first, where the machine has a
    /// way to. A hint: nothing changes.
    fn warm(&self, element: &[u8]);
}

/// The key holds a value of another type than the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongType;

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key holds a value of another type")
    }
}

impl core::error::Error for WrongType {}

/// How a value is kept, in Redis's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// An integer.
    Int,
    /// A short string in one allocation with its key.
    Embstr,
    /// Any other string.
    Raw,
    /// A stack.
    #[cfg(any(test, feature = "toy"))]
    Stack,
}

impl Encoding {
    /// The name `OBJECT ENCODING` answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Int => "int",
            Encoding::Embstr => "embstr",
            Encoding::Raw => "raw",
            #[cfg(any(test, feature = "toy"))]
            Encoding::Stack => "stack",
        }
    }
}

/// The way from a type to the list of types and back. Public only in name, so that nobody else can implement
/// [`Kind`].
pub trait Sealed: Sized {
    /// The value, if it is of this type.
    fn of(value: ValueRef<'_>) -> Option<&Self>;

    /// The same, to change it.
    fn of_mut(value: &mut Value) -> Option<&mut Self>;

    /// The value as one that can be written.
    fn into_new(self: Box<Self>) -> NewValue<'static>;
}

macro_rules! types {
    ($($(#[cfg($($when:tt)*)])? $kind:ident = $doc:literal,)*) => {
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
            /// A string that is kept as text also where it looks like an integer.
            Text(Cow<'a, [u8]>),
            /// A string whose bytes are already shared; kept without a copy from [`SHARED_BYTES_MIN`] up.
            Shared(Bytes),
            /// A string kept byte for byte as it is, with room to grow, whatever it looks like.
            Raw(Vec<u8>),
            $($(#[cfg($($when)*)])? #[doc = $doc] $kind(Box<$kind>),)*
        }

        /// A borrowed value.
        #[derive(Debug, Clone, Copy)]
        pub enum ValueRef<'e> {
            /// A string.
            String(StringRef<'e>),
            $($(#[cfg($($when)*)])? #[doc = $doc] $kind(&'e $kind),)*
        }

        /// A value with an allocation of its own.
        #[derive(Debug)]
        pub enum Value {
            /// A string that is large or grows.
            String(LongString),
            $($(#[cfg($($when)*)])? #[doc = $doc] $kind(Box<$kind>),)*
        }

        impl<'e> ValueRef<'e> {
            /// The type's name as `TYPE` answers it.
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

            /// [`Kind::warm`].
            pub(crate) fn warm(self, element: &[u8]) {
                match self {
                    ValueRef::String(string) => string.warm(element),
                    $($(#[cfg($($when)*)])? ValueRef::$kind(value) => value.warm(element),)*
                }
            }
        }

        impl NewValue<'_> {
            /// The value, to read it.
            #[must_use]
            pub fn as_ref(&self) -> ValueRef<'_> {
                match self {
                    NewValue::Int(number) => ValueRef::String(StringRef::Int(*number)),
                    NewValue::Bytes(bytes) => ValueRef::String(StringRef::Bytes(bytes)),
                    NewValue::Text(text) => ValueRef::String(StringRef::Bytes(text)),
                    NewValue::Shared(bytes) => ValueRef::String(StringRef::Shared(bytes)),
                    NewValue::Raw(bytes) => ValueRef::String(StringRef::Bytes(bytes)),
                    $($(#[cfg($($when)*)])? NewValue::$kind(value) => ValueRef::$kind(value),)*
                }
            }

            /// The value as a cell keeps it, or `None` if it belongs outside.
            #[inline]
            pub(crate) fn plain(&self) -> Option<Plain<'_>> {
                let plain = match self {
                    NewValue::Int(number) => Plain::Int(*number),
                    NewValue::Bytes(bytes) => string::plain(bytes),
                    NewValue::Shared(bytes) => string::plain(bytes),
                    NewValue::Text(text) => Plain::Bytes(text),
                    NewValue::Raw(bytes) => Plain::Raw(bytes),
                    $($(#[cfg($($when)*)])? NewValue::$kind(_) => return None,)*
                };
                (plain.len() < SHARED_BYTES_MIN).then_some(plain)
            }

            /// Whether it is of a type with elements, and has none.
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

            /// The value with an allocation of its own.
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
                    $($(#[cfg($($when)*)])? Value::$kind(value) => ValueRef::$kind(value),)*
                }
            }

            pub(crate) fn as_string_mut(&mut self) -> Option<&mut LongString> {
                match self {
                    Value::String(string) => Some(string),
                    $($(#[cfg($($when)*)])? Value::$kind(_) => None,)*
                }
            }

            pub(crate) fn encoding(&self) -> Encoding {
                match self {
                    Value::String(_) => Encoding::Raw,
                    $($(#[cfg($($when)*)])? Value::$kind(value) => value.encoding(),)*
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

            /// A snapshot.
            pub(crate) fn to_new(&self) -> NewValue<'static> {
                match self {
                    Value::String(string) => string.to_new(),
                    $($(#[cfg($($when)*)])? Value::$kind(value) => NewValue::$kind(value.clone()),)*
                }
            }

            /// The value, moved out.
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
                fn of(value: ValueRef<'_>) -> Option<&Self> {
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

                fn into_new(self: Box<Self>) -> NewValue<'static> {
                    NewValue::$kind(self)
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
    #[cfg(any(test, feature = "toy"))]
    Stack = "A stack of byte strings, for tests.",
}

// However many types there are, a large string takes no more memory: the types are told apart where a string has a
// byte that says how it is kept.
const _: () = assert!(size_of::<Value>() == size_of::<LongString>());

/// What an allocator takes for `bytes`, in steps of 16. For cells that is what mimalloc takes up to 128
/// bytes, or 8 less up to 64 where it is compiled as for the binary; glibc, with a word of its own, takes
/// 16 more for those that are whole multiples of 16.
pub(crate) fn allocated(bytes: usize) -> usize {
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
