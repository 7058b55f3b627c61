//! Compares lists with a model, and checks what they take.

use super::*;
use crate::hash::mix;
use bytes::Bytes;

/// Small chunks, so that few elements make many.
const SMALL: Limits = Limits {
    elements: 20,
    bytes: 200,
};

/// An element that `random` selects: mostly short, at times too large for a chunk, and often equal to others.
fn text(random: u64) -> Vec<u8> {
    match random % 16 {
        0 => vec![b'l'; 150 + (random >> 8) as usize % 300],
        1..4 => ((random >> 8) as i64 >> ((random >> 4) % 64))
            .to_string()
            .into_bytes(),
        4 => Vec::new(),
        5 => b"007".to_vec(),
        6..9 => vec![b'a'; (random >> 8) as usize % 100],
        _ => ((random >> 8) % 5).to_string().into_bytes(),
    }
}

/// Checks that a list has the elements of its model, from both ends, and counts its bytes.
fn check(list: &List, model: &[Vec<u8>]) {
    let texts = |iter: ListIter<'_>| iter.map(StringRef::to_vec).collect::<Vec<_>>();
    assert_eq!(texts(list.read().iter(End::Left)), model);
    let mut reversed = texts(list.read().iter(End::Right));
    reversed.reverse();
    assert_eq!(reversed, model);
    assert_eq!(
        (list.len(), list.is_empty()),
        (model.len(), model.is_empty())
    );
    let get = |index| list.read().get(index).map(StringRef::to_vec);
    for index in [
        0,
        model.len() / 3,
        model.len() / 2,
        model.len() * 4 / 5,
        model.len(),
    ] {
        assert_eq!(get(index).as_ref(), model.get(index));
    }
    if let Form::Deque(deque) = &list.0 {
        deque.check();
    }
}

/// Makes a random edit of both.
fn edit(list: &mut List, model: &mut Vec<Vec<u8>>, random: u64) {
    let (element, r) = (text(mix(random)), mix(random + 1) as usize);
    let shared = Bytes::copy_from_slice(&element);
    let new = if random.is_multiple_of(2) {
        StringRef::Bytes(&element)
    } else {
        StringRef::Shared(&shared)
    };
    let end = if r % 2 == 0 { End::Left } else { End::Right };
    let index = r / 2 % (model.len() + 1);
    match random % 22 {
        0..8 => {
            list.push(end, new, SMALL);
            match end {
                End::Left => model.insert(0, element),
                End::Right => model.push(element),
            }
        }
        8..11 => {
            let popped = list.pop(end, |element| element.to_vec());
            let expected = match end {
                _ if model.is_empty() => None,
                End::Left => Some(model.remove(0)),
                End::Right => model.pop(),
            };
            assert_eq!(popped, expected);
        }
        11..15 => {
            list.insert(index, new, SMALL);
            model.insert(index, element);
        }
        15..19 => {
            assert_eq!(list.set(index, new, SMALL), index < model.len());
            if let Some(old) = model.get_mut(index) {
                *old = element;
            }
        }
        19 | 20 => remove_equal(list, model, end, r),
        _ => {
            let count = if r % 64 == 0 { usize::MAX } else { r % 40 };
            list.cut(end, count);
            let count = count.min(model.len());
            match end {
                End::Left => drop(model.drain(..count)),
                End::Right => model.truncate(model.len() - count),
            }
        }
    }
}

fn remove_equal(list: &mut List, model: &mut Vec<Vec<u8>>, end: End, r: usize) {
    let needle = model.get(r / 16 % model.len().max(1)).cloned();
    let needle = needle.unwrap_or_default();
    let max = [1, 2, 5, usize::MAX][r / 2 % 4];
    let mut places: Vec<usize> = (0..model.len()).filter(|at| model[*at] == needle).collect();
    let mut found = Vec::new();
    list.read().find(end, &needle, usize::MAX, |index| {
        found.push(index);
        true
    });
    if end == End::Right {
        places.reverse();
    }
    assert_eq!(found, places);
    places.truncate(max);
    assert_eq!(list.remove_equal(end, &needle, max, SMALL), places.len());
    places.sort_unstable();
    places.iter().rev().for_each(|at| drop(model.remove(*at)));
}

#[test]
fn list_is_as_its_model_whatever_is_changed_and_snapshots_stay() {
    for seed in 0..6 {
        let (mut list, mut model) = (List::default(), Vec::new());
        let mut snapshots = Vec::new();
        for step in 0..6_000_u64 {
            let random = mix((seed << 32) | (step * 2));
            edit(&mut list, &mut model, random);
            if step % 50 == 0 {
                check(&list, &model);
            }
            if step % 900 == 0 {
                snapshots.push((list.clone(), model.clone()));
            }
            if step % 1_300 == 0 && snapshots.len() > 1 {
                // From now on it changes what others share.
                (list, model) = snapshots.swap_remove(0);
                snapshots.push((list.clone(), model.clone()));
            }
        }
        snapshots
            .iter()
            .for_each(|(list, model)| check(list, model));
    }
}

#[test]
fn large_list_of_short_elements_takes_little_more_than_their_bytes() {
    for end in [End::Left, End::Right] {
        let mut list = List::default();
        let elements: Vec<String> = (0..200_000).map(|it| format!("{it:010}x")).collect();
        let elements = elements
            .iter()
            .map(|it| StringRef::Bytes(&it.as_bytes()[1..]));
        list.extend(end, elements, List::LIMITS);
        let bytes = list.heap_bytes();
        assert!(bytes < 200_000 * 122 / 10, "{end:?}: {bytes}");
        assert!(bytes > 200_000 * 12, "{end:?}: {bytes}");
    }
}

#[test]
fn queue_takes_the_memory_of_the_elements_that_it_holds() {
    let mut list = List::default();
    for number in 0..100_000 {
        list.push(End::Right, StringRef::Int(number), List::LIMITS);
        if number >= 1_000 {
            assert_eq!(
                list.pop(End::Left, |element| element.to_int()),
                Some(Some(number - 1_000))
            );
        }
    }
    assert!(list.heap_bytes() < 32 << 10, "{}", list.heap_bytes());
    list.cut(End::Left, 998);
    assert!(list.heap_bytes() < 1_024, "{}", list.heap_bytes());
}

#[test]
fn small_list_is_packed_and_read_back() {
    let mut list = List::default();
    let mut model = Vec::new();
    while let Some(packed) = list.packed() {
        let read = List::read_packed(packed);
        assert!(
            read.iter(End::Left)
                .map(StringRef::to_vec)
                .eq(model.iter().cloned())
        );
        assert_eq!(read.len(), model.len());
        let copy = List::from_packed(packed.to_vec());
        check(&copy, &model);
        let element = text(mix(model.len() as u64));
        list.push(End::Left, StringRef::Bytes(&element), List::LIMITS);
        model.insert(0, element);
    }
    assert!(model.len() > 10);
    check(&list, &model);
}

#[test]
fn list_is_freed_in_steps() {
    let mut list = List::default();
    list.extend(End::Right, (0..1_000_000).map(StringRef::Int), List::LIMITS);
    let (mut steps, mut bytes) = (0, list.heap_bytes());
    loop {
        let mut budget = 10;
        let is_done = list.free_some(&mut budget);
        assert!(list.heap_bytes() < bytes);
        bytes = list.heap_bytes();
        steps += 1;
        if is_done {
            break;
        }
    }
    assert!(steps > 50 && bytes < 32 << 10, "{steps} {bytes}");
}

#[test]
fn snapshot_shares_large_elements_and_all_chunks_but_the_ends() {
    let mut list = List::default();
    let large = Bytes::from(vec![b'x'; 20_000]);
    for number in 0..10_000 {
        list.push(End::Right, StringRef::Int(number), List::LIMITS);
        if number % 1_000 == 0 {
            list.push(End::Right, StringRef::Shared(&large), List::LIMITS);
        }
    }
    let snapshot = list.clone();
    let mut same = 0;
    for (old, new) in snapshot
        .read()
        .iter(End::Left)
        .zip(list.read().iter(End::Left))
    {
        if let (StringRef::Shared(old), StringRef::Shared(new)) = (old, new) {
            assert_eq!(
                (old.as_ptr(), new.as_ptr()),
                (large.as_ptr(), large.as_ptr())
            );
            same += 1;
        }
    }
    assert_eq!(same, 10);
    list.set(5_000, StringRef::Bytes(b"changed"), List::LIMITS);
    assert_eq!(
        list.read().get(5_000).map(StringRef::to_vec),
        Some(b"changed".to_vec())
    );
    assert_ne!(
        snapshot.read().get(5_000).map(StringRef::to_vec),
        Some(b"changed".to_vec())
    );
}

#[test]
fn listpacks_are_those_that_redis_would_have() {
    let mut list = List::default();
    list.extend(End::Right, (0..5_000).map(StringRef::Int), List::LIMITS);
    let large = vec![b'x'; 9_000];
    list.push(End::Right, StringRef::Bytes(&large), List::LIMITS);
    let (mut all, mut lens) = (Vec::new(), Vec::new());
    list.read().listpacks(&mut |bytes| {
        let read = listpack::Listpack::verify(bytes).unwrap();
        all.extend(read.iter().map(|element| element.to_bytes().into_owned()));
        lens.push(bytes.len());
    });
    assert_eq!(all.len(), 5_001);
    assert!(
        all[..5_000]
            .iter()
            .enumerate()
            .all(|(at, it)| *it == at.to_string().as_bytes())
    );
    assert_eq!(all[5_000], large);
    assert_eq!(lens.len(), list.read().listpacks_len());
    assert!(lens[..lens.len() - 1].iter().all(|len| *len <= 8 << 10));
}
