//! Tests of sections to which shards are added, one thread at a time. `tests/widening.rs` races them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Weak};
use std::thread;

use super::*;
use crate::hash::mix;
use crate::{Config, Expiry, Freeing, Interest, Observer, Relief, View};

fn store() -> Store {
    Store::new(Config {
        databases: 3,
        shards: 8,
        ..Config::default()
    })
}

fn set(view: &mut View<'_>, key: &[u8], number: i64) {
    view.update(key, |slot| slot.set(number, Expiry::Clear));
}

fn get(view: &mut View<'_>, key: &[u8]) -> Option<i64> {
    view.read(key, |entry| entry?.value().as_string()?.to_int())
}

#[test]
fn section_widens_in_any_order_and_gives_each_table_back_to_its_shard() {
    let store = store();
    let place = |step: u64| ((mix(step) % 3) as u32, [(mix(step) >> 8) as u8 % 200]);
    (0..200).for_each(|key| set(&mut store.view(1, 0), &[key], i64::from(key)));
    for round in 0..20 {
        let steps = round * 40..round * 40 + 2 * round;
        let (db, key) = place(round);
        let mut section = store.lock_widening(&Scope::Keys(&[(db, &key)]));
        let (held, mut widener) = section.split();
        for step in steps.clone() {
            let (db, key) = place(step);
            widener.widen(held, &Scope::Keys(&[(db, &key), (2, &key), (db, &key)]));
            set(&mut View::within(&store, db, 0, Some(held)), &key, 1_000);
        }
        let places: Vec<Place> = widener.guards.iter().map(|(place, _)| *place).collect();
        assert!(places.iter().all(|place| held.has(*place)) && places.len() == held.len());
        drop(section);
        for (db, key) in steps.map(place) {
            assert_eq!(get(&mut store.view(db, 0), &key), Some(1_000));
        }
    }
    // Debug builds recount each changed shard.
    for (db, key) in (0..3).flat_map(|db| (0..200).map(move |key| (db, [key]))) {
        store.view(db, 0).update(&key, |slot| slot.remove());
    }
    assert_eq!(store.memory().keys, 0);
}

#[test]
fn shard_that_is_added_shows_what_others_have_changed_meanwhile() {
    let store = store();
    let keys: Vec<[u8; 1]> = (0..20).map(|key| [key]).collect();
    let other = keys
        .iter()
        .find(|key| {
            store.places(&Scope::Keys(&[(0, *key)])) != store.places(&Scope::Keys(&[(0, &keys[0])]))
        })
        .expect("keys are spread");
    let mut section = store.lock_widening(&Scope::Keys(&[(0, &keys[0])]));
    thread::scope(|scope| {
        scope.spawn(|| set(&mut store.view(0, 0), other, 7));
    });
    let (held, mut widener) = section.split();
    widener.widen(held, &Scope::Keys(&[(0, other)]));
    assert_eq!(
        get(&mut View::within(&store, 0, 0, Some(held)), other),
        Some(7)
    );
    assert!(store.is_held(0, other));
}

#[test]
fn section_covers_what_it_was_widened_to() {
    let store = store();
    let scopes = [
        Scope::Keys(&[(0, b"a")]),
        Scope::Database(1),
        Scope::Databases(0, 1),
        Scope::Everything,
    ];
    let mut section = store.lock_widening(&Scope::Keys(&[]));
    let (held, mut widener) = section.split();
    assert!(held.covers(&store, &Scope::Keys(&[])));
    for (at, scope) in scopes.iter().enumerate() {
        for (other, wider) in scopes.iter().enumerate() {
            assert_eq!(held.covers(&store, wider), other < at, "{wider:?} at {at}");
        }
        widener.widen(held, scope);
        assert!(held.covers(&store, scope));
    }
    assert!(!held.covers(&store, &Scope::Database(3)));
    assert!(!held.covers(&store, &Scope::Keys(&[(3, b"a")])));
    drop(section);
    for scope in &scopes {
        let mut section = store.lock(scope);
        assert!(section.held().covers(&store, scope));
        assert!(
            !section.held().covers(&store, &Scope::Keys(&[(2, b"a")]))
                || matches!(scope, Scope::Everything)
        );
    }
}

#[test]
fn whole_databases_can_be_added_and_then_swapped_and_flushed() {
    let store = store();
    for (db, key) in (0..3).flat_map(|db| (0..100_u8).map(move |key| (db, [key]))) {
        set(&mut store.view(db, 0), &key, i64::from(db));
    }
    let mut section = store.lock_widening(&Scope::Keys(&[(1, b"a"), (2, b"b")]));
    let (held, mut widener) = section.split();
    widener.widen(held, &Scope::Databases(2, 0));
    View::within(&store, 0, 0, Some(held)).swap(0, 2);
    assert_eq!(
        get(&mut View::within(&store, 0, 0, Some(held)), &[5]),
        Some(2)
    );
    widener.widen(held, &Scope::Everything);
    let mut given = 0;
    View::within(&store, 1, 0, Some(held)).for_each(|_, _| given += 1);
    assert_eq!(given, 100);
    assert_eq!(
        View::within(&store, 0, 0, Some(held)).flush_all(Freeing::AtOnce),
        300
    );
    drop(section);
    assert_eq!(store.memory(), crate::MemoryUse::default());
}

#[test]
fn section_left_by_a_panic_loses_nothing_and_leaves_the_token() {
    let store = store();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut section = store.lock_widening(&Scope::Keys(&[(0, b"a")]));
        let (held, mut widener) = section.split();
        widener.widen(held, &Scope::Database(1));
        set(&mut View::within(&store, 1, 0, Some(held)), b"b", 1);
        resume_unwind(Box::new(()));
    }));
    assert!(panicked.is_err() && !store.is_widening());
    assert_eq!(get(&mut store.view(1, 0), b"b"), Some(1));
    drop(store.lock_widening(&Scope::Everything));
}

#[test]
fn widening_that_fails_adds_nothing() {
    struct Fails;
    impl Relief for Fails {
        fn block(&self, _: &mut dyn FnMut()) {
            resume_unwind(Box::new(()));
        }
    }
    let [store, other] = [store(), store()];
    store.set_relief(Arc::new(Fails));
    set(&mut store.view(1, 0), b"b", 1);
    let blocked = store.lock(&Scope::Keys(&[(1, b"b")]));
    let mut section = store.lock_widening(&Scope::Keys(&[(0, b"a")]));
    let (held, mut widener) = section.split();
    let mut stranger = other.lock(&Scope::Database(0));
    let mut fails = |held: &mut Held, scope: &Scope<'_>| {
        assert!(catch_unwind(AssertUnwindSafe(|| widener.widen(held, scope))).is_err());
    };
    fails(held, &Scope::Keys(&[(0, b"c"), (3, b"a")]));
    fails(held, &Scope::Database(1));
    fails(stranger.held(), &Scope::Database(2));
    assert_eq!((held.len(), stranger.held().len()), (1, 8));
    drop(blocked);
    widener.widen(held, &Scope::Database(1));
    assert_eq!(
        get(&mut View::within(&store, 1, 0, Some(held)), b"b"),
        Some(1)
    );
}

#[test]
fn token_is_free_when_observers_hear_of_the_release() {
    struct Widens(Weak<Store>);
    impl Observer for Widens {
        fn released(&self) {
            let store = self.0.upgrade().expect("it is still there");
            assert!(!store.is_widening());
            drop(store.lock_widening(&Scope::Everything));
        }
    }
    let store = Arc::new(store());
    store.observe(
        Arc::new(Widens(Arc::downgrade(&store))),
        Interest::ADDITIONS,
    );
    let mut section = store.lock_widening(&Scope::Database(0));
    set(
        &mut View::within(&store, 0, 0, Some(section.held())),
        b"a",
        1,
    );
    drop(section);
    assert_eq!(store.len(0), 1);
}

#[test]
fn sections_that_widen_come_one_after_the_other() {
    let store = store();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let mut section = store.lock_widening(&Scope::Keys(&[]));
                    let (held, mut widener) = section.split();
                    let seen = [b"b", b"a"].map(|key| {
                        widener.widen(held, &Scope::Keys(&[(0, key)]));
                        let mut view = View::within(&store, 0, 0, Some(held));
                        let number = get(&mut view, key).unwrap_or(0);
                        set(&mut view, key, number + 1);
                        number
                    });
                    assert_eq!(seen[0], seen[1]);
                }
            });
        }
    });
    assert_eq!(get(&mut store.view(0, 0), b"a"), Some(800));
}
