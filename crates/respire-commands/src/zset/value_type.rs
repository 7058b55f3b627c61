//! Implements `ValueType` for sorted sets.

use super::bounds::bytes_of;
use crate::digest::Digest;
use crate::rdb::{Payload, Reader};
use crate::value_type::{Restore, ValueType};
use respire_rdb::{Text, Ziplist};
use respire_store::{Elements, Kind, NewValue, ScoreText, Store, ZSet, ZSetRef};
use std::collections::HashSet;

/// Scores as texts: what Redis wrote up to version 3.
const TYPE_TEXTS: u8 = 3;
/// Scores as eight bytes.
const TYPE_BYTES: u8 = 5;
/// A ziplist: what Redis wrote for small sets up to version 6.
const TYPE_ZIPLIST: u8 = 12;
/// A listpack.
const TYPE_LISTPACK: u8 = 17;

/// The number of sorted sets among Redis's types of value.
const TYPE_NUMBER: u32 = 3;

pub(super) const RESTORES: &[(u8, Restore)] = &[
    (TYPE_TEXTS, |reader, store| {
        elements(reader, store, text_score)
    }),
    (TYPE_BYTES, |reader, store| {
        elements(reader, store, |reader| reader.double())
    }),
    (TYPE_ZIPLIST, of_ziplist),
    (TYPE_LISTPACK, of_listpack),
];

impl ValueType for ZSetRef<'_> {
    fn payload(&self, payload: &mut Payload, step: &mut dyn FnMut()) {
        if let Some(list) = self.listpack() {
            payload.begin(TYPE_LISTPACK, list.as_bytes().len());
            return payload.string(list.as_bytes());
        }
        payload.begin(TYPE_BYTES, 24 * self.len());
        payload.len(self.len());
        // Redis writes the last element first, because it reads them faster so.
        self.for_range(0, usize::MAX, true, &mut |(member, score)| {
            payload.string(&member.to_bytes());
            payload.double(score);
            step();
        });
    }

    fn digest(&self, digest: &mut Digest, step: &mut dyn FnMut()) {
        digest.mix(&TYPE_NUMBER.to_be_bytes());
        self.for_each(&mut |(member, score)| {
            let mut element = Digest::default();
            element.mix(bytes_of(member, &mut itoa::Buffer::new()));
            element.mix(ScoreText::new(score).as_bytes());
            digest.combine_digest(element);
            step();
        });
    }

    fn elements(&self) -> Option<Vec<Vec<u8>>> {
        let mut elements = Vec::with_capacity(self.len());
        self.for_each(&mut |(member, _)| elements.push(member.to_bytes().into_owned()));
        Some(elements)
    }

    fn part(&self, _field: Option<&[u8]>) -> Option<Vec<u8>> {
        None
    }
}

/// Reads members and scores, in any order.
fn elements<'p>(
    reader: &mut Reader<'p>,
    store: &Store,
    score: fn(&mut Reader<'p>) -> Option<f64>,
) -> Option<NewValue<'p>> {
    let mut elements = Vec::new();
    for _ in 0..reader.next_len()? {
        let member = reader.string()?.into_bytes();
        elements.push((member, score(reader)?));
    }
    set_of_elements(elements, store)
}

/// Returns a set of elements in any order; `None` if a member is twice among them, or a score is no number.
fn set_of_elements<M: AsRef<[u8]>>(
    elements: Vec<(M, f64)>,
    store: &Store,
) -> Option<NewValue<'static>> {
    let mut members = HashSet::new();
    let mut is_valid =
        |(member, score): &(M, f64)| !score.is_nan() && members.insert(member.as_ref().to_vec());
    // No key holds an empty value.
    let is_set = !elements.is_empty() && elements.iter().all(&mut is_valid);
    is_set.then(|| ZSet::from_elements(elements, &store.growth::<ZSet>(), &mut || ()).into())
}

/// Reads a score as a text behind its length; three lengths are the scores that have no digits.
fn text_score(reader: &mut Reader<'_>) -> Option<f64> {
    match reader.byte()? {
        253 => None,
        254 => Some(f64::INFINITY),
        255 => Some(f64::NEG_INFINITY),
        len => {
            let text = (0..len)
                .map(|_| reader.byte())
                .collect::<Option<Vec<u8>>>()?;
            parse_score(&text)
        }
    }
}

fn parse_score(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Reads the bytes of a packed set.
fn packed(reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    match reader.string()? {
        Text::Int(_) => None,
        Text::Bytes(bytes) => Some(bytes.to_vec()),
        Text::Unpacked(bytes) => Some(bytes),
    }
}

/// Reads a ziplist of members and scores, in any order.
fn of_ziplist<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let bytes = packed(reader)?;
    let list: Vec<Text<'_>> = Ziplist::verify(&bytes)?.collect();
    let (pairs, rest) = list.as_chunks::<2>();
    let element = |[member, score]: &[Text<'_>; 2]| {
        let score = match score {
            Text::Int(number) => *number as f64,
            Text::Bytes(text) => parse_score(text)?,
            Text::Unpacked(text) => parse_score(text)?,
        };
        Some((member.clone().into_bytes(), score))
    };
    let elements = pairs.iter().map(element).collect::<Option<Vec<_>>>()?;
    rest.is_empty().then(|| set_of_elements(elements, store))?
}

fn of_listpack<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let set = ZSet::verify(packed(reader)?, &store.growth::<ZSet>()).ok()?;
    (!set.is_empty()).then(|| set.into())
}
