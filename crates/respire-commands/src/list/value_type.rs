//! Implements `ValueType` for lists.
//!
//! `DUMP` writes what Redis 7.0 writes: nodes, each of which is a listpack. `RESTORE` reads that and all older forms.

use crate::digest::Digest;
use crate::rdb::{self, Payload, Reader, add_block};
use crate::value_type::{Restore, ValueType};
use respire_rdb::{Text, Ziplist};
use respire_store::packed::listpack::{Element, Listpack};
use respire_store::{Elements, End, Kind, List, ListRef, NewValue, Store, StringRef};

/// The type bytes of payloads: single elements, one ziplist, nodes of ziplists, nodes of listpacks.
const ELEMENTS: u8 = 1;
const ZIPLIST: u8 = 10;
const ZIPLIST_NODES: u8 = 14;
const NODES: u8 = 18;

/// A node that is one element.
const PLAIN: usize = 1;
/// A node that is a listpack.
const PACKED: usize = 2;

/// The number of the type in digests.
const DIGEST_TYPE: u32 = 1;

pub(super) const RESTORES: &[(u8, Restore)] = &[
    (ELEMENTS, restore_elements),
    (ZIPLIST, restore_ziplist),
    (ZIPLIST_NODES, restore_ziplist_nodes),
    (NODES, restore_nodes),
];

impl ValueType for ListRef<'_> {
    fn payload(&self, payload: &mut Payload, step: &mut dyn FnMut()) {
        payload.begin(NODES, 0);
        payload.len(self.listpacks_len());
        self.listpacks(&mut |node| {
            payload.len(PACKED);
            add_block(payload, node, step);
        });
    }

    fn digest(&self, digest: &mut Digest, step: &mut dyn FnMut()) {
        digest.mix(&DIGEST_TYPE.to_be_bytes());
        self.for_each(&mut |element| {
            digest.mix(element.as_bytes(&mut [0; 20]));
            step();
        });
    }

    fn elements(&self) -> Option<Vec<Vec<u8>>> {
        Some(self.iter(End::Left).map(StringRef::to_vec).collect())
    }

    fn for_each_element(&self, f: &mut dyn FnMut(StringRef<'_>)) -> bool {
        self.for_each(f);
        true
    }

    fn part(&self, _: Option<&[u8]>) -> Option<Vec<u8>> {
        None
    }
}

pub(super) fn list_of(elements: &mut dyn Iterator<Item = &[u8]>) -> NewValue<'static> {
    let mut list = List::default();
    list.extend(End::Right, elements.map(StringRef::Bytes), List::LIMITS);
    list.into()
}

/// No key holds an empty list.
fn filled<'p>(list: List) -> Option<NewValue<'p>> {
    (!list.is_empty()).then(|| list.into())
}

fn push_all<'a>(list: &mut List, elements: impl Iterator<Item = Element<'a>>, store: &Store) {
    let elements = elements.map(|element| match element {
        Element::Int(number) => StringRef::Int(number),
        Element::Bytes(bytes) => StringRef::Bytes(bytes),
    });
    list.extend(End::Right, elements, store.limits::<List>());
}

fn restore_elements<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let (mut list, limits) = (List::default(), store.limits::<List>());
    for _ in 0..reader.next_len()? {
        let element = rdb::read_string(reader)?;
        let element = element.as_ref();
        list.push(End::Right, element.as_string()?, limits);
    }
    filled(list)
}

fn restore_ziplist<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let mut list = List::default();
    push_ziplist(&mut list, &reader.string()?.into_cow(), store)?;
    filled(list)
}

fn restore_ziplist_nodes<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let mut list = List::default();
    for _ in 0..reader.next_len()? {
        push_ziplist(&mut list, &reader.string()?.into_cow(), store)?;
    }
    filled(list)
}

fn push_ziplist(list: &mut List, bytes: &[u8], store: &Store) -> Option<()> {
    let limits = store.limits::<List>();
    for element in Ziplist::verify(bytes)? {
        match element {
            Text::Int(number) => list.push(End::Right, StringRef::Int(number), limits),
            Text::Bytes(bytes) => list.push(End::Right, StringRef::Bytes(bytes), limits),
            Text::Unpacked(bytes) => list.push(End::Right, StringRef::Bytes(&bytes), limits),
        }
    }
    Some(())
}

fn restore_nodes<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let (mut list, limits) = (List::default(), store.limits::<List>());
    for _ in 0..reader.next_len()? {
        let container = reader.next_len()?;
        let node = reader.string()?.into_cow();
        match container {
            _ if node.is_empty() => return None,
            PLAIN => list.push(End::Right, StringRef::Bytes(&node), limits),
            PACKED => push_all(&mut list, Listpack::verify(&node).ok()?.iter(), store),
            _ => return None,
        }
    }
    filled(list)
}
