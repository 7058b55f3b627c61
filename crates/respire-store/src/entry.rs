//! One key with its value, expiry and access clock: the representation lives here and nowhere else.

use core::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;

use crate::value::{
    Encoding, NewValue, Owned, SHARED_BYTES_MIN, StringRef, ValueRef, canonical_int,
};

#[derive(Debug)]
enum Text {
    Int(i64),
    Plain(Box<[u8]>),
    Raw(Vec<u8>),
    Shared(Bytes),
}

/// One entry of a table.
#[derive(Debug)]
pub(crate) struct Entry {
    key: Box<[u8]>,
    text: Text,
    expires_at: Option<u64>,
    clock: AtomicU32,
}

impl Entry {
    pub(crate) fn new(
        key: &[u8],
        _hash: u64,
        value: NewValue<'_>,
        expires_at: Option<u64>,
        clock: u32,
    ) -> Entry {
        Entry {
            key: key.into(),
            text: text(value),
            expires_at,
            clock: AtomicU32::new(clock),
        }
    }
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }
    pub(crate) fn value(&self) -> ValueRef<'_> {
        ValueRef::String(match &self.text {
            Text::Int(number) => StringRef::Int(*number),
            Text::Plain(bytes) => StringRef::Bytes(bytes),
            Text::Raw(bytes) => StringRef::Bytes(bytes),
            Text::Shared(bytes) => StringRef::Shared(bytes),
        })
    }
    pub(crate) fn encoding(&self) -> Encoding {
        match &self.text {
            Text::Int(_) => Encoding::Int,
            Text::Plain(bytes) => Encoding::of_bytes(bytes.len()),
            Text::Raw(_) | Text::Shared(_) => Encoding::Raw,
        }
    }
    pub(crate) fn expires_at(&self) -> Option<u64> {
        self.expires_at
    }
    pub(crate) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_at.is_some_and(|at| at <= now_ms)
    }
    pub(crate) fn memory(&self) -> usize {
        self.key.len() + 64
    }
    pub(crate) fn clock(&self) -> u32 {
        self.clock.load(Ordering::Relaxed)
    }
    pub(crate) fn set_clock(&self, clock: u32) {
        self.clock.store(clock, Ordering::Relaxed);
    }
    pub(crate) fn set(&mut self, value: NewValue<'_>, expires_at: Option<u64>) {
        self.text = text(value);
        self.expires_at = expires_at;
    }
    pub(crate) fn set_expires_at(&mut self, expires_at: Option<u64>) {
        self.expires_at = expires_at;
    }
    pub(crate) fn edit<R>(&mut self, f: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        if !matches!(self.text, Text::Raw(_)) {
            let ValueRef::String(string) = self.value();
            self.text = Text::Raw(string.to_vec());
        }
        match &mut self.text {
            Text::Raw(bytes) => f(bytes),
            _ => unreachable!("invariant: just made raw"),
        }
    }
    pub(crate) fn to_owned_value(&self) -> Owned {
        let value = match &self.text {
            Text::Int(number) => NewValue::Int(*number),
            Text::Plain(bytes) => NewValue::Shared(Bytes::copy_from_slice(bytes)),
            Text::Raw(bytes) => NewValue::Raw(bytes.clone()),
            Text::Shared(bytes) => NewValue::Shared(bytes.clone()),
        };
        Owned {
            value,
            expires_at: self.expires_at,
        }
    }
}

fn text(value: NewValue<'_>) -> Text {
    match value {
        NewValue::Int(number) => Text::Int(number),
        NewValue::Bytes(bytes) => match canonical_int(bytes) {
            Some(number) => Text::Int(number),
            None if bytes.len() >= SHARED_BYTES_MIN => Text::Shared(Bytes::copy_from_slice(bytes)),
            None => Text::Plain(bytes.into()),
        },
        NewValue::Shared(bytes) if bytes.len() >= SHARED_BYTES_MIN => Text::Shared(bytes),
        NewValue::Shared(bytes) => text(NewValue::Bytes(&bytes)),
        NewValue::Raw(bytes) => Text::Raw(bytes),
    }
}

impl core::hash::Hash for Entry {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        state.write(self.key());
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}
