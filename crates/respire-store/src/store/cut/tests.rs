//! Tests of cuts: moments that the random operations of `observe/tests/cuts.rs` seldom meet, and all types of value.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::hash::mix;
use crate::{
    Config, Edited, Elements, EventName, Expiry, Freeing, Hash, List, Policy, Scope, Set, Stack,
    Stream, StringRef, ValueRef, View, ZSet,
};

type Contents = BTreeMap<(u32, Vec<u8>), String>;

fn store(shards: usize) -> Arc<Store> {
    Arc::new(Store::new(Config {
        databases: 3,
        shards,
        ..Config::default()
    }))
}

fn shown(entry: EntryRef<'_>) -> String {
    let value = match entry.value() {
        ValueRef::String(text) => format!("{:?}", text.to_vec()),
        ValueRef::Hash(hash) => listed(hash),
        ValueRef::Set(set) => listed(set),
        ValueRef::List(list) => listed(list),
        ValueRef::ZSet(set) => listed(set),
        ValueRef::Stack(stack) => listed(stack),
        ValueRef::Stream(stream) => format!("{:?}", stream.blocks().collect::<Vec<_>>()),
    };
    format!("{value} {:?}", entry.expires_at())
}

fn listed<'e, E: Elements<'e, Element: fmt::Debug>>(value: E) -> String {
    let mut list = String::new();
    value.for_each(&mut |element| list.push_str(&format!("{element:?},")));
    list
}

fn contents(store: &Store) -> Contents {
    let mut all = Contents::new();
    for db in 0..store.databases() {
        store.view(db, 0).for_each(|key, entry| {
            all.insert((db, key.to_vec()), shown(entry));
        });
    }
    all
}

/// Gives all that is left of the cut; no key may be given twice.
fn rest(cut: &mut Cut<&Store>) -> Contents {
    let mut given = Contents::new();
    while cut.step(|db, key, entry| {
        let before = given.insert((db, key.to_vec()), shown(entry));
        assert_eq!(before, None, "{} was given twice", key.escape_ascii());
    }) {}
    given
}

fn set(view: &mut View<'_>, key: &[u8], number: i64) {
    view.update(key, |slot| slot.set(number, Expiry::Clear));
}

fn fill(store: &Store, keys: u32) {
    for key in 0..keys {
        set(
            &mut store.view(key % 2, 0),
            &key.to_le_bytes(),
            i64::from(key),
        );
    }
}

#[test]
fn store_has_one_cut_at_a_time() {
    let store = store(4);
    fill(&store, 100);
    let mut cut = store.cut().expect("none is running");
    assert_eq!(store.cut().err(), Some(CutRunning));
    assert!(store.is_cutting() && cut.step(|_, _, _| {}));
    drop(cut);
    assert!(!store.is_cutting());
    let mut cut = store.cut().expect("the other one was dropped");
    assert_eq!(rest(&mut cut), contents(&store));
    assert!(!cut.step(|_, _, _| {}) && !store.is_cutting());
    assert!(store.cut().is_ok());
}

#[test]
fn section_that_began_before_the_cut_is_part_of_it_with_all_of_its_changes() {
    let store = store(4);
    fill(&store, 50);
    assert!(store.begin_cut());
    let mut section = store.lock(&Scope::Everything);
    let mut view = View::within(&store, 0, 0, Some(section.held()));
    set(&mut view, b"new", 1);
    set(&mut view, &0_u32.to_le_bytes(), -1);
    let mut cut = Cut::place(&*store);
    // All of it is in one unit, which has its ticket.
    set(&mut view, b"newer", 2);
    set(&mut view, &0_u32.to_le_bytes(), -2);
    assert!(view.update(&2_u32.to_le_bytes(), |slot| slot.remove()));
    view.swap(1, 2);
    drop(section);
    let expected = contents(&store);
    set(&mut store.view(0, 0), b"newer", 3);
    store.view(0, 0).swap(0, 1);
    assert_eq!(rest(&mut cut), expected);
    assert!(cut.queued_bytes_most() > 0);
}

#[test]
fn section_that_changes_nothing_before_the_cut_comes_after_it() {
    let store = store(4);
    fill(&store, 50);
    let expected = contents(&store);
    assert!(store.begin_cut());
    let mut section = store.lock(&Scope::Everything);
    let mut cut = Cut::place(&*store);
    let mut view = View::within(&store, 0, 0, Some(section.held()));
    set(&mut view, b"new", 1);
    set(&mut view, &0_u32.to_le_bytes(), -1);
    view.swap(0, 1);
    set(&mut view, &1_u32.to_le_bytes(), -1);
    view.flush(Freeing::AtOnce);
    drop(section);
    assert_eq!(rest(&mut cut), expected);
}

#[test]
fn database_that_is_made_while_a_cut_is_running_is_not_part_of_it() {
    let store = store(4);
    fill(&store, 50);
    let expected = contents(&store);
    let mut cut = store.cut().expect("none is running");
    set(&mut store.view(2, 0), b"k", 1);
    store.view(0, 0).swap(0, 2);
    set(&mut store.view(2, 0), b"l", 1);
    assert_eq!(rest(&mut cut), expected);
    let mut cut = store.cut().expect("the other one is over");
    assert_eq!(rest(&mut cut), contents(&store));
}

#[test]
fn tables_that_grow_shrink_and_are_cleaned_up_hide_no_key_from_a_cut() {
    for seed in 0..20 {
        let store = store(2);
        fill(&store, 3_000);
        let mut expected = contents(&store);
        let mut cut = store.cut().expect("none is running");
        let mut at = 0_u32;
        let mut given = Contents::new();
        while cut.step(|db, key, entry| {
            assert_eq!(given.insert((db, key.to_vec()), shown(entry)), None);
        }) {
            for _ in 0..(mix(seed) % 90) as u32 {
                at += 1;
                match seed % 4 {
                    // They grow.
                    0 => set(
                        &mut store.view(at % 2, 0),
                        &(at + 1_000_000).to_le_bytes(),
                        1,
                    ),
                    // They are cleaned up: keys come and go.
                    1 => {
                        let key = (at + 1_000_000).to_le_bytes();
                        set(&mut store.view(at % 2, 0), &key, 1);
                        store.view(at % 2, 0).update(&key, |slot| slot.remove());
                        let key = (at % 3_000).to_le_bytes();
                        store.view(at % 2, 0).update(&key, |slot| slot.remove());
                    }
                    // They shrink.
                    2 => {
                        let key = (at % 3_000).to_le_bytes();
                        store.view(at % 2, 0).update(&key, |slot| slot.remove());
                        store.sweep(0, 10);
                    }
                    _ => {
                        store.set_max_memory(1, Policy::AllKeysRandom, 1);
                        store.make_room(0);
                        store.set_max_memory(0, Policy::NoEviction, 1);
                    }
                }
            }
        }
        assert_eq!(given.len(), expected.len(), "seed {seed}");
        expected.retain(|place, value| given.get(place) != Some(value));
        assert!(expected.is_empty(), "seed {seed}");
    }
}

#[test]
fn flush_leaves_its_keys_to_the_cut_and_nothing_to_the_next_one() {
    for freeing in [Freeing::AtOnce, Freeing::InSteps] {
        for steps in [0, 1, 5, 1_000] {
            let store = store(4);
            fill(&store, 1_000);
            let expected = contents(&store);
            let mut cut = store.cut().expect("none is running");
            let mut given = Contents::new();
            for _ in 0..steps {
                cut.step(|db, key, entry| drop(given.insert((db, key.to_vec()), shown(entry))));
            }
            assert_eq!(store.view(0, 0).flush_all(freeing), 1_000);
            fill(&store, 10);
            given.extend(rest(&mut cut));
            assert_eq!(given, expected);
            while !store.sweep(0, 1_000).finished {}
            let mut cut = store.cut().expect("the other one is over");
            assert_eq!(rest(&mut cut).len(), 10);
            store.view(0, 0).flush_all(freeing);
            drop(cut);
            assert_eq!(store.memory().keys, 0);
        }
    }
}

#[test]
fn clocks_of_entries_stay_when_cuts_change_their_generation() {
    for policy in [Policy::AllKeysLru, Policy::AllKeysLfu] {
        let store = store(2);
        store.set_max_memory(0, policy, 5);
        let now_ms = 600_000_000;
        let access = match policy.is_lfu() {
            true => crate::Access::Frequency(77),
            false => crate::Access::IdleMs(90_000),
        };
        for key in 0..40_u8 {
            store.view(0, now_ms).update(&[key], |slot| {
                slot.set(1, Expiry::Clear);
                assert!(slot.set_access(access));
            });
        }
        for round in 0..5 {
            let mut cut = store.cut().expect("none is running");
            let check = |entry: EntryRef<'_>| {
                let seen = (entry.idle_ms(now_ms), entry.freq(now_ms));
                assert!([(90_000, 0), (0, 77)].contains(&seen), "{seen:?}");
            };
            let mut count = 0;
            while cut.step(|_, _, entry| {
                check(entry);
                count += 1;
            }) {}
            assert_eq!(count, 40);
            store.view(0, now_ms).for_each(|_, entry| check(entry));
            // Accesses by readers and writers keep the generation: the next cut finds all keys.
            for key in 0..10_u8 {
                let mut view = store.view(0, now_ms + round);
                view.set_touch(round % 2 == 0);
                view.read(&[key], |entry| assert!(entry.is_some()));
                view.update(&[key + 10], |slot| assert!(slot.set_access(access)));
                view.update(&[key], |slot| assert!(slot.set_access(access)));
            }
        }
    }
}

#[test]
fn cut_is_behind_while_its_queue_is_too_long() {
    let store = store(2);
    for key in 0..300_u32 {
        let value = vec![key as u8; 100_000];
        store
            .view(0, 0)
            .update(&key.to_le_bytes(), |slot| slot.set(value, Expiry::Clear));
    }
    let expected = contents(&store);
    let mut cut = store.cut().expect("none is running");
    assert!(!store.is_cut_behind());
    for key in 0..300_u32 {
        set(&mut store.view(0, 0), &key.to_le_bytes(), 1);
    }
    assert!(store.is_cut_behind());
    assert!(
        cut.queued_bytes_most() >= 30_000_000,
        "{}",
        cut.queued_bytes_most()
    );
    assert_eq!(rest(&mut cut), expected);
    assert!(!store.is_cut_behind());
}

const EDITED: EventName = EventName {
    class: 1,
    name: "edited",
};

/// Adds an element to the value of each type.
fn grow_all(store: &Store, round: u64) {
    let (mut view, text) = (store.view(0, 0), round.to_string());
    let element = text.as_bytes();
    let hash = store.growth::<Hash>();
    let edited = view.update(b"hash", |slot| {
        slot.edit(EDITED, |value: &mut Hash| {
            Edited::Changed(value.insert(element, element, &hash))
        })
    });
    assert!(edited.is_ok());
    let growth = store.growth::<Set>();
    let edited = view.update(b"set", |slot| {
        slot.edit(EDITED, |value: &mut Set| {
            Edited::Changed(value.insert(element, &growth))
        })
    });
    assert!(edited.is_ok());
    let limits = store.limits::<List>();
    let edited = view.update(b"list", |slot| {
        slot.edit(EDITED, |value: &mut List| {
            value.push(crate::End::Right, StringRef::Bytes(element), limits);
            Edited::Changed(())
        })
    });
    assert!(edited.is_ok());
    let growth = store.growth::<ZSet>();
    let edited = view.update(b"zset", |slot| {
        slot.edit(EDITED, |value: &mut ZSet| {
            Edited::Changed(value.insert(element, round as f64, &growth))
        })
    });
    assert!(edited.is_ok());
    let edited = view.update(b"stack", |slot| {
        slot.edit(EDITED, |value: &mut Stack| {
            value.push(element);
            Edited::Changed(())
        })
    });
    assert!(edited.is_ok());
    let limits = store.limits::<Stream>();
    let edited = view.update(b"stream", |slot| {
        slot.edit(EDITED, |value: &mut Stream| {
            let id = crate::StreamId {
                ms: round + 1,
                seq: 0,
            };
            value.add(id, [(element, element)].into_iter(), &limits);
            Edited::Changed(())
        })
    });
    assert!(edited.is_ok());
    view.update(b"string", |slot| {
        slot.edit_string(|bytes| bytes.extend([round as u8; 40]));
    });
}

#[test]
fn values_of_all_types_are_given_as_they_were_while_they_are_edited() {
    let store = store(2);
    let mut round = 0;
    for size in [1, 20, 700, 2_000] {
        while round < size {
            grow_all(&store, round);
            round += 1;
        }
        let expected = contents(&store);
        let mut cut = store.cut().expect("none is running");
        grow_all(&store, round);
        let mut given = Contents::new();
        cut.step(|db, key, entry| drop(given.insert((db, key.to_vec()), shown(entry))));
        grow_all(&store, round + 1);
        given.extend(rest(&mut cut));
        assert_eq!(given.len(), 7);
        assert!(given == expected, "size {size}");
        round += 2;
    }
}
