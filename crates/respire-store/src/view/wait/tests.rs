//! Tests of waiters: their order, what they are called for, other keys that they need, and that none is forgotten.

use super::*;
use crate::{Config, Edited, Elements, EventName, Expiry, Owned, Scope, Stack};
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;

const EDITED: EventName = EventName {
    class: 1,
    name: "edited",
};

fn store() -> Store {
    Store::new(Config {
        databases: 2,
        shards: 8,
        ..Config::default()
    })
}

fn push(view: &mut View<'_>, key: &[u8], element: &[u8]) {
    let pushed = view.update(key, |slot| {
        slot.edit(EDITED, |stack: &mut Stack| {
            stack.push(element);
            Edited::Changed(())
        })
    });
    assert_eq!(pushed, Ok(()));
}

fn pop(view: &mut View<'_>, key: &[u8]) -> Option<Box<[u8]>> {
    let popped = view.update(key, |slot| {
        slot.edit_existing(EDITED, |stack: &mut Stack| Edited::Changed(stack.pop()))
    });
    popped.ok().flatten().flatten()
}

fn len(view: &mut View<'_>, key: &[u8]) -> usize {
    view.peek(key, |entry| {
        entry.map_or(0, |entry| entry.typed::<Stack>().map_or(0, Elements::len))
    })
}

/// Pops one element, or moves it to another key, and remembers who got it.
struct Popper {
    name: usize,
    to: Option<&'static [u8]>,
    served: Arc<Log>,
}

/// Who got which element, in order.
#[derive(Default)]
struct Log(Mutex<Vec<(usize, Vec<u8>)>>);

impl Log {
    fn lock(&self) -> MutexGuard<'_, Vec<(usize, Vec<u8>)>> {
        self.0.lock().expect("no one panics with it")
    }

    fn take(&self) -> Vec<(usize, Vec<u8>)> {
        core::mem::take(&mut self.lock())
    }
}

impl Waiter for Popper {
    fn serve(&self, view: &mut View<'_>, key: &[u8]) -> Served {
        if let Some(to) = self.to {
            let scope = [(view.db(), to)];
            if !view.covers(&Scope::Keys(&scope)) {
                return Served::Needs(to.into());
            }
        }
        let Some(element) = pop(view, key) else {
            return Served::Waits;
        };
        if let Some(to) = self.to {
            push(view, to, &element);
        }
        self.served.lock().push((self.name, element.into()));
        Served::Over
    }
}

fn popper(name: usize, log: &Arc<Log>, to: Option<&'static [u8]>) -> Arc<Popper> {
    Arc::new(Popper {
        name,
        to,
        served: Arc::clone(log),
    })
}

#[test]
fn waiters_are_served_in_order_and_each_once() {
    let (store, log) = (store(), Arc::new(Log::default()));
    let mut view = store.view(0, 0);
    let mut waits: Vec<Wait> = (0..4)
        .map(|name| view.wait(b"k", popper(name, &log, None)))
        .collect();
    push(&mut view, b"other", b"x");
    push(&mut view.in_db(1), b"k", b"x");
    assert_eq!(log.take(), []);
    push(&mut view, b"k", b"a");
    drop(waits.remove(1));
    push(&mut view, b"k", b"b");
    assert_eq!(log.take(), [(0, b"a".to_vec()), (2, b"b".to_vec())]);
    assert_eq!(len(&mut view, b"k"), 0);
    drop(waits);
    push(&mut view, b"k", b"c");
    assert_eq!((log.take(), len(&mut view, b"k")), (Vec::new(), 1));
}

#[test]
fn waiters_are_served_at_the_end_of_a_section_with_what_is_left() {
    let (store, log) = (store(), Arc::new(Log::default()));
    let waits: Vec<Wait> = [b"a", b"b"]
        .into_iter()
        .enumerate()
        .map(|(name, key)| store.view(0, 0).wait(key, popper(name, &log, None)))
        .collect();
    store
        .view(0, 0)
        .locked(&Scope::Keys(&[(0, b"a"), (0, b"b")]), |view| {
            push(view, b"b", b"1");
            push(view, b"a", b"2");
            push(view, b"b", b"3");
            pop(view, b"a");
            assert_eq!(log.take(), []);
        });
    // Nothing is left of the one, and the other gets what is on top at the end.
    assert_eq!(log.take(), [(1, b"3".to_vec())]);
    assert_eq!(len(&mut store.view(0, 0), b"b"), 1);
    drop(waits);
}

#[test]
fn every_way_to_write_a_key_serves_its_waiters() {
    type Way = fn(&mut View<'_>, Owned);
    let ways: &[Way] = &[
        |view, owned| view.update(b"k", |slot| slot.put(owned)),
        |view, owned| view.update(b"k", |slot| slot.put(owned.with_expiry(Some(10)))),
        |view, owned| {
            view.in_db(1).update(b"k", |slot| slot.put(owned));
            view.swap(0, 1);
        },
        |view, owned| {
            let store = view.store();
            let mut section = store.lock_widening(&Scope::Keys(&[(0, b"l")]));
            let (held, mut widener) = section.split();
            widener.widen(held, &Scope::Keys(&[(0, b"k")]));
            View::within(store, 0, 0, Some(held)).update(b"k", |slot| slot.put(owned));
        },
    ];
    for way in ways {
        let (store, log) = (store(), Arc::new(Log::default()));
        let mut view = store.view(0, 0);
        push(&mut view, b"source", b"a");
        let owned = view
            .update(b"source", |slot| slot.take())
            .expect("it was pushed");
        let wait = view.wait(b"k", popper(7, &log, None));
        way(&mut view, owned);
        assert_eq!(log.take(), [(7, b"a".to_vec())]);
        drop(wait);
    }
}

#[test]
fn value_of_another_type_leaves_the_waiter_waiting() {
    let (store, log) = (store(), Arc::new(Log::default()));
    let mut view = store.view(0, 0);
    let wait = view.wait(b"k", popper(0, &log, None));
    view.update(b"k", |slot| slot.set(b"string", Expiry::Clear));
    view.update(b"k", |slot| slot.remove());
    assert_eq!(log.take(), []);
    push(&mut view, b"k", b"a");
    assert_eq!(log.take(), [(0, b"a".to_vec())]);
    drop(wait);
}

#[test]
fn chain_of_waiters_hands_the_element_on_through_every_shard() {
    const KEYS: [&[u8]; 6] = [b"k0", b"k1", b"k2", b"k3", b"k4", b"k5"];
    let (store, log) = (store(), Arc::new(Log::default()));
    let mut view = store.view(0, 0);
    let waits: Vec<Wait> = (0..5)
        .map(|at| view.wait(KEYS[at], popper(at, &log, Some(KEYS[at + 1]))))
        .collect();
    push(&mut view, KEYS[0], b"a");
    let expected: Vec<(usize, Vec<u8>)> = (0..5).map(|at| (at, b"a".to_vec())).collect();
    assert_eq!(log.take(), expected);
    assert_eq!((len(&mut view, KEYS[5]), store.len(0)), (1, 1));
    drop(waits);
}

#[test]
fn waiter_behind_one_that_needs_another_key_is_served_after_it() {
    let (store, log) = (store(), Arc::new(Log::default()));
    let mut view = store.view(0, 0);
    let waits = [
        view.wait(b"k", popper(0, &log, Some(b"far"))),
        view.wait(b"k", popper(1, &log, None)),
        view.wait(b"k", popper(2, &log, Some(b"farther"))),
    ];
    view.locked(&Scope::Keys(&[(0, b"k")]), |view| {
        (0..3).for_each(|_| push(view, b"k", b"a"));
    });
    let served: Vec<usize> = log.take().into_iter().map(|(name, _)| name).collect();
    assert_eq!(served, [0, 1, 2]);
    assert_eq!((len(&mut view, b"far"), len(&mut view, b"farther")), (1, 1));
    drop(waits);
}

/// Panics, and counts how often.
struct Broken(AtomicUsize);

impl Waiter for Broken {
    fn serve(&self, _: &mut View<'_>, _: &[u8]) -> Served {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::panic::resume_unwind(Box::new(()))
    }
}

#[test]
fn waiter_that_panics_is_dropped_and_the_next_one_is_served() {
    let (store, log) = (store(), Arc::new(Log::default()));
    let mut view = store.view(0, 0);
    let broken = Arc::new(Broken(AtomicUsize::new(0)));
    let waits = [
        view.wait(b"k", Arc::clone(&broken)),
        view.wait(b"k", popper(1, &log, None)),
    ];
    push(&mut view, b"k", b"a");
    push(&mut view, b"k", b"b");
    assert_eq!(log.take(), [(1, b"a".to_vec())]);
    assert_eq!(
        (broken.0.load(Ordering::Relaxed), len(&mut view, b"k")),
        (1, 1)
    );
    drop(waits);
}

#[test]
fn no_element_is_lost_or_served_twice_while_waiters_come_and_go() {
    const PUSHES: usize = 400;
    let (store, log) = (store(), Arc::new(Log::default()));
    thread::scope(|scope| {
        for thread in 0..2_usize {
            let store = &store;
            scope.spawn(move || {
                for at in 0..PUSHES {
                    let element = (thread * PUSHES + at).to_le_bytes();
                    push(
                        &mut store.view(0, 0),
                        if at % 3 == 0 { b"a" } else { b"b" },
                        &element,
                    );
                }
            });
        }
        for name in 0..2 {
            let (store, log) = (&store, &log);
            scope.spawn(move || {
                for round in 0..PUSHES {
                    let to: Option<&[u8]> = (round % 4 == 0).then_some(b"c");
                    let keys = [(0, &b"a"[..]), (0, b"b")];
                    let waits = store.view(0, 0).locked(&Scope::Keys(&keys), |view| {
                        let popper = popper(name, log, to);
                        [
                            view.wait(b"a", Arc::clone(&popper)),
                            view.wait(b"b", popper),
                        ]
                    });
                    thread::yield_now();
                    drop(waits);
                }
            });
        }
    });
    let mut view = store.view(0, 0);
    let mut elements: Vec<Vec<u8>> = log.take().into_iter().map(|(_, element)| element).collect();
    let moved = len(&mut view, b"c");
    elements.sort_unstable();
    elements.dedup();
    let served = elements.len();
    for key in [b"a", b"b"] {
        while let Some(element) = pop(&mut view, key) {
            elements.push(element.into());
        }
    }
    assert!(moved <= served);
    elements.sort_unstable();
    elements.dedup();
    assert_eq!(elements.len(), 2 * PUSHES);
}
