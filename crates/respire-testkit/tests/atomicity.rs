//! Tests that commands on several keys, and transactions, are atomic on both flavours.

use respire::serve::Flavour;
use respire_testkit::reply::Value;
use respire_testkit::target::{FlavourServer, Link};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of writes of the writer; each reader reads until the writer is done.
const ROUNDS: u32 = 1500;
const READERS: usize = 3;
/// Enough keys to be in several shards.
const KEYS: usize = 12;

fn keys() -> Vec<String> {
    (0..KEYS).map(|number| format!("key:{number}")).collect()
}

fn command(name: &str, args: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(args).collect()
}

/// Runs `write` for [`ROUNDS`] rounds beside readers that call `read` all the time. Fails as soon
/// as one of them sees a state that must never be visible.
fn race(flavour: Flavour, write: impl Fn(&mut Link, u32) + Sync, read: impl Fn(&mut Link) + Sync) {
    let server = FlavourServer::start(flavour);
    let address: SocketAddr = server.address();
    // The readers must find keys from their first read on.
    write(&mut Link::open(address), 0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                scope.spawn(|| {
                    let mut link = Link::open(address);
                    let mut reads = 0_u32;
                    while !is_over.load(Ordering::Relaxed) {
                        read(&mut link);
                        reads += 1;
                    }
                    reads
                })
            })
            .collect();
        let mut link = Link::open(address);
        for round in 1..=ROUNDS {
            write(&mut link, round);
        }
        is_over.store(true, Ordering::Relaxed);
        for reader in readers {
            let reads = reader.join().expect("a reader saw an impossible state");
            assert!(reads > 0, "a reader never read");
        }
    });
}

fn all_equal(values: &[Value]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

fn on_both(test: impl Fn(Flavour)) {
    Flavour::ALL.iter().copied().for_each(test);
}

#[test]
fn mset_is_atomic() {
    on_both(|flavour| {
        race(
            flavour,
            |link, round| {
                let pairs = keys().into_iter().flat_map(|key| [key, round.to_string()]);
                assert_eq!(
                    link.call(&command("MSET", pairs)),
                    Value::Simple(b"OK".to_vec())
                );
            },
            |link| {
                let values = link.call(&command("MGET", keys())).into_elements();
                assert!(
                    values.len() == KEYS && all_equal(&values),
                    "half an MSET: {values:?}"
                );
            },
        );
    });
}

#[test]
fn rename_is_atomic() {
    on_both(|flavour| {
        race(
            flavour,
            |link, round| {
                let [from, to] = if round % 2 == 1 {
                    ["left", "right"]
                } else {
                    ["right", "left"]
                };
                if round == 0 {
                    link.call(&["SET", "left", "value"]);
                    return;
                }
                assert_eq!(
                    link.call(&["RENAME", from, to]),
                    Value::Simple(b"OK".to_vec())
                );
            },
            |link| {
                let found = link.call(&["EXISTS", "left", "right"]);
                assert_eq!(found, Value::Int(1), "half a RENAME");
                let values = link.call(&["MGET", "right", "left"]).into_elements();
                let there = values
                    .iter()
                    .filter(|value| matches!(value, Value::Bulk(_)))
                    .count();
                assert_eq!(there, 1, "half a RENAME: {values:?}");
            },
        );
    });
}

#[test]
fn exec_is_atomic() {
    on_both(|flavour| {
        race(
            flavour,
            |link, round| {
                link.call(&["MULTI"]);
                for key in keys() {
                    let queued = link.call(&["SET", &key, &round.to_string()]);
                    assert_eq!(queued, Value::Simple(b"QUEUED".to_vec()));
                }
                assert_eq!(link.call(&["EXEC"]).into_elements().len(), KEYS);
            },
            |link| {
                let values = link.call(&command("MGET", keys())).into_elements();
                assert!(
                    values.len() == KEYS && all_equal(&values),
                    "half an EXEC: {values:?}"
                );
                link.call(&["MULTI"]);
                link.call(&["GET", "key:0"]);
                link.call(&["GET", "key:11"]);
                let values = link.call(&["EXEC"]).into_elements();
                assert!(
                    values.len() == 2 && all_equal(&values),
                    "half an EXEC: {values:?}"
                );
            },
        );
    });
}

#[test]
fn msetnx_msetex_copy_and_bitop_are_atomic() {
    on_both(|flavour| {
        race(
            flavour,
            |link, round| {
                let value = round.to_string();
                link.call(&["DEL", "a", "b", "c"]);
                assert_eq!(
                    link.call(&["MSETNX", "a", &value, "b", &value, "c", &value]),
                    Value::Int(1)
                );
                assert_eq!(link.call(&["COPY", "a", "b", "REPLACE"]), Value::Int(1));
                link.call(&["BITOP", "OR", "c", "a", "b"]);
                let value = format!("{value}!");
                assert_eq!(
                    link.call(&[
                        "MSETEX", "3", "a", &value, "b", &value, "c", &value, "XX", "EX", "9"
                    ]),
                    Value::Int(1)
                );
            },
            |link| {
                let values = link.call(&["MGET", "a", "b", "c"]).into_elements();
                assert!(
                    values.len() == 3 && all_equal(&values),
                    "half of it: {values:?}"
                );
            },
        );
    });
}

/// Writes all keys, none of which it declares.
const WRITE_ALL: &str = "for i = 0, 11 do redis.call('SET', 'key:' .. i, ARGV[1]) end";

/// Reads all keys, which it declares.
const READ_ALL: &str = "return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])}";

#[test]
fn scripts_are_atomic() {
    on_both(|flavour| {
        race(
            flavour,
            |link, round| {
                link.call(&["EVAL", WRITE_ALL, "0", &round.to_string()]);
            },
            |link| {
                let values = link.call(&command("MGET", keys())).into_elements();
                assert!(all_equal(&values), "half a script: {values:?}");
                let read = ["EVAL", READ_ALL, "2", "key:11", "key:3"];
                let values = link.call(&read).into_elements();
                assert!(
                    values.len() == 2 && all_equal(&values),
                    "half a script: {values:?}"
                );
            },
        );
    });
}

/// Moves an amount between two accounts, the first of which is declared. Which is the second only
/// the script knows.
const TRANSFER: &str = "local to = 'account:' .. (ARGV[1] % 8) \
    local left = redis.call('DECRBY', KEYS[1], ARGV[2]) \
    redis.call('INCRBY', to, ARGV[2]) return left";

/// The sum of all accounts, which it meets in descending order.
const SUM: &str = "local sum = 0 for i = 7, 0, -1 do \
    sum = sum + redis.call('GET', 'account:' .. i) end return sum";

#[test]
fn concurrent_scripts_with_undeclared_keys_keep_the_sum() {
    const EACH: u32 = 400;
    on_both(|flavour| {
        let server = FlavourServer::start(flavour);
        let accounts: Vec<String> = (0..8).map(|number| format!("account:{number}")).collect();
        let pairs = accounts.iter().flat_map(|key| [key.clone(), "100".into()]);
        Link::open(server.address()).call(&command("MSET", pairs));
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let (accounts, address) = (&accounts, server.address());
                scope.spawn(move || {
                    let mut link = Link::open(address);
                    for round in 0..EACH {
                        let (from, to) = (round * 7 + thread * 3, round * 5 + thread);
                        let from = &accounts[from as usize % accounts.len()];
                        let (to, amount) = (to.to_string(), (round % 9).to_string());
                        link.call(&["EVAL", TRANSFER, "1", from, &to, &amount]);
                        check_sum(&mut link, round, accounts);
                    }
                });
            }
        });
    });
}

/// Reads all accounts at one moment, by a script or by a command.
fn check_sum(link: &mut Link, round: u32, accounts: &[String]) {
    if round.is_multiple_of(4) {
        let sum = link.call(&["EVAL", SUM, "0"]);
        assert_eq!(sum, Value::Int(800), "a sum of half a transfer");
    } else {
        let values = link.call(&command("MGET", accounts.to_vec()));
        let texts = values.into_elements().into_iter().map(number);
        assert_eq!(texts.sum::<i64>(), 800, "half a transfer");
    }
}

fn number(value: Value) -> i64 {
    match value {
        Value::Bulk(text) => String::from_utf8_lossy(&text).parse().expect("a number"),
        other => panic!("{other:?} is no number"),
    }
}

#[test]
fn watched_counters_lose_no_increment() {
    const EACH: i64 = 200;
    on_both(|flavour| {
        let server = FlavourServer::start(flavour);
        std::thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| {
                    let mut link = Link::open(server.address());
                    for _ in 0..EACH {
                        increment_under_watch(&mut link);
                    }
                });
            }
        });
        let count = Link::open(server.address()).call(&["GET", "counter"]);
        let expected = EACH * READERS as i64;
        assert_eq!(count, Value::Bulk(expected.to_string().into_bytes()));
    });
}

/// Reads, adds one and writes back, again and again until no other connection wrote in between.
fn increment_under_watch(link: &mut Link) {
    loop {
        link.call(&["WATCH", "counter"]);
        let seen = match link.call(&["GET", "counter"]) {
            Value::Bulk(text) => String::from_utf8_lossy(&text).parse().unwrap_or(0),
            _ => 0_i64,
        };
        link.call(&["MULTI"]);
        link.call(&["SET", "counter", &(seen + 1).to_string()]);
        if matches!(link.call(&["EXEC"]), Value::Array(_)) {
            return;
        }
    }
}

#[test]
fn swapdb_and_flushall_are_atomic() {
    on_both(|flavour| {
        race(
            flavour,
            |link, round| {
                if round == 0 {
                    link.call(&["MSET", "a", "0", "b", "0"]);
                    link.call(&["SELECT", "1"]);
                    link.call(&["MSET", "a", "1", "b", "1"]);
                }
                assert_eq!(
                    link.call(&["SWAPDB", "0", "1"]),
                    Value::Simple(b"OK".to_vec())
                );
            },
            |link| {
                let values = link.call(&["MGET", "a", "b"]).into_elements();
                assert!(
                    values.len() == 2 && all_equal(&values),
                    "half a SWAPDB: {values:?}"
                );
            },
        );
        race(
            flavour,
            |link, _| {
                link.call(&["MSET", "a", "1", "b", "1"]);
                assert_eq!(link.call(&["FLUSHALL"]), Value::Simple(b"OK".to_vec()));
            },
            |link| {
                let values = link.call(&["MGET", "a", "b"]).into_elements();
                assert!(
                    values.len() == 2 && all_equal(&values),
                    "half a FLUSHALL: {values:?}"
                );
            },
        );
    });
}
