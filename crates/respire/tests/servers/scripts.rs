//! Tests of scripts that run long: what others get meanwhile, and how the scripts end.

use crate::harness::{Kind, Peer, Running, Setup};
use respire::commands::{Kv, add_to};
use respire::engine::Router;
use respire::store::{Config, Store};
use std::net::TcpStream;

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
