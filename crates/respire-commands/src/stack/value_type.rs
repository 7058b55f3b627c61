//! Implements `ValueType` for stacks.

use crate::digest::Digest;
use crate::rdb::{self, Payload, Reader};
use crate::value_type::{Restore, ValueType};
use respire_store::{Elements, NewValue, Stack, StackRef, Store};

/// A type byte that Redis does not use.
const TYPE: u8 = 200;

pub(super) const RESTORES: &[(u8, Restore)] = &[(TYPE, restore)];

impl ValueType for StackRef<'_> {
    fn payload(&self, payload: &mut Payload, step: &mut dyn FnMut()) {
        payload.begin(TYPE, 0);
        payload.len(self.len());
        self.for_each(&mut |element| {
            payload.string(element);
            step();
        });
    }

    fn digest(&self, digest: &mut Digest, step: &mut dyn FnMut()) {
        digest.mix(&u32::from(TYPE).to_be_bytes());
        self.for_each(&mut |element| {
            digest.mix(element);
            step();
        });
    }

    fn elements(&self) -> Option<Vec<Vec<u8>>> {
        let mut elements = Vec::with_capacity(self.len());
        self.for_each(&mut |element| elements.push(element.to_vec()));
        Some(elements)
    }

    /// Element number `n` from the bottom counts as the field `n`.
    fn part(&self, field: Option<&[u8]>) -> Option<Vec<u8>> {
        let at = std::str::from_utf8(field?).ok()?.parse().ok()?;
        self.get(at).map(<[u8]>::to_vec)
    }
}

fn restore<'p>(reader: &mut Reader<'p>, _store: &Store) -> Option<NewValue<'p>> {
    let mut stack = Stack::default();
    for _ in 0..reader.next_len()? {
        let element = rdb::read_string(reader)?;
        let element = element.as_ref().as_string()?;
        stack.push(element.as_bytes(&mut [0; 20]));
    }
    // No key holds an empty value.
    (!stack.is_empty()).then(|| stack.into())
}
