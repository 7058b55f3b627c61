//! Tests of a connection's turns, with a scripted peer.

mod arrival;
mod held;
mod tap;

use super::*;
use respire_engine::{
    App, ArgIter, ArgList, Args, Arity, Cx, Engine, Error, Flags, Later, NoKeys, NoWake, Options,
    Peer, Reply, Router, Row, Spec,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug)]
struct Blobs;

impl App for Blobs {
    type Conn = ();
    type Keys = NoKeys;
}

static BLOB: Spec = Spec {
    name: "blob",
    summary: "Replies with that many bytes.",
    arity: Arity::exactly(2),
    ..Spec::EMPTY
};

fn blob(_: &mut Cx<'_, Blobs>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let length = std::str::from_utf8(&args[0])
        .ok()
        .and_then(|text| text.parse().ok());
    reply.bulk(vec![b'b'; length.unwrap_or_default()]);
    Ok(())
}

/// One scripted result of a read.
enum Read {
    Bytes(&'static str),
    Block,
    End,
    Fail(ErrorKind),
}

/// A peer with scripted input that reads a limited number of bytes per write.
#[derive(Default)]
struct Script {
    reads: VecDeque<Read>,
    /// How many bytes each write accepts, and after these how many every further write accepts; 0
    /// blocks.
    takes: VecDeque<usize>,
    takes_then: usize,
    heard: Vec<u8>,
    reads_done: u32,
    is_finished: bool,
}

impl Script {
    fn new(reads: impl IntoIterator<Item = Read>) -> Self {
        Self {
            reads: reads.into_iter().collect(),
            takes_then: usize::MAX,
            ..Self::default()
        }
    }

    fn heard(&self) -> &str {
        std::str::from_utf8(&self.heard).unwrap()
    }
}

impl Transport for Script {
    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.reads.pop_front() {
            Some(Read::Bytes(text)) => {
                let (now, later) = text.split_at(text.len().min(buffer.len()));
                buffer[..now.len()].copy_from_slice(now.as_bytes());
                if !later.is_empty() {
                    self.reads.push_front(Read::Bytes(later));
                }
                self.reads_done += 1;
                Ok(now.len())
            }
            Some(Read::End) => Ok(0),
            Some(Read::Fail(kind)) => Err(kind.into()),
            Some(Read::Block) | None => Err(ErrorKind::WouldBlock.into()),
        }
    }

    fn read_onto(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let mut room = vec![0; buffer.capacity() - buffer.len()];
        let read = self.read_some(&mut room)?;
        buffer.extend_from_slice(&room[..read]);
        Ok(read)
    }

    fn write_some(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let most = self.takes.pop_front().unwrap_or(self.takes_then);
        if most == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let taken: Vec<u8> = slices
            .iter()
            .flat_map(|slice| slice.iter().copied())
            .take(most)
            .collect();
        self.heard.extend_from_slice(&taken);
        Ok(taken.len())
    }

    fn finish(&mut self) {
        self.is_finished = true;
    }
}

/// A connection with its scratch buffers and a clock that the test moves.
struct Bench {
    engine: Arc<Engine<Blobs>>,
    connection: Connection<Blobs>,
    scratch: Scratch,
    now: Now,
}

impl Bench {
    fn new(limits: Limits, session: respire_engine::Limits) -> Self {
        Self::with(Router::new(Blobs), limits, session)
    }

    fn with(router: Router<Blobs>, limits: Limits, session: respire_engine::Limits) -> Self {
        let now = Now::new(
            Duration::from_secs(1000),
            Duration::from_secs(1_700_000_000),
        );
        let router = router.add(Row {
            spec: &BLOB,
            run: blob,
        });
        let options = Options {
            limits: session,
            ..Options::default()
        };
        let engine = Engine::new(router, options, now);
        let session = engine
            .connect(Peer::default(), Box::new(NoWake), now)
            .unwrap();
        let connection = Connection::new(session, limits, now);
        Self {
            engine,
            connection,
            scratch: Scratch::new(&limits),
            now,
        }
    }

    fn plain() -> Self {
        Self::new(Limits::DEFAULT, respire_engine::Limits::DEFAULT)
    }

    fn drive(&mut self, io: &mut Script) -> Pace {
        self.connection.drive(io, &mut self.scratch, self.now)
    }

    /// Drives until nothing more happens; bounded, so that an endless loop fails.
    fn drive_out(&mut self, io: &mut Script) -> Pace {
        for _ in 0..10_000 {
            let pace = self.drive(io);
            if pace != Pace::Again {
                return pace;
            }
        }
        panic!("the connection never stops asking for turns");
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now.after(Duration::from_millis(ms));
    }
}

#[test]
fn request_costs_one_read_and_one_write() {
    let mut bench = Bench::plain();
    let mut io = Script::new([Read::Bytes("PING\r\nPING\r\n")]);
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    assert_eq!(io.heard(), "+PONG\r\n+PONG\r\n");
    assert_eq!(io.reads_done, 1);
    assert_eq!(
        bench.connection.out.capacity(),
        0,
        "an idle connection keeps no buffer"
    );
}

#[test]
fn turn_ends_at_its_call_limit_and_the_next_turn_continues() {
    let limits = Limits {
        io_calls_per_turn_max: 2,
        ..Limits::DEFAULT
    };
    let mut bench = Bench::new(limits, respire_engine::Limits::DEFAULT);
    let mut io = Script::new([Read::Bytes("PING\r\n"), Read::Bytes("PING\r\n")]);
    assert_eq!(bench.drive(&mut io), Pace::Again);
    assert_eq!(io.heard(), "+PONG\r\n");
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), "+PONG\r\n+PONG\r\n");
}

#[test]
fn reading_stops_while_the_peer_reads_no_replies() {
    let session = respire_engine::Limits {
        output_bytes_max: 100,
        ..respire_engine::Limits::DEFAULT
    };
    let mut bench = Bench::new(Limits::DEFAULT, session);
    let asks = "BLOB 60\r\n".repeat(10).leak();
    let mut io = Script::new([Read::Bytes(asks), Read::Bytes(asks)]);
    io.takes_then = 0;
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.reads_done, 1);
    assert!(
        bench.connection.out.len() < 100 + 70,
        "{} bytes of output wait",
        bench.connection.out.len()
    );
    // The peer reads again, a few bytes at a time.
    io.takes_then = 7;
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard.len(), 20 * ("$60\r\n\r\n".len() + 60));
}

#[test]
fn requests_are_read_while_little_output_waits() {
    let mut bench = Bench::plain();
    let mut io = Script::new([
        Read::Bytes("PING\r\n"),
        Read::Bytes("PING\r\n"),
        Read::Block,
    ]);
    io.takes_then = 0;
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.reads_done, 2);
    assert_eq!(bench.connection.out.to_vec(), b"+PONG\r\n+PONG\r\n");
}

#[test]
fn connection_closes_after_the_replies_when_the_peer_ends() {
    let mut bench = Bench::plain();
    let mut io = Script::new([Read::Bytes("PING\r\nPI"), Read::End]);
    io.takes = [3].into();
    io.takes_then = 0;
    assert_eq!(
        bench.drive_out(&mut io),
        Pace::Wait,
        "pending output must be written first"
    );
    io.takes_then = 2;
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
    assert_eq!(io.heard(), "+PONG\r\n");
}

#[test]
fn socket_error_ends_the_connection() {
    let mut bench = Bench::plain();
    let mut io = Script::new([
        Read::Fail(ErrorKind::Interrupted),
        Read::Fail(ErrorKind::ConnectionReset),
    ]);
    assert_eq!(bench.drive(&mut io), Pace::Closed);
}

#[test]
fn protocol_error_lingers_until_its_deadline() {
    let mut bench = Bench::plain();
    let mut io = Script::new([
        Read::Bytes("*1\r\n$-9\r\n"),
        Read::Bytes("more"),
        Read::Block,
    ]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), "-ERR Protocol error: invalid bulk length\r\n");
    assert!(io.is_finished && io.reads.is_empty());
    let due_us = bench.connection.deadline_us().unwrap();
    assert_eq!(
        due_us - bench.now.monotonic_us(),
        us(Limits::DEFAULT.linger_ms)
    );
    bench.pass(u64::from(Limits::DEFAULT.linger_ms));
    bench.connection.handle_timeout(bench.now);
    assert_eq!(bench.drive(&mut io), Pace::Closed);
}

#[test]
fn kill_ends_lingering() {
    let mut bench = Bench::plain();
    let mut io = Script::new([Read::Bytes("*1\r\n$-9\r\n"), Read::Block]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    bench.connection.handle_wake(bench.now);
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    bench.engine.clients().snapshot()[0].kill();
    bench.connection.handle_wake(bench.now);
    assert_eq!(bench.drive(&mut io), Pace::Closed);
}

#[test]
fn lingering_ends_at_the_peers_end_or_at_its_byte_limit() {
    let wrong = "*1\r\n$-9\r\n";
    let mut io = Script::new([Read::Bytes(wrong), Read::Block, Read::End]);
    let mut bench = Bench::plain();
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);

    let limits = Limits {
        linger_bytes_max: 5,
        ..Limits::DEFAULT
    };
    let mut bench = Bench::new(limits, respire_engine::Limits::DEFAULT);
    let mut io = Script::new([
        Read::Bytes(wrong),
        Read::Bytes("abc"),
        Read::Bytes("def"),
        Read::Block,
    ]);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
}

#[test]
fn closing_connection_is_cut_only_if_the_peer_reads_nothing() {
    let mut bench = Bench::plain();
    let mut io = Script::new([Read::Bytes("BLOB 1000\r\nQUIT\r\n")]);
    io.takes_then = 0;
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    let stall_ms = u64::from(Limits::DEFAULT.stall_ms_max);
    bench.pass(stall_ms - 1);
    io.takes = [5, 0].into();
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    bench.pass(stall_ms - 1);
    assert_eq!(
        bench.drive_out(&mut io),
        Pace::Wait,
        "it read some bytes lately"
    );
    bench.pass(1);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
}

#[test]
fn kill_drops_pending_output() {
    let mut bench = Bench::plain();
    let mut io = Script::new([Read::Bytes("BLOB 1000\r\n")]);
    io.takes_then = 0;
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    bench.engine.clients().snapshot()[0].kill();
    bench.connection.handle_wake(bench.now);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
}

#[test]
fn shutdown_answers_arrived_requests_and_closes() {
    let mut bench = Bench::plain();
    let mut io = Script::new([
        Read::Bytes("PING\r\n"),
        Read::Bytes("PING\r\n"),
        Read::Block,
    ]);
    bench.connection.handle_shutdown();
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(io.heard(), "+PONG\r\n+PONG\r\n");
    assert!(io.is_finished, "the peer reads the end, and closes");
    io.reads.push_back(Read::End);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
}

#[test]
fn shutdown_lingers_while_the_peer_is_sending() {
    let mut bench = Bench::plain();
    let mut io = Script::new([
        Read::Bytes("PING\r\n"),
        Read::Block,
        Read::Bytes("PING\r\n"),
    ]);
    bench.connection.handle_shutdown();
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    assert_eq!(
        bench.drive_out(&mut io),
        Pace::Wait,
        "late input is read, or TCP drops the replies"
    );
    assert_eq!(io.heard(), "+PONG\r\n");
    bench.pass(u64::from(Limits::DEFAULT.linger_ms));
    bench.connection.handle_timeout(bench.now);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
}

#[test]
fn shutdown_ends_an_idle_connection_at_once() {
    let mut bench = Bench::plain();
    let mut io = Script::new([Read::Bytes("PING\r\n"), Read::Block]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    bench.pass(u64::from(Limits::DEFAULT.linger_ms));
    bench.connection.handle_shutdown();
    io.reads.push_back(Read::Block);
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
}

#[test]
fn shutdown_does_not_wait_for_a_peer_that_keeps_sending() {
    let limits = Limits {
        linger_bytes_max: 60,
        ..Limits::DEFAULT
    };
    let mut bench = Bench::new(limits, respire_engine::Limits::DEFAULT);
    let mut io = Script::new((0..10_000).map(|_| Read::Bytes("PING\r\n")));
    bench.connection.handle_shutdown();
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
    let reads_max = 2 * Limits::DEFAULT.io_calls_per_turn_max + 11;
    assert!(io.reads_done <= reads_max, "{} reads", io.reads_done);
}

#[test]
fn peer_that_reads_nothing_is_idle_after_the_timeout() {
    let session = respire_engine::Limits {
        output_bytes_max: 100,
        ..respire_engine::Limits::DEFAULT
    };
    let mut bench = Bench::new(Limits::DEFAULT, session);
    let mut io = Script::new([
        Read::Bytes("CONFIG SET timeout 60\r\nBLOB 200\r\nPING\r\n"),
        Read::Block,
    ]);
    io.takes_then = 0;
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    let due_us = bench.connection.deadline_us().unwrap();
    assert_eq!(due_us - bench.now.monotonic_us(), 60_000_000);
    bench.pass(60_000);
    bench.connection.handle_timeout(bench.now);
    assert_eq!(bench.connection.step, SessionStep::Close(CloseReason::Idle));
}

#[test]
fn replies_do_not_depend_on_how_reads_and_writes_are_split() {
    let input = "PING\r\n*2\r\n$4\r\nBLOB\r\n$2\r\n40\r\nPING x\r\nBLOB 100\r\nQUIT\r\n";
    let whole = {
        let mut io = Script::new([Read::Bytes(input)]);
        assert_eq!(Bench::plain().drive_out(&mut io), Pace::Closed);
        io.heard
    };
    for cut in 1..input.len() {
        for take in [1, 2, 3, 50] {
            let session = respire_engine::Limits {
                commands_per_poll_max: 1,
                ..respire_engine::Limits::DEFAULT
            };
            let mut bench = Bench::new(
                Limits {
                    buffer_bytes: 16,
                    ..Limits::DEFAULT
                },
                session,
            );
            let (first, second) = input.split_at(cut);
            let mut io = Script::new([Read::Bytes(first), Read::Block, Read::Bytes(second)]);
            io.takes_then = take;
            assert_eq!(bench.drive_out(&mut io), Pace::Wait);
            assert_eq!(bench.drive_out(&mut io), Pace::Closed);
            assert_eq!(io.heard, whole, "split at {cut}, {take} at a time");
        }
    }
}

#[test]
fn broken_streamed_reply_ends_the_connection() {
    let router = Router::new(Blobs).command("short", |_, ()| {
        respire_engine::Stream::from_read(10, &b"abc"[..])
    });
    let now = Now::new(Duration::ZERO, Duration::ZERO);
    let engine = Engine::new(router, Options::default(), now);
    let session = engine.connect(Peer::default(), Box::new(NoWake), now);
    let mut connection = Connection::new(session.unwrap(), Limits::DEFAULT, now);
    let mut io = Script::new([Read::Bytes("PING\r\nSHORT\r\nPING\r\n"), Read::Block]);
    let mut scratch = Scratch::new(&Limits::DEFAULT);
    let mut pace = Pace::Again;
    for _ in 0..10 {
        if pace == Pace::Again {
            pace = connection.drive(&mut io, &mut scratch, now);
        }
    }
    assert_eq!(pace, Pace::Closed);
    assert_eq!(io.heard(), "+PONG\r\n$10\r\nabc");
}

struct Piped;

impl Args for Piped {
    const SPEC: Spec = Spec {
        flags: Flags::PIPELINED,
        ..Spec::EMPTY
    };

    fn parse(_: &mut ArgIter<'_>) -> Result<Self, Error> {
        Ok(Self)
    }
}

#[test]
fn call_deadline_does_not_end_a_connection_with_pending_output() {
    let waiting = Arc::new(Mutex::new(VecDeque::<Later>::new()));
    let kept = Arc::clone(&waiting);
    let router = Router::new(Blobs).deferred("PIPE", move |_, Piped, later| {
        kept.lock().unwrap().push_back(later);
    });
    let limits = Limits {
        stall_ms_max: 100,
        ..Limits::DEFAULT
    };
    let session = respire_engine::Limits {
        output_bytes_max: 10,
        ..respire_engine::Limits::DEFAULT
    };
    let mut bench = Bench::with(router, limits, session);
    let mut io = Script::new([Read::Bytes("PIPE\r\nPIPE\r\nPIPE\r\n")]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    let mut calls = std::mem::take(&mut *waiting.lock().unwrap());
    let last = calls.pop_back().expect("three wait");
    let last = last.deadline(Duration::from_secs(1), "due");
    for later in calls {
        assert!(later.reply("0123456789"));
    }
    io.takes_then = 0;
    bench.connection.handle_wake(bench.now);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    for _ in 0..3 {
        bench.pass(1000);
        bench.connection.handle_timeout(bench.now);
        assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    }
    assert!(
        last.cancelled(),
        "its deadline passed, whatever the peer reads"
    );
    io.takes_then = usize::MAX;
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    let reply = "$10\r\n0123456789\r\n";
    assert_eq!(io.heard(), format!("{reply}{reply}$3\r\ndue\r\n"));
}
