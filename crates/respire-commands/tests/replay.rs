//! Tests the replay of a log: nothing expires in it, and times are those of its end.

#![expect(
    clippy::unwrap_used,
    reason = "what fails in the set-up fails the test"
)]

use respire_commands::{Kv, add_to};
use respire_engine::driver::Replay;
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Config, Store};
use std::sync::Arc;
use std::time::Duration;

const NOW_MS: u64 = 1_700_000_000_000;

fn now() -> Now {
    Now::new(Duration::from_secs(9), Duration::from_millis(NOW_MS))
}

fn engine() -> Arc<Engine<Kv>> {
    let kv = Kv::new(Store::new(Config::default()));
    Engine::new(add_to(Router::new(kv)), Options::default(), now())
}

fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

fn feed(replay: &mut Replay<Kv>, lines: &str) {
    for line in lines.lines() {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let bytes = command(&words);
        assert_eq!(replay.feed(&bytes, 0, now()), Ok(bytes.len()), "{line}");
    }
}

/// The replies to these inline requests, at the time `now`.
fn ask(engine: &Arc<Engine<Kv>>, lines: &str, now: Now) -> String {
    let mut session = engine
        .connect(Peer::default(), Box::new(NoWake), now)
        .unwrap();
    let (mut out, bytes) = (Output::new(), lines.replace('\n', "\r\n") + "\r\n");
    let _step = session.serve(bytes.as_bytes(), now, &mut out);
    String::from_utf8_lossy(&out.take()).replace("\r\n", "|")
}

#[test]
fn keys_whose_time_has_passed_exist_until_the_log_removes_them() {
    let engine = engine();
    let mut replay = engine.connect_to_replay(now());
    feed(
        &mut replay,
        "SET a 1 PXAT 1000\nAPPEND a 2\nPEXPIREAT a 1700000100000\n\
         SET b 1 PXAT 1000\nINCR b\nRENAME b c\nPERSIST c\n\
         SET d 1\nPEXPIREAT d 2000\nHSET h f 1 g 2\nHPEXPIREAT h 1000 FIELDS 1 f\nHINCRBY h f 5\nHPERSIST h FIELDS 1 f\n\
         SET gone 1 PXAT 3000\nDEL gone\n\
         MULTI\nSET e 1 PXAT 5\nINCR e\nEXEC",
    );
    assert_eq!(engine.app().store().len(0), 5);
    let asked = ask(
        &engine,
        "GET a\nGET c\nGET d\nHGET h f\nGET gone\nGET e",
        now(),
    );
    assert_eq!(asked, "$2|12|$1|2|$-1|$1|6|$-1|$-1|");
}

#[test]
fn relative_expiries_count_from_now_and_keys_look_used_now() {
    let engine = engine();
    let mut replay = engine.connect_to_replay(now());
    feed(
        &mut replay,
        "SET a 1 EX 100\nSET b 1\nEXPIRE b 50\nHSET h f 1\nHEXPIRE h 10 FIELDS 1 f\nSET old 1 PXAT 10",
    );
    let asked = ask(
        &engine,
        "PEXPIRETIME a\nTTL b\nHTTL h FIELDS 1 f\nOBJECT IDLETIME a\nEXISTS old",
        now(),
    );
    assert_eq!(asked, ":1700000100000|:50|*1|:10|:0|:0|");
    let later = now().after(Duration::from_secs(20));
    assert_eq!(
        ask(&engine, "OBJECT IDLETIME a\nEXISTS h", later),
        ":20|:0|"
    );
}

#[test]
fn blocking_commands_do_not_wait() {
    let engine = engine();
    let mut replay = engine.connect_to_replay(now());
    feed(&mut replay, "BLPOP list 0\nRPUSH list a b\nBLPOP list 0");
    assert_eq!(ask(&engine, "LRANGE list 0 -1", now()), "*1|$1|b|");
}

#[test]
fn random_log_in_pieces_gives_what_clients_would_get() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut log = Vec::new();
    let mut is_open = false;
    for n in 0..30_000 {
        let key = format!("key:{}", rng.u32(..2_000));
        let value = "v".repeat(rng.usize(..60));
        let (key, value, n) = (key.as_bytes(), value.as_bytes(), n.to_string());
        log.extend(match rng.u32(..12) {
            0 => command(&[b"DEL", key]),
            1 => command(&[b"APPEND", key, value]),
            2 => command(&[b"SELECT", &[b'0' + rng.u8(..4)]]),
            3 if is_open => command(&[b"EXEC"]),
            3 => command(&[b"MULTI"]),
            4 => command(&[b"PEXPIREAT", key, n.as_bytes()]),
            _ => command(&[b"SET", key, value]),
        });
        is_open ^= log.ends_with(b"EXEC\r\n") || log.ends_with(b"MULTI\r\n");
    }
    if is_open {
        log.extend(command(&[b"EXEC"]));
    }
    let whole = engine();
    let mut replay = whole.connect_to_replay(now());
    assert_eq!(replay.feed(&log, 0, now()), Ok(log.len()));
    let pieces = engine();
    let mut replay = pieces.connect_to_replay(now());
    let (mut used, mut end) = (0, 0);
    while used < log.len() {
        end = (end + rng.usize(1..5_000)).min(log.len());
        used += replay.feed(&log[used..end], used as u64, now()).unwrap();
    }
    // Clients do it at a time at which nothing has expired.
    let clients = engine();
    let start = Now::new(Duration::ZERO, Duration::ZERO);
    let mut session = clients
        .connect(Peer::default(), Box::new(NoWake), start)
        .unwrap();
    for piece in log.chunks(10_000) {
        let mut out = Output::new();
        let _step = session.serve(piece, start, &mut out);
        while session.serve(respire_engine::driver::SessionEvent::Turn, start, &mut out)
            == respire_engine::driver::SessionStep::Flush
        {
            out = Output::new();
        }
    }
    let digest = |engine| ask(engine, "DEBUG DIGEST\nDBSIZE", start);
    assert_eq!(digest(&whole), digest(&clients));
    assert_eq!(digest(&pieces), digest(&clients));
}
