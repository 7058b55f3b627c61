//! Encoded effects are run by an engine of their own, which must then have the same keys.

use super::*;
use respire_commands::{Kv, add_to};
use respire_engine::driver::{Session, SessionEvent, SessionStep};
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Cause, Config, Store};
use std::sync::Arc;
use std::time::Duration;

/// An engine with one connection.
struct Server {
    engine: Arc<Engine<Kv>>,
    session: Session<Kv>,
}

/// A time before every expiry, as nothing expires while commands are loaded.
const NOW: Now = Now::new(Duration::ZERO, Duration::from_millis(1));

impl Server {
    fn new() -> Self {
        let kv = Kv::new(Store::new(Config::default()));
        let engine = Engine::new(add_to(Router::new(kv)), Options::default(), NOW);
        let session = engine.connect(Peer::default(), Box::new(NoWake), NOW);
        let session = session.expect("the first connection is accepted");
        Server { engine, session }
    }

    fn run(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Output::new();
        let mut step = self.session.serve(bytes, NOW, &mut out);
        while step == SessionStep::Flush {
            step = self.session.serve(SessionEvent::Turn, NOW, &mut out);
        }
        out.to_vec()
    }

    fn line(&mut self, line: &str) -> String {
        let reply = self.run(format!("{line}\r\n").as_bytes());
        String::from_utf8_lossy(&reply).into_owned()
    }

    fn store(&self) -> &Store {
        self.engine.app().store()
    }

    /// Encodes a key as if it had just been written. Returns the number of commands.
    fn encoded(&self, key: &[u8]) -> (Vec<u8>, usize) {
        let mut out = Vec::new();
        let commands = self.store().view(0, 0).read(key, |entry| {
            let (db, entry) = (0, entry.expect("the key exists"));
            encode(&Effect::Written { db, key, entry }, &mut out)
        });
        (out, commands)
    }
}

/// The names of the commands that are encoded.
fn names(mut bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    while !bytes.is_empty() {
        let arguments = header(&mut bytes, b'*');
        for at in 0..arguments {
            let len = header(&mut bytes, b'$');
            if at == 0 {
                names.push(String::from_utf8_lossy(&bytes[..len]).into_owned());
            }
            assert_eq!(&bytes[len..len + 2], b"\r\n");
            bytes = &bytes[len + 2..];
        }
    }
    names
}

fn header(bytes: &mut &[u8], kind: u8) -> usize {
    let end = bytes
        .iter()
        .position(|byte| *byte == b'\r')
        .expect("a line");
    assert_eq!(bytes[0], kind);
    let number = String::from_utf8_lossy(&bytes[1..end]).parse();
    *bytes = &bytes[end + 2..];
    number.expect("a number")
}

/// Writes the key `k` by these lines, encodes it, and loads that into a server where `k` has another value. Returns the
/// names of the commands.
fn check(lines: &[impl AsRef<str>]) -> Vec<String> {
    let (mut first, mut second) = (Server::new(), Server::new());
    for line in lines {
        let reply = first.line(line.as_ref());
        assert!(!reply.starts_with('-'), "{}: {reply}", line.as_ref());
    }
    let (bytes, commands) = first.encoded(b"k");
    second.line("SET k other");
    let replies = second.run(&bytes);
    let errors = replies.starts_with(b"-") || replies.windows(3).any(|at| at == b"\r\n-");
    assert!(!errors, "{}", replies.escape_ascii());
    let names = names(&bytes);
    assert_eq!(names.len(), commands);
    for line in ["DEBUG DIGEST", "TYPE k", "PEXPIRETIME k"] {
        assert_eq!(first.line(line), second.line(line), "{line}");
    }
    names
}

#[test]
fn string_is_one_set_with_its_expiry() {
    let mut server = Server::new();
    server.line("SET k 12");
    server.line("SET text 0012 PXAT 1700000000000");
    assert_eq!(
        server.encoded(b"k").0,
        b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n12\r\n"
    );
    assert_eq!(
        server.encoded(b"text").0,
        b"*5\r\n$3\r\nSET\r\n$4\r\ntext\r\n$4\r\n0012\r\n$4\r\nPXAT\r\n$13\r\n1700000000000\r\n"
    );
    for value in ["-7", "x", "9223372036854775807", "12345678901234567890"] {
        assert_eq!(check(&[format!("SET k {value}")]), ["SET"]);
    }
    assert_eq!(check(&[format!("SET k {}", "x".repeat(60_000))]), ["SET"]);
}

#[test]
fn other_effects_are_one_command_each() {
    let encoded = |effect: Effect<'_>| {
        let mut out = Vec::new();
        assert_eq!(encode(&effect, &mut out), 1);
        String::from_utf8_lossy(&out).replace("\r\n", " ")
    };
    let (db, key, cause) = (4, &b"key"[..], Cause::Eviction);
    assert_eq!(
        encoded(Effect::Removed { db, key, cause }),
        "*2 $3 DEL $3 key "
    );
    assert_eq!(encoded(Effect::Flushed { db }), "*1 $7 FLUSHDB ");
    assert_eq!(
        encoded(Effect::Swapped { a: 3, b: 12 }),
        "*3 $6 SWAPDB $1 3 $2 12 "
    );
    let expires = |expires_at| {
        encoded(Effect::ExpirySet {
            db,
            key,
            expires_at,
        })
    };
    assert_eq!(expires(Some(77)), "*3 $9 PEXPIREAT $3 key $2 77 ");
    assert_eq!(expires(None), "*2 $7 PERSIST $3 key ");
}

#[test]
fn small_value_is_one_restore() {
    for lines in [
        &["HSET k a 1 b two"][..],
        &["SADD k 1 2 3"],
        &["SADD k a b c", "PEXPIREAT k 1700000000000"],
        &["ZADD k 1 a 2.5 b -inf c"],
        &["RPUSH k a b 3", "PEXPIREAT k 9"],
        &["XADD k 1-1 a b", "XGROUP CREATE k g 0"],
    ] {
        assert_eq!(check(lines), ["RESTORE"], "{lines:?}");
    }
}

#[test]
fn large_value_is_written_in_pieces() {
    let text = "x".repeat(60_000);
    let lines = |start: &str, element: &dyn Fn(usize) -> String| {
        let mut lines: Vec<String> = (0..100)
            .map(|n| format!("{start} {}", element(n)))
            .collect();
        lines.push("PEXPIREAT k 1700000000000".into());
        lines
    };
    for (name, start, element) in [
        (
            "HSET",
            "HSET k",
            &(|n| format!("{n} {text}{n}")) as &dyn Fn(usize) -> String,
        ),
        ("SADD", "SADD k", &|n| format!("{text}{n}")),
        ("ZADD", "ZADD k", &|n| format!("{}.1 {text}{n}", n % 3)),
        ("RPUSH", "RPUSH k", &|n| format!("{text}{n}")),
    ] {
        let names = check(&lines(start, element));
        assert_eq!((&names[0][..], &names[1][..]), ("DEL", name));
        assert!((5..12).contains(&names.len()), "{names:?}");
        assert_eq!(names[names.len() - 1], "PEXPIREAT");
    }
}

#[test]
fn hash_with_expiries_of_fields_is_written_in_pieces() {
    let names = check(&[
        "HSET k a 1 b 2 c 3",
        "HPEXPIREAT k 1700000000000 FIELDS 2 a b",
    ]);
    assert_eq!(names, ["DEL", "HSET", "HPEXPIREAT", "HPEXPIREAT"]);
    let without = [
        "HSET k a 1",
        "HPEXPIREAT k 5 FIELDS 1 a",
        "HPERSIST k FIELDS 1 a",
    ];
    assert_eq!(check(&without), ["RESTORE"]);
}

#[test]
fn stream_written_by_its_entries_has_the_same_groups() {
    let lines = [
        "XADD k 1-1 a 1 b 2",
        "XADD k 1-2 a 1",
        "XADD k 5-0 a 1",
        "XDEL k 1-2",
        "XGROUP CREATE k g 0 ENTRIESREAD 0",
        "XGROUP CREATE k idle $",
        "XGROUP CREATECONSUMER k idle nobody",
        "XREADGROUP GROUP g one COUNT 1 STREAMS k >",
        "XREADGROUP GROUP g two COUNT 1 STREAMS k >",
    ];
    let shown = [
        "XINFO STREAM k FULL",
        "XINFO GROUPS k",
        "XPENDING k g - + 9",
    ];
    for lines in [
        &lines[..],
        &["XGROUP CREATE k g 0 MKSTREAM", "XGROUP DESTROY k g"],
    ] {
        let (mut first, mut second) = (Server::new(), Server::new());
        lines.iter().for_each(|line| _ = first.line(line));
        let mut out = Vec::new();
        let commands = first.store().view(0, 0).read(b"k", |entry| {
            let value = entry.expect("the key exists").value();
            split::write(b"k", value, None, &mut out)
        });
        assert_eq!(commands, Some(names(&out).len()));
        second.run(&out);
        for line in shown.iter().take(if lines.len() > 2 { 3 } else { 1 }) {
            assert_eq!(first.line(line), second.line(line), "{line}");
        }
    }
}
