//! Tests of observers: every change is reported, in order, in whole units, while the shards are locked.

mod cuts;
mod tickets;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, Weak};
use std::thread;

use super::*;
use crate::hash::mix;
use crate::{Config, Expiry, Freeing, Owned, Policy, Scope, Section, Slot, Store, View};

/// An owned copy of an effect.
#[derive(Debug, Clone)]
enum Kept {
    Written(u32, Vec<u8>, Owned),
    ExpirySet(u32, Vec<u8>, Option<u64>),
    Removed(u32, Vec<u8>, Cause),
    Flushed(u32),
    Swapped(u32, u32),
}

impl Kept {
    fn new(effect: Effect<'_>) -> Kept {
        match effect {
            Effect::Written { db, key, entry } => Kept::Written(db, key.to_vec(), entry.owned()),
            Effect::Changed { .. } => panic!("nobody asked for steps"),
            Effect::ExpirySet {
                db,
                key,
                expires_at,
            } => Kept::ExpirySet(db, key.to_vec(), expires_at),
            Effect::Removed { db, key, cause } => Kept::Removed(db, key.to_vec(), cause),
            Effect::Flushed { db } => Kept::Flushed(db),
            Effect::Swapped { a, b } => Kept::Swapped(a, b),
        }
    }

    /// Applies the effect at the time 0, at which no key has expired.
    fn apply(self, store: &Store) {
        match self {
            Kept::Written(db, key, owned) => store.view(db, 0).update(&key, |slot| slot.put(owned)),
            Kept::ExpirySet(db, key, expires_at) => {
                let is_there = store
                    .view(db, 0)
                    .update(&key, |slot| slot.set_expiry(expires_at));
                assert!(is_there);
            }
            Kept::Removed(db, key, _) => drop(store.view(db, 0).update(&key, |slot| slot.remove())),
            Kept::Flushed(db) => drop(store.view(db, 0).flush(Freeing::AtOnce)),
            Kept::Swapped(a, b) => store.view(a, 0).swap(a, b),
        }
    }
}

/// The reports that an observer has received.
#[derive(Debug, Default)]
struct Heard {
    units: Vec<(u64, Vec<Kept>)>,
    /// Each renewed ticket, with the new one.
    renewed: Vec<(u64, u64)>,
    events: Vec<(Vec<u8>, Event)>,
    ended: Vec<u64>,
    released: usize,
    /// The test takes cuts, so that units may end without an effect.
    cuts: bool,
}

#[derive(Default)]
struct Log {
    heard: Mutex<Heard>,
    /// The store, whose locks are checked when a unit ends.
    store: OnceLock<Weak<Store>>,
}

impl Observer for Log {
    fn effect(&self, ticket: Ticket, effect: Effect<'_>) {
        let mut heard = self.heard.lock().expect("no observer panics");
        let kept = Kept::new(effect);
        let mut units = heard.units.iter_mut().rev();
        match units.find(|unit| unit.0 == ticket.number()) {
            Some((_, effects)) => effects.push(kept),
            None => heard.units.push((ticket.number(), vec![kept])),
        }
    }

    fn ticket_renewed(&self, old: Ticket, new: Ticket) {
        let mut heard = self.heard.lock().expect("no observer panics");
        let (old, new) = (old.number(), new.number());
        heard.renewed.push((old, new));
        let mut units = heard.units.iter_mut().rev();
        // While a cut is running, a ticket may be renewed before the first effect.
        if let Some(unit) = units.find(|unit| unit.0 == old) {
            unit.0 = new;
        }
    }

    fn event(&self, _: u32, key: &[u8], event: Event) {
        let mut heard = self.heard.lock().expect("no observer panics");
        heard.events.push((key.to_vec(), event));
    }

    fn unit_ended(&self, ticket: Ticket) {
        let mut heard = self.heard.lock().expect("no observer panics");
        heard.ended.push(ticket.number());
        let mut units = heard.units.iter().rev();
        if units.all(|unit| unit.0 != ticket.number()) {
            assert!(heard.cuts, "it had an effect");
            heard.units.push((ticket.number(), Vec::new()));
        }
        let Some(store) = self.store.get().and_then(Weak::upgrade) else {
            return;
        };
        let unit = heard
            .units
            .iter()
            .rev()
            .find(|unit| unit.0 == ticket.number());
        for effect in &unit.expect("it had an effect").1 {
            if let Kept::Written(db, key, _) | Kept::Removed(db, key, _) = effect {
                let database = store.database(*db);
                let shard = database.shard_of(store.hash(key));
                assert!(database.lock(shard).try_read().is_none(), "still locked");
            }
        }
    }

    fn released(&self) {
        self.heard.lock().expect("no observer panics").released += 1;
    }
}

impl Log {
    fn take(&self) -> Heard {
        core::mem::take(&mut *self.heard.lock().expect("no observer panics"))
    }
}

fn store() -> Arc<Store> {
    Arc::new(Store::new(Config {
        databases: 3,
        shards: 8,
        ..Config::default()
    }))
}

/// Returns a store and its observer.
fn observed(interest: Interest) -> (Arc<Store>, Arc<Log>) {
    let (store, log) = (store(), Arc::new(Log::default()));
    log.store
        .set(Arc::downgrade(&store))
        .expect("set only here");
    store.observe(Arc::clone(&log) as Arc<dyn Observer>, interest);
    (store, log)
}

/// Returns the value and expiry of every key in a store, including expired keys.
fn contents(store: &Store) -> Vec<(u32, Vec<u8>, String)> {
    contents_of(&mut store.view(0, 0))
}

fn shown(entry: EntryRef<'_>) -> String {
    // A string that was edited may be digits where its copy is a number.
    let value = entry.value();
    match value.as_string() {
        Some(text) => format!("{:?} {:?}", text.to_vec(), entry.expires_at()),
        None => format!("{value:?} {:?}", entry.expires_at()),
    }
}

fn contents_of(view: &mut View<'_>) -> Vec<(u32, Vec<u8>, String)> {
    let mut all = Vec::new();
    for db in 0..view.store().databases() {
        view.in_db(db).for_each(|key, entry| {
            all.push((db, key.to_vec(), shown(entry)));
        });
    }
    all.sort();
    all
}

/// Does an operation that `random` selects at the time `now_ms`.
fn change(store: &Store, random: u64, now_ms: u64) {
    let pick = |from: u32, below: u64| (random >> from) % below;
    let keys = [pick(8, 40) as u8, pick(14, 40) as u8, pick(20, 40) as u8];
    let (db, key) = (pick(26, 3) as u32, &keys[..1]);
    let mut view = store.view(db, now_ms);
    let later = now_ms + pick(30, 50);
    match random & 15 {
        0 => view.update(key, |slot| slot.set(random as i64, Expiry::Keep)),
        1 => view.update(key, |slot| slot.set(b"text", Expiry::At(later))),
        2 => view.update(key, |slot| {
            slot.set([b'x'; 20_000].as_slice(), Expiry::Clear)
        }),
        3 => view.update(key, |slot| slot.edit_string(|bytes| bytes.push(b'!'))),
        4 => view.update(key, |slot| {
            slot.edit_string_if(|bytes| (bytes.resize(pick(40, 9) as usize, b'?'), false));
        }),
        5 => drop(view.update(key, |slot| slot.set_expiry(Some(later)))),
        6 => drop(view.update(key, |slot| slot.set_expiry(None))),
        7 => drop(view.update(key, |slot| slot.remove())),
        8 => view.update_many(keys.chunks(1), |at, slot| {
            slot.set(at as i64, Expiry::Clear);
        }),
        9 => drop(view.insert_many(keys.chunks(1), |_, slot| slot.set(5, Expiry::At(later)))),
        10 => view.locked(
            &Scope::Keys(&[(db, &keys[..1]), (2, &keys[1..2])]),
            |view| {
                if let Some(owned) = view.update(&keys[..1], |slot| slot.take()) {
                    view.in_db(2).update(&keys[1..2], |slot| slot.put(owned));
                }
            },
        ),
        11 => drop(store.sweep(now_ms, 4)),
        12 if pick(50, 8) == 0 => view.swap(db, pick(40, 3) as u32),
        12 if pick(50, 8) == 1 => drop(view.flush(Freeing::InSteps)),
        12 => {
            store.set_max_memory(1, Policy::AllKeysRandom, 1);
            store.make_room(now_ms);
            store.set_max_memory(0, Policy::NoEviction, 1);
        }
        13 => drop(catch_unwind(AssertUnwindSafe(|| {
            view.update(key, |slot| {
                slot.edit_string(|bytes| {
                    bytes.push(b'p');
                    resume_unwind(Box::new(()))
                })
            })
        }))),
        14 => {
            let mut section = store.lock_widening(&Scope::Keys(&[(db, key)]));
            let (held, mut widener) = section.split();
            for (at, key) in keys.chunks(1).enumerate() {
                widener.widen(held, &Scope::Keys(&[(pick(30, 3) as u32, key)]));
                let mut view = View::within(store, pick(30, 3) as u32, now_ms, Some(held));
                let value = at as i64 + pick(40, 1_000) as i64;
                view.update(key, |slot| slot.set(value, Expiry::Clear));
            }
        }
        _ => drop(view.read(key, |entry| entry.is_some())),
    }
}

impl Heard {
    /// Sorts the units by their tickets. Checks that every ticket from `first` on has ended or was renewed.
    fn sort(&mut self, first: u64) {
        self.units.sort_by_key(|unit| unit.0);
        self.ended.sort_unstable();
        let last: Vec<u64> = self.units.iter().map(|unit| unit.0).collect();
        assert_eq!(self.ended, last);
        let mut tickets: Vec<u64> = self.renewed.iter().map(|(old, _)| *old).collect();
        tickets.extend(last);
        tickets.sort_unstable();
        let end = first + tickets.len() as u64;
        assert_eq!(tickets, (first..end).collect::<Vec<_>>());
    }
}

#[test]
fn observer_registered_and_removed_in_sections_receives_every_change_between() {
    let [store, copy] = [store(), store()];
    let log = Arc::new(Log::default());
    let everything = Scope::Everything;
    let (stop, began) = (AtomicBool::new(false), Barrier::new(3));
    thread::scope(|scope| {
        for thread in 0..2_u64 {
            let (store, stop, began) = (&store, &stop, &began);
            scope.spawn(move || {
                // The bound ends the threads if the test fails.
                let steps = (0_u64..1_000_000).take_while(|_| !stop.load(Ordering::Relaxed));
                for step in steps {
                    change(store, mix(thread << 32 | step), step);
                    if step == 20 {
                        began.wait();
                    }
                }
            });
        }
        began.wait();
        for _ in 0..20 {
            let mut section = store.lock(&everything);
            let mut view = View::within(&store, 0, 0, Some(section.held()));
            copy.view(0, 0).flush_all(Freeing::AtOnce);
            for db in 0..store.databases() {
                view.in_db(db).for_each(|key, entry| {
                    let owned = entry.owned();
                    copy.view(db, 0).update(key, |slot| slot.put(owned));
                });
            }
            let observer = Arc::clone(&log) as Arc<dyn Observer>;
            let id = store.observe(observer, Interest::EFFECTS);
            drop(section);
            while log.heard.lock().expect("no observer panics").ended.len() < 20 {
                thread::yield_now();
            }
            let mut section = store.lock(&everything);
            store.unobserve(id);
            let mut heard = log.take();
            let tickets = heard.units.iter().map(|unit| unit.0);
            let first = tickets.chain(heard.renewed.iter().map(|pair| pair.0)).min();
            heard.sort(first.expect("units were heard"));
            let effects = heard.units.into_iter().flat_map(|unit| unit.1);
            effects.for_each(|effect| effect.apply(&copy));
            let mut view = View::within(&store, 0, 0, Some(section.held()));
            assert_eq!(contents_of(&mut copy.view(0, 0)), contents_of(&mut view));
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn keys_changed_together_are_one_unit_whose_shards_stay_locked_until_its_end() {
    let (store, log) = observed(Interest::EFFECTS);
    let keys: Vec<Vec<u8>> = (0..30_u8).map(|key| vec![key]).collect();
    let keys = || keys.iter().map(Vec::as_slice);
    let mut view = store.view(0, 0);
    view.update_many(keys(), |_, slot| slot.set(1, Expiry::Clear));
    assert!(!view.insert_many(keys(), |_, slot| slot.set(2, Expiry::Clear)));
    view.locked(&Scope::Database(0), |view| {
        for key in keys() {
            assert!(view.update(key, |slot| slot.remove()));
        }
    });
    let heard = log.take();
    let lengths: Vec<usize> = heard.units.iter().map(|unit| unit.1.len()).collect();
    assert_eq!((lengths, heard.released), (vec![30, 30], 2));
}

#[test]
fn unit_without_a_change_has_no_ticket() {
    let (store, log) = observed(Interest::EFFECTS);
    let mut view = store.view(0, 0);
    view.update(b"k", |slot| {
        assert!(!slot.remove() && !slot.set_expiry(None))
    });
    view.read(b"k", |entry| assert!(entry.is_none()));
    view.flush_all(Freeing::AtOnce);
    drop(store.lock(&Scope::Everything));
    view.update(b"k", |slot| slot.set(1, Expiry::Clear));
    view.update(b"k", |slot| slot.share_string());
    let _refused = view.update(b"k", |slot| slot.exchange(2, Expiry::Clear, |_| Err(())));
    view.update(b"k", |slot| slot.edit_string_if(|_| ((), false)));
    let heard = log.take();
    assert_eq!((heard.ended, heard.released), (vec![1], 1));
}

#[test]
fn edit_without_bytes_that_replaces_another_type_is_reported() {
    let (store, log) = observed(Interest::EFFECTS);
    let mut stack = crate::Stack::default();
    stack.push(b"element");
    let mut view = store.view(0, 0);
    view.update(b"k", |slot| slot.set(stack, Expiry::Clear));
    view.update(b"k", |slot| slot.edit_string_if(|_| ((), false)));
    let effects = log.take().units.into_iter().flat_map(|unit| unit.1);
    let copy = self::store();
    effects.for_each(|effect| effect.apply(&copy));
    assert_eq!(contents(&copy), contents(&store));
}

#[test]
fn panic_ends_the_unit_with_the_changes_before_it() {
    let (store, log) = observed(Interest::EFFECTS);
    let fail = |slot: &mut Slot<'_>| {
        slot.set(1, Expiry::Clear);
        resume_unwind(Box::new(()))
    };
    let keys = [b"a".as_slice(), b"b", b"c"];
    let mut calls: [Box<dyn FnMut() + '_>; 3] = [
        Box::new(|| store.view(0, 0).update(b"a", fail)),
        Box::new(|| {
            let mut changed = 0;
            store.view(0, 0).update_many(keys.into_iter(), |_, slot| {
                changed += 1;
                if changed == 3 {
                    fail(slot);
                }
                slot.set(2, Expiry::Clear);
            });
        }),
        Box::new(|| {
            let mut section = store.lock(&Scope::Everything);
            let mut view = View::within(&store, 0, 0, Some(section.held()));
            view.update(b"b", |slot| slot.set(3, Expiry::Clear));
            view.update(b"c", fail);
        }),
    ];
    for (call, effects) in calls.iter_mut().zip([1, 3, 2]) {
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        let heard = log.take();
        assert_eq!(heard.units.len(), 1);
        assert_eq!(heard.units[0].1.len(), effects);
        assert_eq!((heard.ended.len(), heard.released), (1, 1));
    }
}

#[test]
fn observer_receives_the_events_of_its_interest_in_order() {
    const NAMED: EventName = EventName {
        class: 7,
        name: "named",
    };
    let all = Interest::ADDITIONS
        .with(Interest::LOSSES)
        .with(Interest::EVENTS);
    for (interest, expected) in [
        (Interest::ADDITIONS, &[0, 3][..]),
        (Interest::LOSSES, &[2, 5]),
        (Interest::EVENTS, &[1, 4]),
        (all, &[0, 1, 2, 3, 4, 5]),
        (Interest::NONE, &[]),
    ] {
        let (store, log) = observed(interest);
        for now_ms in [0, 10] {
            store.view(0, now_ms).update(b"k", |slot| {
                slot.set(1, Expiry::At(10 + now_ms));
                slot.event(NAMED);
            });
        }
        store.set_max_memory(1, Policy::AllKeysRandom, 1);
        store.make_room(10);
        let heard = log.take();
        let events = [
            Event::Added,
            Event::Named(NAMED),
            Event::Expired,
            Event::Added,
            Event::Named(NAMED),
            Event::Evicted,
        ];
        let expected: Vec<Event> = expected.iter().map(|at| events[*at]).collect();
        let events: Vec<Event> = heard.events.into_iter().map(|heard| heard.1).collect();
        assert_eq!((events, heard.ended), (expected, Vec::new()));
    }
}

#[test]
fn read_of_an_absent_key_is_reported_after_its_expiry() {
    let (store, log) = observed(Interest::LOSSES.with(Interest::MISSES));
    let mut view = store.view(0, 0);
    view.update(b"old", |slot| slot.set(1, Expiry::At(5)));
    view.update(b"due", |slot| slot.set(1, Expiry::At(5)));
    let mut view = store.view(0, 10);
    let is_absent = |view: &mut View<'_>, key: &[u8]| view.read(key, |entry| entry.is_none());
    assert!(is_absent(&mut view, b"due"));
    assert!(is_absent(&mut view.in_db(2), b"never used"));
    let keys = || [b"a".as_slice(), b"old", b"b"].into_iter();
    view.read_many(keys(), |_, entry| assert!(entry.is_none()));
    view.update(b"slot", |slot| slot.looked_up());
    view.peek(b"peeked", |entry| assert!(entry.is_none()));
    view.peek_many(keys(), |_, entry| assert!(entry.is_none()));
    view.locked(&Scope::Database(0), |view| {
        assert!(is_absent(view, b"held"));
        assert_eq!(log.heard.lock().expect("no observer panics").released, 8);
    });
    let heard = log.take();
    let expected: [(&[u8], Event); 9] = [
        (b"due", Event::Expired),
        (b"due", Event::Missed),
        (b"never used", Event::Missed),
        (b"a", Event::Missed),
        (b"old", Event::Expired),
        (b"old", Event::Missed),
        (b"b", Event::Missed),
        (b"slot", Event::Missed),
        (b"held", Event::Missed),
    ];
    let expected = expected.map(|(key, event)| (key.to_vec(), event));
    assert_eq!((heard.events, heard.released), (expected.to_vec(), 9));
}

#[test]
fn keys_changed_together_are_reported_in_the_order_of_the_command() {
    let (store, log) = observed(Interest::ADDITIONS);
    let keys: Vec<[u8; 1]> = (0..60).map(|key| [key]).collect();
    for (inside, keys) in [(false, &keys[..30]), (true, &keys[30..])] {
        let mut section = inside.then(|| store.lock(&Scope::Everything));
        let mut view = View::within(&store, 0, 0, section.as_mut().map(Section::held));
        view.update_many(keys.iter().map(<[u8; 1]>::as_slice), |_, slot| {
            slot.set(1, Expiry::Clear);
        });
    }
    let heard = log.take().events.into_iter();
    assert!(heard.map(|(key, _)| key[0]).eq(0..60));
}

#[test]
fn key_that_is_replaced_or_expires_at_once_is_reported_as_added() {
    let (store, log) = observed(Interest::ADDITIONS.with(Interest::LOSSES));
    let mut view = store.view(0, 100);
    view.update(b"k", |slot| {
        slot.set(1, Expiry::Clear);
        slot.set(2, Expiry::Clear);
        let owned = slot.get().expect("it was just set").owned();
        slot.put_anew(owned);
        slot.set(3, Expiry::At(100));
        slot.expired_at_once();
        slot.set(4, Expiry::At(100));
    });
    let events = [Event::Added, Event::Added, Event::Expired, Event::Added];
    assert!(
        log.take()
            .events
            .into_iter()
            .map(|heard| heard.1)
            .eq(events)
    );
}

#[test]
fn interest_applies_to_databases_made_later_and_until_it_is_removed() {
    let (store, log) = (store(), Arc::new(Log::default()));
    let id = store.observe(Arc::clone(&log) as Arc<dyn Observer>, Interest::NONE);
    let set = |db| {
        store
            .view(db, 0)
            .update(b"k", |slot| slot.set(1, Expiry::Clear))
    };
    let watch = store.view(0, 0).watch(b"k");
    set(0);
    store.set_interest(id, Interest::EFFECTS);
    assert!(watch.is_dirty(0));
    set(0);
    set(2);
    drop(watch);
    set(2);
    store.unobserve(id);
    set(1);
    set(2);
    assert_eq!(log.take().ended, [1, 2, 3]);
    let is_free =
        |db: &crate::database::Database| db.sides().iter().all(|side| !side.hooks.has(u32::MAX));
    assert!(store.existing().all(is_free));
}
