//! Tests with many threads on one store: atomic writes are seen whole, and no thread deadlocks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use respire_store::{Config, Expiry, Freeing, MemoryUse, Policy, Scope, Store, View};

/// The time after which a test counts as deadlocked. It is far longer than any of these tests takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `work` on another thread; fails if it does not return in time.
fn bounded(work: impl FnOnce() + Send + 'static) {
    let (done, wait) = channel();
    let worker = thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    let came_back = wait.recv_timeout(PATIENCE);
    if worker.is_finished() || came_back.is_ok() {
        if let Err(panic) = worker.join() {
            std::panic::resume_unwind(panic);
        }
        return;
    }
    panic!("threads wait for each other");
}

fn store() -> Store {
    Store::new(Config {
        databases: 2,
        shards: 4,
        ..Config::default()
    })
}

fn random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn number(view: &mut View<'_>, key: &[u8]) -> i64 {
    view.read(key, |entry| entry?.value().as_string()?.to_int())
        .unwrap_or(0)
}

const KEYS: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];

fn write_together(store: &Store, writer: i64) {
    let keys = KEYS.map(|key| (0, key));
    for round in 1..=20_000 {
        let value = round * 2 + writer;
        let mut view = store.view(0, 0);
        if round % 2 == 0 {
            view.update_many(KEYS.into_iter(), |_, slot| slot.set(value, Expiry::Clear));
            continue;
        }
        view.locked(&Scope::Keys(&keys), |view| {
            for key in KEYS {
                view.update(key, |slot| slot.set(value, Expiry::Clear));
            }
        });
    }
}

fn read_together(store: &Store, finished: &AtomicBool) {
    let keys = KEYS.map(|key| (0, key));
    while !finished.load(Ordering::Relaxed) {
        let mut seen = Vec::new();
        store.view(0, 0).read_many(KEYS.into_iter(), |_, entry| {
            seen.push(entry.and_then(|entry| entry.value().as_string()?.to_int()));
        });
        assert!(seen.iter().all(|value| *value == seen[0]), "{seen:?}");
        let mut section = store.lock(&Scope::Keys(&keys));
        let mut view = View::within(store, 0, 0, Some(section.held()));
        let seen = KEYS.map(|key| number(&mut view, key));
        assert!(seen.iter().all(|value| *value == seen[0]), "{seen:?}");
    }
}

#[test]
fn keys_written_together_are_seen_together() {
    bounded(|| {
        let (store, finished) = (store(), AtomicBool::new(false));
        thread::scope(|scope| {
            let reader = scope.spawn(|| read_together(&store, &finished));
            let writers = [0, 1].map(|writer| {
                scope.spawn({
                    let store = &store;
                    move || write_together(store, writer)
                })
            });
            let ended = writers.map(|writer| writer.join().is_ok());
            finished.store(true, Ordering::Relaxed);
            assert!(reader.join().is_ok() && ended == [true, true]);
        });
    });
}

#[test]
fn later_read_of_another_key_of_the_same_write_is_not_older() {
    bounded(|| {
        let (store, finished) = (store(), AtomicBool::new(false));
        thread::scope(|scope| {
            let readers = [1, 2].map(|seed| {
                let (store, finished) = (&store, &finished);
                scope.spawn(move || {
                    let (mut state, mut last) = (seed, 0);
                    while !finished.load(Ordering::Relaxed) {
                        let key = KEYS[random(&mut state) as usize % KEYS.len()];
                        let value = number(&mut store.view(0, 0), key);
                        assert!(value >= last, "{value} after {last}");
                        last = value;
                    }
                })
            });
            for round in 1..=20_000 {
                let mut view = store.view(0, 0);
                view.update_many(KEYS.into_iter(), |_, slot| slot.set(round, Expiry::Clear));
            }
            finished.store(true, Ordering::Relaxed);
            assert!(readers.map(|reader| reader.join().is_ok()) == [true; 2]);
        });
    });
}

#[test]
fn keys_added_and_removed_together_are_counted_together() {
    bounded(|| {
        let (store, finished) = (store(), AtomicBool::new(false));
        let all = KEYS.len();
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                while !finished.load(Ordering::Relaxed) {
                    let mut view = store.view(0, 0);
                    let len = view.len();
                    assert!(len == 0 || len == all, "{len}");
                    let mut given = 0;
                    view.for_each(|_, _| given += 1);
                    assert!(given == 0 || given == all, "{given}");
                }
            });
            let keys = KEYS.map(|key| (0, key));
            for round in 0..5_000 {
                if round % 4 > 1 {
                    store
                        .view(0, 0)
                        .update_many(KEYS.into_iter(), |_, slot| match round % 2 {
                            0 => slot.set(1, Expiry::Clear),
                            _ => drop(slot.remove()),
                        });
                    continue;
                }
                store.view(0, 0).locked(&Scope::Keys(&keys), |view| {
                    for key in KEYS {
                        view.update(key, |slot| match round % 2 {
                            0 => slot.set(1, Expiry::Clear),
                            _ => drop(slot.remove()),
                        });
                    }
                });
            }
            finished.store(true, Ordering::Relaxed);
            assert!(reader.join().is_ok());
        });
    });
}

#[test]
fn readers_do_not_block_each_other() {
    bounded(|| {
        let store = store();
        store
            .view(0, 0)
            .update(b"k", |slot| slot.set(1, Expiry::Clear));
        let mut lens = Vec::new();
        store.view(0, 0).for_each(|_, _| {
            let read = || {
                let mut view = store.view(0, 0);
                view.for_each(|key, _| assert_eq!(key, b"k"));
                view.read_many([b"k".as_slice(), b"l"].into_iter(), |_, _| {});
                view.len()
            };
            thread::scope(|scope| lens.push(scope.spawn(read).join().ok()));
        });
        assert_eq!(lens, [Some(1)]);
    });
}

const ACCOUNTS: u64 = 12;

fn account(state: &mut u64) -> (u32, [u8; 1]) {
    (
        (random(state) % 2) as u32,
        [b'0' + (random(state) % ACCOUNTS) as u8],
    )
}

fn move_money(store: &Store, seed: u64) {
    let mut state = seed;
    for _ in 0..20_000 {
        let (from, to) = (account(&mut state), account(&mut state));
        let keys = [(from.0, &from.1[..]), (to.0, &to.1[..])];
        store.view(0, 0).locked(&Scope::Keys(&keys), |view| {
            for ((db, key), amount) in keys.into_iter().zip([-1, 1]) {
                let balance = number(&mut view.in_db(db), key);
                view.in_db(db)
                    .update(key, |slot| slot.set(balance + amount, Expiry::Keep));
            }
        });
        if random(&mut state).is_multiple_of(64) {
            assert_eq!(all_money(store), 2 * 1_000 * ACCOUNTS as i64);
        }
    }
}

fn all_money(store: &Store) -> i64 {
    let mut section = store.lock(&Scope::Everything);
    let mut total = 0;
    for db in 0..2 {
        let mut view = View::within(store, db, 0, Some(section.held()));
        total += (0..ACCOUNTS as u8)
            .map(|account| number(&mut view, &[b'0' + account]))
            .sum::<i64>();
    }
    total
}

#[test]
fn moves_between_random_keys_keep_the_sum() {
    bounded(|| {
        let store = store();
        for (db, account) in
            (0..2).flat_map(|db| (0..ACCOUNTS as u8).map(move |account| (db, account)))
        {
            store
                .view(db, 0)
                .update(&[b'0' + account], |slot| slot.set(1_000, Expiry::Clear));
        }
        thread::scope(|scope| {
            let threads = [1, 2, 3, 4].map(|seed| {
                scope.spawn({
                    let store = &store;
                    move || move_money(store, seed)
                })
            });
            assert!(threads.map(|thread| thread.join().is_ok()) == [true; 4]);
        });
    });
}

fn anything(store: &Store, seed: u64) {
    let mut state = seed;
    for step in 0..10_000_u64 {
        let keys: Vec<[u8; 2]> = (0..5)
            .map(|_| (random(&mut state) as u16 % 500).to_le_bytes())
            .collect();
        let keys: Vec<(u32, &[u8])> = keys
            .iter()
            .map(|key| (u32::from(key[0]) % 2, &key[..]))
            .collect();
        let mut view = store.view((step % 2) as u32, step);
        match random(&mut state) % 40 {
            0 => drop(view.flush(Freeing::InSteps)),
            1 => view.swap(0, 1),
            2 => drop(view.flush_all(Freeing::InSteps)),
            3 => view.for_each(|_, _| {}),
            4 => drop(view.scan(random(&mut state), 10, |_, _| {})),
            5 => drop(view.random_key()),
            6 => drop(store.sweep(step, 20)),
            7 => assert!(store.make_room(step)),
            8 => drop(view.watch(keys[0].1)),
            9..20 => view.read_many(keys.iter().map(|(_, key)| *key), |_, _| {}),
            20..25 => {
                let keys = keys.iter().map(|(_, key)| *key);
                view.update_many(keys, |_, slot| slot.set(b"v", Expiry::At(step + 50)));
            }
            25..30 => view.locked(&Scope::Keys(&keys), |view| {
                for (db, key) in &keys {
                    view.in_db(*db)
                        .update(key, |slot| slot.set(*key, Expiry::At(step + 50)));
                }
            }),
            _ => view.update(keys[0].1, |slot| slot.set(b"value", Expiry::Clear)),
        }
    }
}

#[test]
fn concurrent_locking_of_every_kind_does_not_deadlock() {
    bounded(|| {
        let store = store();
        store.set_max_memory(200_000, Policy::AllKeysLru, 3);
        thread::scope(|scope| {
            let threads = [1, 2, 3, 4].map(|seed| {
                scope.spawn({
                    let store = &store;
                    move || anything(store, seed)
                })
            });
            assert!(threads.map(|thread| thread.join().is_ok()) == [true; 4]);
        });
        let mut left = 0;
        (0..2).for_each(|db| store.view(db, 0).for_each(|_, _| left += 1));
        assert_eq!(store.memory().keys, left);
        store.view(0, 0).flush_all(Freeing::AtOnce);
        while !store.sweep(0, 1_000).finished {}
        assert_eq!(store.memory(), MemoryUse::default());
    });
}
