//! Implements `ValueType` for sorted sets.

use super::bounds::bytes_of;
use crate::digest::Digest;
use crate::rdb::{Payload, Reader};
use crate::value_type::{Restore, ValueType};
use respire_rdb::Text;
use respire_store::packed::listpack::Element;
use respire_store::{Elements, Kind, NewValue, ScoreText, Store, ZSet, ZSetRef};
use std::collections::HashSet;

/// Scores as texts: what Redis wrote up to version 3.
const TYPE_TEXTS: u8 = 3;
/// Scores as eight bytes.
const TYPE_BYTES: u8 = 5;
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
    (TYPE_LISTPACK, listpack),
];

impl ValueType for ZSetRef<'_> {
    fn payload(&self) -> Payload {
        if let Some(list) = self.listpack() {
            let mut payload = Payload::new(TYPE_LISTPACK, list.as_bytes().len());
            payload.string(list.as_bytes());
            return payload;
        }
        let mut payload = Payload::new(TYPE_BYTES, 24 * self.len());
        payload.len(self.len());
        // Redis writes the last element first, because it reads them faster so.
        self.for_range(0, usize::MAX, true, &mut |(member, score)| {
            payload.string(&member.to_bytes());
            payload.double(score);
        });
        payload
    }

    fn digest(&self, digest: &mut Digest) {
        digest.mix(&TYPE_NUMBER.to_be_bytes());
        self.for_each(&mut |(member, score)| {
            let mut element = Digest::default();
            element.mix(bytes_of(member, &mut itoa::Buffer::new()));
            element.mix(ScoreText::new(score).as_bytes());
            digest.combine_digest(element);
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
    let (mut elements, mut members) = (Vec::new(), HashSet::new());
    for _ in 0..reader.next_len()? {
        let member = match reader.string()? {
            Text::Int(number) => Element::Int(number).to_bytes().into_owned(),
            Text::Bytes(bytes) => bytes.to_vec(),
            Text::Unpacked(bytes) => bytes,
        };
        let score = score(reader).filter(|score| !score.is_nan())?;
        if !members.insert(member.clone()) {
            return None;
        }
        elements.push((member, score));
    }
    // No key holds an empty value.
    (!elements.is_empty()).then(|| ZSet::from_elements(elements, store.limits::<ZSet>()).into())
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
            std::str::from_utf8(&text).ok()?.parse().ok()
        }
    }
}

fn listpack<'p>(reader: &mut Reader<'p>, store: &Store) -> Option<NewValue<'p>> {
    let bytes = match reader.string()? {
        Text::Int(_) => return None,
        Text::Bytes(bytes) => bytes.to_vec(),
        Text::Unpacked(bytes) => bytes,
    };
    let set = ZSet::verify(bytes, store.limits::<ZSet>()).ok()?;
    (!set.is_empty()).then(|| set.into())
}
