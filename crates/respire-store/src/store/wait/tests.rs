//! Tests of waiting, step by step: a thread that is about to sleep sends the test a message.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::*;
use crate::shard::Reading;
use crate::{Config, Expiry, Scope};

/// Sends a message whenever a thread is about to sleep.
struct Bell(Mutex<Sender<()>>);

impl Relief for Bell {
    fn block(&self, wait: &mut dyn FnMut()) {
        let bell = self.0.lock().expect("no relief panics");
        bell.send(()).expect("the test listens");
        drop(bell);
        wait();
    }
}

fn store() -> Store {
    Store::new(Config {
        databases: 2,
        shards: 2,
        ..Config::default()
    })
}

/// Returns a store, and a receiver of a message for each thread that is about to sleep.
fn with_bell() -> (Store, Receiver<()>) {
    let (store, (sender, bell)) = (store(), channel());
    store.set_relief(Arc::new(Bell(Mutex::new(sender))));
    (store, bell)
}

/// Returns a key of each shard, in the order of the shards.
fn key_of_each(store: &Store) -> [[u8; 1]; 2] {
    let key_of = |shard| {
        let mut keys = (0..=u8::MAX).map(|key| [key]);
        let is_there = |key: &[u8; 1]| store.database(0).shard_of(store.hash(key)) == shard;
        keys.find(is_there).expect("keys are spread")
    };
    [key_of(0), key_of(1)]
}

fn set_both(store: &Store, keys: &[[u8; 1]; 2]) {
    let keys = keys.iter().map(<[u8; 1]>::as_slice);
    let mut view = store.view(0, 0);
    view.update_many(keys, |_, slot| slot.set(1, Expiry::Clear));
}

#[test]
fn each_way_to_wait_asks_for_relief() {
    let (store, bell) = with_bell();
    let keys = key_of_each(&store);
    let one = || keys[1].as_slice();
    let both = || keys.iter().map(<[u8; 1]>::as_slice);
    let view = || store.view(0, 0);
    let calls: [&(dyn Fn() + Sync); 8] = [
        &|| view().update(one(), |slot| slot.set(1, Expiry::Clear)),
        &|| assert!(view().read(one(), |entry| entry.is_some())),
        &|| view().read_many(both(), |_, _| {}),
        &|| set_both(&store, &keys),
        &|| assert!(!view().is_empty()),
        &|| drop(view().watch(one())),
        &|| drop(store.lock(&Scope::Database(0))),
        &|| drop(store.lock_widening(&Scope::Database(0))),
    ];
    for call in calls {
        let held = store.lock(&Scope::Keys(&[(0, one())]));
        thread::scope(|scope| {
            scope.spawn(call);
            bell.recv().expect("the thread waits");
            drop(held);
        });
        assert!(bell.try_recv().is_err(), "once");
    }
}

#[test]
fn relief_that_runs_the_wait_never_or_twice_does_no_harm() {
    struct Times(AtomicUsize, usize);
    impl Relief for Times {
        fn block(&self, wait: &mut dyn FnMut()) {
            self.0.fetch_add(1, Ordering::Relaxed);
            (0..self.1).for_each(|_| wait());
        }
    }
    for times in [0, 2] {
        let (store, relief) = (store(), Arc::new(Times(AtomicUsize::new(0), times)));
        store.set_relief(Arc::clone(&relief) as Arc<dyn Relief>);
        let key = b"k".as_slice();
        let held = store.lock(&Scope::Keys(&[(0, key)]));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut view = store.view(0, 0);
                view.update(key, |slot| slot.set(1, Expiry::Clear));
            });
            while relief.0.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
            drop(held);
        });
        assert_eq!(store.len(0), 1);
    }
}

#[test]
fn thread_that_waits_for_a_shard_holds_no_other() {
    let (store, bell) = with_bell();
    let keys = key_of_each(&store);
    for at in 0..2 {
        let held = store.lock(&Scope::Keys(&[(0, &keys[at])]));
        thread::scope(|scope| {
            scope.spawn(|| set_both(&store, &keys));
            bell.recv().expect("the thread waits");
            let other = &keys[1 - at];
            assert!(store.is_held(0, &keys[at]) && !store.is_held(0, other));
            store.view(0, 0).update(other, |slot| slot.remove());
            drop(held);
        });
        assert_eq!(store.len(0), 2);
    }
}

/// Makes a thread that needs both shards start again and again: while it waits for one, this takes the other
/// and then releases the first. Stops when `go_on` is false. Returns the number of times.
fn obstruct(store: &Store, bell: &Receiver<()>, mut go_on: impl FnMut() -> bool) -> usize {
    let locks = [0, 1].map(|shard| store.database(0).lock(shard));
    let (mut at, mut rounds) = (0, 0);
    let mut held = Some(locks[at].write());
    thread::scope(|scope| {
        scope.spawn(|| drop(store.lock_all::<Reading>(2, |nth| locks[nth])));
        loop {
            bell.recv().expect("the thread waits");
            if !go_on() {
                break;
            }
            rounds += 1;
            let other = locks[1 - at].write();
            held.replace(other);
            at = 1 - at;
        }
        held = None;
    });
    rounds
}

#[test]
fn thread_that_starts_again_several_times_takes_the_free_token() {
    let (store, bell) = with_bell();
    let rounds = obstruct(&store, &bell, || !store.is_widening());
    assert_eq!(rounds, ROUNDS_FREE as usize);
    assert!(!store.is_widening());
}

#[test]
fn thread_that_needs_several_shards_waits_for_the_token_at_last_only() {
    let (store, bell) = with_bell();
    let mut section = Some(store.lock_widening(&Scope::Keys(&[])));
    let mut left = ROUNDS_MAX;
    let rounds = obstruct(&store, &bell, || {
        // The thread waits for the token, and when it has that, for a shard.
        if left == 0 {
            return section.take().is_some();
        }
        left -= 1;
        true
    });
    assert_eq!(rounds, ROUNDS_MAX as usize + 1);
}

#[test]
fn store_tells_which_keys_are_held_and_whether_the_token_is_taken() {
    let store = store();
    let [first, second] = key_of_each(&store);
    assert!(!store.is_held(0, &first) && !store.is_held(1, &first));
    let section = store.lock(&Scope::Keys(&[(0, &first)]));
    let held = |db, key| store.is_held(db, key);
    assert!(held(0, &first) && !held(0, &second) && !held(1, &first));
    assert!(!store.is_widening());
    drop(section);
    let section = store.lock_widening(&Scope::Keys(&[(0, &second)]));
    assert!(store.is_widening() && store.is_held(0, &second));
    drop(section);
    assert!(!store.is_widening() && !store.is_held(0, &second));
    store.view(0, 0).for_each(|_, _| {});
    let read = store.database(0).lock(0).read();
    assert!(!store.is_held(0, &first), "others may read it too");
    drop(read);
}

#[test]
fn thread_that_gives_way_lets_those_that_sleep_use_the_shard_first() {
    let (store, bell) = with_bell();
    let key = b"k".as_slice();
    // Nobody sleeps.
    store.give_way(0, key);
    for round in 0..20_i64 {
        let held = store.lock(&Scope::Keys(&[(0, key)]));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut view = store.view(0, 0);
                view.update(key, |slot| slot.set(round, Expiry::Clear));
            });
            bell.recv().expect("the thread waits");
            drop(held);
            // It may take longer than a thread that gives way waits, so it is asked several times.
            let mut view = store.view(0, 0);
            let mut is_set = || {
                let number =
                    |entry: Option<crate::EntryRef<'_>>| entry?.value().as_string()?.to_int();
                view.read(key, number) == Some(round)
            };
            while !is_set() {
                store.give_way(0, key);
            }
        });
        assert_eq!(store.waiting().sleepers.count.load(Ordering::Relaxed), 0);
        assert!(store.waiting().sleepers.lock().is_empty());
    }
}
