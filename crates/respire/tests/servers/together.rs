//! Tests of many connections that are ready at the same moment, as after a long command.

use crate::harness::{Kind, Peer, Running, Setup, bulk, request};
use respire::engine::{ArgList, Cx, KeySpec, Keyspace, Reply, Row, SectionScope};
use respire::{App, Arity, Error, Now, Router, Spec};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Blocks a client that calls `GATE`, and its thread, until the test has sent all requests.
#[derive(Default)]
struct Gate {
    is_reached: AtomicBool,
    is_open: AtomicBool,
}

impl App for Gate {
    type Conn = ();
    type Keys = Self;
}

impl Keyspace<Self> for Gate {
    type Conn = ();
    type Held = ();
    type Hint<'k> = bool;

    fn shorten<'s, 'k: 's>(hint: &'s bool) -> &'s bool {
        hint
    }

    fn is_far(_: &Self) -> bool {
        true
    }

    fn foresee(_: &Self, _: u32, key: &[u8]) -> bool {
        assert!(key != b"broken", "a defect, on purpose");
        key == b"dented"
    }

    fn find(_: &Self, _: u32, is_dented: &mut bool) {
        assert!(!*is_dented, "a defect, on purpose");
    }

    fn atomically(_: &Self, _: &SectionScope<'_>, _: Now, body: &mut dyn FnMut(&mut ())) {
        body(&mut ());
    }
}

static KEY: Spec = Spec {
    name: "key",
    arity: Arity::exactly(2),
    keys: &[KeySpec::at(1)],
    ..Spec::EMPTY
};

/// Replies with its key.
fn key(_: &mut Cx<'_, Gate>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.bulk(&args[0]);
    Ok(())
}

fn start(kind: Kind) -> Running<Gate> {
    let router = Router::new(Gate::default())
        .add(Row {
            spec: &KEY,
            run: key,
        })
        .command("gate", |cx, ()| {
            let gate = cx.app();
            gate.is_reached.store(true, Ordering::Release);
            let deadline = Instant::now() + crate::harness::PATIENCE;
            while !gate.is_open.load(Ordering::Acquire) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    Setup::new(kind).serve(router)
}

/// Connections that have been served before, and one that is blocked at the gate.
fn connect(server: &Running<Gate>, count: usize) -> (Vec<Peer<TcpStream>>, Peer<TcpStream>) {
    let mut peers: Vec<_> = (0..count).map(|_| server.connect()).collect();
    for peer in &mut peers {
        peer.send(request(&[b"KEY", b"first"]));
        peer.expect(bulk(b"first"));
    }
    let mut keeper = server.connect();
    keeper.send(request(&[b"GATE"]));
    let gate = server.engine.app();
    server.until("the gate is reached", |_| {
        gate.is_reached.load(Ordering::Acquire)
    });
    (peers, keeper)
}

fn open(server: &Running<Gate>, mut keeper: Peer<TcpStream>) {
    server.engine.app().is_open.store(true, Ordering::Release);
    keeper.expect("+OK\r\n");
}

pub(crate) fn connections_ready_together_get_their_own_replies(kind: Kind) {
    let server = start(kind);
    let (mut peers, keeper) = connect(&server, 60);
    let name = |nth: usize| format!("key-{nth}").into_bytes();
    for (nth, peer) in peers.iter_mut().enumerate() {
        let asked = request(&[b"KEY", &name(nth)]);
        match nth % 6 {
            // Half a request, two, a long one, and one with the peer's end after it.
            1 => peer.send(&asked[..asked.len() / 2]),
            2 => peer.send([&asked[..], &asked].concat()),
            3 => peer.send(request(&[b"KEY", &name(nth).repeat(500)])),
            4 => {
                peer.send(asked);
                peer.stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
            _ => peer.send(asked),
        }
    }
    open(&server, keeper);
    for (nth, peer) in peers.iter_mut().enumerate() {
        let answer = bulk(&name(nth));
        match nth % 6 {
            1 => {
                let asked = request(&[b"KEY", &name(nth)]);
                peer.send(&asked[asked.len() / 2..]);
                peer.expect(answer);
            }
            2 => peer.expect([&answer[..], &answer].concat()),
            3 => peer.expect(bulk(&name(nth).repeat(500))),
            4 => {
                peer.expect(answer);
                peer.expect_gone();
            }
            _ => peer.expect(answer),
        }
    }
}

pub(crate) fn panic_in_looking_ahead_ends_only_its_connection(kind: Kind) {
    let server = start(kind);
    let (mut peers, keeper) = connect(&server, 24);
    let words: [&[u8]; 4] = [b"broken", b"sound", b"dented", b"whole"];
    // Several connections: a pipeline looks ahead by itself, in either flavour.
    let asked = |nth: usize| (words[nth % 4], if nth < 12 { 1 } else { 3 });
    for (nth, peer) in peers.iter_mut().enumerate() {
        let (word, times) = asked(nth);
        peer.send(request(&[b"KEY", word]).repeat(times));
    }
    open(&server, keeper);
    for (nth, peer) in peers.iter_mut().enumerate() {
        let (word, times) = asked(nth);
        let is_looked_ahead_to = times > 1 || kind.name() == "mio";
        // The first and the third connection panic.
        if is_looked_ahead_to && nth % 2 == 0 {
            peer.expect_gone();
        } else {
            peer.expect(bulk(word).repeat(times));
        }
    }
    let mut later = server.connect();
    later.send(request(&[b"KEY", b"later"]));
    later.expect(bulk(b"later"));
}
