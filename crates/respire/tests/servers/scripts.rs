//! Tests of scripts that run long: what others get meanwhile, and how the scripts end.

use crate::harness::{Kind, PATIENCE, Peer, Running, Setup};
use respire::commands::{Kv, add_to};
use respire::engine::{self, Error, Router};
use respire::store::{Config, Store};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A server with scripts and a few keys, and two connections to it.
fn start(kind: Kind) -> (Running<Kv>, Peer<TcpStream>, Peer<TcpStream>) {
    let router = add_to(Router::new(Kv::new(Store::new(Config::default()))));
    let server = Setup::new(kind).serve(respire::script::add_to(router));
    let (one, mut other) = (server.connect(), server.connect());
    other.send("MSET mine 1 b 2 c 3 d 4\r\n");
    other.expect("+OK\r\n");
    (server, one, other)
}

/// Begins a script that never ends on `one`, and waits until others are served during it.
fn begin_endless(server: &Running<Kv>, one: &mut Peer<TcpStream>, first: &str) {
    one.send(format!("EVAL \"{first} while true do end\" 1 mine\r\n"));
    server.until("the script is a long call", |engine| {
        engine.long_calls() > 0
    });
}

const BUSY: &str = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or \
                    SHUTDOWN NOSAVE.\r\n";

pub(crate) fn other_keys_are_served_while_a_script_runs(kind: Kind) {
    let (server, mut one, mut other) = start(kind);
    begin_endless(&server, &mut one, "redis.call('GET', KEYS[1])");
    other.send("SET b 5\r\nGET b\r\nMGET c d\r\nPING\r\n");
    other.expect("+OK\r\n$1\r\n5\r\n*2\r\n$1\r\n3\r\n$1\r\n4\r\n+PONG\r\n");
    other.send("SCRIPT KILL\r\n");
    other.expect("+OK\r\n");
    let end = one.line();
    assert!(end.contains("killed by user"), "{end}");
    one.send("GET mine\r\n");
    one.expect("$1\r\n1\r\n");
}

pub(crate) fn request_for_a_key_of_a_script_waits_and_then_gets_busy(kind: Kind) {
    let (server, mut one, mut other) = start(kind);
    begin_endless(&server, &mut one, "");
    // It waits: the default is five seconds.
    let mut waiting = server.connect();
    waiting.send("GET mine\r\n");
    other.send("CONFIG SET busy-reply-threshold 0\r\nGET mine\r\n");
    other.expect("+OK\r\n");
    other.expect(BUSY);
    waiting.expect(BUSY);
    other.send("PING\r\nGET b\r\n");
    other.expect(BUSY);
    other.expect("$1\r\n2\r\n");
    other.send("MULTI\r\nGET mine\r\nEXEC\r\n");
    other.expect("+OK\r\n+QUEUED\r\n-EXECABORT Transaction discarded because of: BUSY ");
    other.line();
    other.send("SCRIPT KILL\r\n");
    other.expect("+OK\r\n");
    one.line();
    other.send("GET mine\r\nPING\r\n");
    other.expect("$1\r\n1\r\n+PONG\r\n");
}

pub(crate) fn script_that_has_written_cannot_be_killed_but_ends_with_the_server(kind: Kind) {
    let (server, mut one, mut other) = start(kind);
    begin_endless(&server, &mut one, "redis.call('SET', KEYS[1], 2)");
    other.send("SCRIPT KILL\r\n");
    let refusal = other.line();
    assert!(refusal.starts_with("-UNKILLABLE "), "{refusal}");
    server.stop();
}

pub(crate) fn script_that_has_not_written_is_ended_by_the_time_limit(kind: Kind) {
    let (_server, mut one, mut other) = start(kind);
    other.send("CONFIG SET script-time-limit 20\r\n");
    other.expect("+OK\r\n");
    one.send("EVAL \"while true do pcall(string.rep, 'x', 10) end\" 0\r\n");
    let end = one.line();
    assert!(end.contains("script-time-limit"), "{end}");
    one.send("EVAL \"return string.find(string.rep('a', 3000), '.-.-.-.-b')\" 0\r\n");
    let end = one.line();
    assert!(end.contains("script-time-limit"), "{end}");
}

/// Holds up the thread of a client that calls `GATE` until the test has sent all requests, so that those are
/// ready together.
#[derive(Default)]
struct Gate {
    is_reached: AtomicBool,
    is_open: AtomicBool,
}

impl Gate {
    fn pass(&self) {
        self.is_reached.store(true, Ordering::Release);
        let deadline = Instant::now() + PATIENCE;
        while !self.is_open.load(Ordering::Acquire) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

pub(crate) fn connections_ready_together_are_served_while_one_runs_a_script(kind: Kind) {
    let gate = Arc::new(Gate::default());
    let passed = Arc::clone(&gate);
    let router = add_to(Router::new(Kv::new(Store::new(Config::default()))));
    let router = router.command("gate", move |_, ()| passed.pass());
    let server = Setup::new(kind).serve(respire::script::add_to(router));
    let (mut keeper, mut one) = (server.connect(), server.connect());
    let mut others: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for peer in others.iter_mut().chain([&mut one]) {
        // Input is read ahead from connections that have sent little before.
        peer.send("PING\r\n");
        peer.expect("+PONG\r\n");
    }
    keeper.send("GATE\r\n");
    server.until("the gate is reached", |_| {
        gate.is_reached.load(Ordering::Acquire)
    });
    one.send("EVAL \"while true do end\" 1 mine\r\n");
    for (nth, peer) in others.iter_mut().enumerate() {
        peer.send(format!("SET key:{nth} {nth}\r\nGET key:{nth}\r\n"));
    }
    gate.is_open.store(true, Ordering::Release);
    keeper.expect("+OK\r\n");
    for (nth, peer) in others.iter_mut().enumerate() {
        let value = nth.to_string();
        peer.expect(format!("+OK\r\n${}\r\n{value}\r\n", value.len()));
        // What comes during the script is behind what came before it.
        peer.send(format!("GET key:{nth}\r\n"));
        peer.expect(format!("${}\r\n{value}\r\n", value.len()));
    }
    server.until("the script is a long call", |engine| {
        engine.long_calls() > 0
    });
    others[0].send("SCRIPT KILL\r\n");
    others[0].expect("+OK\r\n");
    let end = one.line();
    assert!(end.contains("killed by user"), "{end}");
}

pub(crate) fn scripts_may_only_read_while_changes_cannot_be_kept(kind: Kind) {
    let (server, mut one, _) = start(kind);
    let error = Error::fixed("MISCONF Errors writing to the AOF file: full");
    server.engine.close_gate(engine::Gate::Misconf(error));
    let refused = [
        "EVAL \"return redis.call('SET', KEYS[1], 'x')\" 1 b\r\n",
        "EVAL \"#!lua\\nreturn redis.call('GET', KEYS[1])\" 1 b\r\n",
    ];
    for script in refused {
        one.send(script);
        let line = one.line();
        assert!(
            line.starts_with("-MISCONF Errors writing to the AOF file: full"),
            "{line}"
        );
    }
    let admitted = [
        "EVAL \"return redis.call('GET', KEYS[1])\" 1 b\r\n",
        "EVAL \"#!lua flags=no-writes\\nreturn redis.call('GET', KEYS[1])\" 1 b\r\n",
        "EVAL \"redis.pcall('SET', KEYS[1], 'x') return redis.call('GET', KEYS[1])\" 1 b\r\n",
    ];
    for script in admitted {
        one.send(script);
        one.expect("$1\r\n2\r\n");
    }
}
