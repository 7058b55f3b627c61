//! Writes elements, and moves, renames and deletes the keys of others.

use crate::ledger::{Fate, Ledger, elements_of};
use crate::{BRIEF, CUT, DATABASES, LISTS, WAITERS, World, ZSETS, waiter};
use fastrand::Rng;
use respire_testkit::reply::Value;
use respire_testkit::target::Link;
use std::sync::atomic::Ordering;

/// The number of writes of one producer.
const ROUNDS: usize = 40;

struct Producer<'w> {
    world: &'w World,
    number: usize,
    link: Link,
    rng: Rng,
    ledger: Ledger,
}

/// Writes and plays tricks; returns what it has written, and what it has deleted.
pub(crate) fn run(world: &World, number: usize) -> Ledger {
    let mut producer = Producer {
        world,
        number,
        link: world.open(),
        rng: Rng::with_seed(number as u64),
        ledger: Ledger::default(),
    };
    for _ in 0..ROUNDS {
        let database = producer.pick(&DATABASES);
        producer.call(&["SELECT", database]);
        producer.write();
        producer.play();
    }
    producer.ledger
}

impl Producer<'_> {
    fn pick(&mut self, of: &[&'static str]) -> &'static str {
        of[self.rng.usize(..of.len())]
    }

    fn call(&mut self, request: &[&str]) -> Value {
        let reply = self.link.call(request);
        assert!(!reply.is_error(), "{request:?}: {reply:?}");
        reply
    }

    fn element(&mut self, fate: Fate) -> String {
        let element = fate.element(self.number, self.ledger.written.len());
        self.ledger.written.push(element.clone());
        element
    }

    /// Runs requests as one; returns their replies.
    fn exec(&mut self, requests: &[&[&str]]) -> Vec<Value> {
        self.call(&["MULTI"]);
        for request in requests {
            assert_eq!(self.call(request), Value::Simple(b"QUEUED".to_vec()));
        }
        self.call(&["EXEC"]).into_elements()
    }

    fn write(&mut self) {
        let push = self.pick(&["LPUSH", "RPUSH"]);
        match self.rng.u8(..10) {
            0 => {
                let element = self.element(Fate::Brief);
                self.exec(&[&[push, BRIEF, &element], &["PEXPIRE", BRIEF, "1"]]);
            }
            1 | 2 => {
                let (key, element) = (self.pick(&CUT), self.element(Fate::Cut));
                self.call(&[push, key, &element]);
            }
            3..=5 => {
                let score = self.rng.u8(..).to_string();
                let (a, b) = (self.element(Fate::Kept), self.element(Fate::Kept));
                let key = self.pick(&ZSETS);
                self.call(&["ZADD", key, &score, &a, "7", &b]);
            }
            6 => {
                let [a, b] = [(); 2].map(|()| self.element(Fate::Kept));
                let [from, to] = [(); 2].map(|()| self.pick(&LISTS));
                self.exec(&[&[push, from, &a], &["RPUSH", to, &b]]);
            }
            _ => {
                let [a, b, c] = [(); 3].map(|()| self.element(Fate::Kept));
                let key = self.pick(&LISTS);
                self.call(&[push, key, &a, &b, &c]);
            }
        }
    }

    /// What others do to keys for which somebody waits, and to the waiters.
    fn play(&mut self) {
        let is_list = self.rng.bool();
        let [from, to] = [(); 2].map(|()| self.pick(if is_list { &LISTS } else { &ZSETS }));
        let read = if is_list { "LRANGE" } else { "ZRANGE" };
        match self.rng.u8(..12) {
            0 => {
                // What it replaces is lost.
                let replies = self.exec(&[&[read, to, "0", "-1"], &["RENAME", from, to]]);
                if from != to && !replies[1].is_error() {
                    self.ledger.found.extend(elements_of(&replies[0]));
                }
            }
            1 => {
                self.link.call(&["RENAMENX", from, to]);
            }
            2 => {
                let replies = self.exec(&[&[read, from, "0", "-1"], &["DEL", from]]);
                self.ledger.found.extend(elements_of(&replies[0]));
            }
            3 => {
                let replies = self.exec(&[&[read, from, "0", "-1"], &["EXPIRE", from, "0"]]);
                self.ledger.found.extend(elements_of(&replies[0]));
            }
            4 => {
                self.call(&["EXPIRE", from, "1000"]);
            }
            5 => {
                let database = self.pick(&DATABASES);
                // It may be the one that it is in.
                self.link.call(&["MOVE", from, database]);
            }
            6 => {
                self.call(&["SWAPDB", "0", "1"]);
            }
            7 if is_list => {
                self.call(&["LMOVE", from, to, "RIGHT", "LEFT"]);
            }
            8 if is_list => {
                let reply = self.call(&["LMPOP", "2", from, to, "LEFT", "COUNT", "2"]);
                self.ledger.found.extend(elements_of(&reply));
            }
            _ => self.disturb(),
        }
    }

    /// Ends somebody's wait or connection.
    fn disturb(&mut self) {
        let waiter = self.rng.usize(..WAITERS);
        let id = self.world.ids[waiter].load(Ordering::SeqCst).to_string();
        if waiter::may_be_killed(waiter) {
            // It may be gone.
            self.link.call(&["CLIENT", "KILL", "ID", &id]);
        } else {
            let how = self.pick(&["TIMEOUT", "ERROR"]);
            self.link.call(&["CLIENT", "UNBLOCK", &id, how]);
        }
    }
}
