//! Effects in the order of the tickets of their units make an equal store.

use super::*;

#[test]
fn effects_applied_in_ticket_order_make_an_equal_store() {
    let (copy, (store, log)) = (store(), observed(Interest::EFFECTS));
    let (mut next, mut renewed, mut compared) = (1, 0, 0);
    let mut removed = [0; 3];
    for step in 0..6_000_u64 {
        change(&store, mix(step), step);
        if !step.is_multiple_of(50) {
            continue;
        }
        let mut heard = log.take();
        heard.sort(next);
        next += (heard.units.len() + heard.renewed.len()) as u64;
        renewed += heard.renewed.len();
        for (_, effects) in heard.units {
            for effect in effects {
                if let Kept::Removed(_, _, cause) = effect {
                    removed[cause as usize] += 1;
                }
                effect.apply(&copy);
            }
        }
        let contents = contents(&store);
        assert_eq!(self::contents(&copy), contents);
        compared += contents.len();
    }
    assert!(
        compared > 500 && renewed > 100 && removed.iter().all(|count| *count > 20),
        "{compared} {renewed} {removed:?}"
    );
}

#[test]
fn changes_of_several_threads_are_reported_in_their_order() {
    let (copy, (store, log)) = (store(), observed(Interest::EFFECTS));
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for step in 0..1_000_u64 {
                    change(store, mix(thread << 32 | step), step);
                }
            });
        }
    });
    let mut heard = log.take();
    heard.sort(1);
    assert!(heard.renewed.len() > 50);
    let effects = heard.units.into_iter().flat_map(|unit| unit.1);
    effects.for_each(|effect| effect.apply(&copy));
    assert_eq!(contents(&copy), contents(&store));
}

#[test]
fn widened_unit_has_its_place_after_units_that_changed_the_added_shards() {
    let (copy, (store, log)) = (store(), observed(Interest::EFFECTS));
    let set = |view: &mut View<'_>, key: &[u8], number: i64| {
        view.update(key, |slot| slot.set(number, Expiry::Clear));
    };
    let names: Vec<[u8; 1]> = (0..100).map(|key| [key]).collect();
    let shard = |key: &[u8]| store.database(0).shard_of(store.hash(key));
    let of_each = (0..4).map(|at| names.iter().find(|key| shard(*key) == at));
    let keys: Vec<&[u8]> = of_each.map(|key| &key.expect("spread")[..]).collect();
    let mut section = store.lock_widening(&Scope::Keys(&[(0, keys[0])]));
    let (held, mut widener) = section.split();
    // There is no ticket yet, so none is renewed.
    widener.widen(held, &Scope::Keys(&[(0, keys[3])]));
    set(&mut View::within(&store, 0, 0, Some(held)), keys[0], 1);
    for (key, number) in [(1, 2), (2, 4)] {
        // Another unit changes a shard before the section is widened to it.
        set(&mut store.view(0, 0), keys[key], number);
        widener.widen(held, &Scope::Keys(&[(0, keys[key])]));
        widener.widen(held, &Scope::Keys(&[(0, keys[key])]));
        let mut view = View::within(&store, 0, 0, Some(held));
        set(&mut view, keys[key], number + 1);
        set(&mut view, keys[0], number + 1);
    }
    // Reading needs no new ticket.
    widener.widen(held, &Scope::Database(0));
    assert!(View::within(&store, 0, 0, Some(held)).read(keys[2], |entry| entry.is_some()));
    drop(section);

    let mut heard = log.take();
    assert_eq!(heard.renewed, [(1, 3), (3, 5)]);
    assert_eq!(heard.ended, [2, 4, 5]);
    heard.sort(1);
    let effects = heard.units.into_iter().flat_map(|unit| unit.1);
    effects.for_each(|effect| effect.apply(&copy));
    assert_eq!(contents(&copy), contents(&store));
    assert!(copy.view(0, 0).read(keys[2], |entry| {
        entry.and_then(|entry| entry.value().as_string()?.to_int()) == Some(5)
    }));
}
