//! Waits for elements, in one of four ways.

use crate::ledger::{Ledger, elements_of};
use crate::{BRIEF, CUT, DATABASES, LISTS, WAITERS, World, ZSETS};
use fastrand::Rng;
use respire_testkit::quoting::encode_command;
use respire_testkit::reply::Value;
use respire_testkit::target::Link;
use std::sync::atomic::Ordering;

/// How a waiter waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// With a short timeout.
    Short,
    /// Without one.
    Forever,
    /// It says that it sends no more, and reads all that comes.
    HalfClose,
    /// It closes the connection, or somebody else does.
    Cut,
}

/// The most connections of one waiter: those that are closed keep their ports for a while.
const CONNECTIONS_MAX: usize = 50;

fn way(number: usize) -> Way {
    match number * 20 / WAITERS {
        0..12 => Way::Short,
        12..15 => Way::Forever,
        15..18 => Way::HalfClose,
        _ => Way::Cut,
    }
}

/// Whether the elements that a waiter is sent may be lost.
pub(crate) fn may_be_killed(number: usize) -> bool {
    way(number) == Way::Cut
}

struct Waiter<'w> {
    world: &'w World,
    number: usize,
    database: usize,
    link: Link,
    rng: Rng,
    ledger: Ledger,
}

/// Waits again and again until the test is over; returns the elements that it got.
pub(crate) fn run(world: &World, number: usize) -> Ledger {
    let mut waiter = Waiter {
        world,
        number,
        database: number % DATABASES.len(),
        link: world.open(),
        rng: Rng::with_seed(1000 + number as u64),
        ledger: Ledger::default(),
    };
    let mut connections = 1;
    let mut is_open = waiter.greet();
    while !world.is_over() {
        if !is_open {
            // Somebody has killed it.
            waiter.ledger.cuts += 1;
            waiter.link = world.open();
            is_open = waiter.greet();
            continue;
        }
        let may_reconnect = connections < CONNECTIONS_MAX;
        connections += 1;
        match way(number) {
            Way::Short => waiter.wait_short(),
            Way::Forever => waiter.wait_forever(),
            Way::HalfClose if may_reconnect => waiter.half_close(),
            Way::HalfClose => waiter.wait_short(),
            Way::Cut => is_open = waiter.wait_cut(may_reconnect),
        }
    }
    waiter.ledger.cuts += usize::from(!is_open);
    waiter.ledger
}

impl Waiter<'_> {
    /// Tells the others of the connection, and chooses the database; returns whether the connection is open.
    fn greet(&mut self) -> bool {
        let Some(Value::Int(id)) = self.try_call(&["CLIENT", "ID"]) else {
            return false;
        };
        self.world.ids[self.number].store(id, Ordering::SeqCst);
        self.try_call(&["SELECT", DATABASES[self.database]])
            .is_some()
    }

    fn pick(&mut self, of: &[&'static str]) -> &'static str {
        of[self.rng.usize(..of.len())]
    }

    /// Sends a request; `None` if the connection ends before its reply.
    fn try_call(&mut self, request: &[&str]) -> Option<Value> {
        self.link.send(&encode_command(request));
        self.link.reply_or_end()
    }

    /// Sends a request that gives elements out.
    fn take(&mut self, request: &[&str]) {
        let reply = self.link.call(request);
        self.keep(&reply);
    }

    fn keep(&mut self, reply: &Value) {
        if let Value::Error(text) = reply {
            assert!(text.starts_with(b"UNBLOCKED"), "{reply:?}");
        }
        self.ledger.found.extend(elements_of(reply));
    }

    fn wait_short(&mut self) {
        let timeout = format!("0.0{:02}", self.rng.u8(1..30));
        let [a, b, c] = [(); 3].map(|()| self.pick(&LISTS));
        let [y, z] = [(); 2].map(|()| self.pick(&ZSETS));
        match self.rng.u8(..12) {
            0 | 1 => self.take(&["BLPOP", a, b, c, &timeout]),
            2 | 3 => self.take(&["BRPOP", a, b, &timeout]),
            4 => self.take(&["BLMPOP", &timeout, "2", a, b, "RIGHT", "COUNT", "3"]),
            5 => self.take(&["BZPOPMIN", y, z, &timeout]),
            6 => self.take(&["BZPOPMAX", y, &timeout]),
            7 => self.take(&["BZMPOP", &timeout, "2", y, z, "MIN", "COUNT", "2"]),
            8 => self.take(&["BLPOP", BRIEF, a, &timeout]),
            9 => {
                self.link.call(&["MULTI"]);
                self.link.call(&["BLPOP", a, b, "0"]);
                self.take(&["EXEC"]);
            }
            // The element stays in a list.
            10 => drop(self.link.call(&["BLMOVE", a, b, "LEFT", "RIGHT", &timeout])),
            _ => drop(self.link.call(&["BRPOPLPUSH", a, b, &timeout])),
        }
    }

    fn wait_forever(&mut self) {
        let [a, b] = [(); 2].map(|()| self.pick(&LISTS));
        let [y, z] = [(); 2].map(|()| self.pick(&ZSETS));
        let (name, keys) = match self.rng.u8(..4) {
            0 => ("BLPOP", vec![a, b]),
            1 => ("BRPOP", vec![a]),
            2 => ("BZPOPMIN", vec![y, z]),
            _ => ("BZPOPMAX", vec![y]),
        };
        let mut request = vec![name];
        request.extend(&keys);
        request.push("0");
        let wait = &self.world.waits[self.number];
        *wait.lock().expect("no panic") = Some((self.database, keys));
        self.take(&request);
        *wait.lock().expect("no panic") = None;
    }

    /// Sends a request and the end of all requests. What is given out for the request arrives.
    fn half_close(&mut self) {
        let timeout = format!("0.0{:02}", self.rng.u8(1..30));
        let [a, b] = [(); 2].map(|()| self.pick(&LISTS));
        let z = self.pick(&ZSETS);
        let request = match self.rng.u8(..3) {
            0 => ["BLPOP", a, b, &timeout].to_vec(),
            1 => ["BLMPOP", &timeout, "1", a, "LEFT", "COUNT", "2"].to_vec(),
            _ => ["BZPOPMIN", z, &timeout].to_vec(),
        };
        self.link.send(&encode_command(&request));
        let link = std::mem::replace(&mut self.link, self.world.open());
        for reply in link.finish() {
            self.keep(&reply);
        }
        assert!(self.greet(), "nobody kills it");
    }

    /// Waits on lists of which elements may be lost; returns whether the connection is open.
    fn wait_cut(&mut self, may_reconnect: bool) -> bool {
        let timeout = format!("0.0{:02}", self.rng.u8(1..30));
        let (a, b) = (self.pick(&CUT), self.pick(&CUT));
        let request = ["BLPOP", a, b, &timeout];
        if may_reconnect && self.rng.bool() {
            self.link.send(&encode_command(&request));
            return false;
        }
        let reply = self.try_call(&request);
        if let Some(reply) = &reply {
            self.keep(reply);
        }
        reply.is_some()
    }
}
