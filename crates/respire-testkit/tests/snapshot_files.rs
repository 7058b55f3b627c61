//! Compares snapshot files with Redis's: each loads what the other has saved, and then has the same keys.

use fastrand::Rng;
use respire_commands::{Kv, payload};
use respire_disk::load::{Follow, Options, Report, examine, load};
use respire_engine::{Engine, NoWake, Now, Options as EngineOptions, Output, Peer, Router};
use respire_rdb::file::{self, Head, KeyHead, Writer};
use respire_store::Store;
use respire_testkit::differential::Requests;
use respire_testkit::reply::Value;
use respire_testkit::target::{Link, RedisServer, kv_router, redis_binary};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LIBRARY: &str = "#!lua name=lib\nredis.register_function('f', function() return 1 end)";

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as u64)
}

/// The words of a line, or one text behind them.
fn call(link: &mut Link, line: &str, text: Option<&[u8]>) -> Value {
    let mut args: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    args.extend(text);
    let reply = link.call(&args);
    assert!(!matches!(reply, Value::Error(_)), "{line}: {reply:?}");
    reply
}

fn bulk(value: Value) -> Vec<u8> {
    match value {
        Value::Bulk(bytes) | Value::Simple(bytes) => bytes,
        other => panic!("no text: {other:?}"),
    }
}

/// Fills databases with values in every form that Redis has, some of them with an expiry.
fn fill(link: &mut Link, rng: &mut Rng) {
    for db in 0..16 {
        call(link, &format!("SELECT {db}"), None);
        strings(link, rng);
        let lens: &[usize] = if db % 8 == 1 { &[1, 3, 100, 600] } else { &[3] };
        for len in lens {
            collections(link, rng, *len);
        }
        if db % 8 == 1 {
            streams(link);
        }
        call(link, "SET soon value PX 600000", None);
        call(link, "PEXPIREAT l:3 9999999999999", None);
        call(link, "SET gone value", None);
        call(link, "DEBUG SET-ACTIVE-EXPIRE 0", None);
        call(link, "PEXPIRE gone 1", None);
    }
    call(link, "SELECT 0", None);
    let loaded = link.call(&["FUNCTION", "LOAD", LIBRARY]);
    assert_eq!(loaded, Value::Bulk(b"lib".to_vec()));
}

fn strings(link: &mut Link, rng: &mut Rng) {
    let ints = [
        0,
        1,
        -1,
        127,
        -128,
        128,
        32_767,
        -32_769,
        1 << 31,
        -(1_i64 << 31),
        i64::MAX,
        i64::MIN,
    ];
    for int in ints {
        call(
            link,
            &format!("SET int:{int}"),
            Some(int.to_string().as_bytes()),
        );
        call(link, &format!("SET {int} x"), None);
    }
    for len in [0, 1, 20, 21, 44, 45, 63, 64, 1_000, 16_383, 16_384, 100_000] {
        let random: Vec<u8> = (0..len).map(|_| rng.u8(..)).collect();
        call(link, &format!("SET raw:{len}"), Some(&random));
        call(link, &format!("SET packed:{len}"), Some(&vec![b'a'; len]));
    }
    for byte in 0..=255 {
        link.call(&[&b"SET"[..], &[byte], b"x"]);
    }
    let long = [b'k'; 5_000];
    link.call(&[&b"SET"[..], &long, b"x"]);
    call(link, "SETBIT bits 1000 1", None);
    call(link, "PFADD hll a b c", None);
}

fn collections(link: &mut Link, rng: &mut Rng, len: usize) {
    for nth in 0..len {
        let word: String = (0..rng.usize(..40)).map(|_| rng.alphanumeric()).collect();
        let number = rng.i64(..);
        call(link, &format!("RPUSH l:{len} {word} {number} {nth}"), None);
        call(link, &format!("SADD s:{len} {word} {number}"), None);
        call(
            link,
            &format!("SADD i:{len} {}", number >> (nth % 63)),
            None,
        );
        call(
            link,
            &format!("HSET h:{len} {word}:{nth} {number} {nth} {word}"),
            None,
        );
        call(
            link,
            &format!("ZADD z:{len} {} {word} {nth} {number}", number as f64 / 7.0),
            None,
        );
    }
    call(
        link,
        &format!("ZADD z:{len} inf up -inf down 0 zero -0 minus 1e300 huge"),
        None,
    );
    call(link, &format!("RPUSH l:{len}"), Some(&vec![b'x'; 9_000]));
    call(
        link,
        &format!("HSET h:{len} long"),
        Some(&vec![b'x'; 9_000]),
    );
}

fn streams(link: &mut Link) {
    for nth in 1..300 {
        call(
            link,
            &format!("XADD stream {nth}-1 field {nth} other value"),
            None,
        );
    }
    for line in [
        "XDEL stream 5-1 7-1",
        "XGROUP CREATE stream g 0",
        "XGROUP CREATE stream h 100-0 ENTRIESREAD 90",
        "XREADGROUP GROUP g one COUNT 20 STREAMS stream >",
        "XREADGROUP GROUP g two COUNT 5 STREAMS stream >",
        "XACK stream g 1-1 2-1",
        "XGROUP CREATECONSUMER stream h idle",
        "XGROUP CREATE empty g 0 MKSTREAM",
        "XADD trimmed 1-1 a b",
        "XADD trimmed MAXLEN 1 2-1 a b",
    ] {
        call(link, line, None);
    }
}

/// The libraries of a file.
#[derive(Default)]
struct Libraries(Vec<Vec<u8>>);

impl Follow for Libraries {
    fn library(&mut self, code: &[u8]) -> Result<(), String> {
        self.0.push(code.to_vec());
        Ok(())
    }
}

/// A service on the keys of a file, which it has checked before.
fn loaded(file: &[u8], drops_expired: bool, threads: usize) -> (Router<Kv>, Report, Vec<Vec<u8>>) {
    let router = kv_router();
    let options = Options {
        now_ms: now_ms(),
        drops_expired,
        may_go_on: false,
        threads,
    };
    let mut libraries = Libraries::default();
    let examined = examine(&file, options, &mut ()).expect("the file is right");
    let report = load(&file, router.app().store(), options, &mut libraries);
    let report = report.expect("the file is right");
    assert_eq!(
        (examined.keys, examined.chunks),
        (report.keys, report.chunks)
    );
    (router, report, libraries.0)
}

/// The reply of our server to `DEBUG DIGEST`, with the stores's keys.
fn digest(router: Router<Kv>) -> Vec<u8> {
    let now = Now::new(Duration::from_secs(1), Duration::from_millis(now_ms()));
    let engine = Engine::new(router, EngineOptions::default(), now);
    let mut session = engine
        .connect(Peer::default(), Box::new(NoWake), now)
        .expect("there is room for a connection");
    let mut out = Output::new();
    let _step = session.serve(b"DEBUG DIGEST\r\n", now, &mut out);
    let reply = out.to_vec();
    let digest = reply
        .strip_prefix(b"+")
        .and_then(|it| it.strip_suffix(b"\r\n"));
    digest.expect("a status is a line").to_vec()
}

/// A file of a store, as a snapshot writes it.
fn saved(store: &Store, options: file::Options) -> Vec<u8> {
    let mut writer = Writer::new(options);
    let sizes: Vec<_> = (0..store.databases())
        .filter(|db| !store.is_empty(*db))
        .map(|db| (db, store.len(db) as u64, store.expires_len(db) as u64))
        .collect();
    writer.begin(&Head {
        redis_version: "7.0.15",
        created_s: now_ms() / 1000,
        used_memory: store.memory().total() as u64,
        databases: &sizes,
        libraries: &[LIBRARY.as_bytes()],
        ..Head::default()
    });
    for db in 0..store.databases() {
        store.view(db, 0).for_each(|key, entry| {
            let head = KeyHead {
                db,
                key,
                expires_at: entry.expires_at(),
                usage: None,
            };
            writer.entry(head, |bytes| {
                payload::write(entry.value(), bytes, &mut || ())
            });
        });
    }
    writer.finish()
}

/// Runs `redis-check-rdb`, which is the server under another name, on a file.
fn check_with_redis(file: &[u8]) {
    let path = std::env::temp_dir().join(format!(
        "respire-snapshot-{}-{}",
        std::process::id(),
        file.len()
    ));
    std::fs::write(&path, file).expect("the temporary directory is writable");
    let mut command = Command::new(redis_binary());
    let output = command.arg0("redis-check-rdb").arg(&path).output();
    std::fs::remove_file(&path).expect("the file is there");
    let output = output.expect("the program is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && text.contains("RDB looks OK"),
        "{text}"
    );
}

/// Checks that a server with these keys and ours agree on files in both directions.
fn compare(server: &RedisServer, link: &mut Link) {
    call(link, "SAVE", None);
    let theirs = server.snapshot();
    let (router, report, libraries) = loaded(&theirs, true, 2);
    let store = router.app().store();
    // The digest has keys that have expired until they are looked up.
    for db in 0..16 {
        call(link, &format!("SELECT {db}"), None);
        call(link, "EXISTS gone", None);
    }
    let expected = bulk(call(link, "DEBUG DIGEST", None));
    assert_eq!((report.chunks, report.has_checksum), (0, true));
    let small = file::Options {
        chunk_bytes: 50_000,
        ..file::Options::default()
    };
    let plain = file::Options {
        compression: false,
        checksum: false,
        ..file::Options::default()
    };
    let files = [small, plain].map(|options| saved(store, options));
    assert_eq!(digest(router), expected);
    for file in files {
        check_with_redis(&file);
        let (again, report, _) = loaded(&file, false, 3);
        assert!(report.chunks > 0);
        assert_eq!(digest(again), expected);
        let other = RedisServer::start_with(Some(&file));
        let mut link = Link::open(other.address());
        assert_eq!(bulk(call(&mut link, "DEBUG DIGEST", None)), expected);
        let functions = format!("{:?}", call(&mut link, "FUNCTION LIST WITHCODE", None));
        assert!(functions.contains(&format!("{:?}", LIBRARY.as_bytes())));
        assert!(libraries.iter().all(|code| code == LIBRARY.as_bytes()));
    }
}

#[test]
fn values_of_every_form_are_the_same_after_either_way() {
    let server = RedisServer::start();
    let mut link = Link::open(server.address());
    fill(&mut link, &mut Rng::with_seed(1));
    compare(&server, &mut link);
}

#[test]
fn values_of_random_commands_are_the_same_after_either_way() {
    let server = RedisServer::start();
    let mut link = Link::open(server.address());
    let mut requests = Requests::new(7);
    for _ in 0..10_000 {
        let request = requests.next();
        let reply = link.call(&request);
        requests.learn(&reply);
    }
    drop(link);
    let mut link = Link::open(server.address());
    compare(&server, &mut link);
}

#[test]
fn expired_keys_are_kept_or_dropped_as_asked() {
    let server = RedisServer::start();
    let mut link = Link::open(server.address());
    call(&mut link, "DEBUG SET-ACTIVE-EXPIRE 0", None);
    for nth in 0..10 {
        call(&mut link, &format!("SET {nth} value"), None);
        call(&mut link, &format!("PEXPIREAT {nth} 1"), None);
        call(
            &mut link,
            &format!("SET lasting:{nth} value PX 600000"),
            None,
        );
    }
    // A time in the past removes a key at once, unless it is in a file.
    let router = kv_router();
    let store = router.app().store();
    for nth in 0..10_u8 {
        let expiry = respire_store::Expiry::At(1 + u64::from(nth));
        store
            .view(0, 0)
            .update(&[nth], |slot| slot.set(b"value", expiry));
    }
    let file = saved(store, file::Options::default());
    for (drops_expired, keys) in [(true, 0), (false, 10)] {
        let (router, report, _) = loaded(&file, drops_expired, 1);
        assert_eq!(router.app().store().len(0), keys);
        assert_eq!(report.expired_keys, 10 - keys as u64);
    }
    let other = RedisServer::start_with(Some(&file));
    let mut link = Link::open(other.address());
    assert_eq!(call(&mut link, "DBSIZE", None), Value::Int(0));
}
