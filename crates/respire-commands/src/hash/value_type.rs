//! Implements `ValueType` for hashes.

use crate::digest::Digest;
use crate::rdb::{self, Payload, Reader};
use crate::value_type::{Restore, ValueType};
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

pub(super) const RESTORES: &[(u8, Restore)] = &[
    (PAIRS, restore_pairs),
    (ZIPMAP, restore_zipmap),
    (ZIPLIST, restore_ziplist),
    (LISTPACK, restore_listpack),
];

impl ValueType for HashRef<'_> {
    fn payload(&self) -> Payload {
        if let Some(listpack) = self.listpack() {
            let mut payload = Payload::new(LISTPACK, listpack.len());
            payload.string(listpack);
            return payload;
        }
        let mut payload = Payload::new(PAIRS, 0);
        payload.len(self.len());
        self.for_each(&mut |(field, value)| {
            rdb::add_string(&mut payload, field);
            rdb::add_string(&mut payload, value);
        });
        payload
    }

    fn digest(&self, digest: &mut Digest) {
        digest.mix(&TYPE.to_be_bytes());
        self.for_each(&mut |(field, value)| {
            let mut pair = Digest::default();
            pair.mix(field.as_bytes(&mut [0; 20]));
            pair.mix(value.as_bytes(&mut [0; 20]));
            digest.combine_digest(pair);
        });
    }

    fn elements(&self) -> Option<Vec<Vec<u8>>> {
        None
    }

    fn part(&self, field: Option<&[u8]>) -> Option<Vec<u8>> {
        self.get(field?).map(|value| value.to_vec())
    }
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
        self.hash.insert(field, value, &self.growth).then_some(())
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

fn restore_listpack<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let bytes = blob(reader)?;
    let list = Listpack::verify(&bytes).ok()?;
    Hash::of_listpack(list, &store.growth::<Hash>()).map(Into::into)
}

fn restore_ziplist<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let bytes = blob(reader)?;
    let texts: Vec<Vec<u8>> = Ziplist::verify(&bytes)?
        .map(|text| text.into_owned())
        .collect();
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
