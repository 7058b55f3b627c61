//! Tests of output that is held until changes are kept.

use super::*;
use respire_engine::{Body, Bytes, Commits, Wake};
use std::cell::{Cell, RefCell};

thread_local! {
    static LAST: Cell<u64> = const { Cell::new(0) };
    static KEPT: Cell<u64> = const { Cell::new(0) };
    /// The ticket of the running turn, and how many turns run.
    static TURN: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
    static AWAITED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    static LATER: RefCell<Vec<Later>> = const { RefCell::new(Vec::new()) };
}

/// Keeps what the test says. Each test has a thread of its own.
struct Told;

impl Commits for Told {
    fn enter(&self) {
        TURN.set((0, TURN.get().1 + 1));
    }

    fn leave(&self) -> u64 {
        let (ticket, turns) = TURN.get();
        TURN.set((0, turns - 1));
        ticket
    }

    fn note_read(&self, _: u32, _: &[u8]) {}

    fn note_read_all(&self) {}

    fn last(&self) -> u64 {
        LAST.get()
    }

    fn is_kept(&self, ticket: u64) -> bool {
        ticket <= KEPT.get()
    }

    fn wake_when_kept(&self, ticket: u64, _: Arc<dyn Wake>) {
        AWAITED.with_borrow_mut(|awaited| awaited.push(ticket));
    }
}

static CHANGE: Spec = Spec {
    name: "change",
    summary: "Takes a ticket and replies with it.",
    ..Spec::EMPTY
};

fn change(_: &mut Cx<'_, Blobs>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    LAST.set(LAST.get() + 1);
    TURN.set((LAST.get(), TURN.get().1));
    reply.int(LAST.get() as i64);
    Ok(())
}

static ELEMENTS: Spec = Spec {
    name: "elements",
    summary: "Takes a ticket and replies with a stream, of whose length it has no idea.",
    ..Spec::EMPTY
};

fn elements(cx: &mut Cx<'_, Blobs>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    change(cx, args, reply)?;
    reply.array(3);
    let mut left = 3;
    let body = move |_: usize| {
        left -= 1;
        (left >= 0).then(|| Bytes::from_static(b":7\r\n"))
    };
    fn is_body(_: &impl Body) {}
    is_body(&body);
    reply.sink().put_elements(100, body);
    Ok(())
}

/// A connection whose changes [`Told`] keeps.
fn bench(output_bytes_max: usize) -> Bench {
    let router = Router::new(Blobs)
        .add(Row {
            spec: &CHANGE,
            run: change,
        })
        .add(Row {
            spec: &ELEMENTS,
            run: elements,
        })
        .deferred("wait", |_, (), later| {
            LATER.with_borrow_mut(|all| all.push(later));
        });
    let session = respire_engine::Limits {
        output_bytes_max,
        ..respire_engine::Limits::DEFAULT
    };
    let mut bench = Bench::with(router, Limits::DEFAULT, session);
    bench.engine.set_commits(Arc::new(Told));
    let session = bench
        .engine
        .connect(Peer::default(), Box::new(NoWake), bench.now)
        .unwrap();
    bench.connection = Connection::new(session, Limits::DEFAULT, bench.now);
    bench
}

/// Keeps changes up to a ticket, and wakes the connection.
fn keep(bench: &mut Bench, ticket: u64) {
    KEPT.set(ticket);
    bench.connection.handle_wake(bench.now);
}

fn awaited() -> Vec<u64> {
    AWAITED.take()
}

#[test]
fn reply_to_a_change_leaves_when_the_change_is_kept() {
    let mut bench = bench(1 << 20);
    let mut io = Script::new([Read::Bytes("PING\r\n"), Read::Bytes("CHANGE\r\n")]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!((io.heard(), awaited()), ("+PONG\r\n", vec![1]));
    // A wake-up for another reason lets nothing leave.
    keep(&mut bench, 0);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), "+PONG\r\n");
    keep(&mut bench, 1);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), "+PONG\r\n:1\r\n");
    assert!(awaited().is_empty() && TURN.get().1 == 0);
}

#[test]
fn reply_to_a_change_that_is_kept_already_leaves_at_once() {
    let mut bench = bench(1 << 20);
    KEPT.set(9);
    let mut io = Script::new([Read::Bytes("CHANGE\r\nPING\r\n")]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), ":1\r\n+PONG\r\n");
    assert!(awaited().is_empty());
}

#[test]
fn replies_keep_their_order_and_wait_for_one_ticket_at_a_time() {
    let mut bench = bench(1 << 20);
    let mut io = Script::new(
        [
            "CHANGE\r\n",
            "PING\r\n",
            "CHANGE\r\n",
            "CHANGE\r\n",
            "PING\r\n",
        ]
        .map(Read::Bytes),
    );
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!((io.heard(), awaited()), ("", vec![1]));
    keep(&mut bench, 1);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!((io.heard(), awaited()), (":1\r\n+PONG\r\n", vec![3]));
    keep(&mut bench, 2);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), ":1\r\n+PONG\r\n");
    keep(&mut bench, 3);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), ":1\r\n+PONG\r\n:2\r\n:3\r\n+PONG\r\n");
}

#[test]
fn output_written_before_a_change_may_leave_while_the_reply_to_the_change_is_held() {
    let mut bench = bench(1 << 20);
    let mut io = Script::new([Read::Bytes("BLOB 20000\r\n"), Read::Bytes("CHANGE\r\n")]);
    io.takes = [5, 0].into();
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard.len(), "$20000\r\n\r\n".len() + 20_000);
    keep(&mut bench, 1);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert!(io.heard().ends_with("b\r\n:1\r\n"));
}

#[test]
fn requests_are_served_until_held_output_reaches_its_limit() {
    let mut bench = bench(100);
    let mut io = Script::new((0..100).map(|_| Read::Bytes("CHANGE\r\nBLOB 20\r\n")));
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    let held = bench.connection.out.len();
    assert!((100..130).contains(&held), "{held} bytes");
    assert!(io.heard.is_empty() && (3..6).contains(&io.reads_done));
    // The server keeps the peer waiting, and not the other way round.
    assert_eq!(bench.connection.deadline_us(), None);
    for _ in 0..200 {
        keep(&mut bench, LAST.get());
        assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    }
    assert_eq!(io.reads_done, 100);
    assert!(
        io.heard()
            .ends_with(":100\r\n$20\r\nbbbbbbbbbbbbbbbbbbbb\r\n")
    );
}

#[test]
fn streamed_replies_are_held_whole_and_leave_in_order() {
    let mut bench = bench(1 << 20);
    let mut io = Script::new([
        Read::Bytes("ELEMENTS\r\nPING\r\n"),
        Read::Bytes("ELEMENTS\r\n"),
    ]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), "");
    keep(&mut bench, 1);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    let first = ":1\r\n*3\r\n:7\r\n:7\r\n:7\r\n+PONG\r\n";
    assert_eq!(io.heard(), first);
    keep(&mut bench, 2);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard()[first.len()..], *":2\r\n*3\r\n:7\r\n:7\r\n:7\r\n");
}

#[test]
fn held_replies_are_written_before_the_close() {
    for end in [Read::Bytes("QUIT\r\n"), Read::End] {
        let mut bench = bench(1 << 20);
        let mut io = Script::new([Read::Bytes("CHANGE\r\n"), end]);
        let ticket = LAST.get() + 1;
        assert_eq!(bench.drive_out(&mut io), Pace::Wait);
        assert_eq!(io.heard(), "");
        keep(&mut bench, ticket);
        assert_eq!(bench.drive_out(&mut io), Pace::Closed);
        assert!(io.heard().starts_with(&format!(":{ticket}\r\n")));
    }
}

#[test]
fn closing_connection_does_not_wait_for_ever_and_drops_what_is_held() {
    let mut bench = bench(1 << 20);
    let mut io = Script::new([Read::Bytes("CHANGE\r\n"), Read::End]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    bench.pass(u64::from(Limits::DEFAULT.held_ms_max) - 1);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    bench.pass(1);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
    assert_eq!(io.heard(), "");
}

#[test]
fn stopping_server_writes_held_replies_first() {
    let mut bench = bench(1 << 20);
    let mut io = Script::new([Read::Bytes("CHANGE\r\n")]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    bench.connection.handle_shutdown();
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    keep(&mut bench, 1);
    let _ = bench.drive_out(&mut io);
    assert!(io.heard() == ":1\r\n" && io.is_finished);
}

#[test]
fn late_reply_is_held_until_the_last_ticket_is_kept() {
    let mut bench = bench(1 << 20);
    let mut io = Script::new([Read::Bytes("WAIT\r\nPING\r\n")]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    LAST.set(7);
    let later = LATER.with_borrow_mut(Vec::pop).unwrap();
    assert!(later.reply(5));
    bench.connection.handle_wake(bench.now);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!((io.heard(), awaited()), ("", vec![7]));
    keep(&mut bench, 7);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), ":5\r\n+PONG\r\n");
}

#[test]
fn peer_whose_reply_is_held_is_not_idle() {
    let mut bench = bench(1 << 20);
    let mut io = Script::new([
        Read::Bytes("CONFIG SET timeout 5\r\n"),
        Read::Bytes("CHANGE\r\n"),
    ]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    bench.pass(6_000);
    bench.connection.handle_timeout(bench.now);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    keep(&mut bench, 1);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), "+OK\r\n:1\r\n");
    bench.pass(6_000);
    bench.connection.handle_timeout(bench.now);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
}
