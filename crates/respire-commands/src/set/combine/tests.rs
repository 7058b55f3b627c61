//! Tests the operations against `BTreeSet`, with sets of all forms and sizes.

use super::*;
use respire_store::{Config, Store};
use std::collections::BTreeSet;

type Model = BTreeSet<Vec<u8>>;

fn growth() -> Growth {
    Store::new(Config::default()).growth::<Set>()
}

fn set_of(model: &Model) -> Set {
    let (mut set, growth) = (Set::default(), growth());
    model.iter().for_each(|member| {
        set.insert(member, &growth);
    });
    set
}

fn model_of(set: SetRef<'_>) -> Model {
    let mut model = Model::new();
    set.for_each(&mut |member| assert!(model.insert(member.to_vec())));
    model
}

/// Members of a range, as integers or as texts that look alike.
fn range(range: std::ops::Range<u32>, is_text: bool) -> Model {
    let text = |it: u32| {
        if is_text {
            format!("{it:05}")
        } else {
            it.to_string()
        }
    };
    range.map(|it| text(it).into_bytes()).collect()
}

fn check(operation: Operation, models: &[Option<&Model>], expected: &Model) {
    let sets: Vec<Option<Set>> = models.iter().map(|model| model.map(set_of)).collect();
    let refs: Vec<Option<SetRef<'_>>> = sets.iter().map(|set| set.as_ref().map(set_ref)).collect();
    let combined = operation.run(&refs, &growth(), &mut || ());
    assert_eq!(combined.len(), expected.len(), "{operation:?}");
    let stored = combined.into_set(&refs, &growth(), &mut || ());
    assert_eq!(model_of(set_ref(&stored)), *expected, "{operation:?}");
}

#[test]
fn operations_agree_with_a_model_for_all_forms() {
    let models = [
        range(0..0, false),
        range(0..10, false),
        range(5..600, false),
        range(5..60, true),
        range(0..500, true),
        &range(300..700, true) | &range(0..100, false),
        &range(1..2, false) | &range(7..8, true),
    ];
    let none = Model::new();
    for (at, first) in models.iter().enumerate() {
        for second in &models {
            let third = &models[(at * 3 + 1) % models.len()];
            let all = [Some(first), Some(second), None, Some(third)];
            check(Operation::Union, &all, &(&(first | second) | third));
            check(Operation::Union, &all[..2], &(first | second));
            check(Operation::Intersection, &all, &none);
            check(Operation::Intersection, &all[..2], &(first & second));
            let three = [Some(first), Some(second), Some(third)];
            check(
                Operation::Intersection,
                &three,
                &(&(first & second) & third),
            );
            check(Operation::Difference, &all, &(&(first - second) - third));
            check(Operation::Difference, &all[..2], &(first - second));
            check(Operation::Difference, &[None, Some(first)], &none);
            // Many sets make the other way of subtracting cheaper.
            let many: Vec<_> = [Some(first)].into_iter().chain([Some(second); 3]).collect();
            check(Operation::Difference, &many, &(first - second));
        }
    }
    for operation in [
        Operation::Union,
        Operation::Intersection,
        Operation::Difference,
    ] {
        check(operation, &[None], &none);
        check(operation, &[Some(&models[4])], &models[4]);
    }
}

#[test]
fn intersection_stops_when_it_is_told_to() {
    let model = range(0..3000, true);
    let set = set_of(&model);
    let (mut found, mut steps) = (0, 0);
    intersect(vec![set_ref(&set); 3], &mut || steps += 1, |_| {
        found += 1;
        found < 7
    });
    assert_eq!(found, 7);
    assert!((7..1000).contains(&steps), "{steps}");
}
