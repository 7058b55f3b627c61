//! What the log of edits costs, and whether Redis loads it.

use crate::loader::Loader;
use crate::{Log, stream_commands};
use fastrand::Rng;
use respire_store::{Interest, Observer};
use respire_testkit::reply::Value;
use respire_testkit::target::{Link, RedisServer};
use std::sync::Arc;

/// An engine whose changes are logged.
struct Logged {
    loader: Loader,
    log: Arc<Log>,
}

impl Logged {
    fn new() -> Self {
        let (loader, log) = (Loader::new(), Arc::new(Log::default()));
        let observer: Arc<dyn Observer> = Arc::clone(&log) as _;
        loader.store().observe(observer, Interest::CHANGES);
        Logged { loader, log }
    }

    /// Runs a command, which may fail.
    fn run(&mut self, line: &str) {
        self.loader.run(format!("{line}\r\n").as_bytes());
    }

    /// Returns the commands of each unit since the last call.
    fn units(&self) -> Vec<Vec<u8>> {
        let units = std::mem::take(&mut *self.log.lock());
        let units = units.into_values().flatten();
        units.map(|unit| unit.commands.into_bytes()).collect()
    }
}

/// The command that makes a value, the arguments for each element, and edits of the value.
type LargeValue = (&'static str, fn(usize) -> String, &'static [&'static str]);

#[test]
fn edit_of_a_large_value_is_a_short_log() {
    const ELEMENTS: usize = 100_000;
    let element: fn(usize) -> String = |n| format!("element{n}");
    let pair: fn(usize) -> String = |n| format!("{n} element{n}");
    let cases: [LargeValue; 4] = [
        (
            "HSET",
            pair,
            &["HSET k 7 new", "HDEL k 8", "HINCRBY k counter 3"],
        ),
        (
            "SADD",
            element,
            &["SADD k new", "SREM k element8", "SPOP k"],
        ),
        (
            "ZADD",
            pair,
            &[
                "ZADD k 7.5 new",
                "ZINCRBY k 1 element8",
                "ZREMRANGEBYRANK k 0 99",
                "ZPOPMAX k",
            ],
        ),
        (
            "RPUSH",
            element,
            &[
                "LPUSH k new",
                "RPOP k",
                "LSET k 500 x",
                "LTRIM k 5 -7",
                "LINSERT k AFTER x y",
            ],
        ),
    ];
    for (name, element, edits) in cases {
        let mut logged = Logged::new();
        for part in 0..ELEMENTS / 1000 {
            let elements = (part * 1000..(part + 1) * 1000).map(element);
            let elements: Vec<String> = elements.collect();
            logged.run(&format!("{name} k {}", elements.join(" ")));
        }
        check_short(&mut logged, edits);
    }
    let mut logged = Logged::new();
    logged.run("SETRANGE k 1000000 x");
    check_short(
        &mut logged,
        &["APPEND k tail", "SETRANGE k 5000 part", "SETBIT k 77777 1"],
    );
    let mut logged = Logged::new();
    let members: Vec<String> = (0..9000).map(|n| n.to_string()).collect();
    logged.run(&format!("PFADD k {}", members.join(" ")));
    check_short(
        &mut logged,
        &["PFADD k a b c d", "BITFIELD k SET u8 50001 77"],
    );
    let mut logged = Logged::new();
    logged.run("XGROUP CREATE k g 0 MKSTREAM");
    (0..ELEMENTS).for_each(|_| logged.run("XADD k 0-* field value"));
    let edits = [
        "XADD k 0-* field value",
        "XADD k MAXLEN ~ 90000 0-* field value",
        "XREADGROUP GROUP g c COUNT 1 STREAMS k >",
        "XDEL k 0-50001",
        "XTRIM k MINID 0-60000",
    ];
    check_short(&mut logged, &edits);
}

/// The log of each of these edits must be short.
fn check_short(logged: &mut Logged, edits: &[&str]) {
    logged.units();
    for edit in edits {
        logged.run(edit);
        let log = logged.units().concat();
        // The borders of the unit and its database are not counted. Reading from a stream is several commands.
        let bytes = log.len().saturating_sub(52);
        let bytes_max = if edit.starts_with("XREAD") { 300 } else { 200 };
        assert!(
            (1..bytes_max).contains(&bytes),
            "{edit}: {}",
            log.escape_ascii()
        );
    }
}

/// A random command without a clock.
fn command(rng: &mut Rng) -> String {
    let mut below = |end: usize| rng.usize(..end);
    let (k, n, m) = (below(3), below(60), below(2000));
    match below(46) {
        0 => format!("SET s{k} value{n}"),
        1 => format!("APPEND s{k} more{n}"),
        2..4 => format!("SETRANGE s{k} {m} part{n}"),
        4 => format!("SETBIT s{k} {m} 1"),
        5 => format!("BITFIELD s{k} SET u8 {m} {n}"),
        6 => format!("INCR n{k}"),
        7..9 => format!("HSET h{k} f{m} value{n} f{n} {m}"),
        9 => format!("HDEL h{k} f{n} f{m}"),
        10 => format!("HINCRBY h{k} f{m} {n}"),
        11 => format!("SADD e{k} {n} {m}"),
        12 => format!("SADD e{k} member{n} member{m}"),
        13 => format!("SREM e{k} {n} member{n}"),
        14 => format!("SPOP e{k} 2"),
        15 => format!("SMOVE e0 e1 {n}"),
        16..18 => format!("ZADD z{k} {n}.5 member{m} {m} member{n}"),
        18 => format!("ZINCRBY z{k} {m} member{n}"),
        19 => format!("ZREM z{k} member{n} member{m}"),
        20 => format!("ZREMRANGEBYRANK z{k} {} {}", n % 9, n % 11),
        21 => format!("ZPOPMIN z{k} 2"),
        22 => format!("ZADD z{k} -inf member{m}"),
        23..26 => format!("RPUSH l{k} {n} element{m} x"),
        26 => format!("LPUSH l{k} {n} element{m} x"),
        27 => format!("LPOP l{k} 2"),
        28 => format!("RPOP l{k}"),
        29 => format!("LSET l{k} {n} set{m}"),
        30 => format!("LINSERT l{k} BEFORE {n} inserted{m}"),
        31 => format!("LINSERT l{k} AFTER x inserted{m}"),
        32 => format!("LREM l{k} {} x", n % 5),
        33 => format!("LREM l{k} -1 {n}"),
        34 => format!("LMOVE l{k} l{} LEFT RIGHT", n % 3),
        35 => format!("LTRIM l{k} {} -{}", n % 3, 1 + n % 2),
        36 => format!("RENAME h0 h{k}"),
        37 => format!("COPY z{k} z{} REPLACE", n % 3),
        38 if n < 20 => "SWAPDB 0 1".into(),
        39 if n < 20 => format!("SELECT {}", n % 2),
        40 if n < 10 => format!("DEL l{k} e{k}"),
        41 if n < 2 => "FLUSHDB".into(),
        42 => "MULTI".into(),
        43..45 => "EXEC".into(),
        _ => format!("PERSIST s{k}"),
    }
}

/// The names of all commands that are logged.
const NAMES: &[&str] = &[
    "APPEND",
    "DEL",
    "EXEC",
    "FLUSHDB",
    "HDEL",
    "HSET",
    "LINSERT",
    "LPOP",
    "LPUSH",
    "LREM",
    "LSET",
    "LTRIM",
    "MULTI",
    "RESTORE",
    "RPOP",
    "RPUSH",
    "SADD",
    "SELECT",
    "SET",
    "SETRANGE",
    "SREM",
    "SWAPDB",
    "XACK",
    "XADD",
    "XCLAIM",
    "XDEL",
    "XGROUP",
    "XTRIM",
    "ZADD",
    "ZREM",
    "ZREMRANGEBYRANK",
];

#[test]
fn log_of_random_commands_gives_redis_the_same_keys() {
    let (mut logged, mut rng) = (Logged::new(), Rng::with_seed(11));
    let mut streams = stream_commands(3);
    for _ in 0..12_000 {
        let line = match rng.u8(..3) {
            0 => {
                let words = streams(None);
                String::from_utf8(words.join(&b' ')).expect("text")
            }
            _ => command(&mut rng),
        };
        logged.run(&line);
    }
    logged.run("EXEC");
    let (units, redis) = (logged.units(), RedisServer::start());
    let log = units.concat();
    for name in NAMES {
        let word = format!("\r\n{name}\r\n").into_bytes();
        let is_logged = log.windows(word.len()).any(|at| at == word);
        assert!(is_logged, "{name} is never logged");
    }
    let mut link = Link::open(redis.address());
    for unit in units {
        link.send(&unit);
        link.send(b"*2\r\n$4\r\nECHO\r\n$8\r\nunit end\r\n");
        loop {
            let reply = link.reply();
            if reply == Value::Bulk(b"unit end".to_vec()) {
                break;
            }
            let replies = reply.into_elements().into_iter();
            replies.for_each(|it| assert!(!it.is_error(), "{it:?}: {}", unit.escape_ascii()));
        }
    }
    let digest = link.call(&["DEBUG", "DIGEST"]);
    let digest = digest.as_bytes().expect("a digest").to_vec();
    let ours = logged.loader.run(b"DEBUG DIGEST\r\n");
    assert_eq!(ours, [b"+", &digest[..], b"\r\n"].concat());
}
