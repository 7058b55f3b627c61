//! Tests of replies that are held until changes are kept, over real sockets.

use crate::harness::{Kind, PATIENCE, Peer, Running};
use respire::engine::{Commits, Wake};
use respire::store::{Effect, Interest, Observer, Ticket};
use std::cell::Cell;
use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Keeps changes up to the ticket that the test says.
#[derive(Default)]
struct Told(Mutex<State>);

#[derive(Default)]
struct State {
    last: u64,
    kept: u64,
    /// The last ticket of each key.
    keys: HashMap<Vec<u8>, u64>,
    waiting: Vec<(u64, Arc<dyn Wake>)>,
}

thread_local! {
    /// The tickets of the turns that run on this thread.
    static TURNS: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

fn note(ticket: u64) {
    let mut turns = TURNS.take();
    if let Some(turn) = turns.last_mut() {
        *turn = ticket.max(*turn);
    }
    TURNS.set(turns);
}

impl Told {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Keeps all changes that were made so far.
    fn keep_all(&self) {
        let mut state = self.state();
        state.kept = state.last;
        let kept = state.kept;
        let (ready, waiting) = std::mem::take(&mut state.waiting)
            .into_iter()
            .partition(|(ticket, _)| *ticket <= kept);
        state.waiting = waiting;
        drop(state);
        let ready: Vec<_> = ready;
        ready.iter().for_each(|(_, wake)| wake.wake());
    }

    fn waiting(&self) -> usize {
        self.state().waiting.len()
    }
}

impl Observer for Told {
    fn effect(&self, ticket: Ticket, effect: Effect<'_>) {
        let mut state = self.state();
        state.last = state.last.max(ticket.number());
        if let Effect::Written { key, .. } | Effect::Removed { key, .. } = effect {
            state.keys.insert(key.to_vec(), ticket.number());
        }
        drop(state);
        note(ticket.number());
    }
}

impl Commits for Told {
    fn enter(&self) {
        let mut turns = TURNS.take();
        turns.push(0);
        TURNS.set(turns);
    }

    fn leave(&self) -> u64 {
        let mut turns = TURNS.take();
        let ticket = turns.pop();
        TURNS.set(turns);
        ticket.unwrap()
    }

    fn note_read(&self, _: u32, key: &[u8]) {
        let ticket = self.state().keys.get(key).copied();
        note(ticket.unwrap_or(0));
    }

    fn note_read_all(&self) {
        note(self.last());
    }

    fn last(&self) -> u64 {
        self.state().last
    }

    fn is_kept(&self, ticket: u64) -> bool {
        ticket <= self.state().kept
    }

    fn wake_when_kept(&self, ticket: u64, wake: Arc<dyn Wake>) {
        let mut state = self.state();
        if ticket <= state.kept {
            drop(state);
            return wake.wake();
        }
        state.waiting.push((ticket, wake));
    }
}

/// A server whose changes are kept as the test says.
fn start(kind: Kind) -> (Running, Arc<Told>) {
    let server = Running::start(kind);
    let told = Arc::new(Told::default());
    server.engine.set_commits(Arc::clone(&told) as _);
    server.engine.set_notes_reads(true);
    let store = server.engine.app().store();
    store.observe(Arc::clone(&told) as _, Interest::EFFECTS);
    (server, told)
}

/// Waits until so many connections wait for a ticket.
#[track_caller]
fn until_waiting(server: &Running, told: &Told, connections: usize) {
    server.until("connections wait", |_| told.waiting() >= connections);
}

/// Checks that nothing has arrived.
#[track_caller]
fn expect_nothing(peer: &mut Peer<TcpStream>) {
    peer.stream.set_nonblocking(true).unwrap();
    let read = peer.stream.read(&mut [0; 16]);
    peer.stream.set_nonblocking(false).unwrap();
    peer.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock);
}

pub(crate) fn reply_to_a_change_arrives_after_it_is_kept(kind: Kind) {
    let (server, told) = start(kind);
    let mut peer = server.connect();
    for round in 1..=100 {
        peer.send("INCR a\r\nPING\r\n");
        until_waiting(&server, &told, 1);
        expect_nothing(&mut peer);
        told.keep_all();
        peer.expect(format!(":{round}\r\n+PONG\r\n"));
    }
}

pub(crate) fn reader_waits_for_what_it_is_shown_and_for_nothing_else(kind: Kind) {
    let (server, told) = start(kind);
    let (mut writer, mut reader, mut other) =
        (server.connect(), server.connect(), server.connect());
    writer.send("MSET a 1 b 1\r\n");
    until_waiting(&server, &told, 1);
    told.keep_all();
    writer.expect("+OK\r\n");
    writer.send("SET a 2\r\n");
    until_waiting(&server, &told, 1);
    other.send("GET b\r\nPING\r\nGET none\r\n");
    other.expect("$1\r\n1\r\n+PONG\r\n$-1\r\n");
    reader.send("GET a\r\n");
    until_waiting(&server, &told, 2);
    expect_nothing(&mut reader);
    told.keep_all();
    reader.expect("$1\r\n2\r\n");
    writer.expect("+OK\r\n");
}

pub(crate) fn pipelined_replies_arrive_in_order(kind: Kind) {
    let (server, told) = start(kind);
    let mut peer = server.connect();
    let mut expected = Vec::new();
    for round in 0..3_000 {
        peer.send("INCR n\r\nPING\r\nGET n\r\n");
        let n = round + 1;
        let digits = n.to_string();
        let len = digits.len();
        expected.extend_from_slice(format!(":{n}\r\n+PONG\r\n${len}\r\n{n}\r\n").as_bytes());
        if round % 7 == 0 {
            told.keep_all();
        }
    }
    server.until("all requests ran", |_| told.last() == 3_000);
    told.keep_all();
    // Turns may still end after this.
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (flag, keeper) = (Arc::clone(&stop), Arc::clone(&told));
    let thread = std::thread::spawn(move || {
        while !flag.load(std::sync::atomic::Ordering::Relaxed) {
            keeper.keep_all();
            std::thread::yield_now();
        }
    });
    peer.expect(&expected);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    thread.join().unwrap();
}

pub(crate) fn served_waiter_and_its_writer_wait_for_the_change(kind: Kind) {
    let (server, told) = start(kind);
    let (mut waiter, mut writer) = (server.connect(), server.connect());
    let id = waiter.id();
    waiter.send("BLPOP list 0\r\n");
    server.until("the waiter waits", |engine| {
        let waiter = engine.clients().find(id);
        waiter.is_some_and(|waiter| engine.last_command(&waiter) == Some("blpop"))
    });
    writer.send("RPUSH list a\r\n");
    until_waiting(&server, &told, 2);
    expect_nothing(&mut waiter);
    expect_nothing(&mut writer);
    told.keep_all();
    waiter.expect("*2\r\n$4\r\nlist\r\n$1\r\na\r\n");
    writer.expect(":1\r\n");
}

pub(crate) fn messages_follow_held_replies(kind: Kind) {
    let (server, told) = start(kind);
    let (mut subscriber, mut publisher) = (server.connect(), server.connect());
    subscriber.send("HELLO 3\r\nSUBSCRIBE news\r\n");
    subscriber.read_to(b":1\r\n");
    subscriber.read_to(b"news\r\n:1\r\n");
    subscriber.send("SET a 1\r\n");
    until_waiting(&server, &told, 1);
    publisher.send("PUBLISH news x\r\n");
    publisher.expect(":1\r\n");
    expect_nothing(&mut subscriber);
    told.keep_all();
    subscriber.expect("+OK\r\n>3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\nx\r\n");
}

pub(crate) fn transaction_is_held_whole(kind: Kind) {
    let (server, told) = start(kind);
    let (mut peer, mut reader) = (server.connect(), server.connect());
    peer.send("MULTI\r\nSET a 1\r\nSET b 2\r\nGET a\r\n");
    peer.expect("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
    peer.send("EXEC\r\n");
    until_waiting(&server, &told, 1);
    reader.send("MULTI\r\nGET b\r\nEXEC\r\n");
    until_waiting(&server, &told, 2);
    expect_nothing(&mut peer);
    told.keep_all();
    peer.expect("*3\r\n+OK\r\n+OK\r\n$1\r\n1\r\n");
    reader.expect("+OK\r\n+QUEUED\r\n*1\r\n$1\r\n2\r\n");
}

pub(crate) fn closing_connections_get_held_replies_first(kind: Kind) {
    let (server, told) = start(kind);
    let (mut quits, mut ends) = (server.connect(), server.connect());
    quits.send("SET a 1\r\nQUIT\r\n");
    ends.send("SET b 1\r\n");
    ends.stream.shutdown(std::net::Shutdown::Write).unwrap();
    until_waiting(&server, &told, 2);
    told.keep_all();
    assert_eq!(quits.rest(), b"+OK\r\n+OK\r\n");
    assert_eq!(ends.rest(), b"+OK\r\n");
}

pub(crate) fn thousand_connections_wait_together(kind: Kind) {
    let (server, told) = start(kind);
    let mut peers: Vec<_> = (0..1000).map(|_| server.connect()).collect();
    for round in 0..3 {
        for (at, peer) in peers.iter_mut().enumerate() {
            peer.send(format!("SET key:{at} {round}\r\n"));
        }
        until_waiting(&server, &told, peers.len());
        told.keep_all();
        for peer in &mut peers {
            peer.expect("+OK\r\n");
        }
    }
}

pub(crate) fn shutdown_waits_for_held_replies(kind: Kind) {
    let (server, told) = start(kind);
    let mut peer = server.connect();
    peer.send("SET a 1\r\n");
    until_waiting(&server, &told, 1);
    server.shutdown.request();
    let keeper = std::thread::spawn(move || {
        std::thread::park_timeout(Duration::from_millis(20));
        told.keep_all();
    });
    let mut server = server;
    let report = server.join();
    keeper.join().unwrap();
    assert_eq!(report.cut, 0);
    assert_eq!(peer.rest(), b"+OK\r\n");
}
