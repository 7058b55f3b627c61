//! Tests of sorted sets in both forms against a model.

use super::*;
use crate::hash::mix;
use std::collections::BTreeMap;

fn elements(set: ZSetRef<'_>) -> Vec<(Vec<u8>, f64)> {
    let mut elements = Vec::new();
    set.for_each(&mut |(member, score)| elements.push((member.to_bytes().into_owned(), score)));
    elements
}

fn sorted(model: &BTreeMap<Vec<u8>, f64>) -> Vec<(Vec<u8>, f64)> {
    let mut sorted: Vec<_> = model
        .iter()
        .map(|(member, score)| (member.clone(), *score))
        .collect();
    sorted.sort_by(|(a, x), (b, y)| x.partial_cmp(y).unwrap().then_with(|| a.cmp(b)));
    sorted
}

fn growth(limits: Limits) -> Growth {
    Growth {
        limits,
        seed: [1, 2, 3, 4],
    }
}

#[test]
fn both_forms_equal_the_model_after_random_edits() {
    for growth in [
        growth(ZSet::LIMITS),
        growth(Limits {
            elements: 0,
            bytes: 0,
        }),
    ] {
        let (mut set, mut model) = (ZSet::default(), BTreeMap::new());
        for step in 0..2_000_u64 {
            let random = mix(step);
            let member = (random % 100).to_string().into_bytes();
            let score = [0.0, 1.5, f64::INFINITY, -3.0, 1e17][(random >> 8) as usize % 5];
            match (random >> 16) % 8 {
                0..5 => assert_eq!(
                    set.insert(&member, score, &growth),
                    model.insert(member, score)
                ),
                5 => {
                    let start = (random >> 24) as usize % (model.len() + 1);
                    let mut removed = Vec::new();
                    set.remove_range(start, 3, &mut |(member, _)| {
                        removed.push(member.to_bytes().into_owned())
                    });
                    let expected = sorted(&model).into_iter().skip(start).take(3);
                    assert!(
                        expected
                            .map(|(member, _)| member)
                            .eq(removed.iter().cloned())
                    );
                    removed.iter().for_each(|member| _ = model.remove(member));
                }
                _ => assert_eq!(set.remove(&member), model.remove(&member)),
            }
            let expected = sorted(&model);
            assert_eq!(
                (elements(set.read()), set.read().len()),
                (expected.clone(), model.len())
            );
            let (start, count) = ((random >> 32) as usize % 20, (random >> 40) as usize % 20);
            let (mut back, mut forward) = (Vec::new(), Vec::new());
            set.read()
                .for_range(start, count, true, &mut |(member, _)| {
                    back.push(member.to_bytes().into_owned())
                });
            set.read()
                .for_range(start, count, false, &mut |(member, _)| {
                    forward.push(member.to_bytes().into_owned())
                });
            let names = || expected.iter().map(|(member, _)| member.clone());
            assert!(names().rev().skip(start).take(count).eq(back));
            assert!(names().skip(start).take(count).eq(forward));
            for score in [0.0, 1.4, f64::INFINITY, f64::NEG_INFINITY] {
                let below = expected.iter().filter(|(_, other)| *other < score).count();
                let through = expected.iter().filter(|(_, other)| *other <= score).count();
                assert_eq!(set.read().count_below(Bound::BelowScore(score)), below);
                assert_eq!(set.read().count_below(Bound::ThroughScore(score)), through);
            }
        }
        let encoding = if growth.limits.elements == 0 {
            Encoding::Skiplist
        } else {
            Encoding::Listpack
        };
        assert_eq!(set.read().encoding(), encoding);
    }
}

#[test]
fn set_becomes_large_past_either_limit_and_stays_so() {
    let growth = growth(Limits {
        elements: 3,
        bytes: 4,
    });
    let mut set = ZSet::default();
    for member in [b"a", b"b", b"c"] {
        set.insert(member, 1.0, &growth);
    }
    assert_eq!(set.read().encoding(), Encoding::Listpack);
    set.insert(b"d", 1.0, &growth);
    assert_eq!(set.read().encoding(), Encoding::Skiplist);
    set.remove_range(0, 3, &mut |_| {});
    assert_eq!(
        (set.read().encoding(), set.read().len()),
        (Encoding::Skiplist, 1)
    );
    let mut set = ZSet::default();
    set.insert(b"long!", -0.0, &growth);
    assert_eq!(set.read().encoding(), Encoding::Skiplist);
    assert!(
        set.read()
            .score(b"long!")
            .is_some_and(f64::is_sign_negative)
    );
}

#[test]
fn listpack_is_that_of_redis() {
    let set = ZSet::from_elements(
        vec![(b"b".as_slice(), 2.5), (b"7", 1.0)],
        &growth(ZSet::LIMITS),
        &mut || (),
    );
    let bytes = b"\x13\0\0\0\x04\0\x07\x01\x01\x01\x81b\x02\x832.5\x04\xff";
    assert_eq!(set.packed(), Some(&bytes[..]));
    assert_eq!(
        elements(
            ZSet::verify(bytes.to_vec(), &growth(ZSet::LIMITS))
                .unwrap()
                .read()
        ),
        elements(set.read())
    );
}

#[test]
fn integers_in_other_forms_are_found() {
    // The members 7 in three bytes and 12 as text, and the score 3 as text.
    let foreign = b"\x14\0\0\0\x04\0\xf1\x07\x00\x03\x02\x01\x8212\x03\x813\x02\xff";
    let growth = growth(ZSet::LIMITS);
    let set = ZSet::verify(foreign.to_vec(), &growth).unwrap();
    assert_eq!(set.read().score(b"7"), Some(2.0));
    assert_eq!(set.read().score(b"12"), Some(3.0));
    let own = ZSet::from_elements(
        vec![(b"7".as_slice(), 2.0), (b"12", 3.0)],
        &growth,
        &mut || (),
    );
    assert_eq!(set.packed(), own.packed());
}

#[test]
fn damaged_listpack_is_refused() {
    let list = |elements: &[&str]| {
        let mut list = ListpackBuf::new();
        elements
            .iter()
            .for_each(|element| list.push(element.as_bytes()));
        list.into_bytes()
    };
    assert!(ZSet::verify(list(&["a", "1", "b", "1", "7", "2"]), &growth(ZSet::LIMITS)).is_ok());
    for wrong in [
        &["a"][..],
        &["a", "x"],
        &["a", "nan"],
        &["a", "2", "b", "1"],
        &["b", "1", "a", "1"],
        &["a", "1", "a", "2"],
        &["a", "1", "b"],
    ] {
        assert_eq!(
            ZSet::verify(list(wrong), &growth(ZSet::LIMITS)).err(),
            Some(Damaged),
            "{wrong:?}"
        );
    }
}
