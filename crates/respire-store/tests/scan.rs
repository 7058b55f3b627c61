//! Tests of SCAN's guarantee: a key that exists from the start to the end is visited, whatever keys are
//! added or removed and however the tables grow and shrink between the steps.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use respire_store::{Config, Expiry, Freeing, Store};

#[derive(Debug, Clone)]
enum Between {
    Add(u32),
    /// Adds keys that expire before the next step, so that the sweep then shrinks the tables.
    AddBriefly(u32),
    Remove(u32),
    Sweep,
}

fn between() -> impl Strategy<Value = Between> {
    prop_oneof![
        (1..2000_u32).prop_map(Between::Add),
        (1..2000_u32).prop_map(Between::AddBriefly),
        (1..2000_u32).prop_map(Between::Remove),
        Just(Between::Sweep),
    ]
}

fn set(store: &Store, key: &str, expiry: Expiry, now_ms: u64) {
    store
        .view(0, now_ms)
        .update(key.as_bytes(), |slot| slot.set(b"value", expiry));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scan_visits_every_key_that_stays(stay in 1..500_u32, count in 1..200_usize, steps in vec(between(), 1..40)) {
        let store = Store::new(Config { databases: 1, shards: 2, ..Config::default() });
        (0..stay).for_each(|key| set(&store, &format!("stay:{key}"), Expiry::Clear, 0));
        let (mut seen, mut cursor, mut now_ms, mut next) = (BTreeSet::new(), 0, 0, 0);
        let mut steps = steps.into_iter();
        for calls in 0.. {
            prop_assert!(calls < 100_000, "endless");
            cursor = store.view(0, now_ms).scan(cursor, count, |key, entry| {
                assert!(entry.expires_at().is_none_or(|at| at > now_ms));
                seen.insert(String::from_utf8_lossy(key).into_owned());
            });
            prop_assert!(cursor < 1 << 63);
            if cursor == 0 {
                break;
            }
            now_ms += 1;
            match steps.next() {
                Some(Between::Add(keys)) => {
                    (next..next + keys).for_each(|key| set(&store, &format!("come:{key}"), Expiry::Clear, now_ms));
                    next += keys;
                }
                Some(Between::AddBriefly(keys)) => {
                    (0..keys).for_each(|key| set(&store, &format!("brief:{key}"), Expiry::At(now_ms + 1), now_ms));
                }
                Some(Between::Remove(keys)) => {
                    for key in next.saturating_sub(keys)..next {
                        store.view(0, now_ms).update(format!("come:{key}").as_bytes(), |slot| slot.remove());
                    }
                    next = next.saturating_sub(keys);
                }
                Some(Between::Sweep) => drop(store.sweep(now_ms, 100_000)),
                None => {}
            }
        }
        for key in 0..stay {
            prop_assert!(seen.contains(&format!("stay:{key}")), "stay:{} was missed", key);
        }
        prop_assert!(!seen.iter().any(|key| key.starts_with("brief:") && now_ms == 0));
    }

    #[test]
    fn any_number_is_a_valid_cursor(cursor in any::<u64>(), keys in 0..300_u32) {
        let store = Store::new(Config { databases: 1, shards: 4, ..Config::default() });
        (0..keys).for_each(|key| set(&store, &format!("key:{key}"), Expiry::Clear, 0));
        let mut cursor = cursor;
        for calls in 0.. {
            prop_assert!(calls < 1000, "endless");
            cursor = store.view(0, 0).scan(cursor, 10, |_, _| {});
            if cursor == 0 {
                break;
            }
        }
    }
}

#[test]
fn scan_of_an_unchanged_database_visits_each_key_once() {
    let store = Store::new(Config {
        databases: 1,
        shards: 4,
        ..Config::default()
    });
    (0..10_000).for_each(|key| set(&store, &format!("key:{key}"), Expiry::Clear, 0));
    for counts in [
        [1, 1],
        [10, 10],
        [1_000, 1_000],
        [100_000, 100_000],
        [10, 2_000],
        [300, 100_000],
    ] {
        let (mut seen, mut cursor) = (Vec::new(), 0);
        for calls in 0.. {
            assert!(
                calls <= 12_500 / counts[0] + 1,
                "{calls} calls for counts of {counts:?}"
            );
            cursor = store
                .view(0, 0)
                .scan(cursor, counts[calls % 2], |key, _| seen.push(key.to_vec()));
            if cursor == 0 {
                break;
            }
        }
        assert_eq!(seen.len(), 10_000);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 10_000);
    }
    store.view(0, 0).flush(Freeing::AtOnce);
    (0..400).for_each(|key| set(&store, &format!("key:{key}"), Expiry::Clear, 0));
    let (mut seen, mut count, mut cursor) = (0, 10, 0);
    loop {
        cursor = store.view(0, 0).scan(cursor, count, |_, _| seen += 1);
        if cursor == 0 {
            break;
        }
        count = 10_000;
    }
    assert_eq!(seen, 400);
}
