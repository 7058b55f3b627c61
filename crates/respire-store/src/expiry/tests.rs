//! What the sweep removes, what it leaves, and what it gives back.

use super::*;
use crate::{Config, Expiry};

fn store() -> Store {
    Store::new(Config {
        databases: 2,
        shards: 4,
        ..Config::default()
    })
}

fn set(store: &Store, key: u32, expiry: Expiry) {
    store
        .view(key % 2, 0)
        .update(&key.to_le_bytes(), |slot| slot.set(i64::from(key), expiry));
}

fn keys(store: &Store) -> usize {
    store.memory().keys
}

#[test]
fn sweep_removes_what_is_due_and_says_what_comes_next() {
    let store = store();
    (0..100).for_each(|key| set(&store, key, Expiry::At(1_000 + u64::from(key))));
    (100..150).for_each(|key| set(&store, key, Expiry::Clear));
    let next = |ms| Swept {
        expired: 0,
        finished: true,
        next_ms: Some(ms),
    };
    assert_eq!(store.sweep(999, 1000), next(1_000));
    assert_eq!(
        store.sweep(1_049, 1000),
        Swept {
            expired: 50,
            ..next(1_050)
        }
    );
    assert_eq!(keys(&store), 100);
    assert_eq!(
        store.sweep(5_000, 1000),
        Swept {
            expired: 50,
            finished: true,
            next_ms: None
        }
    );
    assert_eq!(
        (
            keys(&store),
            store.stats().expired_keys,
            store.expires_len(0)
        ),
        (50, 100, 0)
    );
}

#[test]
fn sweep_with_a_budget_goes_on_where_it_stopped() {
    let store = store();
    (0..100).for_each(|key| set(&store, key, Expiry::At(1_000)));
    for left in [93, 86, 79] {
        assert_eq!(
            store.sweep(1_000, 7),
            Swept {
                expired: 7,
                finished: false,
                next_ms: Some(1_000)
            }
        );
        assert_eq!(keys(&store), left);
    }
    assert_eq!(store.sweep(1_000, 0).expired, 0);
    assert_eq!(
        store.sweep(1_000, 1000),
        Swept {
            expired: 79,
            finished: true,
            next_ms: None
        }
    );
}

#[test]
fn sweep_with_a_small_budget_goes_round_the_shards() {
    let store = Store::new(Config {
        databases: 1,
        shards: 4,
        ..Config::default()
    });
    for key in 0..200_u32 {
        store
            .view(0, 0)
            .update(&key.to_le_bytes(), |slot| slot.set(1, Expiry::At(1_000)));
    }
    let keys =
        || [0, 1, 2, 3].map(|shard| store.database(0).side(shard).keys.load(Ordering::Relaxed));
    let before = keys();
    (0..8).for_each(|_| assert_eq!(store.sweep(1_000, 1).expired, 1));
    assert_eq!(keys(), before.map(|count| count - 2));
}

#[test]
fn sweep_spares_keys_whose_expiry_was_put_off() {
    let store = store();
    set(&store, 1, Expiry::At(1_000));
    set(&store, 1, Expiry::At(2_000));
    set(&store, 3, Expiry::At(1_000));
    store
        .view(1, 0)
        .update(&3_u32.to_le_bytes(), |slot| assert!(slot.set_expiry(None)));
    assert_eq!(
        store.sweep(1_999, 100),
        Swept {
            expired: 0,
            finished: true,
            next_ms: Some(2_000)
        }
    );
    assert_eq!(store.sweep(2_000, 100).expired, 1);
    assert_eq!(keys(&store), 1);
}

#[test]
fn sweep_switched_off_leaves_keys_that_reads_do_not_see() {
    let store = store();
    store.set_active_expiry(false);
    set(&store, 2, Expiry::At(1_000));
    assert_eq!(
        store.sweep(1_000, 100),
        Swept {
            finished: true,
            ..Swept::default()
        }
    );
    assert_eq!(store.len(0), 1);
    let mut view = store.view(0, 1_000);
    assert!(view.read(&2_u32.to_le_bytes(), |entry| entry.is_none()));
    assert!(!view.update(&2_u32.to_le_bytes(), |slot| slot.exists()));
    assert_eq!((store.len(0), store.stats().expired_keys), (0, 1));
}

#[test]
fn deadlines_put_off_again_and_again_take_bounded_memory() {
    let store = store();
    for at in 0..10_000 {
        set(&store, 1, Expiry::At(1_000 + at));
    }
    assert!(store.memory().overhead < 8192, "{:?}", store.memory());
    assert_eq!(
        store.sweep(10_999, 100_000),
        Swept {
            expired: 1,
            finished: true,
            next_ms: None
        }
    );
}

#[test]
fn sweep_gives_memory_back_table_by_table() {
    let store = store();
    (0..10_000).for_each(|key| set(&store, key, Expiry::At(1_000)));
    let full = store.memory().overhead;
    assert_eq!(store.sweep(1_000, 100_000).expired, 10_000);
    let mut before = store.memory().overhead;
    for _ in 0..8 {
        store.sweep(1_000, 100_000);
        assert!(store.memory().overhead <= before);
        before = store.memory().overhead;
    }
    assert!(before < full / 20, "{before} of {full}");
    (0..100).for_each(|key| set(&store, key, Expiry::Clear));
    assert_eq!(keys(&store), 100);
}
