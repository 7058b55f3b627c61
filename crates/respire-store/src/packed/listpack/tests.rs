//! Tests of listpacks: edits against a model, all widths of integers, damaged bytes.

use super::*;
use crate::hash::mix;

fn texts(list: Listpack<'_>) -> Vec<Vec<u8>> {
    list.iter()
        .map(|element| element.to_bytes().into_owned())
        .collect()
}

/// A text that `random` selects: a number of any width, or bytes of a length near a limit.
fn text(random: u64) -> Vec<u8> {
    let bits = 1 + (random >> 8) % 63;
    let number = (mix(random) >> (64 - bits)) as i64;
    match random % 8 {
        0 => number.to_string().into_bytes(),
        1 => (-number).to_string().into_bytes(),
        2 => format!("0{number}").into_bytes(),
        3 => Vec::new(),
        4 => vec![b'x'; 62 + (random >> 16) as usize % 4],
        5 => vec![b'y'; 120 + (random >> 16) as usize % 12],
        6 => vec![b'z'; 4_090 + (random >> 16) as usize % 12],
        _ => mix(random).to_le_bytes().to_vec(),
    }
}

#[test]
fn bytes_are_those_of_redis() {
    let mut list = ListpackBuf::new();
    for text in ["a", "1", "-1", "300", "-40000", "2147483648", "007", ""] {
        list.push(text.as_bytes());
    }
    let expected = b"\x28\0\0\0\x08\0\x81a\x02\x01\x01\xdf\xff\x02\xc1\x2c\x02\xf2\xc0\x63\xff\x04\
                     \xf4\0\0\0\x80\0\0\0\0\x09\x83007\x04\x80\x01\xff";
    assert_eq!(list.as_bytes(), expected);
}

#[test]
fn list_is_as_its_model_whatever_is_spliced() {
    let (mut list, mut model) = (ListpackBuf::new(), Vec::<Vec<u8>>::new());
    for step in 0..3_000_u64 {
        let random = mix(step);
        let from = (random >> 32) as usize % (model.len() + 1);
        let count = if random % 5 < 3 {
            0
        } else {
            (random >> 48) as usize % 4
        };
        let to = (from + count).min(model.len());
        let new: Vec<Vec<u8>> = (0..random % 3).map(|at| text(mix(random + at))).collect();
        let place = |at: usize| list.read().seek(at as i64).unwrap_or(list.read().end());
        let range = place(from)..place(to);
        let new_texts: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
        let after = list.splice(range, &new_texts);
        assert_eq!(
            list.read()
                .seek((from + new.len()) as i64)
                .unwrap_or(list.read().end()),
            after
        );
        model.splice(from..to, new);
        assert_eq!(list.read().len(), model.len());
        assert_eq!(Listpack::verify(list.as_bytes()), Ok(list.read()));
        if model.len() > 60 {
            list.remove(list.read().first(), 30);
            model.drain(..30);
        }
    }
    assert_eq!(texts(list.read()), model);
    let mut place = list.read().end();
    for text in model.iter().rev() {
        place = list.read().before(place).unwrap();
        assert_eq!(list.read().at(place).unwrap().0.to_bytes(), &text[..]);
    }
    assert_eq!(list.read().before(place), None);
    assert_eq!(
        list.read().seek(-1),
        list.read().seek(model.len() as i64 - 1)
    );
    assert_eq!(list.read().seek(-(model.len() as i64) - 1), None);
}

#[test]
fn integers_of_all_widths_are_read_back() {
    let edges = [7, 12, 13, 15, 16, 23, 24, 31, 32, 62, 63].map(|bits| (1_i128 << bits) as i64);
    let mut list = ListpackBuf::new();
    let mut numbers = vec![0, 1, -1, i64::MIN, i64::MAX];
    for edge in edges {
        numbers.extend([
            edge.wrapping_sub(1),
            edge,
            edge.wrapping_neg(),
            (!edge).wrapping_sub(1),
            !edge,
        ]);
    }
    numbers
        .iter()
        .for_each(|number| list.push(number.to_string().as_bytes()));
    let ints = numbers.into_iter().map(Element::Int);
    assert!(list.read().iter().eq(ints));
}

#[test]
fn more_elements_than_the_header_tells_are_counted() {
    let element = [b"\x01\x01".as_slice(); COUNT_MAX + 1].concat();
    let total = (HEAD_BYTES + element.len() + 1) as u32;
    let bytes = [&total.to_le_bytes()[..], &[0xff, 0xff], &element, &[END]].concat();
    let mut list = ListpackBuf::try_from(bytes).unwrap();
    assert_eq!(list.read().len(), COUNT_MAX + 1);
    list.remove(list.read().first(), 2);
    assert_eq!(list.read().len(), COUNT_MAX - 1);
    assert_eq!(list.read().told_len(), COUNT_MAX - 1);
}

#[test]
fn damaged_bytes_are_refused_or_read_without_a_panic() {
    let mut list = ListpackBuf::new();
    (0..12).for_each(|at| list.push(text(mix(at)).chunks(200).next().unwrap_or_default()));
    let bytes = list.as_bytes();
    let mut refused = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut other = bytes.to_vec();
            other[at] ^= 1 << bit;
            match Listpack::verify(&other) {
                Ok(read) => assert_eq!(texts(read).len(), read.len()),
                Err(Damaged) => refused += 1,
            }
        }
        assert_eq!(Listpack::verify(&bytes[..at]), Err(Damaged));
    }
    // All bits of the lengths of it all and after each element are checked, and most of those before it.
    assert!(refused > (4 + 12 + 6) * 8, "{refused}");
}
