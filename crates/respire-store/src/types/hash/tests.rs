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
fn integers_in_other_forms_are_found() {
    // The field 7 in three bytes, the field 12 and its value 12 as text.
    let foreign = b"\x15\0\0\0\x04\0\xf1\x07\x00\x03\x02\x01\x8212\x03\x8212\x03\xff";
    let foreign = Listpack::verify(foreign).expect("it is a listpack");
    let hash = Hash::of_listpack(foreign, &growth(9, 90)).expect("it is valid");
    let value = |field: &[u8]| hash.read().get(field).and_then(StringRef::to_int);
    assert_eq!((value(b"7"), value(b"12")), (Some(2), Some(12)));
    let mut own = ListpackBuf::new();
    for text in [&b"7"[..], b"2", b"12", b"12"] {
        own.push(text);
    }
    assert_eq!(hash.packed(), Some(own.as_bytes()));
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

const HSET: crate::EventName = crate::EventName {
    class: 1,
    name: "hset",
};

fn set(store: &crate::Store, key: &[u8], fields: core::ops::Range<u64>, expires_at: Option<u64>) {
    store.view(0, 0).update(key, |slot| {
        let growth = slot.growth::<Hash>();
        let edited = slot.edit(HSET, |hash: &mut Hash| {
            for field in fields {
                hash.insert_until(&field.to_le_bytes(), b"v", expires_at, &growth);
            }
            crate::Edited::Changed(())
        });
        assert_eq!(edited, Ok(()));
    });
}

/// Returns the number of fields that a reader sees, and that of all.
fn seen(store: &crate::Store, key: &[u8], now_ms: u64) -> Option<(usize, usize)> {
    store.view(0, now_ms).read(key, |entry| {
        let hash = entry?.typed::<Hash>().ok()?;
        Some((hash.live_len(), hash.len()))
    })
}

#[test]
fn due_fields_are_gone_for_every_reader_and_the_last_one_takes_the_key_along() {
    let store = crate::Store::new(crate::Config::default());
    set(&store, b"mixed", 0..3, None);
    set(&store, b"mixed", 3..5, Some(100));
    set(&store, b"all", 0..2, Some(100));
    assert_eq!(store.sweep(50, 1_000).next_ms, Some(100));
    assert_eq!(seen(&store, b"mixed", 99), Some((5, 5)));
    assert_eq!(seen(&store, b"mixed", 100), Some((3, 3)));
    assert_eq!(seen(&store, b"all", 100), None);
    assert_eq!(store.expires_len(0), 0);
    // A key's own expiry and those of its fields do not disturb each other.
    set(&store, b"both", 0..2, Some(300));
    set(&store, b"both", 2..4, None);
    store
        .view(0, 0)
        .update(b"both", |slot| slot.set_expiry(Some(500)));
    assert_eq!(store.expires_len(0), 1);
    assert!(store.sweep(300, 1_000).finished);
    assert_eq!(seen(&store, b"both", 300), Some((2, 2)));
    assert_eq!(store.sweep(500, 1_000).expired, 1);
    assert_eq!(store.memory().keys, 1);
}

#[test]
fn due_fields_are_gone_for_readers_of_many_keys_and_of_all() {
    let store = crate::Store::new(crate::Config::default());
    set(&store, b"mixed", 0..3, None);
    set(&store, b"mixed", 3..5, Some(100));
    let live = |entry: crate::EntryRef<'_>| entry.typed::<Hash>().map(HashRef::live_len);
    for round in 0..4 {
        set(&store, b"all", 0..2_000, Some(100));
        let (mut view, mut keys) = (store.view(0, 100), Vec::new());
        let mut see =
            |key: &[u8], entry: crate::EntryRef<'_>| keys.push((key.to_vec(), live(entry)));
        match round {
            0 => view.for_each(&mut see),
            1 => assert_eq!(view.scan(0, 100, &mut see), 0),
            2 => view.read_many([b"all".as_slice(), b"mixed"].into_iter(), |at, entry| {
                assert_eq!((at, entry.is_some()), (at, at == 1));
                entry.into_iter().for_each(|entry| see(b"mixed", entry));
            }),
            _ => {
                assert_eq!(view.random_key().as_deref(), Some(b"mixed".as_slice()));
                continue;
            }
        }
        assert_eq!(keys, [(b"mixed".to_vec(), Ok(3))]);
    }
}

#[test]
fn sweep_removes_the_due_fields_of_a_large_hash_in_steps() {
    let store = crate::Store::new(crate::Config::default());
    let fields = if cfg!(miri) { 3_000 } else { 20_000 };
    set(&store, b"large", 0..fields, Some(100));
    set(&store, b"large", fields..fields + 10, None);
    // The first use removes some, and hides all.
    let (live, all) = seen(&store, b"large", 100).unwrap();
    assert_eq!(live, 10);
    assert!(all > 10 && all < fields as usize);
    let mut steps = 0;
    while !store.sweep(100, 4).finished {
        steps += 1;
        assert!(steps < 1_000);
    }
    assert_eq!(seen(&store, b"large", 100), Some((10, 10)));
    assert!(cfg!(miri) || steps > 5);
}

/// Applies effects to a second store, at the time 0.
struct Follower(crate::Store);

impl crate::Observer for Follower {
    fn effect(&self, _: crate::Ticket, effect: crate::Effect<'_>) {
        match effect {
            crate::Effect::Written { db, key, entry } => {
                let owned = entry.owned();
                self.0.view(db, 0).update(key, |slot| slot.put(owned));
            }
            crate::Effect::Removed { db, key, .. } => {
                self.0.view(db, 0).update(key, |slot| slot.remove());
            }
            other => panic!("unexpected {other:?}"),
        }
    }
}

type All = Vec<(Vec<u8>, Vec<u8>, Option<u64>)>;

fn fields_of(store: &crate::Store, now_ms: u64) -> All {
    let mut fields = Vec::new();
    store.view(0, now_ms).for_each(|key, entry| {
        let hash = entry.typed::<Hash>().unwrap();
        hash.for_each_until(&mut |field, _, at| fields.push((key.to_vec(), field.to_vec(), at)));
    });
    fields.sort();
    fields
}

#[test]
fn store_that_follows_the_effects_has_the_same_fields_and_expiries() {
    let store = crate::Store::new(crate::Config::default());
    let follower = std::sync::Arc::new(Follower(crate::Store::new(crate::Config::default())));
    store.observe(follower.clone(), crate::Interest::EFFECTS);
    let steps = if cfg!(miri) { 200 } else { 3_000 };
    let mut now_ms = 1_000;
    for step in 0..steps {
        let (key, field) = ((mix(step) % 5).to_le_bytes(), text(mix(step + 10_000) % 40));
        let at = mix(step * 3)
            .is_multiple_of(2)
            .then(|| now_ms + 1 + mix(step * 7) % 500);
        let edited = store.view(0, now_ms).update(&key, |slot| {
            let growth = slot.growth::<Hash>();
            slot.edit(HSET, |hash: &mut Hash| {
                let _ = match step % 4 {
                    0 => hash.set_expiry(&field, at, &growth),
                    1 => hash.remove(&field),
                    _ => hash.insert_until(&field, b"v", at, &growth),
                };
                crate::Edited::Changed(())
            })
        });
        assert_eq!(edited, Ok(()));
        now_ms += mix(step * 5) % 40;
        if step % 50 == 0 {
            while !store.sweep(now_ms, 10).finished {}
            assert_eq!(fields_of(&store, now_ms), fields_of(&follower.0, 0));
        }
    }
}
