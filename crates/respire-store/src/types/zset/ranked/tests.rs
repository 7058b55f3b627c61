//! Tests of large sorted sets: edits, ranks, ranges and snapshots against a model.

use super::*;
use crate::hash::mix;
use std::collections::BTreeMap;

/// A set whose elements are kept in the simplest way.
#[derive(Default, Clone)]
struct Model(BTreeMap<Vec<u8>, f64>);

impl Model {
    fn sorted(&self) -> Vec<(Vec<u8>, f64)> {
        let mut sorted: Vec<_> = self
            .0
            .iter()
            .map(|(member, score)| (member.clone(), *score))
            .collect();
        sorted.sort_by(|(a, x), (b, y)| x.partial_cmp(y).unwrap().then_with(|| a.cmp(b)));
        sorted
    }
}

fn texts(elements: impl Iterator<Item = (impl Into<Vec<u8>>, f64)>) -> Vec<(Vec<u8>, f64)> {
    elements
        .map(|(member, score)| (member.into(), score))
        .collect()
}

/// Counts everything again and compares it with what is kept.
fn check(set: &Ranked) {
    fn nodes(node: &Inner, bytes: &mut usize, leaves: &Leaves) -> usize {
        *bytes += node.heap_bytes(true);
        assert!(node.bounds_are_sorted());
        assert!(node.len() <= inner::CHILDREN_MAX);
        let counts = (0..node.len()).map(|at| {
            let count = match node.node(at) {
                Node::Inner(child) => nodes(child, bytes, leaves),
                Node::Leaf(leaf) => leaves.get(*leaf).iter().count(),
            };
            assert_eq!(count, node.count_before(at + 1) - node.count_before(at));
            assert!(count > 0);
            count
        });
        counts.sum()
    }
    let mut bytes = 0;
    let len = nodes(&set.tree.root, &mut bytes, &set.members.leaves);
    assert_eq!(len, set.len());
    assert_eq!(bytes, set.tree.bytes);
    assert_eq!(
        set.members.leaves.recount(),
        set.members.leaves.heap_bytes()
    );
    assert_eq!(
        set.members.lookup.index.recount(),
        set.members.lookup.index.heap_bytes()
    );
}

/// Compares all that can be read with the model.
fn compare(set: &Ranked, model: &Model, random: u64) {
    check(set);
    let sorted = model.sorted();
    assert_eq!(texts(set.iter_from(0)), sorted);
    let mut back = texts(set.iter_back_from(usize::MAX));
    back.reverse();
    assert_eq!(back, sorted);
    for step in 0..20 {
        let random = mix(random + step);
        let rank = random as usize % (sorted.len() + 2);
        let next = sorted
            .get(rank)
            .map(|(member, score)| (&member[..], *score));
        assert_eq!(set.iter_from(rank).next(), next);
        let before = rank
            .min(sorted.len())
            .checked_sub(1)
            .map(|at| (&sorted[at].0[..], sorted[at].1));
        assert_eq!(set.iter_back_from(rank).next(), before);
        if let Some((member, score)) = next {
            assert_eq!(set.rank(member), Some((rank, score)));
            assert_eq!(set.score(member), Some(score));
            let below = sorted.iter().filter(|(_, other)| *other < score).count();
            let equal = sorted.iter().filter(|(_, other)| *other == score).count();
            assert_eq!(set.count_below_score(score, false), below);
            assert_eq!(set.count_below_score(score, true), below + equal);
        }
    }
    let mut scanned = Model::default();
    let mut cursor = 0;
    loop {
        cursor = set.scan(cursor, 1 + random as usize % 20, &mut |member, score| {
            assert_eq!(scanned.0.insert(member.to_vec(), score), None);
        });
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(scanned.0, model.0);
}

fn member(random: u64) -> Vec<u8> {
    let number = mix(random) % 3_000;
    match random % 40 {
        0 => vec![b'x'; number as usize],
        1..20 => format!("user:{number:09}").into_bytes(),
        _ => number.to_string().into_bytes(),
    }
}

fn score(random: u64) -> f64 {
    match random % 8 {
        0 => 0.0,
        1 => -0.0,
        2 => f64::INFINITY,
        3 => f64::NEG_INFINITY,
        4 => 1.0,
        _ => (mix(random) % 2_000) as f64 / 16.0 - 60.0,
    }
}

#[test]
fn set_equals_its_model_after_random_edits_and_so_do_snapshots() {
    for seed in 0..if cfg!(miri) { 1 } else { 6_u64 } {
        let (mut set, mut model) = (Ranked::new([1, 2, 3, 4]), Model::default());
        let mut snapshots = Vec::new();
        for step in 0..if cfg!(miri) { 300 } else { 12_000_u64 } {
            let random = mix(seed << 32 | step);
            let member = member(random >> 8);
            // The set grows, then shrinks.
            let adds = if step < 6_000 { 7 } else { 2 };
            if random % 10 < adds {
                let score = score(random >> 16);
                let old = model.0.get(&member).copied();
                assert_eq!(set.insert(&member, score), old);
                if old != Some(score) {
                    model.0.insert(member, score);
                }
            } else if random % 100 == 99 {
                let (start, count) = (
                    (random >> 32) as usize % (set.len() + 1),
                    (random >> 50) as usize % 90,
                );
                let sorted = model.sorted();
                let mut removed = Vec::new();
                set.remove_range(start, count, &mut |member, score| {
                    removed.push((member.to_vec(), score))
                });
                assert_eq!(removed, sorted[start..sorted.len().min(start + count)]);
                removed
                    .iter()
                    .for_each(|(member, _)| _ = model.0.remove(member));
            } else {
                assert_eq!(set.remove(&member), model.0.remove(&member));
            }
            if step % 1_500 == 1_499 {
                compare(&set, &model, random);
                snapshots.push((set.clone(), model.clone()));
            }
        }
        snapshots
            .iter()
            .for_each(|(set, model)| compare(set, model, seed));
        // The index of a shared set is its own after a change.
        let (mut copy, model) = snapshots.swap_remove(0);
        copy.remove_range(0, usize::MAX, &mut |_, _| {});
        compare(&copy, &Model::default(), seed);
        assert_eq!(copy.insert(b"again", 1.0), None);
        drop(model);
    }
}

#[test]
fn members_of_the_same_score_are_ordered_and_counted_by_bytes() {
    let (mut set, mut members) = (Ranked::new([1, 2, 3, 4]), Vec::new());
    for step in 0..2_000_u64 {
        let member = format!("a common start of all {:08}", mix(step) % 100_000_000).into_bytes();
        set.insert(&member, if step % 2 == 0 { 0.0 } else { -0.0 });
        members.push(member);
    }
    members.sort();
    check(&set);
    assert!(set.iter_from(0).map(|(member, _)| member).eq(&members));
    for (rank, member) in members.iter().enumerate() {
        assert_eq!(set.rank(member).map(|(rank, _)| rank), Some(rank));
        assert_eq!(set.count_below_member(member, false), rank);
        assert_eq!(set.count_below_member(member, true), rank + 1);
    }
    assert_eq!(set.count_below_member(b"", false), 0);
    assert_eq!(set.count_below_member(b"b", true), 2_000);
    let minus_zeros = set
        .iter_from(0)
        .filter(|(_, score)| score.is_sign_negative())
        .count();
    assert_eq!(minus_zeros, 1_000);
}

#[test]
fn scan_visits_elements_whose_scores_change_meanwhile() {
    let mut set = Ranked::new([1, 2, 3, 4]);
    (0..5_000_u32).for_each(|at| assert_eq!(set.insert(&at.to_le_bytes(), f64::from(at)), None));
    let (mut seen, mut cursor, mut step) = (Vec::new(), 0, 0_u32);
    loop {
        cursor = set.scan(cursor, 10, &mut |member, _| seen.push(member.to_vec()));
        for _ in 0..20 {
            step += 1;
            // Elements move to the front; others come and go.
            set.insert(&(step * 7 % 5_000).to_le_bytes(), -f64::from(step));
            set.insert(format!("new {step}").as_bytes(), 0.0);
            set.remove(format!("new {}", step / 2).as_bytes());
        }
        if cursor == 0 {
            break;
        }
    }
    seen.sort();
    seen.dedup();
    let missed =
        (0..5_000_u32).filter(|at| seen.binary_search(&at.to_le_bytes().to_vec()).is_err());
    assert_eq!(missed.count(), 0);
    assert_eq!(set.scan(u64::MAX, 10, &mut |_, _| {}), 0);
}

#[test]
fn elements_in_order_fill_the_leaves() {
    let mut set = Ranked::new([1, 2, 3, 4]);
    (0..20_000_u32).for_each(|at| {
        assert_eq!(
            set.insert(format!("{at:010}").as_bytes(), f64::from(at)),
            None
        )
    });
    check(&set);
    let bytes = set.heap_bytes() / set.len();
    assert!(bytes < 36, "{bytes}");
}

#[test]
fn set_is_freed_in_steps_whether_it_is_shared_or_not() {
    for is_shared in [false, true] {
        let mut set = Ranked::new([1, 2, 3, 4]);
        (0..20_000_u32).for_each(|at| {
            assert_eq!(
                set.insert(&mix(u64::from(at)).to_le_bytes(), f64::from(at % 777)),
                None
            )
        });
        let copy = is_shared.then(|| set.clone());
        let (mut steps, mut before) = (0, set.heap_bytes());
        loop {
            let mut budget = 10;
            let is_done = set.free_some(&mut budget);
            assert!(set.heap_bytes() < before || is_done);
            before = set.heap_bytes();
            steps += 1;
            if is_done {
                break;
            }
        }
        assert!((40..600).contains(&steps), "{steps}");
        assert!(before < 4_000, "{before}");
        if let Some(copy) = copy {
            check(&copy);
            assert_eq!(copy.iter_from(0).count(), 20_000);
        }
    }
}
