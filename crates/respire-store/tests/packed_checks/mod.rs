//! Checks that bytes from outside are refused, or are a packed form that reads and edits as a plain model does.
//! The tests and the fuzzer share them.

use respire_store::packed::intset::IntSet;
use respire_store::packed::listpack::{Listpack, ListpackBuf, Place};
use std::collections::BTreeSet;

/// The most edits that one input makes.
const EDITS_MAX: usize = 64;

/// Takes the front of bytes apart; zeros follow their end.
struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or_default()
    }

    fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (front, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        front
    }

    fn number(&mut self) -> i64 {
        let width = [1, 2, 4, 8][usize::from(self.byte() % 4)];
        let mut wide = [0; 8];
        let bytes = self.bytes(width);
        wide[8 - bytes.len()..].copy_from_slice(bytes);
        i64::from_le_bytes(wide) >> (64 - 8 * bytes.len().max(1))
    }
}

/// Checks a listpack.
///
/// The first byte's lowest bit says whether header and end are made right, so that the elements are reached; the
/// second byte is the number of edits. The bytes of the listpack and of the edits follow, in two parts whose
/// border is the third byte's share of 256.
pub(crate) fn check_listpack(data: &[u8]) {
    let mut source = Source(data);
    let (options, edits) = (source.byte(), usize::from(source.byte()).min(EDITS_MAX));
    let share = usize::from(source.byte());
    let rest = source.0;
    let (list, edit_bytes) = rest.split_at(rest.len() * share / 256);
    let mut bytes = list.to_vec();
    if options & 1 != 0 {
        mend_listpack(&mut bytes);
    }
    let Ok(read) = Listpack::verify(&bytes) else {
        assert!(ListpackBuf::try_from(bytes).is_err(), "both ways agree");
        return;
    };
    let mut model: Vec<Vec<u8>> = read
        .iter()
        .map(|element| element.to_bytes().to_vec())
        .collect();
    assert!(model.len() <= bytes.len(), "each element has a byte");
    check_reading(read, &model);
    let mut list = ListpackBuf::try_from(bytes.clone()).expect("both ways agree");
    let mut source = Source(edit_bytes);
    for _ in 0..edits {
        edit(&mut list, &mut model, &mut source);
        let read = Listpack::verify(list.as_bytes()).expect("an edited listpack is one");
        check_reading(read, &model);
    }
}

/// Sets the length, the end, and a number of elements that says: count them.
fn mend_listpack(bytes: &mut Vec<u8>) {
    if bytes.len() < 7 {
        bytes.resize(7, 0);
    }
    let total = bytes.len() as u32;
    bytes[..4].copy_from_slice(&total.to_le_bytes());
    bytes[4..6].fill(0xff);
    *bytes.last_mut().expect("seven bytes or more") = 0xff;
}

/// Reads a listpack in both directions and by index.
fn check_reading(list: Listpack<'_>, model: &[Vec<u8>]) {
    assert_eq!(list.len(), model.len());
    assert_eq!(list.is_empty(), model.is_empty());
    let forward = list.iter().map(|element| element.to_bytes().to_vec());
    assert!(forward.eq(model.iter().cloned()), "{list:?}: {model:?}");
    let mut place = list.end();
    for element in model.iter().rev() {
        place = list.before(place).expect("as many elements backwards");
        let (found, _) = list.at(place).expect("there is an element");
        assert_eq!(*found.to_bytes(), **element);
    }
    assert_eq!(place, list.first());
    assert_eq!(list.before(place), None);
    let len = model.len() as i64;
    for index in [0, 1, len / 2, len - 1, len, -1, -2, -len, -len - 1] {
        let at = if index < 0 { index + len } else { index };
        let expected = usize::try_from(at).ok().and_then(|at| model.get(at));
        let found = list.seek(index).and_then(|place| list.at(place));
        let found = found.map(|(element, _)| element.to_bytes().to_vec());
        assert_eq!(found.as_ref(), expected, "{index} of {len}");
    }
}

/// Replaces some elements by others, in the listpack and in the model.
fn edit(list: &mut ListpackBuf, model: &mut Vec<Vec<u8>>, source: &mut Source<'_>) {
    let kind = source.byte();
    let from = usize::from(source.byte()) % (model.len() + 1);
    let count = usize::from(source.byte() % 4).min(model.len() - from);
    let new: Vec<Vec<u8>> = (0..kind % 3).map(|_| text(source)).collect();
    let (start, end) = (place(list, from), place(list, from + count));
    match kind % 5 {
        0 => {
            list.remove(start, count);
            model.drain(from..from + count);
        }
        1 if !new.is_empty() => {
            list.push(&new[0]);
            model.push(new[0].clone());
        }
        _ => {
            let parts: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
            let after = list.splice(start..end, &parts);
            assert_eq!(after, place(list, from + new.len()));
            model.splice(from..from + count, new);
        }
    }
}

fn text(source: &mut Source<'_>) -> Vec<u8> {
    match source.byte() {
        0..0x80 => source.number().to_string().into_bytes(),
        0xff => vec![b'x'; usize::from(source.byte()) * 32],
        len => source.bytes(usize::from(len & 0x3f)).to_vec(),
    }
}

/// The place of an element, or of the end.
fn place(list: &ListpackBuf, index: usize) -> Place {
    let list = list.read();
    list.seek(index as i64).unwrap_or_else(|| list.end())
}

/// Checks a set of integers. The first byte's lowest bit says whether its header is made right, the second is the
/// number of edits; the next part is the set, as in [`check_listpack`].
pub(crate) fn check_intset(data: &[u8]) {
    let mut source = Source(data);
    let (options, edits) = (source.byte(), usize::from(source.byte()).min(EDITS_MAX));
    let share = usize::from(source.byte());
    let rest = source.0;
    let (set, edit_bytes) = rest.split_at(rest.len() * share / 256);
    let mut bytes = set.to_vec();
    if options & 1 != 0 {
        mend_intset(&mut bytes, [2, 4, 8][usize::from(options >> 1) % 3]);
    }
    let len = bytes.len();
    let Ok(mut set) = IntSet::try_from(bytes) else {
        return;
    };
    let mut model: BTreeSet<i64> = set.iter().collect();
    assert!(set.len() * 2 <= len, "each integer has two bytes or more");
    check_set(&set, &model);
    let mut source = Source(edit_bytes);
    for _ in 0..edits {
        let (kind, mut number) = (source.byte(), source.number());
        if kind & 2 != 0 {
            // One that is there.
            number = set
                .get(usize::from(kind) % set.len().max(1))
                .unwrap_or(number);
        }
        match kind % 2 {
            0 => assert_eq!(set.insert(number), model.insert(number)),
            _ => assert_eq!(set.remove(number), model.remove(&number)),
        }
        assert_eq!(set.contains(number), kind % 2 == 0);
        check_set(&set, &model);
        let again = IntSet::try_from(set.as_bytes().to_vec()).expect("an edited set is one");
        assert_eq!(again, set);
    }
}

/// Sets the width, cuts what is no whole integer, and tells the number of integers.
fn mend_intset(bytes: &mut Vec<u8>, width: usize) {
    if bytes.len() < 8 {
        bytes.resize(8, 0);
    }
    bytes.truncate(8 + (bytes.len() - 8) / width * width);
    let len = ((bytes.len() - 8) / width) as u32;
    bytes[..4].copy_from_slice(&(width as u32).to_le_bytes());
    bytes[4..8].copy_from_slice(&len.to_le_bytes());
}

fn check_set(set: &IntSet, model: &BTreeSet<i64>) {
    assert_eq!(set.len(), model.len(), "{set:?}");
    assert!(set.iter().eq(model.iter().copied()), "{set:?}: {model:?}");
    assert!(set.iter().rev().eq(model.iter().rev().copied()));
    assert!(model.iter().all(|number| set.contains(*number)));
    for (index, number) in model.iter().enumerate() {
        assert_eq!(set.get(index), Some(*number));
    }
    assert_eq!(set.get(model.len()), None);
}
