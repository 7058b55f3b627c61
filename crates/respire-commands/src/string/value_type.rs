//! Implements `ValueType` for strings.

use crate::digest::Digest;
use crate::rdb::{self, Payload, Reader};
use crate::value_type::{Restore, ValueType};
use respire_store::{NewValue, Store, StringRef};

/// The type byte of a string, in a payload and in a digest.
const TYPE: u8 = 0;

pub(super) const RESTORES: &[(u8, Restore)] = &[(TYPE, restore)];

impl ValueType for StringRef<'_> {
    fn payload(&self, payload: &mut Payload, _step: &mut dyn FnMut()) {
        payload.begin(TYPE, self.len());
        rdb::add_string(payload, *self);
    }

    fn digest(&self, digest: &mut Digest, _step: &mut dyn FnMut()) {
        digest.mix(&u32::from(TYPE).to_be_bytes());
        digest.mix(self.as_bytes(&mut [0; 20]));
    }

    fn elements(&self) -> Option<Vec<Vec<u8>>> {
        None
    }

    fn part(&self, field: Option<&[u8]>) -> Option<Vec<u8>> {
        field.is_none().then(|| self.to_vec())
    }
}

fn restore<'p>(reader: &mut Reader<'p>, _store: &Store) -> Option<NewValue<'p>> {
    rdb::read_string(reader)
}
