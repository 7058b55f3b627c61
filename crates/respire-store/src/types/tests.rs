//! Tests of what holds for values of every type with elements, using the type for tests.

use super::*;
use crate::{
    Config, Edited, EntryRef, Event, EventName, Expiry, Interest, Observer, Owned, Policy, Store,
    View,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

const PUSHED: EventName = EventName {
    class: 1,
    name: "pushed",
};
const POPPED: EventName = EventName {
    class: 1,
    name: "popped",
};

#[derive(Default)]
struct Events(Mutex<Vec<Event>>);

impl Observer for Events {
    fn event(&self, _: u32, _: &[u8], event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

fn store() -> Store {
    Store::new(Config {
        databases: 2,
        shards: 4,
        ..Config::default()
    })
}

#[test]
fn write_of_an_empty_value_removes_the_key() {
    let store = store();
    let mut view = store.view(0, 0);
    for is_there in [false, true] {
        if is_there {
            view.update(b"k", |slot| slot.set(b"value", Expiry::Clear));
        }
        let watch = view.watch(b"k");
        view.update(b"k", |slot| slot.set(Stack::default(), Expiry::At(10)));
        assert!(view.read(b"k", |entry| entry.is_none()));
        assert!(watch.is_dirty(0));
    }
}

fn push(view: &mut View<'_>, key: &[u8], element: &[u8]) -> Result<usize, WrongType> {
    view.update(key, |slot| {
        slot.edit(PUSHED, |stack: &mut Stack| {
            stack.push(element);
            Edited::Changed(stack.len())
        })
    })
}

fn pop(view: &mut View<'_>, key: &[u8]) -> Result<Option<Box<[u8]>>, WrongType> {
    let popped = view.update(key, |slot| {
        slot.edit_existing(POPPED, |stack: &mut Stack| Edited::Changed(stack.pop()))
    })?;
    Ok(popped.flatten())
}

fn elements(value: ValueRef<'_>) -> Option<Vec<Vec<u8>>> {
    let mut elements = Vec::new();
    Stack::of(value)?.for_each(&mut |element| elements.push(element.to_vec()));
    Some(elements)
}

fn contents(view: &mut View<'_>, key: &[u8]) -> Option<Vec<Vec<u8>>> {
    view.peek(key, |entry| elements(entry?.value()))
}

/// Checks that the counted bytes equal the bytes of the entries.
fn check_memory(store: &Store) {
    let mut entries = 0;
    for db in 0..2 {
        let mut add = |_: &[u8], entry: EntryRef<'_>| {
            entries += entry.memory() - crate::entry::SLOT_BYTES;
        };
        store.view(db, 0).for_each(&mut add);
    }
    assert_eq!(store.memory().dataset, entries);
}

#[test]
fn edits_create_the_value_and_remove_it_when_it_is_empty() {
    let store = store();
    let mut view = store.view(0, 0);
    assert_eq!(pop(&mut view, b"k"), Ok(None));
    assert_eq!(
        (push(&mut view, b"k", b"a"), push(&mut view, b"k", b"b")),
        (Ok(1), Ok(2))
    );
    view.update(b"k", |slot| assert!(slot.set_expiry(Some(500))));
    assert_eq!(push(&mut view, b"k", b"c"), Ok(3));
    assert_eq!(
        contents(&mut view, b"k"),
        Some(vec![b"a".into(), b"b".into(), b"c".into()])
    );
    view.peek(b"k", |entry| {
        let entry = entry.expect("it was made");
        assert_eq!(
            (entry.value().type_name(), entry.encoding().name()),
            ("stack", "stack")
        );
        assert_eq!(
            (entry.expires_at(), entry.value().as_string().is_none()),
            (Some(500), true)
        );
    });
    for expected in [b"c", b"b", b"a"] {
        check_memory(&store);
        assert_eq!(pop(&mut view, b"k"), Ok(Some(expected.as_slice().into())));
    }
    assert!(!view.update(b"k", |slot| slot.exists()));
    assert_eq!(store.memory().dataset, 0);
}

#[test]
fn edit_that_leaves_no_elements_creates_no_key() {
    let store = store();
    let mut view = store.view(0, 0);
    let edited = view.update(b"k", |slot| {
        slot.edit(PUSHED, |_: &mut Stack| Edited::Unchanged(7))
    });
    assert_eq!((edited, store.len(0), store.changes()), (Ok(7), 0, 0));
}

#[test]
fn edit_of_another_type_is_refused_and_keeps_the_value() {
    let store = store();
    let mut view = store.view(0, 0);
    view.update(b"s", |slot| slot.set(b"string", Expiry::Clear));
    assert_eq!(push(&mut view, b"k", b"a"), Ok(1));
    let before = store.changes();
    assert_eq!(
        (push(&mut view, b"s", b"a"), pop(&mut view, b"s")),
        (Err(WrongType), Err(WrongType))
    );
    assert!(view.peek(b"s", |entry| {
        entry.is_some_and(|entry| entry.typed::<Stack>().is_err())
    }));
    assert!(view.peek(b"k", |entry| {
        entry.is_some_and(|entry| entry.typed::<Stack>().is_ok())
    }));
    assert_eq!(store.changes(), before);
    // A write replaces a value of either type by the other.
    view.update(b"k", |slot| slot.set(b"string", Expiry::Clear));
    let mut stack = Stack::default();
    stack.push(b"b");
    view.update(b"s", |slot| slot.set(stack, Expiry::Clear));
    assert_eq!(
        (contents(&mut view, b"k"), contents(&mut view, b"s")),
        (None, Some(vec![b"b".to_vec()]))
    );
    check_memory(&store);
}

#[test]
fn edit_is_reported_once_if_it_changed_the_value() {
    let store = store();
    let mut view = store.view(0, 0);
    let mut changed = |edit: &mut dyn FnMut(&mut View<'_>)| {
        let (watch, before) = (store.view(0, 0).watch(b"k"), store.changes());
        edit(&mut view);
        (watch.is_dirty(0), store.changes() - before)
    };
    let mut push_one = |view: &mut View<'_>| assert!(push(view, b"k", b"a").is_ok());
    let mut pop_one = |view: &mut View<'_>| assert!(pop(view, b"k").is_ok());
    let mut look = |view: &mut View<'_>| {
        let looked = view.update(b"k", |slot| {
            slot.edit(PUSHED, |stack: &mut Stack| Edited::Unchanged(stack.len()))
        });
        assert_eq!(looked, Ok(1));
    };
    assert_eq!(changed(&mut push_one), (true, 1));
    assert_eq!(changed(&mut look), (false, 0));
    assert_eq!(changed(&mut push_one), (true, 1));
    assert_eq!(changed(&mut pop_one), (true, 1));
    assert_eq!(changed(&mut pop_one), (true, 1));
    assert_eq!(changed(&mut pop_one), (false, 0));
}

#[test]
fn edit_that_panics_is_accounted_for_and_removes_an_empty_value() {
    for start in [1, 1_000] {
        let store = store();
        let mut view = store.view(0, 0);
        for _ in 0..start {
            assert!(push(&mut view, b"k", b"0123456789").is_ok());
        }
        let watch = store.view(0, 0).watch(b"k");
        let edit = |stack: &mut Stack| -> Edited<()> {
            (0..start.min(500)).for_each(|_| drop(stack.pop()));
            resume_unwind(Box::new(()))
        };
        let edited = catch_unwind(AssertUnwindSafe(|| {
            store
                .view(0, 0)
                .update(b"k", |slot| slot.edit(POPPED, edit))
        }));
        assert!(edited.is_err() && watch.is_dirty(0));
        assert_eq!(store.len(0), usize::from(start > 1));
        check_memory(&store);
    }
}

#[test]
fn copy_shares_parts_until_either_value_changes() {
    let store = store();
    let mut view = store.view(0, 0);
    for element in 0..1_000_u16 {
        assert!(push(&mut view, b"k", &element.to_le_bytes()).is_ok());
    }
    let first =
        |owned: &Owned| Stack::of(owned.value()).map(|stack| stack.get(0).map(<[u8]>::as_ptr));
    let owned = view
        .peek(b"k", |entry| entry.map(EntryRef::owned))
        .expect("it is there");
    let same = view
        .peek(b"k", |entry| entry.map(EntryRef::owned))
        .expect("it is there");
    assert_eq!(first(&owned), first(&same));
    view.in_db(1)
        .update(b"copy", |slot| slot.put(owned.clone()));
    check_memory(&store);
    assert_eq!(pop(&mut view, b"k"), Ok(Some(999_u16.to_le_bytes().into())));
    assert_eq!(push(&mut view.in_db(1), b"copy", b"more"), Ok(1_001));
    check_memory(&store);
    assert_eq!(
        contents(&mut view, b"k").map(|elements| elements.len()),
        Some(999)
    );
    assert_eq!(
        elements(owned.value()).map(|elements| elements.len()),
        Some(1_000)
    );
}

#[test]
fn value_with_elements_expires_and_is_evicted() {
    let store = store();
    let mut view = store.view(0, 0);
    for key in 0..100_u8 {
        assert_eq!(push(&mut view, &[key], &[b'x'; 1_000]), Ok(1));
        if key % 2 == 0 {
            view.update(&[key], |slot| assert!(slot.set_expiry(Some(100))));
        }
    }
    assert!(store.view(0, 100).read(&[0], |entry| entry.is_none()));
    while !store.sweep(100, 10).finished {}
    assert_eq!((store.len(0), store.stats().expired_keys), (50, 50));
    check_memory(&store);
    let total = store.memory().total();
    store.set_max_memory(total as u64 - 10_000, Policy::AllKeysLru, 5);
    assert!(store.make_room(100));
    let evicted = store.stats().evicted_keys;
    assert!((2..=10).contains(&evicted), "{evicted}");
    check_memory(&store);
}

#[test]
fn scan_visits_every_element_and_sample_returns_any() {
    let mut stack = Stack::default();
    assert_eq!(
        (
            stack.read().sample(7),
            stack.read().scan(0, 10, &mut |_| panic!("there is none"))
        ),
        (None, 0)
    );
    (0..1_000_u16).for_each(|element| stack.push(&element.to_le_bytes()));
    let (mut seen, mut cursor, mut steps) = (Vec::new(), 0, 0);
    loop {
        cursor = stack
            .read()
            .scan(cursor, 10, &mut |element| seen.push(element.to_vec()));
        stack.push(b"new");
        steps += 1;
        if cursor == 0 {
            break;
        }
    }
    seen.sort_unstable();
    let mut expected: Vec<Vec<u8>> = (0..1_000_u16).map(|it| it.to_le_bytes().into()).collect();
    expected.sort_unstable();
    assert_eq!((seen, steps), (expected, 100));
    assert_eq!(
        stack
            .read()
            .scan(u64::MAX, 1, &mut |element| assert_eq!(element, b"new")),
        1_099
    );
    let sampled = (0..2_200).filter_map(|random| stack.read().sample(random));
    assert_eq!(sampled.filter(|element| *element == b"new").count(), 200);
}

#[test]
fn edit_that_empties_the_value_reports_its_event_and_then_emptied() {
    let (store, events) = (store(), Arc::new(Events::default()));
    store.observe(events.clone(), Interest::EVENTS.with(Interest::ADDITIONS));
    let mut view = store.view(0, 0);
    let heard = || core::mem::take(&mut *events.0.lock().unwrap());
    assert_eq!(pop(&mut view, b"k"), Ok(None));
    assert_eq!(heard(), []);
    assert!(push(&mut view, b"k", b"a").is_ok() && push(&mut view, b"k", b"b").is_ok());
    let pushed = Event::Named(PUSHED);
    assert_eq!(heard(), [Event::Added, pushed, pushed]);
    assert!(pop(&mut view, b"k").is_ok() && pop(&mut view, b"k").is_ok());
    let popped = Event::Named(POPPED);
    assert_eq!(heard(), [popped, popped, Event::Emptied]);
    view.update(b"k", |slot| slot.set(b"string", Expiry::Clear));
    heard();
    assert!(push(&mut view, b"k", b"a").is_err());
    let looked = view.update(b"l", |slot| {
        slot.edit(PUSHED, |_: &mut Stack| Edited::Unchanged(()))
    });
    assert_eq!((looked, heard()), (Ok(()), Vec::new()));
}

#[test]
fn small_value_takes_one_allocation_and_stays_large_once_it_was() {
    let store = store();
    let mut view = store.view(0, 0);
    let bytes = |view: &mut View<'_>| {
        view.peek(b"k", |entry| entry.map(EntryRef::memory))
            .unwrap()
            - crate::entry::SLOT_BYTES
    };
    for _ in 0..8 {
        assert!(push(&mut view, b"k", b"0123456789").is_ok());
    }
    let packed = bytes(&mut view);
    assert_eq!(packed, allocated(3 + 1 + 8 * 12));
    let expected: Vec<Vec<u8>> = vec![b"0123456789".into(); 8];
    assert_eq!(contents(&mut view, b"k"), Some(expected.clone()));
    let owned = view.peek(b"k", |entry| entry.map(EntryRef::owned)).unwrap();
    assert_eq!(elements(owned.value()), Some(expected));
    assert!(push(&mut view, b"k", b"more").is_ok());
    assert!(bytes(&mut view) > packed + 1_000);
    assert!(pop(&mut view, b"k").is_ok());
    assert!(bytes(&mut view) > packed + 1_000);
    check_memory(&store);
    view.update(b"l", |slot| slot.put(owned));
    assert!(push(&mut view, b"l", &[b'x'; 65]).is_ok());
    assert_eq!(
        contents(&mut view, b"l").map(|elements| elements.len()),
        Some(9)
    );
    check_memory(&store);
}

#[test]
fn limits_are_those_of_the_type_until_they_are_set() {
    let store = store();
    assert_eq!(store.limits::<Stack>(), Stack::LIMITS);
    let limits = Limits {
        elements: 3,
        bytes: 5,
    };
    store.set_limits::<Stack>(limits);
    let mut view = store.view(1, 0);
    assert_eq!(view.update(b"k", |slot| slot.limits::<Stack>()), limits);
}
