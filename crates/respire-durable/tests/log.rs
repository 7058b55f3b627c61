//! Histories of a log on a simulated disk, with faults, cut short by kills and power cuts, and a
//! model that knows what has to be there afterwards.
//!
//! A unit's bytes follow from its ticket, so the loader sees whether it is the right one, whole,
//! and in the right database. tests/README.md lists the defects that these histories have found.

#![expect(clippy::unwrap_used, reason = "a test")]

mod world;

use respire_durable::log::Policy;
use world::{Plan, World};

/// Runs `count` histories from a seed on; with `RESPIRE_HISTORIES=n`, n times as many.
fn histories(first: u64, count: u64, plan: impl Fn(u64) -> Plan) {
    let times = std::env::var("RESPIRE_HISTORIES").map_or(1, |times| times.parse().unwrap());
    for seed in first..first + count * times {
        let plan = plan(seed);
        let mut world = World::new(seed, plan);
        for _ in 0..3 {
            world.live();
            world.crash();
        }
        world.live();
        world.heal_and_stop();
    }
}

fn policy(seed: u64) -> Policy {
    [Policy::Always, Policy::EverySec, Policy::No][(seed % 3) as usize]
}

#[test]
fn what_was_published_survives_kills_and_power_cuts() {
    histories(0, 200, |seed| Plan {
        policy: policy(seed),
        ..Plan::default()
    });
}

#[test]
fn what_was_published_survives_when_operations_fail_at_random() {
    histories(10_000_000, 150, |seed| Plan {
        policy: policy(seed),
        io_per_mille: 20,
        short_per_mille: 50,
        ..Plan::default()
    });
}

#[test]
fn what_was_published_survives_on_a_full_disk() {
    histories(20_000_000, 100, |seed| Plan {
        policy: policy(seed),
        capacity: Some(20_000_000),
        short_per_mille: 50,
        ..Plan::default()
    });
}

#[test]
fn what_was_published_survives_any_single_failure() {
    for seed in 0..3 {
        for operation in 0..60 {
            histories(30_000_000 + seed, 1, |seed| Plan {
                policy: policy(seed),
                fails_at: Some(operation),
                steps: 120,
                ..Plan::default()
            });
        }
    }
}

#[test]
fn log_without_checksums_survives_kills() {
    histories(40_000_000, 100, |seed| Plan {
        policy: policy(seed),
        checksum: false,
        power_cuts: false,
        ..Plan::default()
    });
}
