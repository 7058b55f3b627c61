//! Implements `ValueType` for hashes.
//!
//! A hash whose fields expire is written in a form of Redis 7.4, as 7.0 has none for it.

use super::fields::EXPIRY_MAX_MS;
use crate::digest::Digest;
use crate::rdb::{self, Payload, Reader};
use crate::value_type::{Restore, ValueType};
use resp_codec::number::parse_i64;
use respire_rdb::{Text, Ziplist, Zipmap};
use respire_store::packed::listpack::Listpack;
use respire_store::{Elements, Growth, Hash, HashRef, Kind, NewValue, Store};

/// The number of the type in a digest.
const TYPE: u32 = 4;

/// The type bytes of payloads: fields and values one after another, and in packed forms, of which
/// Redis 7 writes the last one.
const PAIRS: u8 = 4;
const ZIPMAP: u8 = 9;
const ZIPLIST: u8 = 13;
const LISTPACK: u8 = 16;

/// The type bytes of hashes whose fields expire: one after another, and as a listpack in which a time follows each
/// value. Redis 7.4 writes the last two; early versions of it wrote the others.
const EARLY_EXPIRING: u8 = 22;
const EARLY_EXPIRING_LISTPACK: u8 = 23;
const EXPIRING: u8 = 24;
const EXPIRING_LISTPACK: u8 = 25;

pub(super) const RESTORES: &[(u8, Restore)] = &[
    (PAIRS, restore_pairs),
    (ZIPMAP, restore_zipmap),
    (ZIPLIST, restore_ziplist),
    (LISTPACK, restore_listpack),
    (EARLY_EXPIRING, restore_early_expiring),
    (EARLY_EXPIRING_LISTPACK, restore_expiring_listpack),
    (EXPIRING, restore_expiring),
    (EXPIRING_LISTPACK, |reader, store| {
        // The earliest expiry, which the listpack has as well.
        reader.number()?;
        restore_expiring_listpack(reader, store)
    }),
];

impl ValueType for HashRef<'_> {
    fn payload(&self, payload: &mut Payload, step: &mut dyn FnMut()) {
        if let Some(listpack) = self.listpack() {
            payload.begin(LISTPACK, listpack.len());
            return payload.string(listpack);
        }
        if let Some((first, len)) = first_expiry(*self, step) {
            return expiring(*self, (first, len), payload, step);
        }
        payload.begin(PAIRS, 0);
        payload.len(self.live_len());
        self.for_each(&mut |(field, value)| {
            rdb::add_string(payload, field);
            rdb::add_string(payload, value);
            step();
        });
    }

    fn digest(&self, digest: &mut Digest, step: &mut dyn FnMut()) {
        digest.mix(&TYPE.to_be_bytes());
        self.for_each(&mut |(field, value)| {
            let mut pair = Digest::default();
            pair.mix(field.as_bytes(&mut [0; 20]));
            pair.mix(value.as_bytes(&mut [0; 20]));
            digest.combine_digest(pair);
            step();
        });
    }

    fn elements(&self) -> Option<Vec<Vec<u8>>> {
        None
    }

    fn part(&self, field: Option<&[u8]>) -> Option<Vec<u8>> {
        self.get(field?).map(|value| value.to_vec())
    }
}

/// Returns the earliest expiry of a field and the number of fields; `None` if no field expires.
fn first_expiry(hash: HashRef<'_>, step: &mut dyn FnMut()) -> Option<(u64, usize)> {
    if !hash.has_expiries() {
        return None;
    }
    let (mut first, mut len) = (u64::MAX, 0);
    hash.for_each_until(&mut |_, _, expires_at| {
        first = first.min(expires_at.unwrap_or(u64::MAX));
        len += 1;
        step();
    });
    (first != u64::MAX).then_some((first, len))
}

/// Writes a hash whose fields expire: the earliest expiry; then for each field 0, or one more than the
/// milliseconds from there to its own expiry, before the field and its value.
fn expiring(
    hash: HashRef<'_>,
    (first, len): (u64, usize),
    payload: &mut Payload,
    step: &mut dyn FnMut(),
) {
    payload.begin(EXPIRING, 0);
    payload.number(first);
    payload.len(len);
    hash.for_each_until(&mut |field, value, expires_at| {
        payload.len(expires_at.map_or(0, |at| (at - first + 1) as usize));
        rdb::add_string(payload, field);
        rdb::add_string(payload, value);
        step();
    });
}

/// Builds a hash of fields that must differ.
struct Builder {
    hash: Hash,
    growth: Growth,
}

impl Builder {
    fn new(store: &Store) -> Self {
        Self {
            hash: Hash::default(),
            growth: store.growth::<Hash>(),
        }
    }

    fn add(&mut self, field: &[u8], value: &[u8]) -> Option<()> {
        self.add_until(field, value, None)
    }

    /// Adds a field that expires at a time in unix milliseconds; `None` is never.
    fn add_until(&mut self, field: &[u8], value: &[u8], expires_at: Option<u64>) -> Option<()> {
        if expires_at.is_some_and(|at| at > EXPIRY_MAX_MS) {
            return None;
        }
        let is_new = self
            .hash
            .insert_until(field, value, expires_at, &self.growth);
        is_new.then_some(())
    }

    /// Returns the hash unless it is empty: no key holds an empty value.
    fn finish(self) -> Option<NewValue<'static>> {
        (!self.hash.is_empty()).then(|| self.hash.into())
    }
}

fn restore_pairs<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let mut builder = Builder::new(store);
    for _ in 0..reader.next_len()? {
        let (field, value) = (rdb::read_string(reader)?, rdb::read_string(reader)?);
        let (field, value) = (field.as_ref().as_string()?, value.as_ref().as_string()?);
        builder.add(field.as_bytes(&mut [0; 20]), value.as_bytes(&mut [0; 20]))?;
    }
    builder.finish()
}

fn restore_expiring<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let first = reader.number()?;
    restore_timed(reader, store, |after| {
        first.checked_add(after)?.checked_sub(1)
    })
}

fn restore_early_expiring<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    restore_timed(reader, store, Some)
}

/// Reads fields with their times, from which `time` makes unix milliseconds; 0 is never.
fn restore_timed<'p>(
    reader: &mut Reader<'p>,
    store: &Store,
    time: impl Fn(u64) -> Option<u64>,
) -> Option<NewValue<'p>> {
    let mut builder = Builder::new(store);
    for _ in 0..reader.next_len()? {
        let expires_at = match reader.next_len()? as u64 {
            0 => None,
            number => Some(time(number)?),
        };
        let (field, value) = (rdb::read_string(reader)?, rdb::read_string(reader)?);
        let (field, value) = (field.as_ref().as_string()?, value.as_ref().as_string()?);
        let (field, value) = (field.to_vec(), value.to_vec());
        builder.add_until(&field, &value, expires_at)?;
    }
    builder.finish()
}

fn restore_expiring_listpack<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let bytes = blob(reader)?;
    let list = Listpack::verify(&bytes).ok()?;
    let texts: Vec<Vec<u8>> = list.iter().map(|text| text.to_bytes().to_vec()).collect();
    let mut builder = Builder::new(store);
    let (fields, rest) = texts.as_chunks::<3>();
    for [field, value, expires_at] in fields {
        let expires_at = parse_i64(expires_at).and_then(|at| u64::try_from(at).ok())?;
        builder.add_until(field, value, (expires_at > 0).then_some(expires_at))?;
    }
    rest.is_empty().then(|| builder.finish())?
}

fn restore_listpack<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let bytes = blob(reader)?;
    let list = Listpack::verify(&bytes).ok()?;
    Hash::of_listpack(list, &store.growth::<Hash>()).map(Into::into)
}

fn restore_ziplist<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let bytes = blob(reader)?;
    let texts: Vec<Vec<u8>> = Ziplist::verify(&bytes)?.map(Text::into_bytes).collect();
    let mut builder = Builder::new(store);
    let (pairs, rest) = texts.as_chunks::<2>();
    for [field, value] in pairs {
        builder.add(field, value)?;
    }
    rest.is_empty().then(|| builder.finish())?
}

fn restore_zipmap<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let bytes = blob(reader)?;
    let mut builder = Builder::new(store);
    for (field, value) in Zipmap::verify(&bytes)? {
        builder.add(field, value)?;
    }
    builder.finish()
}

/// The bytes of a packed form, which are one string of the payload.
fn blob(reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    match reader.string()? {
        Text::Bytes(bytes) => Some(bytes.to_vec()),
        Text::Unpacked(bytes) => Some(bytes),
        Text::Int(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TYPES;
    use respire_store::{Config, ValueRef};

    fn fields_of(value: &NewValue<'_>) -> Vec<(Vec<u8>, Vec<u8>, Option<u64>)> {
        let ValueRef::Hash(hash) = value.as_ref() else {
            panic!("it is a hash");
        };
        let mut fields = Vec::new();
        hash.for_each_until(&mut |field, value, at| {
            fields.push((field.to_vec(), value.to_vec(), at));
        });
        fields.sort();
        fields
    }

    fn restore(store: &Store, bytes: &[u8]) -> Option<NewValue<'static>> {
        let mut payload = Payload::default();
        bytes.iter().for_each(|byte| payload.byte(*byte));
        payload.finish();
        let restored = rdb::restore(payload.as_slice(), TYPES, store).ok()?;
        match restored {
            NewValue::Hash(hash) => Some(NewValue::Hash(hash)),
            _ => None,
        }
    }

    #[test]
    fn expiries_of_fields_survive_a_dump() {
        let store = Store::new(Config::default());
        let mut builder = Builder::new(&store);
        for number in 0..300_u64 {
            let expires_at = [0, 5_000, 5_001, 70_000_000_000_000][number as usize % 4];
            let added = builder.add_until(
                number.to_string().as_bytes(),
                b"v",
                (expires_at > 0).then_some(expires_at),
            );
            assert_eq!(added, Some(()));
        }
        let value = builder.finish().unwrap();
        let payload = rdb::dump(value.as_ref(), TYPES, &mut || ());
        assert_eq!(payload.as_slice()[0], EXPIRING);
        let restored = rdb::restore(payload.as_slice(), TYPES, &store).unwrap();
        assert_eq!(fields_of(&restored), fields_of(&value));
    }

    #[test]
    fn all_forms_with_expiries_are_read_and_checked() {
        let store = Store::new(Config::default());
        let wanted = [
            (b"a".to_vec(), b"1".to_vec(), Some(7)),
            (b"b".to_vec(), b"2".to_vec(), None),
        ];
        let listpack = b"\x0d\x15\0\0\0\x06\0\x81a\x02\x01\x01\x07\x01\x81b\x02\x02\x01\0\x01\xff";
        let listpack = [&[listpack.len() as u8 - 1], &listpack[1..]].concat();
        let first = 7_u64.to_le_bytes();
        let forms = [
            [b"\x16\x02\x07\x01a\x011\0\x01b\x012".as_slice()].concat(),
            [b"\x18", first.as_slice(), b"\x02\x01\x01a\x011\0\x01b\x012"].concat(),
            [b"\x17", listpack.as_slice()].concat(),
            [b"\x19", first.as_slice(), &listpack].concat(),
        ];
        for form in forms {
            let restored = restore(&store, &form).unwrap();
            assert_eq!(fields_of(&restored), wanted, "{form:?}");
            for len in 0..form.len() {
                assert!(restore(&store, &form[..len]).is_none());
            }
        }
        // A field twice, and a time that no field can have.
        assert!(restore(&store, b"\x16\x02\x07\x01a\x011\0\x01a\x012").is_none());
        assert!(restore(&store, b"\x16\x01\x81\x7f\xff\0\0\0\0\0\0\x01a\x011").is_none());
    }
}
