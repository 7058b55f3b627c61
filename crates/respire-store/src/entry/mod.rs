//! An entry: a key with its value, expiry and access clock. Only this module knows their representation.
//!
//! An entry takes 16 bytes of a table (on 64-bit machines) and, for small values, one allocation:
//! a [packed] cell. The length of a boxed array is part of its type, so the enum's variant *is* the size
//! class and the pointer stays thin. The remaining bytes have the access clock and enough of the hash
//! that a table grows without reading its keys. The small classes are sizes that allocators use
//! anyway: multiples of 16, or of 8 up to 64 (mimalloc), or those less the allocator's own word (glibc).
//! So their slack costs nothing. The large classes waste no more than the second allocation of a
//! [`Long`](Entry::Long) entry.

mod clock;
mod due;
mod entry_ref;
mod generation;
mod packed;
mod policy;
mod value;

use core::sync::atomic::AtomicU32;

use crate::hash::{TAG_BUCKETS_MAX, Tag, hash_key, is_same_key};
use crate::types::{
    Encoding, Kind, LongString, NewValue, Plain, StringRef, Value, ValueRef, WrongType, allocated,
    give_back, scratch,
};
use ahash::RandomState;

pub use clock::Access;
pub(crate) use clock::Clock;
pub use entry_ref::EntryRef;
pub(crate) use generation::Generation;
use packed::SHORT_BYTES_MAX;
pub use policy::Policy;
pub use value::{Expiry, Owned};

/// Bytes that each entry takes of its table, including its control byte.
pub(crate) const SLOT_BYTES: usize = size_of::<Entry>() + 1;

macro_rules! entry {
    ($($class:ident = $size:literal),* $(,)?) => {
        /// One entry of a table.
        pub(crate) enum Entry {
            $($class { tag: Tag, clock: AtomicU32, cell: Box<[u8; $size]> },)*
            /// A cell longer than the classes go.
            Long { tag: Tag, clock: AtomicU32, cell: Box<Box<[u8]>> },
            /// A value with an allocation of its own.
            Full { tag: Tag, clock: AtomicU32, full: Box<Full> },
        }

        impl Entry {
            fn with_cell(size: usize, tag: Tag, word: u32) -> Entry {
                let clock = AtomicU32::new(word);
                match size {
                    $(..=$size => Entry::$class { tag, clock, cell: Box::new([0; $size]) },)*
                    _ => Entry::Long { tag, clock, cell: Box::new(vec![0; size].into_boxed_slice()) },
                }
            }

            #[inline(always)]
            fn body(&self) -> Body<'_> {
                match self {
                    $(Entry::$class { cell, .. } => Body::Cell(&cell[..]),)*
                    Entry::Long { cell, .. } => Body::Cell(cell),
                    Entry::Full { full, .. } => Body::Full(full),
                }
            }

            #[inline(always)]
            fn body_mut(&mut self) -> BodyMut<'_> {
                match self {
                    $(Entry::$class { cell, .. } => BodyMut::Cell(&mut cell[..]),)*
                    Entry::Long { cell, .. } => BodyMut::Cell(cell),
                    Entry::Full { full, .. } => BodyMut::Full(full),
                }
            }

            #[inline(always)]
            fn meta(&self) -> (Tag, &AtomicU32) {
                match self {
                    $(Entry::$class { tag, clock, .. })|*
                    | Entry::Long { tag, clock, .. }
                    | Entry::Full { tag, clock, .. } => (*tag, clock),
                }
            }
        }

        /// Checks that the classes are ascending and agree with [`cell_len`].
        const _: () = {
            let classes = [$($size),*];
            let (mut size, mut class) = (0, 0);
            while class < classes.len() {
                assert!(cell_len(size) == classes[class]);
                size += 1;
                if size > classes[class] {
                    class += 1;
                }
            }
            assert!(cell_len(size) == size);
        };
    };
}

entry! {
    Cell24 = 24, Cell32 = 32, Cell40 = 40, Cell48 = 48, Cell56 = 56, Cell64 = 64, Cell72 = 72,
    Cell80 = 80, Cell88 = 88, Cell96 = 96, Cell104 = 104, Cell112 = 112, Cell120 = 120,
    Cell128 = 128, Cell136 = 136, Cell152 = 152, Cell168 = 168, Cell184 = 184, Cell200 = 200,
    Cell216 = 216, Cell232 = 232, Cell248 = 248, Cell312 = 312, Cell376 = 376, Cell440 = 440,
    Cell504 = 504, Cell568 = 568, Cell632 = 632, Cell696 = 696, Cell760 = 760, Cell824 = 824,
    Cell888 = 888, Cell952 = 952, Cell1016 = 1016,
}

/// Returns the length of the allocation for a cell that needs `size` bytes: the smallest class with room, or
/// `size` if no class has room.
#[inline]
const fn cell_len(size: usize) -> usize {
    match size {
        0..=24 => 24,
        25..=128 => size.next_multiple_of(8),
        129..=248 => (size - 8).next_multiple_of(16) + 8,
        249..=1016 => (size - 248).next_multiple_of(64) + 248,
        _ => size,
    }
}

const _: () = assert!(size_of::<usize>() != 8 || size_of::<Entry>() == 16);
// The length of a cell says whether it is short, so a short one must not get a longer allocation.
const _: () = assert!(cell_len(SHORT_BYTES_MAX) == SHORT_BYTES_MAX);

enum Body<'e> {
    Cell(&'e [u8]),
    Full(&'e Full),
}

enum BodyMut<'e> {
    Cell(&'e mut [u8]),
    Full(&'e mut Full),
}

/// A value that is large or grows, with its key.
pub(crate) struct Full {
    key: Box<[u8]>,
    /// Unix milliseconds, or [`NEVER`].
    expires_at: u64,
    value: Value,
}

/// The stored value for no expiry.
pub(crate) const NEVER: u64 = u64::MAX;

impl Entry {
    /// Creates an entry. `word` has its access clock and generation.
    pub(crate) fn new(
        key: &[u8],
        tag: Tag,
        value: NewValue<'_>,
        expires_at: Option<u64>,
        word: u32,
    ) -> Entry {
        match value.plain() {
            Some(plain) => Entry::packed(key, tag, plain, expires_at, word),
            None => Entry::full(key, tag, value.into_value(), expires_at, word),
        }
    }

    /// Creates an entry of a value with elements, without an expiry.
    pub(crate) fn with_elements<K: Kind>(key: &[u8], tag: Tag, value: K, word: u32) -> Entry {
        let Some(plain) = value.packed().and_then(|bytes| Plain::packed(K::ID, bytes)) else {
            return Entry::full(key, tag, value.into_value(), None, word);
        };
        let entry = Entry::packed(key, tag, plain, None, word);
        value.into_packed().into_iter().for_each(give_back);
        entry
    }

    fn packed(key: &[u8], tag: Tag, plain: Plain<'_>, expires_at: Option<u64>, word: u32) -> Entry {
        let size = packed::size(key.len(), plain, expires_at.is_some());
        let mut entry = Entry::with_cell(size, tag, word);
        if let BodyMut::Cell(cell) = entry.body_mut() {
            packed::write(cell, key, plain, expires_at);
        }
        entry
    }

    fn full(key: &[u8], tag: Tag, value: Value, expires_at: Option<u64>, word: u32) -> Entry {
        let full = Full {
            key: key.into(),
            expires_at: expires_at.unwrap_or(NEVER),
            value,
        };
        Entry::of_full(full, tag, word)
    }

    fn of_full(full: Full, tag: Tag, word: u32) -> Entry {
        Entry::Full {
            tag,
            clock: AtomicU32::new(word),
            full: Box::new(full),
        }
    }

    /// Returns the entry with these bytes in its cell, which must have their length.
    fn filled(mut self, bytes: &[u8]) -> Entry {
        if let BodyMut::Cell(cell) = self.body_mut() {
            cell.copy_from_slice(bytes);
        }
        self
    }

    /// Returns the address and the bytes of the entry's first allocation.
    #[inline(always)]
    pub(crate) fn place(&self) -> (usize, usize) {
        match self.body() {
            Body::Cell(cell) => (cell.as_ptr().addr(), cell.len()),
            Body::Full(full) => (core::ptr::from_ref(full).addr(), size_of::<Full>()),
        }
    }

    #[inline(always)]
    pub(crate) fn key(&self) -> &[u8] {
        match self.body() {
            Body::Cell(cell) => packed::key(cell),
            Body::Full(full) => &full.key,
        }
    }

    /// Returns whether this is the entry of `key`, whose tag is `tag`. The tag nearly always decides, and
    /// unlike the key it is in the table itself.
    #[inline(always)]
    pub(crate) fn is(&self, tag: Tag, key: &[u8]) -> bool {
        self.tag() == tag && is_same_key(self.key(), key)
    }

    /// Returns the value if it is a string.
    #[inline(always)]
    pub(crate) fn string(&self) -> Option<StringRef<'_>> {
        match self.body() {
            Body::Cell(cell) => packed::string(cell),
            Body::Full(full) => full.value.as_ref().as_string(),
        }
    }

    #[inline(always)]
    pub(crate) fn value(&self) -> ValueRef<'_> {
        match self.body() {
            Body::Cell(cell) => match packed::plain(cell) {
                Plain::Int(number) => ValueRef::String(StringRef::Int(number)),
                Plain::Bytes(bytes) | Plain::Raw(bytes) => {
                    ValueRef::String(StringRef::Bytes(bytes))
                }
                Plain::Packed(id, bytes) => ValueRef::of_packed(id, bytes),
            },
            Body::Full(full) => full.value.as_ref(),
        }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        if let Some(encoding) = self.value().encoding_of_elements() {
            return encoding;
        }
        match self.body() {
            Body::Cell(cell) => match packed::plain(cell) {
                Plain::Int(_) => Encoding::Int,
                Plain::Bytes(bytes) => Encoding::of_bytes(bytes.len()),
                Plain::Raw(_) | Plain::Packed(..) => Encoding::Raw,
            },
            Body::Full(_) => Encoding::Raw,
        }
    }

    #[inline(always)]
    pub(crate) fn expires_at(&self) -> Option<u64> {
        match self.body() {
            Body::Cell(cell) => packed::expires_at(cell),
            Body::Full(full) => (full.expires_at != NEVER).then_some(full.expires_at),
        }
    }

    #[inline(always)]
    pub(crate) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_at().is_some_and(|at| at <= now_ms)
    }

    /// Returns the bytes allocated for the entry, without its place in the table.
    #[inline(always)]
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Entry::Long { cell, .. } => allocated(size_of::<Box<[u8]>>()) + allocated(cell.len()),
            Entry::Full { full, .. } => {
                allocated(size_of::<Full>()) + allocated(full.key.len()) + full.value.heap_bytes()
            }
            packed => match packed.body() {
                Body::Cell(cell) => allocated(cell.len()),
                Body::Full(_) => 0,
            },
        }
    }

    #[inline(always)]
    pub(crate) fn tag(&self) -> Tag {
        self.meta().0
    }

    /// Replaces the value and the expiry.
    pub(crate) fn set(&mut self, value: NewValue<'_>, expires_at: Option<u64>) {
        match value.plain() {
            Some(plain) => self.set_plain(plain, expires_at),
            None => self.set_large(value.into_value(), expires_at),
        }
    }

    /// Replaces the value in place if neither value has an expiry and both take a cell of the same class.
    /// Returns whether it did.
    #[inline(always)]
    pub(crate) fn rewrite(&mut self, plain: Plain<'_>) -> bool {
        match self.body_mut() {
            BodyMut::Cell(cell)
                if packed::expires_at(cell).is_none()
                    && cell.len()
                        == cell_len(packed::size(packed::key(cell).len(), plain, false)) =>
            {
                packed::rewrite(cell, plain, None);
                true
            }
            _ => false,
        }
    }

    /// Replaces the value and the expiry by ones that fit into a cell; in place if the size class is the same.
    #[inline]
    pub(crate) fn set_plain(&mut self, plain: Plain<'_>, expires_at: Option<u64>) {
        let size = packed::size(self.key().len(), plain, expires_at.is_some());
        match self.body_mut() {
            BodyMut::Cell(cell) if cell.len() == cell_len(size) => {
                packed::rewrite(cell, plain, expires_at)
            }
            _ => self.repack(plain, expires_at),
        }
    }

    #[inline(never)]
    fn repack(&mut self, plain: Plain<'_>, expires_at: Option<u64>) {
        *self = Entry::packed(self.key(), self.tag(), plain, expires_at, self.word());
    }

    fn set_large(&mut self, value: Value, expires_at: Option<u64>) {
        match self.body_mut() {
            BodyMut::Full(full) => {
                full.value = value;
                full.expires_at = expires_at.unwrap_or(NEVER);
            }
            BodyMut::Cell(_) => {
                *self = Entry::full(self.key(), self.tag(), value, expires_at, self.word())
            }
        }
    }

    pub(crate) fn set_expires_at(&mut self, expires_at: Option<u64>) {
        if let Body::Cell(cell) = self.body() {
            let (key, plain) = (packed::key(cell), packed::plain(cell));
            if cell.len() != cell_len(packed::size(key.len(), plain, expires_at.is_some())) {
                *self = Entry::packed(key, self.tag(), plain, expires_at, self.word());
                return;
            }
        }
        match self.body_mut() {
            BodyMut::Full(full) => full.expires_at = expires_at.unwrap_or(NEVER),
            BodyMut::Cell(cell) => packed::set_expires_at(cell, expires_at),
        }
    }

    /// Edits the string's bytes with `f`. A string that stays short is packed again, so that only longer
    /// strings have a buffer with room to grow. For a value of another type, `f` gets an empty string, which
    /// replaces the value.
    pub(crate) fn edit<R>(&mut self, f: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        if let Some(string) = self.long_string() {
            return f(string.edit());
        }
        let mut bytes = self
            .value()
            .as_string()
            .map_or_else(Vec::new, StringRef::to_vec);
        let answer = f(&mut bytes);
        let expires_at = self.expires_at();
        let raw = Plain::Raw(&bytes);
        if packed::size(self.key().len(), raw, expires_at.is_some()) <= SHORT_BYTES_MAX {
            self.set_plain(raw, expires_at);
        } else {
            self.set_large(Value::String(LongString::growing(bytes)), expires_at);
        }
        answer
    }

    /// Converts a large string that was edited in place into one that replies share. The next edit converts it
    /// back.
    pub(crate) fn share(&mut self) {
        if let Some(string) = self.long_string() {
            string.share();
        }
    }

    fn long_string(&mut self) -> Option<&mut LongString> {
        match self.body_mut() {
            BodyMut::Full(full) => full.value.as_string_mut(),
            BodyMut::Cell(_) => None,
        }
    }

    /// Edits the value with `f`, and returns whether it is empty now; an empty value must be removed. A packed value
    /// is edited in a buffer, and packed again if it is still small.
    ///
    /// # Errors
    /// [`WrongType`] if it is of another type.
    pub(crate) fn edit_elements<K: Kind, R>(
        &mut self,
        f: impl FnOnce(&mut K) -> R,
    ) -> Result<(R, bool), WrongType> {
        let cell = match self.body_mut() {
            BodyMut::Full(full) => {
                let value = K::of_mut(&mut full.value).ok_or(WrongType)?;
                return Ok((f(value), value.is_empty()));
            }
            BodyMut::Cell(cell) => cell,
        };
        let Plain::Packed(id, bytes) = packed::plain(cell) else {
            return Err(WrongType);
        };
        if id != K::ID {
            return Err(WrongType);
        }
        let mut value = K::from_packed(scratch(bytes));
        let answer = f(&mut value);
        let is_empty = value.is_empty();
        if !is_empty {
            self.set_elements(value);
        }
        Ok((answer, is_empty))
    }

    fn set_elements<K: Kind>(&mut self, value: K) {
        let expires_at = self.expires_at();
        let Some(plain) = value.packed().and_then(|bytes| Plain::packed(K::ID, bytes)) else {
            return self.set_large(value.into_value(), expires_at);
        };
        self.set_plain(plain, expires_at);
        value.into_packed().into_iter().for_each(give_back);
    }

    /// Frees a part of the value if it has several allocations ([`Kind::free_some`]). Returns whether the rest
    /// can be dropped at once.
    pub(crate) fn free_some(&mut self, budget: &mut usize) -> bool {
        match self.body_mut() {
            BodyMut::Full(full) => full.value.free_some(budget),
            BodyMut::Cell(_) => true,
        }
    }

    /// Takes the value out before it is replaced, if the entry takes at least `bytes_min` bytes, and leaves an empty
    /// string.
    #[inline]
    pub(crate) fn retire(&mut self, bytes_min: usize) -> Option<Entry> {
        match self {
            Entry::Full { .. } if self.heap_bytes() >= bytes_min => {
                let (tag, word) = (self.tag(), self.word());
                let bare = Plain::Bytes(b"");
                let bare = Entry::packed(self.key(), tag, bare, self.expires_at(), word);
                Some(core::mem::replace(self, bare))
            }
            _ => None,
        }
    }

    /// Returns a copy of the value and the expiry. Shared strings, and the parts of other types, stay shared.
    pub(crate) fn owned(&self) -> Owned {
        let value = match self.body() {
            Body::Cell(cell) => match packed::plain(cell) {
                Plain::Int(number) => NewValue::Int(number),
                // Bytes that are a canonical integer were written as text, and stay text.
                Plain::Bytes(bytes) => NewValue::Text(bytes.to_vec().into()),
                Plain::Raw(bytes) => NewValue::Raw(bytes.to_vec()),
                Plain::Packed(id, bytes) => NewValue::of_packed(id, bytes),
            },
            Body::Full(full) => full.value.to_new(),
        };
        Owned {
            value,
            expires_at: self.expires_at(),
        }
    }

    /// Returns the value and the expiry. A value with its own allocation is moved, a packed one is copied.
    pub(crate) fn into_owned(self) -> Owned {
        let expires_at = self.expires_at();
        match self {
            Entry::Full { full, .. } => Owned {
                value: full.value.into_new(),
                expires_at,
            },
            packed => packed.owned(),
        }
    }

    /// Returns the entry's hash, right in all bits that a table of `buckets` uses. Up to 2^17 buckets the tag
    /// has these bits, so the key, which is elsewhere in memory, is not read.
    pub(crate) fn table_hash(&self, hasher: &RandomState, buckets: usize) -> u64 {
        if buckets <= TAG_BUCKETS_MAX {
            self.tag().table_hash()
        } else {
            hash_key(hasher, self.key())
        }
    }
}

#[cfg(test)]
mod tests;
