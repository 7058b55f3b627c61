//! One key, held for writing.

use crate::database::ShardMut;
use crate::entry::Entry;
use crate::evict::Clock;
use crate::value::{Encoding, Expiry, NewValue, Owned, ValueRef};

/// An entry, borrowed for the time of a closure.
#[derive(Clone, Copy)]
pub struct EntryRef<'e> {
    entry: &'e Entry,
    clock: Clock,
}

impl<'e> EntryRef<'e> {
    pub(crate) fn new(entry: &'e Entry, clock: Clock) -> EntryRef<'e> {
        EntryRef { entry, clock }
    }

    pub(crate) fn touch(self, clock: Clock, now_ms: u64) {
        self.entry
            .set_clock(clock.touched(self.entry.clock(), now_ms, 0));
    }

    /// The value.
    #[must_use]
    pub fn value(self) -> ValueRef<'e> {
        self.entry.value()
    }

    /// How the value is kept.
    #[must_use]
    pub fn encoding(self) -> Encoding {
        self.entry.encoding()
    }

    /// When the key expires, in unix milliseconds; `None` is never.
    #[must_use]
    pub fn expires_at(self) -> Option<u64> {
        self.entry.expires_at()
    }

    /// Milliseconds (in steps of a second) since the key was last used; 0 under an LFU policy.
    #[must_use]
    pub fn idle_ms(self, now_ms: u64) -> u64 {
        self.clock.idle_ms(self.entry.clock(), now_ms)
    }

    /// The logarithmic access counter, decayed to `now_ms`; 0 unless the policy is an LFU one.
    #[must_use]
    pub fn freq(self, now_ms: u64) -> u8 {
        self.clock.freq(self.entry.clock(), now_ms)
    }

    /// Bytes of memory the entry takes, with its key and its share of the table.
    #[must_use]
    pub fn memory(self) -> usize {
        self.entry.memory()
    }

    /// A copy of value and expiry; shared strings are shared, not copied.
    #[must_use]
    pub fn owned(self) -> Owned {
        self.entry.to_owned_value()
    }
}

/// One key under its shard's write lock: read it, write it, remove it. Expired is absent.
pub struct Slot<'e> {
    pub(crate) shard: ShardMut<'e>,
    pub(crate) key: &'e [u8],
    pub(crate) hash: u64,
    pub(crate) now_ms: u64,
    pub(crate) clock: Clock,
}

impl Slot<'_> {
    /// The key's entry.
    #[must_use]
    pub fn get(&self) -> Option<EntryRef<'_>> {
        self.shard
            .find(self.hash, self.key)
            .map(|entry| EntryRef::new(entry, self.clock))
    }

    /// Whether the key exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.get().is_some()
    }

    /// Writes the value, whether or not the key exists.
    pub fn set<'v>(&mut self, value: impl Into<NewValue<'v>>, expiry: Expiry) {
        let expires_at = match expiry {
            Expiry::Clear => None,
            Expiry::Keep => self.get().and_then(EntryRef::expires_at),
            Expiry::At(at) if at <= self.now_ms => {
                self.remove();
                return;
            }
            Expiry::At(at) => Some(at),
        };
        let (clock, now_ms) = (self.clock, self.now_ms);
        let mut value = Some(value.into());
        let done = self.shard.modify(self.hash, self.key, |entry| {
            if let Some(value) = value.take() {
                entry.set(value, expires_at);
                entry.set_clock(clock.touched(entry.clock(), now_ms, 0));
            }
        });
        if let (None, Some(value)) = (done, value) {
            self.shard
                .insert(self.hash, self.key, value, expires_at, clock.fresh(now_ms));
        }
    }

    /// Writes only the expiry; `None` makes the key stay. A time that is not in the future removes
    /// the key. False if there is no such key.
    pub fn set_expiry(&mut self, expires_at: Option<u64>) -> bool {
        if expires_at.is_some_and(|at| at <= self.now_ms) {
            return self.remove();
        }
        self.shard
            .modify(self.hash, self.key, |entry| {
                entry.set_expires_at(expires_at)
            })
            .is_some()
    }

    /// Removes the key; false if there was none.
    pub fn remove(&mut self) -> bool {
        self.shard.remove(self.hash, self.key).is_some()
    }

    /// Removes the key and gives its value and expiry.
    pub fn take(&mut self) -> Option<Owned> {
        let entry = self.shard.remove(self.hash, self.key)?;
        Some(entry.to_owned_value())
    }

    /// Puts a value and its expiry under this key, whether or not it exists. An expiry that is not
    /// in the future leaves the key absent.
    pub fn put(&mut self, owned: Owned) {
        self.set(
            owned.value,
            owned.expires_at.map_or(Expiry::Clear, Expiry::At),
        );
    }

    /// Edits the string's bytes in place, keeping its expiry; an absent key starts empty. Growing
    /// the string costs amortised constant time per byte.
    pub fn edit_string<R>(&mut self, f: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        if !self.exists() {
            let mut bytes = Vec::new();
            let answer = f(&mut bytes);
            self.set(bytes, Expiry::Clear);
            return answer;
        }
        self.shard
            .modify(self.hash, self.key, |entry| entry.edit(f))
            .expect("invariant: the key exists")
    }
}
