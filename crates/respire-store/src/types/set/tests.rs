//! Sets against a model, in all forms.

use std::collections::BTreeSet;

use super::*;
use crate::hash::mix;

fn growth(elements: u32) -> Growth {
    Growth {
        limits: Limits {
            elements,
            bytes: 64,
        },
        seed: [1, 2, 3, 4],
    }
}

/// A member: an integer, or a text that may look like one.
fn member(number: u64, has_texts: bool) -> Vec<u8> {
    match number % 5 {
        1 if has_texts => format!("0{number}").into_bytes(),
        2 if has_texts => vec![b'x'; (number % 70) as usize],
        3 => (number as i64).wrapping_neg().to_string().into_bytes(),
        _ => number.to_string().into_bytes(),
    }
}

fn members(set: SetRef<'_>) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    set.for_each(&mut |member| assert!(found.insert(member.to_vec())));
    found
}

fn check(set: &Set, model: &BTreeSet<Vec<u8>>) {
    assert_eq!(members(set.read()), *model);
    let (mut scanned, mut cursor) = (BTreeSet::new(), 0);
    loop {
        cursor = set.read().scan(cursor, 10, &mut |member| {
            scanned.insert(member.to_vec());
        });
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(scanned, *model);
    assert_eq!(set.read().len(), model.len());
    let sampled = set.read().sample(7).map(StringRef::to_vec);
    assert_eq!(sampled.is_some(), !model.is_empty());
    assert!(sampled.is_none_or(|sampled| model.contains(&sampled)));
    if let Some(packed) = set.packed() {
        assert_eq!(members(Set::read_packed(packed)), *model);
        assert_eq!(members(Set::from_packed(packed.to_vec()).read()), *model);
    }
}

#[test]
fn random_edits_agree_with_a_model_in_all_forms() {
    let steps = if cfg!(miri) { 200 } else { 3_000 };
    for (elements, range, has_texts) in [
        (512, 300, false),
        (100, 300, false),
        (512, 100, true),
        (0, 1_000, true),
        (512, 2_000, true),
    ] {
        let growth = growth(elements);
        let (mut set, mut model) = (Set::default(), BTreeSet::new());
        let mut was_other = false;
        for step in 0..steps {
            let random = mix(range << 32 | step);
            let member = member(random % range, has_texts);
            if mix(random).is_multiple_of(3) {
                assert_eq!(set.remove(&member), model.remove(&member));
            } else {
                assert_eq!(set.insert(&member, &growth), model.insert(member.clone()));
            }
            was_other |= model.len() > elements as usize
                || model.iter().any(|it| canonical_int(it).is_none());
            if model.is_empty() {
                // A key with no members is removed, and begins anew.
                (set, was_other) = (Set::default(), false);
            }
            let name = [Encoding::Intset, Encoding::Hashtable][usize::from(was_other)];
            assert_eq!(set.read().encoding(), name);
            assert_eq!(set.read().contains(&member), model.contains(&member));
            assert_eq!(set.read().len(), model.len());
            if step % 300 == 0 {
                let snapshot = set.clone();
                set.insert(b"not in the snapshot", &growth);
                check(&snapshot, &model);
                set.remove(b"not in the snapshot");
                was_other = true;
            }
        }
        check(&set, &model);
    }
}

#[test]
fn forms_change_at_their_limits() {
    let growth = growth(512);
    let mut set = Set::default();
    for number in 0..512 {
        set.insert(number.to_string().as_bytes(), &growth);
    }
    assert!(set.read().ints().is_some());
    set.insert(b"512", &growth);
    assert!(matches!(set.0, Form::Large(_)));

    let mut set = Set::default();
    set.insert(b"1", &growth);
    set.insert(b"text", &growth);
    assert!(matches!(set.0, Form::List(_)));
    set.insert(&[b'x'; 64], &growth);
    (0..125).for_each(|number: u32| {
        set.insert(number.to_string().as_bytes(), &growth);
    });
    assert!(matches!(set.0, Form::List(_)) && set.read().len() == 127);
    assert!(set.insert(b"124a", &growth) && !set.insert(b"text", &growth));
    assert!(matches!(set.0, Form::List(_)));
    assert!(set.insert(b"more", &growth) && set.read().len() == 129);
    assert!(matches!(set.0, Form::Large(_)));

    let mut set = Set::default();
    set.insert(&[b'x'; 65], &growth);
    assert!(matches!(set.0, Form::Large(_)));
}

#[test]
fn popped_members_are_as_likely_as_each_other() {
    let growth = growth(512);
    for texts in [["1", "2", "3", "4"], ["a", "b", "3", "4"]] {
        let mut counts = [0; 4];
        for random in 0..4_000 {
            let mut set = Set::default();
            texts.iter().for_each(|text| {
                set.insert(text.as_bytes(), &growth);
            });
            let popped = set.pop(random).expect("a member");
            let at = texts.iter().position(|text| text.as_bytes() == popped);
            counts[at.expect("one of the members")] += 1;
            assert!(set.read().len() == 3 && !set.read().contains(&popped));
        }
        assert!(
            counts.iter().all(|count| (850..1_150).contains(count)),
            "{counts:?}"
        );
    }
}

#[test]
fn large_set_is_freed_in_steps() {
    let growth = growth(0);
    let mut set = Set::default();
    for number in 0..20_000 {
        set.insert(format!("member {number}").as_bytes(), &growth);
    }
    let before = set.heap_bytes();
    let mut steps = 0;
    while !set.free_some(&mut 10) {
        steps += 1;
        assert!(set.heap_bytes() < before && steps < 10_000);
    }
    assert!(steps > 10 && set.heap_bytes() < 100);
}
