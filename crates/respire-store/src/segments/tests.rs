//! Segments against a model, and their bounds.

use std::collections::BTreeMap;

use super::*;
use crate::hash::mix;

type Model = BTreeMap<Vec<u8>, (Vec<u8>, Option<u64>)>;

const SEED: [u64; 4] = [1, 2, 3, 4];

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) % end as u64) as usize
    }

    fn text(&mut self, number: usize, long: bool) -> Vec<u8> {
        let len = match self.below(20) {
            0 => 0,
            1 => 40,
            2 => 300,
            3 if long => NEAR_BYTES_MAX,
            4 if long => NEAR_BYTES_MAX + 1,
            5 if long => 20_000,
            _ => 9,
        };
        let mut text = number.to_string().into_bytes();
        text.resize(len.max(text.len()), b'.');
        text
    }
}

fn element_of(number: usize) -> Vec<u8> {
    let mut random = Random(number as u64);
    random.text(number, number % 50 == 1)
}

/// Recounts everything, and compares the elements with the model's.
fn check<const VALUES: bool>(segments: &Segments<VALUES>, model: &Model) {
    assert_eq!(segments.len(), model.len());
    let all = || (0..segments.count).map(|at| segments.segment(at));
    assert_eq!(all().map(Segment::len).sum::<usize>(), model.len());
    let entry_bytes: usize = all().map(Segment::entry_bytes).sum();
    let heap_bytes: usize = all().map(Segment::heap_bytes).sum();
    assert_eq!(entry_bytes, segments.entry_bytes);
    assert_eq!(heap_bytes, segments.segment_bytes);
    assert!(all().all(|segment| segment.len() <= segments.len_max));
    let mut found = Model::new();
    segments.for_each(|element| {
        let key = element.element.as_bytes().to_vec();
        let value = element.value.as_bytes().to_vec();
        assert_eq!(found.insert(key, (value, element.expires_at)), None);
    });
    assert!(found == *model);
}

fn play<const VALUES: bool>(seed: u64, steps: usize) {
    let mut random = Random(seed);
    let mut segments = Segments::<VALUES>::new(SEED);
    let mut model = Model::new();
    let mut snapshots: Vec<(Segments<VALUES>, Model)> = Vec::new();
    // Phases of growth and of shrinking.
    let mut removals = 3;
    for step in 0..steps {
        if step % 4_000 == 0 {
            removals = [3, 8, 5][random.below(3)];
        }
        let element = element_of(random.below(3_000));
        if random.below(10) < removals {
            assert_eq!(segments.remove(&element), model.remove(&element).is_some());
        } else {
            let value = if VALUES {
                random.text(step, true)
            } else {
                Vec::new()
            };
            let expires_at = (VALUES && random.below(5) == 0).then(|| random.below(100) as u64);
            let new = NewElement {
                expires_at,
                ..NewElement::new(&element, &*value)
            };
            let is_new = segments.insert(&new);
            assert_eq!(is_new, !model.contains_key(&element));
            if is_new || VALUES {
                model.insert(element.clone(), (value, expires_at));
            }
        }
        let found = segments.get(&element);
        let found = found.map(|found| (found.value.as_bytes().to_vec(), found.expires_at));
        assert_eq!(found, model.get(&element).cloned());
        assert_eq!(segments.contains(&element), model.contains_key(&element));
        segments.warm(&element);
        segments.warm_found(&element);
        match random.below(500) {
            0 => snapshots.push((segments.clone(), model.clone())),
            1 if !snapshots.is_empty() => {
                let (snapshot, model) = snapshots.swap_remove(random.below(snapshots.len()));
                check(&snapshot, &model);
            }
            2 => check(&segments, &model),
            3 if !snapshots.is_empty() => {
                // Go on from a snapshot, and keep what there is as one.
                let at = random.below(snapshots.len());
                core::mem::swap(&mut segments, &mut snapshots[at].0);
                core::mem::swap(&mut model, &mut snapshots[at].1);
            }
            _ => {}
        }
    }
    for (mut snapshot, model) in snapshots {
        check(&snapshot, &model);
        while !snapshot.free_some(&mut 1) {}
        assert_eq!((snapshot.heap_bytes_of_segments(), snapshot.len()), (0, 0));
    }
    check(&segments, &model);
}

impl<const VALUES: bool> Segments<VALUES> {
    fn heap_bytes_of_segments(&self) -> usize {
        self.segment_bytes + self.entry_bytes
    }
}

#[test]
fn random_edits_and_snapshots_agree_with_a_model() {
    let steps = if cfg!(miri) { 300 } else { 20_000 };
    for seed in 0..3 {
        play::<true>(seed, steps);
        play::<false>(seed, steps);
    }
}

fn filled(elements: usize) -> Members {
    let mut members = Members::new(SEED);
    for at in 0..elements {
        members.insert(&NewElement::new(at.to_string().as_bytes(), b""));
    }
    members
}

#[test]
fn scan_visits_what_stays_exactly_once_while_segments_come_and_go() {
    for (before, add, count) in [
        (3_000, 30, 10),
        (20_000, -70, 10),
        (1_000, 0, 1),
        (5_000, 3, 100_000),
    ] {
        let mut members = filled(before as usize);
        // Every tenth stays.
        let mut others: Vec<usize> = (0..before as usize).filter(|at| at % 10 != 0).collect();
        let mut added = before as usize;
        let mut seen = BTreeMap::<Vec<u8>, usize>::new();
        let (mut cursor, mut calls) = (0, 0);
        loop {
            let mut visited = 0;
            cursor = members.scan(cursor, count, |element| {
                *seen.entry(element.element.as_bytes().to_vec()).or_default() += 1;
                visited += 1;
            });
            assert!(visited <= count + 2);
            calls += 1;
            if cursor == 0 {
                break;
            }
            for _ in 0..add {
                members.insert(&NewElement::new(
                    (added + usize::from(added.is_multiple_of(10)))
                        .to_string()
                        .as_bytes(),
                    b"",
                ));
                added += 1;
            }
            for _ in add..0 {
                if let Some(gone) = others.pop() {
                    assert!(members.remove(gone.to_string().as_bytes()));
                }
            }
        }
        assert!(calls > before as usize / count / 12, "{calls}");
        for at in (0..before as usize).step_by(10) {
            assert_eq!(seen.get(at.to_string().as_bytes()), Some(&1), "{at}");
        }
        assert!(seen.values().all(|times| *times == 1));
    }
}

#[test]
fn any_number_is_a_cursor() {
    let members = filled(1_000);
    let mut random = Random(5);
    for _ in 0..1_000 {
        let cursor = mix(random.below(usize::MAX) as u64);
        let next = members.scan(cursor, 10, |_| ());
        assert!(next < 1 << 48);
    }
    assert_eq!(members.scan(u64::MAX, 10, |_| ()), 0);
    assert_eq!(Members::new(SEED).scan(77, 10, |_| ()), 0);
}

#[test]
fn sample_selects_all_elements_alike() {
    for elements in [1, 2, 100, 700] {
        let members = filled(elements);
        let mut times = BTreeMap::<Vec<u8>, u32>::new();
        let draws = 200 * elements as u64;
        for random in 0..draws {
            let sampled = members.sample(mix(random)).expect("there are some");
            *times
                .entry(sampled.element.as_bytes().to_vec())
                .or_default() += 1;
        }
        assert_eq!(times.len(), elements);
        // Six standard deviations of 200 draws.
        assert!(
            times
                .values()
                .all(|times| (115..285).contains(times) || elements == 1)
        );
    }
    assert!(Members::new(SEED).sample(1).is_none());
}

#[test]
fn sample_finds_the_few_that_are_left_of_many() {
    let mut members = filled(5_000);
    for at in 3..5_000_usize {
        assert!(members.remove(at.to_string().as_bytes()));
    }
    let mut seen: Vec<Vec<u8>> = (0..200)
        .filter_map(|random| members.sample(random))
        .map(|one| one.element.as_bytes().to_vec())
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [b"0", b"1", b"2"]);
}

#[test]
fn no_segment_is_much_larger_than_the_others() {
    let members = filled(100_000);
    let largest = (0..members.parts())
        .map(|at| members.part(at).count())
        .max();
    assert!(largest < Some(400), "{largest:?}");
    let mut fields = Fields::new(SEED);
    for at in 0..10_000_usize {
        fields.insert(&NewElement::new(
            at.to_string().as_bytes(),
            [b'v'; 900].as_slice(),
        ));
    }
    let largest = (0..fields.count)
        .map(|at| fields.segment(at).entry_bytes())
        .max();
    assert!(largest < Some(64 << 10), "{largest:?}");
}

#[test]
fn free_some_keeps_to_its_budget() {
    let mut fields = Fields::new(SEED);
    for at in 0..20_000_usize {
        let value = vec![b'v'; 5_000];
        fields.insert(&NewElement::new(at.to_string().as_bytes(), &*value));
    }
    let shared = fields.clone();
    let mut steps = 0;
    while !fields.free_some(&mut 400) {
        steps += 1;
    }
    assert_eq!(steps, 0, "what others have takes no time");
    let mut shared = shared;
    let mut before = shared.heap_bytes();
    while !shared.free_some(&mut 400) {
        assert!(before - shared.heap_bytes() < 4_000_000);
        before = shared.heap_bytes();
        steps += 1;
    }
    assert!(steps > 30, "{steps}");
}

#[test]
fn text_that_fits_nowhere_else_is_far() {
    // One segment with more than its arena can have, as if all hashes were the same.
    let mut segment = Segment::default();
    let value = [b'v'; NEAR_BYTES_MAX];
    for at in 0..2_000_u64 {
        let new = NewElement::new(b"field", value.as_slice());
        segment.insert::<true>(Tag::of(mix(at)), &new);
    }
    assert_eq!(segment.len(), 2_000);
    let elements = segment.elements::<true>();
    assert!(
        elements
            .map(|element| element.value.as_bytes())
            .all(|found| found == value)
    );
}

/// Checks the bounds of the segments, and compares the elements that are not due.
fn check_expiring(fields: &Fields, model: &Model, now_ms: u64) {
    let live = |expires_at: &Option<u64>| expires_at.is_none_or(|at| at > now_ms);
    let mut wanted = model.clone();
    wanted.retain(|_, (_, expires_at)| live(expires_at));
    let mut found = Model::new();
    fields.for_each(|element| {
        let key = element.element.as_bytes().to_vec();
        let value = element.value.as_bytes().to_vec();
        assert_eq!(found.insert(key, (value, element.expires_at)), None);
    });
    assert!(found == wanted, "at {now_ms}");
    assert_eq!(fields.live_len(), wanted.len());
    assert_eq!(fields.sample(now_ms).is_some(), !wanted.is_empty());
    let mut scanned = 0;
    let mut cursor = 0;
    loop {
        cursor = fields.scan(cursor, 50, |_| scanned += 1);
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(scanned, wanted.len());
    for at in 0..fields.count {
        let elements = fields.segment(at).elements::<true>();
        let first = elements.filter_map(|element| element.expires_at).min();
        let due_at = fields.due_at().unwrap_or(u64::MAX);
        assert!(first.is_none_or(|first| due_at <= first));
    }
}

#[test]
fn due_elements_are_absent_whether_or_not_they_were_removed() {
    let steps = if cfg!(miri) { 300 } else { 6_000 };
    let mut random = Random(11);
    let (mut fields, mut model, mut now_ms) = (Fields::new(SEED), Model::new(), 1_000);
    for step in 0..steps {
        let field = element_of(random.below(2_000));
        let live = model
            .get(&field)
            .is_some_and(|(_, at)| at.is_none_or(|at| at > now_ms));
        let expires_at = (random.below(3) == 0).then(|| now_ms + 1 + random.below(900) as u64);
        match random.below(6) {
            0 => {
                assert_eq!(fields.remove(&field), live);
                model.remove(&field);
            }
            1 => {
                assert_eq!(fields.set_expiry(&field, expires_at), live);
                if live && let Some((_, at)) = model.get_mut(&field) {
                    *at = expires_at;
                }
            }
            _ => {
                let value = random.text(step, false);
                let new = NewElement {
                    expires_at,
                    ..NewElement::new(&field, value.as_slice())
                };
                assert_eq!(fields.insert(&new), !live);
                assert_eq!(fields.get(&field).and_then(|it| it.expires_at), expires_at);
                model.insert(field, (value, expires_at));
            }
        }
        if random.below(100) == 0 {
            let snapshot = fields.clone();
            now_ms += random.below(300) as u64;
            fields.expire(now_ms, random.below(600));
            assert!(!fields.is_due(now_ms));
            check_expiring(&fields, &model, now_ms);
            assert!(snapshot.len() >= fields.len());
        }
    }
    now_ms += 10_000;
    model.retain(|_, (_, expires_at)| expires_at.is_none());
    while fields.due_at().is_some() {
        fields.expire(now_ms, 100);
    }
    check(&fields, &model);
    assert!(!fields.has_expiries());
}

#[test]
fn elements_without_expiry_take_no_byte_for_it() {
    let mut fields = Fields::new(SEED);
    for number in 0..500 {
        fields.insert(&NewElement::new(&element_of(number), b"v"));
    }
    let before = (fields.entry_bytes, fields.heap_bytes());
    assert!(fields.set_expiry(&element_of(7), Some(100)));
    assert_eq!(fields.entry_bytes, before.0 + 8);
    assert!(fields.set_expiry(&element_of(7), None));
    assert_eq!(fields.entry_bytes, before.0);
    assert_eq!(fields.expire(100, 1_000), 0);
    assert!(fields.due_at().is_none());
}
