//! Compares the bytes of `HyperLogLogs` with Redis's after random edits, merges and damage.

use fastrand::Rng;
use respire_testkit::differential::shown;
use respire_testkit::quoting::encode_command;
use respire_testkit::reply::{self, Value};
use respire_testkit::target::{EngineTarget, Link, Received, RedisServer, Target};

const KEYS: [&str; 3] = ["a", "b", "c"];

/// Both servers.
struct Both {
    ours: EngineTarget,
    connection: usize,
    redis: Link,
}

impl Both {
    fn call(&mut self, args: &[Vec<u8>]) -> Value {
        self.ours.send(self.connection, &encode_command(args));
        let mut bytes = Vec::new();
        while let Received::Bytes = self.ours.receive(self.connection, &mut bytes) {}
        let ours = match reply::parse(&bytes) {
            Ok(Some((value, len))) if len == bytes.len() => value,
            other => panic!("{args:?} was answered {other:?}"),
        };
        let theirs = self.redis.call(args);
        assert!(
            ours == theirs,
            "{:?}: {} but Redis {}",
            args.iter().take(4).collect::<Vec<_>>(),
            shown(&ours),
            shown(&theirs)
        );
        ours
    }
}

fn words(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// Up to `most` elements of a few bytes each.
fn elements(rng: &mut Rng, most: usize) -> Vec<Vec<u8>> {
    let element = |rng: &mut Rng| {
        let bytes = rng.usize(1..20);
        (0..bytes).map(|_| rng.u8(..)).collect()
    };
    (0..rng.usize(..most)).map(|_| element(rng)).collect()
}

/// A random request for one of the keys.
fn request(rng: &mut Rng) -> Vec<Vec<u8>> {
    let key = KEYS[rng.usize(..KEYS.len())];
    let other = KEYS[rng.usize(..KEYS.len())];
    match rng.u8(..40) {
        0..20 => [words(&["PFADD", key]), elements(rng, 30)].concat(),
        20..24 => [words(&["PFADD", key]), elements(rng, 600)].concat(),
        24..28 => words(&["PFMERGE", key, other]),
        28..31 => words(&["PFCOUNT", key]),
        31 => words(&["PFCOUNT", key, other]),
        32 => words(&["PFDEBUG", "DECODE", key]),
        33 if rng.u8(..4) == 0 => words(&["PFDEBUG", "TODENSE", key]),
        34 if rng.u8(..4) == 0 => {
            // Damages the header or the registers.
            let at = rng.usize(..60).to_string();
            let byte = vec![rng.u8(..)];
            [words(&["SETRANGE", key, &at]), vec![byte]].concat()
        }
        35 => {
            let bytes_max = rng.usize(..6000).to_string();
            words(&["CONFIG", "SET", "hll-sparse-max-bytes", &bytes_max])
        }
        36 | 37 => words(&["DEL", key]),
        _ => words(&["PFDEBUG", "ENCODING", key]),
    }
}

#[test]
fn bytes_after_random_edits_are_those_of_redis() {
    let redis = RedisServer::start();
    let mut ours = EngineTarget::whole();
    let mut both = Both {
        connection: ours.connect(),
        ours,
        redis: Link::open(redis.address()),
    };
    let mut rng = Rng::with_seed(7);
    for _ in 0..4000 {
        let request = request(&mut rng);
        both.call(&request);
        // The key that the request may have changed.
        let key = if request[0] == b"PFDEBUG" { 2 } else { 1 };
        if request[0] != b"CONFIG" {
            both.call(&[b"GET".to_vec(), request[key].clone()]);
        }
    }
}
