//! Compares streams with models under random edits.

use std::collections::{BTreeMap, BTreeSet};

use super::id_map::IdMap;
use super::*;
use crate::types::StringRef;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn id(ms: u64, seq: u64) -> StreamId {
    StreamId { ms, seq }
}

fn pairs(fields: &Fields) -> impl Pairs<'_> {
    fields.iter().map(|(field, value)| (&**field, &**value))
}

fn read(entry: &StreamEntry<'_>) -> (StreamId, Fields) {
    let text = |text: StringRef<'_>| text.as_bytes(&mut [0; 20]).to_vec();
    let fields = entry.fields();
    (
        entry.id(),
        fields
            .map(|(field, value)| (text(field), text(value)))
            .collect(),
    )
}

fn entries(stream: &Stream, range: &StreamRange) -> Vec<(StreamId, Fields)> {
    let mut entries = Vec::new();
    let slice = stream.read().slice(range);
    slice.for_each(&mut |entry| entries.push(read(&entry)));
    assert_eq!(entries.len(), slice.len());
    entries
}

/// Counts the bytes of all parts again.
fn recount(stream: &Stream) {
    let copy = stream.clone();
    assert_eq!(copy.blocks.len(), stream.blocks.len());
    let lives = stream.blocks.iter().map(|(_, block)| block.live());
    assert_eq!(lives.sum::<u64>(), stream.marks.length);
    assert!(stream.blocks.iter().all(|(_, block)| block.live() > 0));
}

fn random_fields(random: &mut Random) -> Fields {
    let names = ["a", "b", "17", "a longer name"];
    let count = 1 + random.below(3);
    let is_usual = random.below(4) > 0;
    (0..count)
        .map(|at| {
            let name = if is_usual { at } else { random.below(4) };
            let value = match random.below(4) {
                0 => random.below(1 << 40).to_string(),
                1 => format!("-{}", random.below(300)),
                2 => "x".repeat(random.below(100) as usize),
                _ => String::from("007"),
            };
            (names[name as usize].into(), value.into())
        })
        .collect()
}

struct Model {
    stream: Stream,
    entries: BTreeMap<StreamId, Fields>,
    limits: Limits,
    random: Random,
}

impl Model {
    fn step(&mut self) {
        let random = &mut self.random;
        let marks = *self.stream.marks();
        match random.below(20) {
            0..12 => {
                let next = marks.last_id;
                let new = match random.below(3) {
                    0 => id(next.ms, next.seq + 1),
                    _ => id(next.ms + 1 + random.below(200), random.below(3)),
                };
                let fields = random_fields(random);
                self.stream.add(new, pairs(&fields), &self.limits);
                self.entries.insert(new, fields);
            }
            12..17 => {
                let any = self.any_id();
                assert_eq!(
                    self.stream.read().contains(any),
                    self.entries.contains_key(&any)
                );
                let was = self.entries.remove(&any).is_some();
                assert_eq!(self.stream.delete(any), was);
            }
            17 => {
                let excess = random.below(20);
                let last = marks.length.saturating_sub(excess);
                self.trim(Keep::Last(last));
            }
            18 => {
                let from = self.any_id();
                if self.random.below(10) == 0 {
                    self.trim(Keep::From(from));
                }
            }
            _ => self.compare_a_range(),
        }
    }

    fn any_id(&mut self) -> StreamId {
        let at = self.random.below(self.entries.len() as u64 + 1) as usize;
        let last = self.stream.marks().last_id;
        self.entries.keys().nth(at).copied().unwrap_or(last)
    }

    fn trim(&mut self, keep: Keep) {
        let is_approximate = self.random.below(2) == 0;
        let trim = Trim {
            keep,
            is_approximate,
            entries_max: u64::MAX,
            references: References::Keep,
        };
        let removed = self.stream.trim(&trim).entries;
        for _ in 0..removed {
            self.entries.pop_first();
        }
        let is_kept = match keep {
            Keep::Last(last) => self.entries.len() as u64 >= last,
            Keep::From(_) => true,
        };
        assert!(is_kept, "no more is removed than asked");
        if !is_approximate {
            match keep {
                Keep::Last(last) => assert_eq!(self.entries.len() as u64, last),
                Keep::From(from) => assert!(self.entries.keys().all(|id| *id >= from)),
            }
        }
    }

    fn compare_a_range(&mut self) {
        let (one, other) = (self.any_id(), self.any_id());
        let range = StreamRange {
            from: one.min(other),
            to: one.max(other),
            count: 1 + self.random.below(300) as usize,
            is_reversed: self.random.below(2) == 0,
        };
        let found = entries(&self.stream, &range);
        let expected = self.entries.range(range.from..=range.to);
        let expected = expected.map(|(id, fields)| (*id, fields.clone()));
        let expected: Vec<_> = if range.is_reversed {
            expected.rev().take(range.count).collect()
        } else {
            expected.take(range.count).collect()
        };
        assert_eq!(found, expected, "{range:?}");
    }

    fn compare(&self) {
        let all = entries(&self.stream, &StreamRange::default());
        assert!(all.iter().map(|(id, _)| id).eq(self.entries.keys()));
        assert!(
            all.iter()
                .map(|(_, fields)| fields)
                .eq(self.entries.values())
        );
        let marks = self.stream.marks();
        assert_eq!(marks.length, self.entries.len() as u64);
        let first = self.entries.keys().next().copied();
        assert_eq!(marks.first_id, first.unwrap_or_default());
        let last = self.entries.keys().next_back().copied();
        assert_eq!(self.stream.read().last_entry_id(), last);
        recount(&self.stream);
    }
}

#[test]
fn stream_agrees_with_a_map_under_random_edits() {
    for (seed, elements, bytes) in [(1, 100, 4096), (2, 3, 4096), (3, 0, 200), (4, 200, 0)] {
        let mut model = Model {
            stream: Stream::default(),
            entries: BTreeMap::new(),
            limits: Limits { elements, bytes },
            random: Random(seed),
        };
        for step in 0..3_000 {
            model.step();
            if step % 100 == 0 {
                model.compare();
            }
        }
        model.compare();
    }
}

#[test]
fn snapshot_is_unchanged_by_later_edits() {
    let mut stream = Stream::default();
    let fields = vec![(b"f".to_vec(), b"v".to_vec())];
    for ms in 1..=250 {
        stream.add(id(ms, 0), pairs(&fields), &Stream::LIMITS);
    }
    stream.add_group(b"g", StreamGroup::new(StreamId::MIN, None));
    let all = StreamRange::default();
    let (copy, slice, before) = (
        stream.clone(),
        stream.read().slice(&all),
        entries(&stream, &all),
    );
    let bytes = copy.heap_bytes();
    stream.delete(id(7, 0));
    stream.add(id(300, 0), pairs(&fields), &Stream::LIMITS);
    _ = stream.trim(&Trim {
        keep: Keep::Last(10),
        is_approximate: false,
        entries_max: u64::MAX,
        references: References::Keep,
    });
    stream.edit_group(b"g", |group, _| group.add_consumer(b"c", 1));
    assert_eq!(entries(&copy, &all), before);
    assert_eq!(copy.heap_bytes(), bytes);
    assert_eq!(slice.len(), 250);
    assert_eq!(
        copy.read().group(b"g").map(StreamGroup::consumers_len),
        Some(0)
    );
}

impl id_map::Timed for u64 {
    fn time_ms(&self) -> u64 {
        self / 7 % 100
    }
}

#[test]
fn pending_entries_agree_with_a_map_under_random_edits() {
    let (mut map, mut model, mut random) = (IdMap::default(), BTreeMap::new(), Random(7));
    for step in 0..60_000 {
        let any = id(random.below(3_000), random.below(2));
        // There are more and more, and then fewer and fewer.
        if random.below(60_000) > step {
            assert_eq!(map.insert(any, step), model.insert(any, step));
        } else {
            assert_eq!(map.remove(any), model.remove(&any));
        }
        assert_eq!(
            (map.len(), map.get(any)),
            (model.len(), model.get(&any).copied())
        );
        if step % 500 == 0 {
            let expected = model.range(any..).map(|(id, value)| (*id, *value));
            assert!(map.from(any).eq(expected));
            let mut times: Vec<_> = model.iter().map(|(id, it)| (it / 7 % 100, *id)).collect();
            times.retain(|(time, _)| *time <= 50);
            times.sort_unstable();
            assert_eq!(map.earliest(50, usize::MAX), times);
            times.truncate(10);
            assert_eq!(map.earliest(50, 10), times);
            assert_eq!(map.first(), model.keys().next().copied());
            assert_eq!(map.last(), model.keys().next_back().copied());
        }
    }
}

#[test]
fn group_agrees_with_a_model_under_random_deliveries() {
    let (mut group, mut random) = (StreamGroup::default(), Random(11));
    let mut model: BTreeMap<StreamId, (u8, u64, u64)> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for step in 0..20_000_u64 {
        let (any, name) = (id(1 + random.below(500), 0), random.below(5) as u8);
        match random.below(40) {
            0..20 => {
                group.see_consumer(&[name], step);
                names.insert(name);
                assert!(group.deliver(any, &[name], step));
                model.insert(any, (name, step, 1));
            }
            20..25 => {
                group.deliver_again(any, step);
                model
                    .entry(any)
                    .and_modify(|it| *it = (it.0, step, it.2 + 1));
            }
            25 => {
                let removed = group.remove_consumer(&[name]);
                let count = model.values().filter(|it| it.0 == name).count();
                assert_eq!(removed, names.remove(&name).then_some(count));
                model.retain(|_, it| it.0 != name);
            }
            _ => assert_eq!(group.acknowledge(any), model.remove(&any).is_some()),
        }
        if step % 500 == 0 {
            let found = group.pending(StreamId::MIN);
            let found = found.map(|it| (it.id, (it.consumer.name()[0], it.delivered_ms, it.count)));
            assert!(found.eq(model.iter().map(|(id, it)| (*id, *it))));
            for consumer in group.consumers() {
                let of = |it: &(u8, u64, u64)| it.0 == consumer.name()[0];
                let expected = model.iter().filter(|(_, it)| of(it)).map(|(id, _)| *id);
                assert!(consumer.pending(StreamId::MIN).eq(expected));
            }
        }
    }
}

/// A stream of the entries 1 to 30 with two groups, and the entries that the groups need.
fn stream_with_groups(random: &mut Random) -> (Stream, BTreeSet<StreamId>) {
    let (mut stream, mut needed) = (Stream::default(), BTreeSet::new());
    let limits = Limits {
        elements: 1 + random.below(5) as u32,
        bytes: 4096,
    };
    let fields = vec![(b"f".to_vec(), b"v".to_vec())];
    for ms in 1..=30 {
        stream.add(id(ms, 0), pairs(&fields), &limits);
    }
    for name in [b"g", b"h"] {
        let read = random.below(31);
        stream.add_group(name, StreamGroup::new(id(read, 0), None));
        needed.extend((read + 1..=30).map(|ms| id(ms, 0)));
        stream.edit_group(name, |group, _| {
            group.add_consumer(b"c", 1);
            for _ in 0..random.below(10) {
                let pending = id(1 + random.below(30), 0);
                group.deliver(pending, b"c", 1);
                needed.insert(pending);
            }
        });
    }
    (stream, needed)
}

#[test]
fn entries_are_trimmed_and_deleted_as_their_references_say() {
    let mut random = Random(5);
    for round in 0..300 {
        let (mut stream, needed) = stream_with_groups(&mut random);
        let trim = Trim {
            keep: match random.below(2) {
                0 => Keep::Last(random.below(31)),
                _ => Keep::From(id(random.below(32), 0)),
            },
            is_approximate: random.below(2) == 0,
            entries_max: [u64::MAX, 12][random.below(2) as usize],
            references: [References::Respect, References::Delete][round % 2],
        };
        let (mut in_steps, mut steps, mut removed_in_steps) =
            (stream.clone(), Trimming::new(trim), 0);
        while !steps.is_over() {
            removed_in_steps += in_steps.trim_some(&mut steps, 1 + random.below(30)).entries;
        }
        let removed = stream.trim(&trim).entries;
        assert!(removed <= trim.entries_max && removed == removed_in_steps);
        let left = entries(&stream, &StreamRange::default());
        assert_eq!(entries(&in_steps, &StreamRange::default()), left);
        let left: BTreeSet<StreamId> = left.into_iter().map(|(id, _)| id).collect();
        recount(&stream);
        assert_eq!(removed as usize, 30 - left.len(), "{trim:?}");
        for gone in (1..=30).map(|ms| id(ms, 0)).filter(|id| !left.contains(id)) {
            assert!(!matches!(trim.keep, Keep::From(from) if gone >= from));
            match trim.references {
                References::Respect => assert!(!needed.contains(&gone), "{trim:?}"),
                _ => assert!(!stream.groups.forget(gone, false), "{trim:?}"),
            }
        }
        if let (Keep::Last(last), false, u64::MAX) =
            (trim.keep, trim.is_approximate, trim.entries_max)
        {
            let excess = 30 - last.min(30);
            let expected = match trim.references {
                References::Respect => excess.min(30 - needed.len() as u64),
                _ => excess,
            };
            assert_eq!(removed, expected, "{trim:?}");
        }
        for id in left {
            let is_needed = stream.is_referenced(id);
            assert_eq!(is_needed, needed.contains(&id));
            let deletion = stream.delete_with(id, References::Respect);
            assert_eq!(deletion == Deletion::Deleted, !is_needed);
        }
    }
}

#[test]
fn scan_visits_every_entry_that_stays() {
    let mut stream = Stream::default();
    let fields = vec![(b"f".to_vec(), b"v".to_vec())];
    for at in 0..1_000 {
        // Several blocks have one time.
        stream.add(id(at / 300, at + 1), pairs(&fields), &Stream::LIMITS);
    }
    let (mut cursor, mut found) = (0, BTreeSet::new());
    loop {
        cursor = stream.read().scan(cursor, 10, &mut |entry| {
            found.insert(entry.id().seq);
        });
        stream.delete(id(2, 700));
        _ = stream.trim(&Trim {
            keep: Keep::From(id(0, 50)),
            is_approximate: false,
            entries_max: u64::MAX,
            references: References::Keep,
        });
        if cursor == 0 {
            break;
        }
    }
    assert!(
        (50..=1_000)
            .filter(|at| *at != 700)
            .all(|at| found.contains(&at))
    );
}

#[test]
fn large_stream_is_freed_in_steps_and_its_bytes_with_it() {
    let mut stream = Stream::default();
    let fields = vec![(b"f".to_vec(), b"v".to_vec())];
    stream.add_group(b"g", StreamGroup::new(StreamId::MIN, None));
    stream.edit_group(b"g", |group, _| group.add_consumer(b"c", 1));
    for ms in 1..=20_000 {
        stream.add(id(ms, 0), pairs(&fields), &Stream::LIMITS);
    }
    let all = stream.read().slice(&StreamRange::default());
    stream.deliver(b"g", &all, Some(b"c"), 5);
    drop(all);
    let (mut steps, mut bytes) = (0, stream.heap_bytes());
    loop {
        let mut budget = 40;
        let is_free = stream.free_some(&mut budget);
        assert!(stream.heap_bytes() <= bytes);
        bytes = stream.heap_bytes();
        steps += 1;
        if is_free {
            break;
        }
    }
    assert!(steps > 10, "{steps}");
    assert!(bytes < 10_000, "{bytes}");
}

#[test]
fn entry_and_pending_entry_take_no_more_memory_than_in_redis() {
    let mut stream = Stream::default();
    let count = 100_000;
    for ms in 1..=count {
        let value = format!("{:010}", ms * 7_919 % 10_000_000_019).into_bytes();
        let value = [&b"v"[..], &value[1..]].concat();
        let fields: Fields = ["f", "g", "h"].map(|it| (it.into(), value.clone())).into();
        stream.add(
            id(1_700_000_000_000 + ms, 0),
            pairs(&fields),
            &Stream::LIMITS,
        );
    }
    let per_entry = stream.heap_bytes() as f64 / count as f64;
    assert!(per_entry <= 46.0, "{per_entry}");
    stream.add_group(b"g", StreamGroup::new(StreamId::MIN, None));
    stream.edit_group(b"g", |group, _| group.add_consumer(b"c", 1));
    let before = stream.heap_bytes();
    let all = stream.read().slice(&StreamRange::default());
    stream.deliver(b"g", &all, Some(b"c"), 5);
    let per_pending = (stream.heap_bytes() - before) as f64 / count as f64;
    assert!(per_pending <= 60.0, "{per_pending}");
}

#[test]
fn blocks_that_come_back_make_the_same_stream() {
    let mut stream = Stream::default();
    let fields = vec![(b"f".to_vec(), b"v".to_vec())];
    for ms in 1..=250 {
        stream.add(id(ms, 0), pairs(&fields), &Stream::LIMITS);
    }
    stream.delete(id(3, 0));
    let mut blocks = StreamBlocks::default();
    for (master, bytes) in stream.read().blocks() {
        assert_eq!(blocks.add(master, bytes.to_vec()), Some(()));
    }
    let all = StreamRange::default();
    let back = blocks
        .into_stream(*stream.marks())
        .expect("the blocks are right");
    assert_eq!(entries(&back, &all), entries(&stream, &all));
    assert_eq!(back.marks(), stream.marks());
}

#[test]
fn damaged_blocks_are_refused_or_read_without_a_panic() {
    let mut stream = Stream::default();
    let mut random = Random(3);
    for ms in 1..=20 {
        stream.add(
            id(ms, 0),
            pairs(&random_fields(&mut random)),
            &Stream::LIMITS,
        );
    }
    let (master, bytes) = stream.read().blocks().next().expect("one block");
    for at in 0..bytes.len() {
        for flip in [1, 2, 0x80, 0xff] {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= flip;
            let mut blocks = StreamBlocks::default();
            if blocks.add(master, damaged).is_some() {
                let mut marks = *stream.marks();
                marks.last_id = StreamId::MAX;
                let Some(mut back) = blocks.into_stream(marks) else {
                    continue;
                };
                let count = entries(&back, &StreamRange::default()).len();
                assert_eq!(count as u64, back.marks().length);
                back.delete(id(5, 0));
            }
        }
    }
}
