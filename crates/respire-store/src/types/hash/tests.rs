//! Hashes against a model, in both forms.

use std::collections::BTreeMap;

use super::*;
use crate::hash::mix;

const SEED: [u64; 4] = [1, 2, 3, 4];

fn growth(elements: u32, bytes: u32) -> Growth {
    Growth {
        limits: Limits { elements, bytes },
        seed: SEED,
    }
}

fn text(number: u64) -> Vec<u8> {
    match number % 5 {
        0 => (number / 5).to_string().into_bytes(),
        1 => format!("0{number}").into_bytes(),
        2 => vec![b'x'; (number % 70) as usize],
        3 => (number as i64).wrapping_neg().to_string().into_bytes(),
        _ => format!("field {number}").into_bytes(),
    }
}

fn check(hash: &Hash, model: &BTreeMap<Vec<u8>, Vec<u8>>) {
    let mut found = BTreeMap::new();
    hash.read().for_each(&mut |(field, value)| {
        assert_eq!(found.insert(field.to_vec(), value.to_vec()), None);
    });
    assert_eq!(found, *model);
    let mut scanned = BTreeMap::new();
    let mut cursor = 0;
    loop {
        cursor = hash.read().scan(cursor, 10, &mut |(field, value)| {
            scanned.insert(field.to_vec(), value.to_vec());
        });
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(scanned, *model);
    assert_eq!(hash.read().len(), model.len());
    assert_eq!(hash.read().sample(7).is_some(), !model.is_empty());
}

#[test]
fn random_edits_agree_with_a_model_in_both_forms() {
    let steps = if cfg!(miri) { 200 } else { 3_000 };
    for (elements, bytes, seed) in [(40, 64, 1), (1_000, 30, 2), (0, 64, 3), (1_000, 1_000, 4)] {
        let growth = growth(elements, bytes);
        let (mut hash, mut model) = (Hash::default(), BTreeMap::new());
        let mut was_large = false;
        let mut largest = 0;
        for step in 0..steps {
            let random = mix(seed * 1_000_000 + step);
            let field = text(random % 300);
            if mix(random).is_multiple_of(3) {
                assert_eq!(hash.remove(&field), model.remove(&field).is_some());
            } else {
                let value = text(mix(random) % 1_000);
                largest = largest.max(field.len()).max(value.len());
                let is_new = model.insert(field.clone(), value.clone()).is_none();
                assert_eq!(hash.insert(&field, value.as_slice(), &growth), is_new);
            }
            was_large |= model.len() > elements as usize || largest > bytes as usize;
            assert_eq!(hash.packed().is_none(), was_large);
            let name = if was_large {
                Encoding::Hashtable
            } else {
                Encoding::Listpack
            };
            assert_eq!(hash.read().encoding(), name);
            assert_eq!(
                hash.read().get(&field).map(StringRef::to_vec),
                model.get(&field).cloned()
            );
            assert_eq!(hash.read().contains(&field), model.contains_key(&field));
            if step % 300 == 0 {
                let snapshot = (hash.clone(), model.clone());
                check(&snapshot.0, &snapshot.1);
            }
        }
        check(&hash, &model);
    }
}

#[test]
fn listpack_is_refused_unless_its_fields_differ_and_have_values() {
    let list = |texts: &[&[u8]]| {
        let mut list = ListpackBuf::new();
        texts.iter().for_each(|text| list.push(text));
        list
    };
    let growth = growth(2, 5);
    let hash_of = |texts: &[&[u8]]| Hash::of_listpack(list(texts).read(), &growth);
    assert!(hash_of(&[]).is_none());
    assert!(hash_of(&[b"a"]).is_none());
    assert!(hash_of(&[b"a", b"1", b"a", b"2"]).is_none());
    let small = hash_of(&[b"a", b"1", b"b", b"1"]).expect("it is valid");
    assert_eq!(
        small.packed(),
        Some(list(&[b"a", b"1", b"b", b"1"]).as_bytes())
    );
    for large in [
        &[&b"a"[..], b"1", b"b", b"1", b"c", b"1"][..],
        &[b"a", b"123456"],
    ] {
        let large = hash_of(large).expect("it is valid");
        assert!(large.packed().is_none());
        let value = large.read().get(b"a").and_then(StringRef::to_int);
        assert!(value.is_some());
    }
}
