//! A log, its disk and its caller, moved by a random generator.

#![allow(dead_code, reason = "not all tests use all of it")]

use bytes::Bytes;
use fastrand::Rng;
use respire_durable::Log;
use respire_durable::log::{
    Base, Batch, Failure, Lane, Operation, Outcome, Policy, RewriteId, Settings, Start,
};
use respire_durable::recovery::{self, Files, Found, Judgement, Options, Place, Walker};
use respire_durable::sim::{Disk, Faults};
use std::collections::BTreeMap;

const LANES: [Lane; 2] = [Lane::Write, Lane::Sync];

/// What kind of history it is.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) policy: Policy,
    pub(crate) checksum: bool,
    pub(crate) steps: usize,
    pub(crate) io_per_mille: u32,
    pub(crate) short_per_mille: u32,
    pub(crate) capacity: Option<u64>,
    pub(crate) fails_at: Option<u64>,
    pub(crate) power_cuts: bool,
    pub(crate) unit_bytes_max: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            policy: Policy::Always,
            checksum: true,
            steps: 200,
            io_per_mille: 0,
            short_per_mille: 0,
            capacity: None,
            fails_at: None,
            power_cuts: true,
            unit_bytes_max: 3000,
        }
    }
}

/// What a unit consists of. Zero commands: it changed nothing in the end.
#[derive(Clone, Copy, Debug)]
struct Unit {
    db: u32,
    commands: usize,
    bytes: usize,
}

/// An operation in flight, with its outcome if it was done when it was issued.
struct Flight {
    operation: Operation,
    outcome: Option<Outcome>,
}

pub(crate) struct World {
    seed: u64,
    rng: Rng,
    plan: Plan,
    disk: Disk,
    log: Log,
    now_ms: u64,
    units: BTreeMap<u64, Unit>,
    in_flight: [Option<Flight>; 2],
    /// The rewrite whose base is to be written, and its cut.
    base: Option<(RewriteId, u64)>,
    bases: u64,
    /// What is published now, at least.
    written: u64,
    durable: u64,
}

impl World {
    pub(crate) fn new(seed: u64, plan: Plan) -> Self {
        let mut disk = Disk::new(seed);
        let at = plan.fails_at.map(|at| (at, Failure::Io));
        disk.faults = Faults {
            at: at.into_iter().collect(),
            io_per_mille: plan.io_per_mille,
            short_per_mille: plan.short_per_mille,
            capacity: plan.capacity,
        };
        let log = Log::new(settings(&plan), Start::empty());
        Self {
            seed,
            rng: Rng::with_seed(seed ^ 0x5eed),
            plan,
            disk,
            log,
            now_ms: 1_000_000,
            units: BTreeMap::new(),
            in_flight: [None, None],
            base: None,
            bases: 0,
            written: 0,
            durable: 0,
        }
    }

    /// Some steps of a server's life.
    pub(crate) fn live(&mut self) {
        for _ in 0..self.rng.usize(1..=self.plan.steps) {
            self.step();
        }
    }

    fn step(&mut self) {
        match self.rng.u8(0..20) {
            0..=4 => self.append(),
            5..=6 => self.now_ms += self.rng.u64(0..600),
            7..=17 => {
                let lane = self.rng.usize(0..2);
                self.turn(lane);
            }
            18 if self.rng.u8(0..10) == 0 => {
                let policies = [Policy::Always, Policy::EverySec, Policy::No];
                self.log.set_policy(policies[self.rng.usize(0..3)]);
            }
            18 => self.rewrite(true),
            _ => self.write_base(true),
        }
        self.look();
    }

    fn look(&mut self) {
        let (written, durable) = (self.log.written(), self.log.durable());
        assert!(
            written >= self.written && durable >= self.durable,
            "seed {}: went back",
            self.seed
        );
        assert!(
            durable <= written && written <= self.log.appended(),
            "seed {}",
            self.seed
        );
        (self.written, self.durable) = (written, durable);
    }

    fn append(&mut self) {
        if self.log.waiting_bytes() > 50_000 {
            return;
        }
        let first = self.log.appended() + 1;
        let count = self.rng.u64(1..4);
        let mut pieces = Vec::new();
        let mut dbs = None;
        let mut db = 0;
        for ticket in first..first + count {
            let unit = self.unit();
            self.units.insert(ticket, unit);
            let mut bytes = Vec::new();
            if unit.commands > 0 && dbs.is_none() {
                db = unit.db;
                dbs = Some(db);
            }
            if unit.commands > 0 && unit.db != db {
                db = unit.db;
                command(&mut bytes, &[b"SELECT", db.to_string().as_bytes()]);
            }
            encode(&mut bytes, ticket, unit);
            let bytes = Bytes::from(bytes);
            let cut = self.rng.usize(0..=bytes.len());
            pieces.extend([bytes.slice(..cut), bytes.slice(cut..)]);
        }
        let batch = Batch {
            first,
            last: first + count - 1,
            db_at_start: dbs.unwrap_or(0),
            db_at_end: db,
            offset: first,
        };
        self.log.append(batch, pieces, self.now_ms).unwrap();
    }

    fn unit(&mut self) -> Unit {
        Unit {
            db: if self.rng.u8(0..8) == 0 {
                self.rng.u32(0..16)
            } else {
                0
            },
            commands: [0, 1, 1, 1, 1, 2, 3][self.rng.usize(0..7)],
            bytes: match self.rng.u8(0..10) {
                0 => self.rng.usize(0..self.plan.unit_bytes_max),
                _ => self.rng.usize(0..self.plan.unit_bytes_max.min(40)),
            },
        }
    }

    fn turn(&mut self, lane: usize) {
        if let Some(flight) = self.in_flight[lane].take() {
            let outcome = flight
                .outcome
                .unwrap_or_else(|| self.disk.perform(&flight.operation));
            self.log.complete(LANES[lane], outcome, self.now_ms);
            return;
        }
        if let Some(operation) = self.log.next(LANES[lane], self.now_ms) {
            // A sync does not cover what is written while it runs.
            let outcome = self.rng.bool().then(|| self.disk.perform(&operation));
            self.in_flight[lane] = Some(Flight { operation, outcome });
        }
    }

    fn rewrite(&mut self, at_random: bool) {
        let wants = self.log.wants_base(self.now_ms) || (at_random && self.rng.u8(0..4) == 0);
        if wants && let Ok(id) = self.log.begin_rewrite(self.now_ms) {
            self.base = Some((id, self.log.appended()));
        }
    }

    fn write_base(&mut self, may_fail: bool) {
        let Some((id, cut)) = self.base.take() else {
            return;
        };
        if may_fail && self.rng.u8(0..8) == 0 {
            return self.log.base_aborted(id, self.now_ms);
        }
        self.bases += 1;
        let temporary_name = format!("temp-base-{}.aof", self.bases);
        let mut bytes = Vec::new();
        command(&mut bytes, &[b"BASE", cut.to_string().as_bytes()]);
        let fails = self.rng.u32(0..1000) < self.disk.faults.io_per_mille;
        let fault = fails.then_some(Failure::Io);
        if self
            .disk
            .write_whole(&temporary_name, &bytes, fault)
            .is_err()
        {
            return self.log.base_aborted(id, self.now_ms);
        }
        let base = Base {
            temporary_name,
            is_rdb: false,
            bytes: bytes.len() as u64,
        };
        // A stale base is left to the next start.
        let _ = self.log.base_finished(id, base);
    }

    /// A kill or a power cut, and the start behind it.
    pub(crate) fn crash(&mut self) {
        for flight in &mut self.in_flight {
            if let Some(flight) = flight.take()
                && flight.outcome.is_none()
            {
                self.disk.interrupt(&flight.operation);
            }
        }
        let must_have = if self.plan.power_cuts && self.rng.bool() {
            self.disk.lose_power();
            self.durable
        } else {
            self.disk.kill();
            self.written
        };
        let judgement = self.recover();
        let (ticket, highest) = self.load(&judgement);
        assert!(
            highest >= must_have,
            "seed {}: {highest} instead of {must_have}",
            self.seed
        );
        let mut start = judgement.start().unwrap();
        // Units without bytes leave no trace behind the last checksum line.
        let last = start.last_ticket.max(ticket);
        start.last_ticket = last;
        // Tickets that were handed out behind the last one in the files are used again.
        self.units.split_off(&(ticket + 1));
        self.units
            .extend((ticket + 1..=last).map(|ticket| (ticket, NOTHING)));
        if self.rng.u8(0..6) == 0 {
            // The server begins without the log, which is turned on later.
            start = Start::from_memory(start.manifest, start.next_seq, last);
        }
        self.base = None;
        self.log = Log::new(settings(&self.plan), start);
        (self.written, self.durable) = (0, 0);
    }

    fn judge(&mut self) -> Judgement {
        let options = Options {
            window: 4096,
            ..Options::default()
        };
        recovery::judge(&mut self.disk, &options)
    }

    fn recover(&mut self) -> Judgement {
        let first = self.judge();
        assert_eq!(first, self.judge(), "seed {}: judged twice", self.seed);
        let refused = matches!(first.outcome, recovery::Outcome::Refused(_));
        assert!(!refused, "seed {}: {first:#?}", self.seed);
        let changes = first.mend("appendonly.aof");
        // The machine may also die while the files are mended.
        for change in &changes[..self.rng.usize(0..=changes.len())] {
            self.disk.mend(change);
        }
        for change in self.judge().mend("appendonly.aof") {
            self.disk.mend(&change);
        }
        let judgement = self.judge();
        assert!(
            judgement.start().is_some(),
            "seed {}: {judgement:#?}",
            self.seed
        );
        judgement
    }

    /// Reads all files. Returns the last ticket found, and the same with the units behind it that
    /// have no bytes.
    fn load(&mut self, judgement: &Judgement) -> (u64, u64) {
        let mut ticket = 0;
        let seed = self.seed;
        for entry in judgement.manifest.files() {
            let len = self.disk.len(Place::Folder, &entry.name).unwrap().unwrap();
            let mut walker = Walker::new(Place::Folder, &entry.name, 0..len, 4096);
            let mut db = None;
            let mut left = 0;
            loop {
                match walker.next(&mut self.disk).unwrap() {
                    Found::Command => {}
                    Found::Annotation => continue,
                    Found::End => break,
                    other => panic!("seed {seed}: {other:?} in {}", entry.name),
                }
                let text = |index| std::str::from_utf8(walker.arg(index).unwrap()).unwrap();
                match walker.arg(0).unwrap() {
                    b"SELECT" => db = Some(text(1).parse::<u32>().unwrap()),
                    b"BASE" => ticket = text(1).parse().unwrap(),
                    b"MULTI" | b"EXEC" => {}
                    _ => {
                        let found: u64 = text(1).parse().unwrap();
                        if left == 0 {
                            let next = self.behind(ticket) + 1;
                            assert_eq!(found, next, "seed {seed}: {}", entry.name);
                            ticket = next;
                            left = self.units[&ticket].commands;
                        }
                        let unit = self.units[&ticket];
                        assert_eq!((found, db), (ticket, Some(unit.db)), "seed {seed}");
                        assert_eq!(walker.arg(2).unwrap(), payload(ticket, unit.bytes));
                        left -= 1;
                    }
                }
            }
            assert_eq!(left, 0, "seed {seed}: half a unit");
        }
        (ticket, self.behind(ticket))
    }

    /// The last of the units without bytes behind a ticket.
    fn behind(&self, ticket: u64) -> u64 {
        let is_empty = |ticket: &u64| {
            self.units
                .get(ticket)
                .is_some_and(|unit| unit.commands == 0)
        };
        (ticket + 1..).take_while(is_empty).last().unwrap_or(ticket)
    }

    /// A log with two increments, stopped in order.
    pub(crate) fn two_increments(&mut self) {
        for _ in 0..5 {
            self.append();
            self.run(|world| world.log.written() == world.log.appended());
        }
        let id = self.log.begin_rewrite(self.now_ms).unwrap();
        self.log.base_aborted(id, self.now_ms);
        self.run(|world| world.log.manifest().increments.len() == 2);
        for _ in 0..5 {
            self.append();
            self.run(|world| world.log.written() == world.log.appended());
        }
        self.heal_and_stop();
    }

    /// The disk, for tests that damage it.
    pub(crate) fn disk(&mut self) -> &mut Disk {
        &mut self.disk
    }

    /// Judges and mends the files, and reads them. `None` if they are refused, otherwise the last
    /// ticket of a prefix of what was appended.
    pub(crate) fn salvage(&mut self) -> Option<u64> {
        let judgement = self.judge();
        if matches!(judgement.outcome, recovery::Outcome::Refused(_)) {
            return None;
        }
        for change in judgement.mend("appendonly.aof") {
            self.disk.mend(&change);
        }
        let judgement = self.judge();
        assert!(
            judgement.start().is_some(),
            "seed {}: {judgement:#?}",
            self.seed
        );
        Some(self.load(&judgement).1)
    }

    pub(crate) const fn appended(&self) -> u64 {
        self.log.appended()
    }

    pub(crate) fn manifest(&self) -> &respire_durable::manifest::Manifest {
        self.log.manifest()
    }

    /// The disk works again: the log must find its way back, sync all, and stop.
    pub(crate) fn heal_and_stop(&mut self) {
        self.disk.faults = Faults::default();
        self.run(|world| {
            world.log.trouble(world.now_ms).is_none()
                && world.log.is_whole()
                && world.log.written() == world.log.appended()
                && world.in_flight.iter().all(Option::is_none)
        });
        self.log.stop();
        self.run(|world| world.log.is_stopped());
        assert_eq!(
            self.log.durable(),
            self.log.appended(),
            "seed {}",
            self.seed
        );
        if self.plan.power_cuts {
            self.disk.lose_power();
        }
        let judgement = self.judge();
        assert_eq!(
            judgement.outcome,
            recovery::Outcome::Clean,
            "seed {}",
            self.seed
        );
        let (_, highest) = self.load(&judgement);
        assert_eq!(highest, self.log.appended(), "seed {}", self.seed);
    }

    /// Lets time pass until something is true.
    fn run(&mut self, is_done: impl Fn(&Self) -> bool) {
        for _ in 0..2000 {
            if is_done(self) {
                return;
            }
            self.turn(0);
            self.turn(1);
            self.rewrite(false);
            self.write_base(false);
            self.look();
            let idle = self.in_flight.iter().all(Option::is_none);
            if idle && let Some(at_ms) = self.log.wake_at() {
                self.now_ms = self.now_ms.max(at_ms);
            }
        }
        panic!("seed {}: the log is stuck: {:#?}", self.seed, self.log);
    }
}

const NOTHING: Unit = Unit {
    db: 0,
    commands: 0,
    bytes: 0,
};

fn settings(plan: &Plan) -> Settings {
    Settings {
        policy: plan.policy,
        checksum: plan.checksum,
        timestamps: true,
        write_bytes_max: 1500,
        ..Settings::default()
    }
}

fn payload(ticket: u64, len: usize) -> Vec<u8> {
    let mut rng = Rng::with_seed(ticket);
    (0..len).map(|_| rng.u8(1..)).collect()
}

fn encode(out: &mut Vec<u8>, ticket: u64, unit: Unit) {
    let is_multi = unit.commands > 1;
    if is_multi {
        command(out, &[b"MULTI"]);
    }
    for _ in 0..unit.commands {
        command(
            out,
            &[
                b"SET",
                ticket.to_string().as_bytes(),
                &payload(ticket, unit.bytes),
            ],
        );
    }
    if is_multi {
        command(out, &[b"EXEC"]);
    }
}

fn command(out: &mut Vec<u8>, args: &[&[u8]]) {
    resp_codec::command(out, args);
}
