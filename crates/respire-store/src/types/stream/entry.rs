//! Entries of a stream, as they are read and written.

use super::StreamId;
use crate::packed::listpack::{Element, Listpack, Place};
use crate::types::StringRef;

/// Fields with their values, for a new entry.
pub trait Pairs<'f>: ExactSizeIterator<Item = (&'f [u8], &'f [u8])> + Clone {}

impl<'f, I: ExactSizeIterator<Item = (&'f [u8], &'f [u8])> + Clone> Pairs<'f> for I {}

/// An entry of a stream.
#[derive(Debug, Clone, Copy)]
pub struct StreamEntry<'b> {
    id: StreamId,
    fields: StreamFields<'b>,
}

impl<'b> StreamEntry<'b> {
    pub(super) fn new(id: StreamId, fields: StreamFields<'b>) -> Self {
        Self { id, fields }
    }

    /// Returns its ID.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Returns its fields with their values.
    #[must_use]
    pub fn fields(&self) -> StreamFields<'b> {
        self.fields
    }
}

/// The fields of an entry with their values.
#[derive(Debug, Clone, Copy)]
pub struct StreamFields<'b> {
    pack: Listpack<'b>,
    /// The place of the next field, if the fields are not beside their values.
    names: Option<Place>,
    /// The place of the next field or value.
    place: Place,
    left: usize,
}

impl<'b> StreamFields<'b> {
    pub(super) fn new(pack: Listpack<'b>, names: Option<Place>, place: Place, left: usize) -> Self {
        Self {
            pack,
            names,
            place,
            left,
        }
    }

    /// The place of the next field or value.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// The number of elements that the rest takes in its block.
    pub(super) fn elements(&self) -> usize {
        self.left * if self.names.is_some() { 1 } else { 2 }
    }
}

impl<'b> Iterator for StreamFields<'b> {
    type Item = (StringRef<'b>, StringRef<'b>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let field = match &mut self.names {
            Some(names) => {
                let (field, next) = self.pack.at(*names)?;
                *names = next;
                field
            }
            None => {
                let (field, next) = self.pack.at(self.place)?;
                self.place = next;
                field
            }
        };
        let (value, next) = self.pack.at(self.place)?;
        self.place = next;
        Some((text_of(field), text_of(value)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for StreamFields<'_> {}

fn text_of(element: Element<'_>) -> StringRef<'_> {
    match element {
        Element::Int(number) => StringRef::Int(number),
        Element::Bytes(bytes) => StringRef::Bytes(bytes),
    }
}
