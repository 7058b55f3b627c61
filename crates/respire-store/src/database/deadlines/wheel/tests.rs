//! Tests of the wheel alone. They keep the due times, as entries do in the store.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const HOUR_MS: u64 = 3_600_000;

fn part(number: u64) -> HashPart {
    HashPart::new(number)
}

/// Takes out all items that have come up, puts back those that are not due, and returns how many came up.
fn turn(wheel: &mut Wheel, due: &mut BTreeMap<u64, u64>, now_ms: u64) -> usize {
    let mut came_up = 0;
    while let Some(item) = wheel.pop(now_ms) {
        came_up += 1;
        let (&number, &at) = due
            .iter()
            .find(|(number, _)| part(**number) == item)
            .expect("each item leads to a number");
        if at <= now_ms {
            due.remove(&number);
        } else {
            wheel.push(item, at, now_ms);
        }
    }
    came_up
}

/// Checks the wheel's counters and the order of its batches.
fn check(wheel: &Wheel) {
    let bytes: usize = wheel.batches.iter().map(Batch::bytes).sum();
    let items: usize = wheel.batches.iter().map(|batch| batch.items.len()).sum();
    assert_eq!((wheel.batch_bytes, wheel.items), (bytes, items));
    let times = || wheel.batches.iter().map(|batch| batch.at_ms);
    assert!(times().zip(times().skip(1)).all(|(a, b)| a < b));
    assert!(wheel.batches.iter().all(|batch| !batch.items.is_empty()));
}

proptest! {
    #[test]
    fn slot_begins_between_now_and_the_due_time(bits in (0..64_u32, 0..64_u32), at in any::<(u64, u64)>()) {
        let (now_ms, due_ms) = (at.0 >> bits.0, at.1 >> bits.1);
        let begins = slot(due_ms, now_ms);
        prop_assert!(begins <= due_ms);
        prop_assert!(begins > now_ms || due_ms <= now_ms);
    }

    /// Steps of up to years, and back.
    #[test]
    fn items_come_up_in_time_however_the_clock_moves(
        steps in vec((any::<u64>(), 24..64_u32, any::<i64>(), 22..60_u32), 1..60),
    ) {
        let (mut wheel, mut due, mut now_ms) = (Wheel::default(), BTreeMap::new(), 1 << 40);
        for (number, (wait, wait_bits, step, step_bits)) in (0..).zip(steps) {
            let at = now_ms + (wait >> wait_bits);
            wheel.push(part(number), at, now_ms);
            due.insert(number, at);
            check(&wheel);
            now_ms = now_ms.saturating_add_signed(step >> step_bits);
            turn(&mut wheel, &mut due, now_ms);
            check(&wheel);
            prop_assert!(due.values().all(|at| *at > now_ms));
            prop_assert!(due.iter().all(|(number, at)| wheel.has(part(*number), *at)));
            prop_assert_eq!(wheel.len(), due.len());
            prop_assert!(wheel.next_ms().is_none_or(|next| next > now_ms));
        }
    }
}

#[test]
fn item_comes_up_at_most_once_per_level() {
    for due_ms in [
        1,
        63,
        64,
        100_000,
        HOUR_MS,
        24 * HOUR_MS,
        365 * 24 * HOUR_MS,
        u64::MAX - 1,
    ] {
        let (mut wheel, mut due) = (Wheel::default(), BTreeMap::from([(0, due_ms)]));
        wheel.push(part(0), due_ms, 0);
        let mut came_up = 0;
        while let Some(now_ms) = wheel.next_ms() {
            came_up += turn(&mut wheel, &mut due, now_ms);
        }
        assert!(due.is_empty());
        assert!(
            came_up <= 1 + (due_ms.ilog2() / LEVEL_BITS) as usize,
            "{due_ms}: {came_up}"
        );
    }
}

#[test]
fn items_of_one_time_come_up_one_by_one_and_free_their_memory() {
    let mut wheel = Wheel::default();
    for number in 0..100_000 {
        wheel.push(part(number), 5_000, 0);
    }
    check(&wheel);
    assert_eq!((wheel.len(), wheel.batches()), (100_000, 1));
    let bytes = wheel.bytes();
    assert!((400_000..520_000).contains(&bytes), "{bytes}");
    let mut numbers: Vec<u32> = std::iter::from_fn(|| wheel.pop(5_000))
        .map(|HashPart(number)| number)
        .collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..100_000));
    assert_eq!((wheel.len(), wheel.batch_bytes), (0, 0));
    assert!(wheel.bytes() < 200, "{}", wheel.bytes());
}

#[test]
fn item_is_not_added_twice_to_a_small_batch() {
    let mut wheel = Wheel::default();
    for _ in 0..10 {
        wheel.push(part(1), 5_000, 0);
        wheel.push(part(2), 5_001, 0);
    }
    assert_eq!((wheel.len(), wheel.batches()), (2, 1));
    wheel.push(part(1), 700, 0);
    assert_eq!((wheel.len(), wheel.next_ms()), (3, Some(512)));
}

#[test]
fn queue_of_many_batches_is_bounded_and_shrinks_as_they_come_up() {
    let (mut wheel, mut due) = (Wheel::default(), BTreeMap::new());
    // Times to live of every length up to two months, each as likely as another of its magnitude.
    for number in 0..3_000 {
        let at = 1 << (number % 32);
        let at = at + crate::hash::mix(number) % at;
        wheel.push(part(number), at, 0);
        due.insert(number, at);
    }
    let (batches, bytes) = (wheel.batches(), wheel.bytes());
    assert!((100..5 * 256).contains(&batches), "{batches}");
    assert!(bytes < 3_000 * 20, "{bytes}");
    turn(&mut wheel, &mut due, 1 << 31);
    check(&wheel);
    let less = wheel.bytes();
    assert!(less < bytes / 4, "{less} of {bytes}");
    wheel.shrink();
    check(&wheel);
    assert!(wheel.bytes() <= less);
    assert_eq!(wheel.len(), due.len());
}

#[test]
fn sample_returns_every_item() {
    let mut wheel = Wheel::default();
    assert_eq!(wheel.sample(7), None);
    for number in 0..300 {
        wheel.push(part(number), number * number * 100, 0);
    }
    let mut seen = [0; 300];
    for random in 0..600 {
        let Some(HashPart(number)) = wheel.sample(random) else {
            panic!("there are items");
        };
        seen[number as usize] += 1;
    }
    assert_eq!(seen, [2; 300]);
}
