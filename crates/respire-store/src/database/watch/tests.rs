//! Tests of watches: which changes, expiries, flushes and swaps make them dirty.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    Config, Edited, Effect, End, EventName, Expiry, Freeing, Interest, List, Observer, Scope, Slot,
    Store, StringRef, Ticket, View,
};

fn store() -> Store {
    Store::new(Config {
        databases: 3,
        shards: 2,
        ..Config::default()
    })
}

fn check(dirty: bool, change: impl FnOnce(&mut Slot<'_>)) {
    let store = store();
    store
        .view(0, 0)
        .update(b"k", |slot| slot.set(b"v", Expiry::At(10_000)));
    let watch = store.view(0, 0).watch(b"k");
    let other = store.view(0, 0).watch(b"other");
    store.view(0, 0).update(b"k", change);
    assert_eq!(watch.is_dirty(0), dirty);
    assert!(!other.is_dirty(0));
}

#[test]
fn every_kind_of_change_makes_a_watch_dirty() {
    check(false, |slot| assert!(slot.exists()));
    check(true, |slot| slot.set(b"v", Expiry::Keep));
    check(true, |slot| assert!(slot.set_expiry(None)));
    check(true, |slot| assert!(slot.set_expiry(Some(0))));
    check(true, |slot| assert!(slot.remove()));
    check(true, |slot| assert!(slot.take().is_some()));
    check(true, |slot| slot.edit_string(|bytes| bytes.push(b'!')));
}

#[test]
fn an_unwatched_change_is_told_to_all_but_watches_unless_it_creates_the_key() {
    const EVENT: EventName = EventName {
        class: 1,
        name: "event",
    };
    #[derive(Default)]
    struct Told(AtomicUsize);
    impl Observer for Told {
        fn effect(&self, _: Ticket, _: Effect<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    for interest in [Interest::EFFECTS, Interest::CHANGES] {
        let (store, told) = (store(), Arc::new(Told::default()));
        store.observe(told.clone(), interest);
        let push = |key: &[u8], edited: fn(()) -> Edited<()>| {
            let done = store.view(0, 0).update(key, |slot| {
                let limits = slot.limits::<List>();
                slot.edit(EVENT, |list: &mut List| {
                    list.push(End::Left, StringRef::Bytes(b"element"), limits);
                    edited(())
                })
            });
            done.unwrap();
        };
        push(b"k", Edited::Changed);
        let watches = [b"k", b"a"].map(|key| store.view(0, 0).watch(key));
        let (changes, effects) = (store.changes(), told.0.load(Ordering::Relaxed));
        push(b"k", Edited::Unwatched);
        assert!(!watches[0].is_dirty(0));
        assert_eq!(store.changes(), changes + 1);
        assert_eq!(told.0.load(Ordering::Relaxed), effects + 1);
        push(b"a", Edited::Unwatched);
        assert!(watches[1].is_dirty(0));
        push(b"k", Edited::Changed);
        assert!(watches[0].is_dirty(0));
    }
}

#[test]
fn watch_of_an_absent_key_is_dirty_when_the_key_is_added() {
    let store = store();
    let watch = store.view(0, 0).watch(b"k");
    store
        .view(1, 0)
        .update(b"k", |slot| slot.set(1, Expiry::Clear));
    store
        .view(0, 0)
        .update(b"k", |slot| assert!(!slot.remove()));
    assert!(!watch.is_dirty(0));
    store
        .view(0, 0)
        .update(b"k", |slot| slot.set(1, Expiry::Clear));
    assert!(watch.is_dirty(0));
}

#[test]
fn watch_is_dirty_when_the_key_expires_unless_it_had_expired_before() {
    let store = store();
    store
        .view(0, 0)
        .update(b"k", |slot| slot.set(1, Expiry::At(100)));
    let before = store.view(0, 99).watch(b"k");
    let after = store.view(0, 100).watch(b"k");
    assert!(!before.is_dirty(99) && before.is_dirty(100));
    assert_eq!(store.sweep(100, 10).expired, 1);
    assert!(before.is_dirty(99) && !after.is_dirty(100));
    store
        .view(0, 100)
        .update(b"k", |slot| slot.set(1, Expiry::Clear));
    assert!(after.is_dirty(100));
}

#[test]
fn flush_makes_watches_of_existing_keys_dirty() {
    let store = store();
    store
        .view(0, 0)
        .update(b"k", |slot| slot.set(1, Expiry::Clear));
    let (there, absent) = (
        store.view(0, 0).watch(b"k"),
        store.view(0, 0).watch(b"absent"),
    );
    let elsewhere = store.view(1, 0).watch(b"k");
    assert_eq!(store.view(0, 0).flush(Freeing::AtOnce), 1);
    assert!(there.is_dirty(0) && !absent.is_dirty(0) && !elsewhere.is_dirty(0));
}

#[test]
fn swap_makes_watches_of_keys_in_either_database_dirty() {
    let store = store();
    store
        .view(0, 0)
        .update(b"a", |slot| slot.set(1, Expiry::Clear));
    store
        .view(1, 0)
        .update(b"b", |slot| slot.set(1, Expiry::Clear));
    let watch = |db, key: &[u8]| store.view(db, 0).watch(key);
    let dirty = [
        watch(0, b"a"),
        watch(1, b"a"),
        watch(0, b"b"),
        watch(1, b"b"),
    ];
    let clean = [watch(0, b"c"), watch(1, b"c"), watch(2, b"a")];
    store.view(0, 0).swap(0, 1);
    assert!(dirty.iter().all(|watch| watch.is_dirty(0)));
    assert!(!clean.iter().any(|watch| watch.is_dirty(0)));
}

#[test]
fn swap_makes_a_watch_of_an_expired_key_dirty_only_if_a_live_one_replaces_it() {
    let store = store();
    store
        .view(0, 0)
        .update(b"k", |slot| slot.set(1, Expiry::At(10)));
    store
        .view(1, 0)
        .update(b"k", |slot| slot.set(1, Expiry::At(20)));
    let watch = store.view(0, 15).watch(b"k");
    store.view(0, 15).swap(0, 2);
    assert!(!watch.is_dirty(15));
    store.view(0, 25).swap(0, 1);
    assert!(!watch.is_dirty(25));
    store.view(0, 15).swap(0, 1);
    store.view(0, 15).swap(0, 1);
    assert!(watch.is_dirty(15));
}

#[test]
fn watch_inside_a_section_is_dirty_after_a_change_in_it() {
    let store = store();
    let mut section = store.lock(&Scope::Keys(&[(0, b"k")]));
    let mut view = View::within(&store, 0, 0, Some(section.held()));
    let watch = view.watch(b"k");
    view.update(b"k", |slot| slot.set(1, Expiry::Clear));
    assert!(watch.is_dirty(0));
}

#[test]
fn dropped_watches_leave_no_state() {
    let store = store();
    let (first, second) = (store.view(0, 0).watch(b"k"), store.view(0, 0).watch(b"k"));
    drop(first);
    store
        .view(0, 0)
        .update(b"k", |slot| slot.set(1, Expiry::Clear));
    assert!(second.is_dirty(0));
    drop(second);
    let watches = &store.database(0).watches;
    assert!(watches.keys().is_empty());
    assert!(watches.sides.iter().all(|side| !side.hooks.has(u32::MAX)));
}
