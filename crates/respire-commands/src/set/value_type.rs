//! Implements `ValueType` for sets.

use crate::digest::Digest;
use crate::rdb::{self, Payload, Reader};
use crate::value_type::{Restore, ValueType};
use respire_store::packed::intset::IntSet;
use respire_store::packed::listpack::Listpack;
use respire_store::{Elements, Growth, NewValue, Set, SetRef, Store};

/// The type byte of a set in a payload.
const SET: u8 = 2;
/// The type byte of a set of integers in their packed form.
const INTSET: u8 = 11;
/// The type byte of a set as a listpack, since Redis 7.2.
const LISTPACK: u8 = 20;
/// The number of the type in a digest.
const TYPE: u32 = 2;

pub(super) const RESTORES: &[(u8, Restore)] = &[
    (SET, restore),
    (INTSET, restore_ints),
    (LISTPACK, restore_list),
];

impl ValueType for SetRef<'_> {
    fn payload(&self, payload: &mut Payload, step: &mut dyn FnMut()) {
        if let Some(ints) = self.ints() {
            payload.begin(INTSET, ints.len());
            return payload.string(ints);
        }
        payload.begin(SET, 0);
        payload.len(self.len());
        self.for_each(&mut |member| {
            rdb::add_string(payload, member);
            step();
        });
    }

    fn digest(&self, digest: &mut Digest, step: &mut dyn FnMut()) {
        digest.mix(&TYPE.to_be_bytes());
        self.for_each(&mut |member| {
            digest.combine(member.as_bytes(&mut [0; 20]));
            step();
        });
    }

    fn elements(&self) -> Option<Vec<Vec<u8>>> {
        let mut elements = Vec::with_capacity(self.len());
        self.for_each(&mut |member| elements.push(member.to_vec()));
        Some(elements)
    }

    fn part(&self, _field: Option<&[u8]>) -> Option<Vec<u8>> {
        None
    }
}

fn restore<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let growth = store.growth::<Set>();
    let mut set = Set::default();
    for _ in 0..reader.next_len()? {
        let member = rdb::read_string(reader)?;
        let member = member.as_ref().as_string()?;
        insert_new(&mut set, member.as_bytes(&mut [0; 20]), &growth)?;
    }
    // No key holds an empty value.
    (!respire_store::Kind::is_empty(&set)).then(|| set.into())
}

fn restore_ints<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let ints = IntSet::try_from(reader.string()?.into_bytes()).ok()?;
    let is_empty = ints.is_empty();
    (!is_empty).then(|| Set::of_ints(ints, &store.growth::<Set>()).into())
}

fn restore_list<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let growth = store.growth::<Set>();
    let bytes = reader.string()?.into_bytes();
    let list = Listpack::verify(&bytes).ok()?;
    let mut set = Set::default();
    for member in list.iter() {
        insert_new(&mut set, &member.to_bytes(), &growth)?;
    }
    (!list.is_empty()).then(|| set.into())
}

/// Adds a member; `None` if it is there already.
fn insert_new(set: &mut Set, member: &[u8], growth: &Growth) -> Option<()> {
    set.insert(member, growth).then_some(())
}

#[cfg(test)]
mod tests;
