//! Tests of the sweep: the keys it removes, the keys it leaves, and the memory it gives back.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::hash::{HashPart, hash_key};
use crate::{Config, Expiry, Scope};

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
fn sweep_removes_due_keys_and_returns_the_next_deadline() {
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
fn sweep_continues_where_its_budget_ended() {
    let store = store();
    (0..100).for_each(|key| set(&store, key, Expiry::At(1_000)));
    for left in [93, 86, 79] {
        let swept = store.sweep(1_000, 7);
        assert_eq!((swept.expired, swept.finished), (7, false));
        assert!(swept.next_ms.is_some_and(|at| at <= 1_000));
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
fn sweep_with_a_small_budget_visits_the_shards_in_turn() {
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
fn sweep_keeps_keys_whose_expiry_was_put_off() {
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
fn sweep_without_active_expiry_leaves_expired_keys_to_reads() {
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
fn expiry_put_off_repeatedly_takes_bounded_memory() {
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
fn sweep_shrinks_tables_step_by_step() {
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

/// A store with two shards, so that some keys share both the shard and the part of the hash.
fn narrow_store() -> Store {
    Store::new(Config {
        databases: 1,
        shards: 2,
        ..Config::default()
    })
}

/// Keys most of which share the part of their hash with another key of their shard.
static KEYS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let store = narrow_store();
    let db = store.database(0);
    let (mut seen, mut keys) = (HashMap::new(), vec![1, 2, 3, 4]);
    for key in 0..500_000_u32 {
        let hash = hash_key(db.hasher(), &key.to_le_bytes());
        let HashPart(part) = HashPart::new(hash);
        keys.extend(
            seen.insert((part, db.shard_of(hash)), key)
                .map(|other| [key, other])
                .into_iter()
                .flatten(),
        );
    }
    assert!(keys.len() >= 12, "{keys:?}");
    keys
});

#[derive(Debug, Clone)]
enum Op {
    /// Writes a key with this time to live.
    Set(usize, Option<u64>),
    /// Changes the key's time to live.
    Expire(usize, Option<u64>),
    Remove(usize),
    /// Moves the clock, forwards or back.
    Step(i64),
    Sweep(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let key = 0..14_usize;
    let wait = (any::<u64>(), 24..64_u32).prop_map(|(bits, shift)| 1 + (bits >> shift));
    let wait = prop_oneof![2 => wait.boxed(), 1 => (1..300_u64).boxed()];
    let wait = proptest::option::weighted(0.8, wait);
    prop_oneof![
        4 => (key.clone(), wait.clone()).prop_map(|(key, wait)| Op::Set(key, wait)),
        4 => (key.clone(), wait).prop_map(|(key, wait)| Op::Expire(key, wait)),
        1 => key.prop_map(Op::Remove),
        2 => (any::<i64>(), 22..62_u32).prop_map(|(bits, shift)| Op::Step(bits >> shift)),
        3 => (1..4_usize).prop_map(Op::Sweep),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sweep_removes_exactly_the_due_keys_however_the_clock_moves(ops in vec(op(), 1..80)) {
        let (store, mut now_ms) = (narrow_store(), 1 << 40);
        // As in the store, expired keys stay in the model until an operation meets them or they are swept.
        let mut model: BTreeMap<u32, Option<u64>> = BTreeMap::new();
        for op in ops {
            let mut view = store.view(0, now_ms);
            let is_due = |at: Option<u64>| at.is_some_and(|at| at <= now_ms);
            match op {
                Op::Set(at, wait) => {
                    let expires_at = wait.map(|wait| now_ms + wait);
                    let expiry = expires_at.map_or(Expiry::Clear, Expiry::At);
                    view.update(&KEYS[at].to_le_bytes(), |slot| slot.set(1, expiry));
                    model.insert(KEYS[at], expires_at);
                }
                Op::Expire(at, wait) => {
                    let expires_at = wait.map(|wait| now_ms + wait);
                    view.update(&KEYS[at].to_le_bytes(), |slot| slot.set_expiry(expires_at));
                    model.retain(|key, at_ms| *key != KEYS[at] || !is_due(*at_ms));
                    model.entry(KEYS[at]).and_modify(|at_ms| *at_ms = expires_at);
                }
                Op::Remove(at) => {
                    view.update(&KEYS[at].to_le_bytes(), |slot| slot.remove());
                    model.remove(&KEYS[at]);
                }
                Op::Step(ms) => now_ms = now_ms.saturating_add_signed(ms),
                Op::Sweep(budget) => {
                    let before = model.values().filter(|at| is_due(**at)).count();
                    // A bound on the items that come up: one or more per due key, and some early or stale ones.
                    let mut left = 4 * 14 + 64 + 3 * 14;
                    let mut expired = 0;
                    loop {
                        let swept = store.sweep(now_ms, budget);
                        prop_assert!(swept.expired <= budget);
                        expired += swept.expired;
                        let first = model.values().flatten().min();
                        let next = swept.next_ms.unwrap_or(u64::MAX);
                        prop_assert!(swept.finished == (next > now_ms));
                        if swept.finished {
                            prop_assert!(first.is_none_or(|at| *at <= now_ms || next <= *at));
                            break;
                        }
                        left -= 1;
                        prop_assert!(left > 0, "the sweep does not finish");
                    }
                    prop_assert_eq!(expired, before);
                    model.retain(|_, at| !is_due(*at));
                    prop_assert_eq!(store.len(0), model.len());
                }
            }
            for (key, at) in &model {
                let found = store.view(0, 0).peek(&key.to_le_bytes(), |entry| entry.map(|it| it.expires_at()));
                prop_assert_eq!(found, Some(*at));
            }
        }
    }
}

#[test]
fn keys_that_share_a_deadline_expire_at_their_own_times() {
    let store = narrow_store();
    let [first, second] = [KEYS[4], KEYS[5]].map(u32::to_le_bytes);
    let set = |key: &[u8], at| {
        store
            .view(0, 0)
            .update(key, |slot| slot.set(1, Expiry::At(at)))
    };
    set(&first, 70_000);
    set(&second, 70_000);
    set(&first, 80_000);
    assert_eq!(store.sweep(69_999, 10).expired, 0);
    assert_eq!(store.sweep(70_000, 10).expired, 1);
    assert!(store.view(0, 0).peek(&second, |entry| entry.is_none()));
    assert_eq!(store.sweep(79_999, 10).expired, 0);
    let swept = store.sweep(80_000, 10);
    assert_eq!((swept.expired, swept.next_ms), (1, None));
}

#[test]
fn sweep_with_a_budget_of_one_removes_every_due_key() {
    let store = store();
    let due = |key: u32| 1_000 + 7 * u64::from(key * key);
    (0..200).for_each(|key| set(&store, key, Expiry::At(due(key))));
    let (mut now_ms, mut steps) = (0, 0);
    while keys(&store) > 0 {
        let swept = store.sweep(now_ms, 1);
        let left = (0..200).filter(|key| due(*key) > now_ms).count();
        assert!(!swept.finished || keys(&store) == left);
        now_ms = swept.next_ms.map_or(now_ms, |next| next.max(now_ms));
        steps += 1;
    }
    assert!(steps <= 200 * 4, "{steps}");
}

#[test]
fn expiry_put_off_takes_no_more_memory() {
    let store = store();
    (0..1_000).for_each(|key| set(&store, key, Expiry::At(60_000)));
    let before = store.memory();
    for at in 60_001..60_050 {
        (0..1_000).for_each(|key| set(&store, key, Expiry::At(at)));
    }
    assert_eq!(store.memory(), before);
    assert_eq!(store.sweep(60_048, 10_000).expired, 0);
    assert_eq!(store.sweep(60_049, 10_000).expired, 1_000);
}

const HOUR_MS: u64 = 3_600_000;
const KEYS_PER_HOUR: u64 = 15_625;

/// Returns the counted bytes per key, with as many keys in each shard as a million keys have in a server's
/// 1,024 shards. `expiry` returns the time at which a key is written, and its expiry. The sweep runs meanwhile.
fn bytes_per_key(value: &[u8], expiry: impl Fn(u64) -> (u64, Expiry)) -> f64 {
    let store = Store::new(Config {
        shards: 16,
        ..Config::default()
    });
    for key in 0..KEYS_PER_HOUR {
        let (now_ms, expiry) = expiry(key);
        if key.is_multiple_of(KEYS_PER_HOUR / 125) {
            while !store.sweep(now_ms, 10_000).finished {}
        }
        let name = format!("key:{key:012}");
        let mut view = store.view(0, now_ms);
        view.update(name.as_bytes(), |slot| slot.set(value, expiry));
    }
    let memory = store.memory();
    memory.total() as f64 / memory.keys as f64
}

#[test]
fn expiry_of_many_keys_takes_few_bytes_each() {
    for (value, cell) in [(&b"xxx"[..], 0.0), (b"xxxxxxxx", 16.0)] {
        let never = bytes_per_key(value, |_| (0, Expiry::Clear));
        let at_once = bytes_per_key(value, |_| (0, Expiry::At(HOUR_MS)));
        assert!(
            (4.0..6.0).contains(&(at_once - never - cell)),
            "{at_once} {never}"
        );
        // Written over an hour, so that the expiries are spread evenly, as in a cache.
        let evenly = bytes_per_key(value, |key| {
            let now_ms = key * HOUR_MS / KEYS_PER_HOUR;
            (now_ms, Expiry::At(now_ms + HOUR_MS))
        });
        assert!(
            (4.0..9.0).contains(&(evenly - never - cell)),
            "{evenly} {never}"
        );
    }
}

#[test]
fn shard_that_is_locked_is_left_for_later() {
    let store = store();
    (0..100).for_each(|key| set(&store, key, Expiry::At(1_000)));
    let index = (0..4)
        .find(|index| {
            store
                .database(0)
                .side(*index)
                .expires
                .load(Ordering::Relaxed)
                > 0
        })
        .expect("there are keys");
    let left = store
        .database(0)
        .side(index)
        .expires
        .load(Ordering::Relaxed);
    let guard = store.database(0).lock(index).read();
    let swept = store.sweep(1_000, 1_000);
    let expected = Swept {
        expired: 100 - left,
        finished: true,
        next_ms: Some(1_000 + LOCKED_RETRY_MS),
    };
    assert_eq!(swept, expected);
    // With a budget that is used up there may be more to do at once.
    set(&store, 1, Expiry::At(1_000));
    assert!(!store.sweep(1_000, 1).finished);
    drop(guard);
    assert_eq!(store.sweep(1_010, 1_000).expired, left);
    assert_eq!(keys(&store), 0);
}

#[test]
fn table_that_is_locked_is_shrunk_later() {
    let store = store();
    (0..4_000).for_each(|key| set(&store, key * 2, Expiry::Clear));
    (0..4_000_u32).for_each(|key| {
        let key = (key * 2).to_le_bytes();
        store.view(0, 0).update(&key, |slot| slot.remove());
    });
    let overhead = || store.memory().overhead;
    let (before, section) = (overhead(), store.lock(&Scope::Everything));
    store.sweep(0, 1_000);
    assert_eq!(overhead(), before);
    drop(section);
    (0..4).for_each(|_| assert!(store.sweep(0, 1_000).finished));
    assert!(overhead() < before / 4);
}
