//! Tests that the look-ahead loses no key, even if another session, store or engine looked ahead.

use respire_commands::{Kv, add_to};
use respire_engine::driver::{Session, SessionEvent};
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Config, Store};
use std::time::Duration;

fn now() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}

/// A session on its own store, which counts as larger than the caches.
fn session(seed: u64) -> Session<Kv> {
    let store = Store::new(Config {
        cached_bytes: 0,
        seed: [seed; 4],
        ..Config::default()
    });
    let router = add_to(Router::new(Kv::new(store)));
    let engine = Engine::new(router, Options::default(), now());
    let mut session = engine
        .connect(Peer::default(), Box::new(NoWake), now())
        .expect("below maxclients");
    assert_eq!(serve(&mut session, b"PING\r\n"), "+PONG\r\n");
    session
}

fn serve(session: &mut Session<Kv>, bytes: &[u8]) -> String {
    let mut out = Output::new();
    let _step = session.serve(bytes, now(), &mut out);
    String::from_utf8(out.to_vec()).expect("replies of these tests are text")
}

const SET: &[u8] = b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$1\r\n1\r\n";

#[test]
fn key_written_after_the_look_ahead_of_another_session_is_found() {
    let (mut one, mut other) = (session(1), session(2));
    let mut ahead = one.look_ahead(SET);
    one.find_ahead(&mut ahead);
    other.find_ahead(&mut ahead);
    let _step = other.serve(SessionEvent::Ahead(ahead), now(), &mut Output::new());
    assert_eq!(serve(&mut other, b"GET key\r\n"), "$1\r\n1\r\n");
    assert_eq!(serve(&mut one, b"GET key\r\n"), "$-1\r\n");
}

#[test]
fn key_written_after_an_outdated_look_ahead_is_found() {
    let mut session = session(1);
    let mut ahead = session.look_ahead(SET);
    let mut second = session.look_ahead(SET);
    session.find_ahead(&mut second);
    assert_eq!(
        serve(&mut session, b"FLUSHALL\r\nSELECT 3\r\n"),
        "+OK\r\n+OK\r\n"
    );
    session.find_ahead(&mut ahead);
    let _step = session.serve(SessionEvent::Ahead(ahead), now(), &mut Output::new());
    assert_eq!(serve(&mut session, b"GET key\r\n"), "$1\r\n1\r\n");
    assert_eq!(
        serve(&mut session, b"SELECT 0\r\nGET key\r\n"),
        "+OK\r\n$-1\r\n"
    );
    let _step = session.serve(SessionEvent::Ahead(second), now(), &mut Output::new());
    assert_eq!(serve(&mut session, b"GET key\r\n"), "$1\r\n1\r\n");
}
