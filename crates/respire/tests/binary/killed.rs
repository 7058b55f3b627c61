//! Tests that no acknowledged write is lost, and no transaction torn, when the server is killed under load.

use crate::data::{Place, Running, ask};
use nix::sys::signal::{Signal, kill};
use redis::{Connection, RedisResult};
use respire::serve::Flavour;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const CLIENTS: usize = 4;
const ROUNDS: u32 = 3;

/// What a client has sent and what was answered: it counts up.
#[derive(Clone, Copy, Default)]
struct Counted {
    sent: u64,
    answered: u64,
}

/// When the clients of a round have counted so far, the log is rewritten, or the server killed.
struct Round<'r> {
    server: &'r Running,
    total: AtomicU64,
    rewrite_at: u64,
    kill_at: u64,
}

/// One step of a client: a write of its own, then a transaction over several types.
fn step(client: usize, n: u64) -> Vec<u8> {
    let mut pipe = redis::pipe();
    let key = |kind: &str| format!("{kind}:{client}");
    pipe.cmd("SET").arg(key("alone")).arg(n);
    pipe.cmd("MULTI");
    pipe.cmd("SET").arg(key("string")).arg(n);
    pipe.cmd("HSET").arg(key("hash")).arg("n").arg(n);
    pipe.cmd("ZADD").arg(key("zset")).arg(n).arg("n");
    pipe.cmd("RPUSH").arg(key("list")).arg(n);
    pipe.cmd("LTRIM").arg(key("list")).arg(-20).arg(-1);
    pipe.cmd("SADD").arg(key("set")).arg(n);
    pipe.cmd("SREM").arg(key("set")).arg(n - 1);
    pipe.cmd("XADD")
        .arg(key("stream"))
        .arg(&["MAXLEN", "20"])
        .arg(format!("{n}-1"))
        .arg("n")
        .arg(n);
    pipe.cmd("EXEC");
    pipe.get_packed_pipeline()
}

const REPLIES: u64 = 11;

impl Round<'_> {
    /// Counts up until the server is killed, with several steps on the way at a time.
    fn count(&self, client: usize, counted: &mut Counted) {
        let Ok(mut connection) = self.server.try_client() else {
            return;
        };
        let mut random = fastrand::Rng::with_seed(client as u64);
        while self
            .send(client, counted, &mut connection, random.u64(1..=8))
            .is_ok()
        {}
    }

    fn send(
        &self,
        client: usize,
        counted: &mut Counted,
        connection: &mut Connection,
        steps: u64,
    ) -> RedisResult<()> {
        let steps = counted.sent + 1..=counted.sent + steps;
        let requests: Vec<u8> = steps.clone().flat_map(|n| step(client, n)).collect();
        counted.sent = *steps.end();
        connection.send_packed_command(&requests)?;
        for n in steps {
            for _ in 0..REPLIES {
                connection.recv_response()?.extract_error()?;
            }
            counted.answered = n;
            self.done();
        }
        Ok(())
    }

    fn done(&self) {
        let total = self.total.fetch_add(1, Ordering::Relaxed);
        if total == self.rewrite_at {
            // It fails if the server is killed before it answers.
            let client = self.server.try_client();
            let _ = client.and_then(|mut client| redis::cmd("BGREWRITEAOF").exec(&mut client));
        } else if total == self.kill_at {
            kill(self.server.pid(), Signal::SIGKILL).unwrap();
        }
    }
}

/// Checks what a client finds after a restart, and goes on from there.
#[track_caller]
fn check(server: &Running, client: usize, counted: &mut Counted) {
    let mut connection = server.client();
    let mut one = |line: &str| -> u64 {
        let line = line.replace('@', &client.to_string());
        let found: Option<u64> = ask(&mut connection, &line);
        found.unwrap_or(0)
    };
    let (alone, whole) = (one("GET alone:@"), one("GET string:@"));
    let Counted { sent, answered } = *counted;
    for n in [alone, whole] {
        assert!((answered..=sent).contains(&n), "{answered}..={sent}: {n}");
    }
    assert!(alone == whole || alone == whole + 1, "{alone} {whole}");
    for line in ["HGET hash:@ n", "ZSCORE zset:@ n", "LINDEX list:@ -1"] {
        assert_eq!(one(line), whole, "{line}");
    }
    for line in ["LLEN list:@", "XLEN stream:@"] {
        assert_eq!(one(line), whole.min(20), "{line}");
    }
    assert_eq!(one("SCARD set:@"), whole.min(1));
    if whole > 0 {
        assert_eq!(one(&format!("SISMEMBER set:@ {whole}")), 1);
    }
    counted.sent = whole;
    counted.answered = whole;
}

/// Kills servers under load, and returns how many steps were answered.
fn kill_under_load(flavour: Flavour, policy: &str, seed: u64) -> u64 {
    let flags = ["--appendonly", "yes", "--appendfsync", policy];
    let place = Place::new(&[&flags[..], &["--flavour", flavour.name()]].concat());
    let mut random = fastrand::Rng::with_seed(seed);
    let mut counted = [Counted::default(); CLIENTS];
    for round in 0..ROUNDS {
        let server = place.start();
        for (client, counted) in counted.iter_mut().enumerate() {
            check(&server, client, counted);
        }
        let rewrite_at = random.u64(50..500);
        let round = Round {
            server: &server,
            total: AtomicU64::new(0),
            rewrite_at,
            // The rewrite has begun then, or goes on, or is over.
            kill_at: rewrite_at + [20, 100, 400][round as usize % 3],
        };
        thread::scope(|scope| {
            for (client, counted) in counted.iter_mut().enumerate() {
                let round = &round;
                scope.spawn(move || round.count(client, counted));
            }
        });
    }
    let server = place.start();
    for (client, counted) in counted.iter_mut().enumerate() {
        check(&server, client, counted);
    }
    counted.iter().map(|counted| counted.answered).sum()
}

#[test]
fn kill_under_load_loses_nothing_that_was_answered_with_always() {
    for flavour in Flavour::ALL {
        assert!(kill_under_load(*flavour, "always", 1) > 100);
    }
}

#[test]
fn kill_under_load_loses_nothing_that_was_answered_with_everysec() {
    for flavour in Flavour::ALL {
        assert!(kill_under_load(*flavour, "everysec", 2) > 100);
    }
}
