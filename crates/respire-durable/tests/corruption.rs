//! Each byte of a small log is damaged: the log is refused, or it holds what it held before, or a
//! prefix of that where a file was cut at its end.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod world;

use respire_durable::log::Policy;
use world::{Plan, World};

const MANIFEST: &str = "appendonly.aof.manifest";

/// A log that was stopped, with two increments and few bytes.
fn small() -> (World, Vec<(String, Vec<u8>)>) {
    let plan = Plan {
        policy: Policy::Always,
        unit_bytes_max: 40,
        ..Plan::default()
    };
    let mut world = World::new(7, plan);
    world.two_increments();
    let increments = world.manifest().increments.clone();
    let names = increments.into_iter().map(|entry| entry.name);
    let names: Vec<_> = names.chain([MANIFEST.to_owned()]).collect();
    let files = names.into_iter().map(|name| {
        let bytes = world.disk().read(&name).unwrap().to_vec();
        (name, bytes)
    });
    let files = files.collect();
    (world, files)
}

/// Damages the file with a function, and hands out what is salvaged.
fn salvage(world: &mut World, (name, bytes): &(String, Vec<u8>), damaged: &[u8]) -> Option<u64> {
    let before = world.disk().clone();
    world.disk().put(name, damaged);
    let salvaged = world.salvage();
    if salvaged.is_none() {
        assert_eq!(
            world.disk().read(name),
            Some(damaged),
            "a refused file is not changed"
        );
    }
    *world.disk() = before;
    assert_eq!(world.disk().read(name), Some(&bytes[..]));
    salvaged
}

#[test]
fn flipped_zeroed_dropped_and_doubled_bytes_never_load_as_other_data() {
    let (mut world, files) = small();
    let all = world.appended();
    assert_eq!(world.salvage(), Some(all));
    for file in &files {
        let (name, bytes) = file;
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            let mut zeroed = bytes.clone();
            zeroed[at] = 0;
            let dropped = [&bytes[..at], &bytes[at + 1..]].concat();
            let doubled = [&bytes[..=at], &bytes[at..]].concat();
            for (what, damaged) in [
                ("flipped", flipped),
                ("zeroed", zeroed),
                ("dropped", dropped),
                ("doubled", doubled),
            ] {
                let salvaged = salvage(&mut world, file, &damaged);
                let is_right = salvaged.is_none_or(|ticket| ticket == all);
                assert!(is_right, "{name}: byte {at} {what}: {salvaged:?} of {all}");
            }
        }
    }
}

#[test]
fn zeroed_sectors_and_swapped_files_are_refused() {
    let (mut world, files) = small();
    for file in &files {
        let (name, bytes) = file;
        for start in (0..bytes.len()).step_by(64) {
            for len in [64, 512] {
                let mut zeroed = bytes.clone();
                let end = bytes.len().min(start + len);
                zeroed[start..end].fill(0);
                let salvaged = salvage(&mut world, file, &zeroed);
                let all = world.appended();
                // Zeros up to the last checksum line are what a power cut leaves.
                let is_end = end + 100 > bytes.len() && name.contains(".2.incr.");
                let is_right = salvaged.is_none_or(|ticket| ticket == all || is_end);
                assert!(
                    is_right,
                    "{name}: zeros from {start} to {end}: {salvaged:?}"
                );
            }
        }
        for other in files.iter().filter(|other| other.0 != *name) {
            assert_eq!(salvage(&mut world, file, &other.1), None, "{name}");
        }
    }
}

#[test]
fn only_the_last_file_may_end_early_and_holds_a_prefix_then() {
    let (mut world, files) = small();
    let all = world.appended();
    let last = files.len() - 2;
    for (index, file) in files.iter().enumerate() {
        let (name, bytes) = file;
        let mut highest = 0;
        for len in 0..bytes.len() {
            let salvaged = salvage(&mut world, file, &bytes[..len]);
            if index != last {
                assert_eq!(salvaged, None, "{name} cut at {len}");
                continue;
            }
            let ticket = salvaged.unwrap();
            assert!(ticket >= highest && ticket <= all, "{name} cut at {len}");
            highest = ticket;
        }
    }
}

#[test]
fn random_damage_leaves_a_prefix_or_is_refused() {
    let (mut world, files) = small();
    let all = world.appended();
    let mut rng = fastrand::Rng::with_seed(11);
    for _ in 0..2000 {
        let file = &files[rng.usize(0..files.len())];
        let mut damaged = file.1.clone();
        let at = rng.usize(0..damaged.len());
        let end = (at + rng.usize(0..300)).min(damaged.len());
        match rng.u8(0..5) {
            0 => damaged[at..end]
                .iter_mut()
                .for_each(|byte| *byte = rng.u8(..)),
            1 => _ = damaged.drain(at..end),
            2 => damaged[at..end].fill(0),
            3 => {
                let piece = damaged[at..end].to_vec();
                let to = rng.usize(0..damaged.len());
                damaged.splice(to..to, piece);
            }
            _ => {
                let other = &files[rng.usize(0..files.len())].1;
                let from = rng.usize(0..other.len());
                let piece = other[from..other.len().min(from + 100)].to_vec();
                damaged.splice(at..end, piece);
            }
        }
        // Loading compares each unit with what was appended.
        let salvaged = salvage(&mut world, file, &damaged);
        assert!(salvaged.is_none_or(|ticket| ticket <= all));
    }
}
