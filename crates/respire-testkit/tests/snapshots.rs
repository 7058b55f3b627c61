//! Snapshots that Respire writes are loaded by a real Redis, which then has the same keys.

use fastrand::Rng;
use respire::serve::Flavour;
use respire_disk::snapshot::{Progress, SaveOptions, Saver};
use respire_testkit::reply::Value;
use respire_testkit::target::{FlavourServer, Link, RedisServer, kv_router};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn call(link: &mut Link, line: &str) -> Value {
    let words: Vec<&str> = line.split(' ').collect();
    let reply = link.call(&words);
    assert!(!matches!(reply, Value::Error(_)), "{line}: {reply:?}");
    reply
}

/// Adds keys of all types that Redis 7.0 has, in their small and large forms.
fn fill(link: &mut Link) {
    let mut rng = Rng::with_seed(7);
    for db in [0, 3, 15] {
        call(link, &format!("SELECT {db}"));
        for size in [1, 20, 90, 700] {
            let long = "x".repeat(size * 40);
            call(
                link,
                &format!("SET int:{size} {}", rng.i64(..) >> (size % 60)),
            );
            call(
                link,
                &format!("SET string:{size} {long} PXAT 99999999999999"),
            );
            call(link, &format!("APPEND grown:{size} {long}"));
            for at in 0..size {
                let text = format!("{}-{at}", rng.u16(..));
                call(link, &format!("HSET hash:{size} {text} {at}"));
                call(link, &format!("SADD set:{size} {text}"));
                call(link, &format!("SADD numbers:{size} {}", rng.i32(..)));
                call(link, &format!("RPUSH list:{size} {text}"));
                call(link, &format!("ZADD zset:{size} {at}.5 {text}"));
                call(
                    link,
                    &format!("XADD stream:{size} {}-1 {text} {at}", at + 1),
                );
            }
            call(link, &format!("XGROUP CREATE stream:{size} group 0"));
            let read = format!("XREADGROUP GROUP group me COUNT 5 STREAMS stream:{size} >");
            call(link, &read);
        }
    }
    call(link, "SELECT 0");
}

/// Returns the directory of a server.
fn folder(link: &mut Link) -> PathBuf {
    let Value::Array(pair) = call(link, "CONFIG GET dir") else {
        panic!("CONFIG GET has an array");
    };
    match &pair[..] {
        [_, Value::Bulk(path)] => PathBuf::from(String::from_utf8_lossy(path).into_owned()),
        other => panic!("{other:?}"),
    }
}

/// Checks a file by the tool that comes with Redis.
fn check(path: &Path) {
    let checked = Command::new("redis-check-rdb").arg(path).output();
    let checked = checked.expect("redis-check-rdb comes with redis-server");
    let text = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{text}");
    assert!(text.contains("RDB looks OK"), "{text}");
}

#[test]
fn redis_has_the_same_keys_after_it_loaded_a_snapshot() {
    let router = kv_router();
    let app = Arc::clone(router.app());
    let server = FlavourServer::of(Flavour::Tokio, router);
    let (mut ours, redis) = (Link::open(server.address()), RedisServer::start());
    let mut theirs = Link::open(redis.address());
    fill(&mut ours);
    let path = folder(&mut theirs).join("dump.rdb");
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    for (compression, checksum, chunk_bytes) in [
        (true, true, 4 << 20),
        (false, false, 1_000),
        (true, true, 10_000),
    ] {
        let mut options = SaveOptions::default();
        options.file.compression = compression;
        options.file.checksum = checksum;
        options.file.chunk_bytes = chunk_bytes;
        let mut saver = Saver::new(options, &stop, &progress);
        let saved = saver.save_to(app.store(), &path).expect("it is written");
        assert_eq!(saved.keys, 3 * 4 * 9);
        check(&path);
        call(&mut theirs, "DEBUG RELOAD NOSAVE");
        let digests = [&mut ours, &mut theirs].map(|link| call(link, "DEBUG DIGEST"));
        assert_eq!(digests[0], digests[1]);
    }
}

#[test]
fn redis_loads_a_snapshot_that_was_written_while_clients_wrote() {
    let router = kv_router();
    let app = Arc::clone(router.app());
    let server = FlavourServer::of(Flavour::Mio, router);
    let redis = RedisServer::start();
    let mut theirs = Link::open(redis.address());
    let path = folder(&mut theirs).join("dump.rdb");
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        // Each client moves a pair of keys on together, with others between them.
        for client in 0..2 {
            let (address, is_over) = (server.address(), &is_over);
            scope.spawn(move || {
                let (mut link, mut round) = (Link::open(address), 0_u64);
                while !is_over.load(Ordering::Relaxed) {
                    round += 1;
                    let other = round % 3_000;
                    call(
                        &mut link,
                        &format!("MSET a:{client} {round} k:{other} v b:{client} {round}"),
                    );
                    call(&mut link, &format!("HSET h:{client} f:{other} {round}"));
                }
            });
        }
        for _ in 0..8 {
            let mut saver = Saver::new(SaveOptions::default(), &stop, &progress);
            let saved = saver.save_to(app.store(), &path).expect("it is written");
            check(&path);
            call(&mut theirs, "DEBUG RELOAD NOSAVE");
            assert_eq!(call(&mut theirs, "DBSIZE"), Value::Int(saved.keys as i64));
            for client in 0..2 {
                let a = call(&mut theirs, &format!("GET a:{client}"));
                assert_eq!(a, call(&mut theirs, &format!("GET b:{client}")));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(fs::metadata(&path).is_ok_and(|file| file.len() > 1_000));
}
