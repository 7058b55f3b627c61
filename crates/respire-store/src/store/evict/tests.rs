//! Tests of eviction. It is random, so they check what holds for any sample.

use super::*;
use crate::{Config, Expiry, Freeing};

/// A value with which an entry takes 112 bytes, with or without an expiry.
const VALUE: [u8; 90] = [b'x'; 90];

fn store() -> Store {
    Store::new(Config {
        databases: 2,
        shards: 4,
        ..Config::default()
    })
}

fn set(store: &Store, db: u32, key: usize, expiry: Expiry, now_ms: u64) {
    store
        .view(db, now_ms)
        .update(&key.to_le_bytes(), |slot| slot.set(&VALUE, expiry));
}

fn exists(store: &Store, db: u32, key: usize) -> bool {
    store
        .view(db, 0)
        .peek(&key.to_le_bytes(), |entry| entry.is_some())
}

/// Sets the bound of memory to the present use less `keys` entries.
fn squeeze(store: &Store, policy: Policy, keys: u64) {
    let bytes = store.memory().total() as u64 - keys * 112;
    store.set_max_memory(bytes, policy, 10);
}

#[test]
fn policy_name_reads_back() {
    for policy in Policy::ALL {
        assert_eq!(Policy::from_name(policy.name().as_bytes()), Some(policy));
        let store = store();
        store.set_max_memory(1 << 30, policy, 5);
        assert_eq!(store.policy(), policy);
    }
}

#[test]
fn memory_without_a_bound_always_has_room() {
    let store = store();
    set(&store, 0, 1, Expiry::Clear, 0);
    assert!(store.make_room(0));
    store.set_max_memory(0, Policy::AllKeysLru, 5);
    assert!(store.make_room(0) && exists(&store, 0, 1));
}

#[test]
fn bound_without_room_for_a_key_is_exceeded_by_an_empty_store() {
    let smallest = store();
    smallest
        .view(0, 0)
        .update(b"", |slot| slot.set(b"", Expiry::Clear));
    assert!(smallest.memory().total() as u64 >= KEY_BYTES_MIN);
    let store = store();
    for policy in [Policy::NoEviction, Policy::AllKeysLru] {
        for (bytes, has_room) in [
            (1, false),
            (KEY_BYTES_MIN - 1, false),
            (KEY_BYTES_MIN, true),
        ] {
            store.set_max_memory(bytes, policy, 5);
            assert_eq!(store.make_room(0), has_room, "{policy:?} {bytes}");
        }
    }
    set(&store, 0, 1, Expiry::Clear, 0);
    assert!(!has_room_in_one_byte(&store));
    let removed = store
        .view(0, 0)
        .update(&1_usize.to_le_bytes(), |slot| slot.remove());
    assert!(removed && !has_room_in_one_byte(&store));
}

fn has_room_in_one_byte(store: &Store) -> bool {
    store.set_max_memory(1, Policy::NoEviction, 5);
    store.make_room(0)
}

#[test]
fn noeviction_refuses_until_there_is_room() {
    let store = store();
    (0..100).for_each(|key| set(&store, 0, key, Expiry::Clear, 0));
    squeeze(&store, Policy::NoEviction, 1);
    assert!(!store.make_room(0));
    store
        .view(0, 0)
        .update(&1_usize.to_le_bytes(), |slot| slot.remove());
    assert!(store.make_room(0));
}

#[test]
fn lru_keeps_used_keys_and_counts_evicted_ones() {
    let store = store();
    (0..200).for_each(|key| set(&store, key as u32 % 2, key, Expiry::Clear, 0));
    for key in 0..20_usize {
        store
            .view(key as u32 % 2, 60_000)
            .read(&key.to_le_bytes(), |entry| assert!(entry.is_some()));
    }
    squeeze(&store, Policy::AllKeysLru, 100);
    assert!(store.make_room(60_000));
    let left = store.len(0) + store.len(1);
    assert!((99..=101).contains(&left), "{left} left");
    assert_eq!(store.stats().evicted_keys, 200 - left as u64);
    // Near the end, a sample of ten in a shard of fifty may have only used keys.
    let used = (0..20)
        .filter(|key| exists(&store, *key as u32 % 2, *key))
        .count();
    assert!(used >= 18, "{used} of 20 used keys left");
}

#[test]
fn lfu_keeps_often_used_keys() {
    let store = store();
    store.set_max_memory(1 << 30, Policy::AllKeysLfu, 10);
    (0..200).for_each(|key| set(&store, 0, key, Expiry::Clear, 0));
    for key in 0..20_usize {
        for _ in 0..200 {
            store
                .view(0, 0)
                .read(&key.to_le_bytes(), |entry| assert!(entry.is_some()));
        }
        let freq = store.view(0, 0).peek(&key.to_le_bytes(), |entry| {
            entry.map_or(0, |entry| entry.freq(0))
        });
        assert!((8..=60).contains(&freq), "{freq}");
    }
    squeeze(&store, Policy::AllKeysLfu, 100);
    assert!(store.make_room(0));
    let used = (0..20).filter(|key| exists(&store, 0, *key)).count();
    assert!(used >= 18, "{used} of 20 used keys left");
}

#[test]
fn volatile_policies_spare_keys_without_expiry() {
    for policy in [
        Policy::VolatileLru,
        Policy::VolatileLfu,
        Policy::VolatileRandom,
        Policy::VolatileTtl,
    ] {
        let store = store();
        (0..100).for_each(|key| set(&store, 0, key, Expiry::Clear, 0));
        (100..200).for_each(|key| set(&store, 0, key, Expiry::At(1_000_000 + key as u64), 0));
        squeeze(&store, policy, 50);
        assert!(store.make_room(0), "{policy:?}");
        assert!((0..100).all(|key| exists(&store, 0, key)), "{policy:?}");
        let left = store.expires_len(0);
        assert!((49..=51).contains(&left), "{policy:?}: {left} left");
        squeeze(&store, policy, 100);
        assert!(!store.make_room(0), "{policy:?}");
        assert_eq!((store.len(0), store.expires_len(0)), (100, 0));
    }
}

#[test]
fn volatile_ttl_evicts_the_nearest_expiry() {
    let store = store();
    (0..200).for_each(|key| set(&store, 0, key, Expiry::At(1_000 + key as u64), 0));
    squeeze(&store, Policy::VolatileTtl, 100);
    assert!(store.make_room(0));
    let late = (180..200).filter(|key| exists(&store, 0, *key)).count();
    assert!(late >= 18, "{late} of the last 20 left");
}

#[test]
fn volatile_policies_find_keys_among_stale_deadlines() {
    let store = store();
    for key in 0..40 {
        set(&store, 0, key, Expiry::At(1_000), 0);
        set(
            &store,
            0,
            key,
            if key % 10 == 0 {
                Expiry::At(2_000)
            } else {
                Expiry::Clear
            },
            0,
        );
    }
    squeeze(&store, Policy::VolatileLru, 4);
    assert!(store.make_room(0));
    assert_eq!((store.len(0), store.expires_len(0)), (36, 0));
}

#[test]
fn eviction_makes_a_watch_dirty() {
    let store = store();
    set(&store, 0, 1, Expiry::Clear, 0);
    let watch = store.view(0, 0).watch(&1_usize.to_le_bytes());
    squeeze(&store, Policy::AllKeysRandom, 1);
    assert!(store.make_room(0));
    assert!(watch.is_dirty(0));
    assert_eq!(store.changes(), 1);
}

#[test]
fn gauge_stays_within_a_step_per_shard_of_the_sum() {
    let store = store();
    for round in 0..3 {
        for key in 0..1000 {
            set(
                &store,
                key as u32 % 2,
                key,
                if key % 2 == round {
                    Expiry::At(9)
                } else {
                    Expiry::Clear
                },
                0,
            );
            let total = store.memory().total();
            assert!(store.gauge().abs_diff(total) <= 2 * 4 * GAUGE_STEP);
        }
        store.view(0, 0).swap(0, 1);
        store.view(round as u32 % 2, 0).flush(Freeing::AtOnce);
        assert!(store.gauge().abs_diff(store.memory().total()) <= 2 * 4 * GAUGE_STEP);
    }
}

#[test]
fn gauge_counts_the_index_of_expiries() {
    let store = store();
    let keys = 0..4_000_usize;
    keys.clone()
        .for_each(|key| set(&store, 0, key, Expiry::Clear, 0));
    let before = store.memory();
    for key in keys {
        // The expiry fits into the entry's allocation.
        let mut view = store.view(0, 0);
        assert!(view.update(&key.to_le_bytes(), |slot| {
            slot.set_expiry(Some(1_000 + key as u64))
        }));
    }
    let memory = store.memory();
    assert_eq!(memory.dataset, before.dataset);
    assert!(memory.overhead > before.overhead + 4 * GAUGE_STEP);
    assert!(store.gauge().abs_diff(memory.total()) <= 4 * GAUGE_STEP);
}

#[test]
fn keys_of_locked_shards_stay_and_others_go() {
    let store = store();
    (0..200).for_each(|key| set(&store, 0, key, Expiry::Clear, 0));
    let (first, all) = (store.database(0).side(0), 200);
    let held = first.keys.load(Ordering::Relaxed);
    for (evicted, has_room) in [(all - held, true), (10, false)] {
        let guard = store.database(0).lock(0).write();
        squeeze(&store, Policy::AllKeysRandom, evicted as u64);
        assert_eq!(store.make_room(0), has_room);
        assert_eq!(
            (store.len(0), first.keys.load(Ordering::Relaxed)),
            (held, held)
        );
        drop(guard);
    }
    assert!(store.make_room(0));
    assert_eq!(store.len(0), held - 10);
}

#[test]
fn few_keys_that_may_go_are_found_beside_many_that_are_locked() {
    let store = store();
    (0..2_000).for_each(|key| set(&store, 0, key, Expiry::Clear, 0));
    set(&store, 1, 1, Expiry::Clear, 0);
    squeeze(&store, Policy::AllKeysLru, 1);
    let section = store.lock(&crate::Scope::Database(0));
    assert!(store.make_room(0) && !exists(&store, 1, 1));
    drop(section);
    assert_eq!(store.len(0), 2_000);
}
