//! Tests of the session's contract, with a small application and no socket.

use super::{CloseReason, Session, SessionEvent, SessionStep};
use crate::command::keyspace::testing::FarKeys;
use crate::{
    App, ArgList, Arity, Cx, Engine, Error, Flags, KeySpec, Limits, NoKeys, NoWake, Now, Options,
    Output, Peer, Reply, Router, Row, Spec,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A counter per server, which counts calls.
#[derive(Default)]
struct Counter(AtomicU64);

impl App for Counter {
    type Conn = u64;
    type Keys = FarKeys;
}

static INCR: Spec = Spec {
    name: "incr",
    arity: Arity::exactly(2),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1)],
    ..Spec::EMPTY
};
static PANIC: Spec = Spec {
    name: "panic",
    ..Spec::EMPTY
};
static BLOB: Spec = Spec {
    name: "blob",
    arity: Arity::exactly(2),
    ..Spec::EMPTY
};
static SET: Spec = Spec {
    name: "set",
    arity: Arity::at_least(3),
    ..Spec::EMPTY
};

fn incr(cx: &mut Cx<'_, Counter>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    *cx.conn() += 1;
    reply.int(cx.app().0.fetch_add(1, Ordering::Relaxed) as i64 + 1);
    Ok(())
}

fn panics(_: &mut Cx<'_, Counter>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.array(3);
    let nothing: Option<u8> = std::hint::black_box(None);
    let _ = nothing.expect("a defect, on purpose");
    Ok(())
}

fn blob(_: &mut Cx<'_, Counter>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let len = resp_codec::number::parse_i64(&args[0]).ok_or(crate::text::NOT_AN_INTEGER)?;
    reply.bulk(vec![b'x'; len as usize]);
    Ok(())
}

fn set(_: &mut Cx<'_, Counter>, _: ArgList<'_>, _: &mut Reply<'_>) -> Result<(), Error> {
    Err(Error::fixed("ERR refused"))
}

fn start() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}

fn engine(limits: Limits) -> Arc<Engine<Counter>> {
    let router = Router::new(Counter::default())
        .add(Row {
            spec: &INCR,
            run: incr,
        })
        .add(Row {
            spec: &PANIC,
            run: panics,
        })
        .add(Row {
            spec: &BLOB,
            run: blob,
        })
        .add(Row {
            spec: &SET,
            run: set,
        });
    Engine::new(
        router,
        Options {
            limits,
            ..Options::default()
        },
        start(),
    )
}

fn connect(engine: &Arc<Engine<Counter>>) -> Session<Counter> {
    engine
        .connect(Peer::default(), Box::new(NoWake), start())
        .expect("below maxclients")
}

fn session() -> Session<Counter> {
    connect(&engine(Limits::DEFAULT))
}

/// Serves all of `input` and returns the last step with all replies.
fn serve(session: &mut Session<Counter>, input: &[u8]) -> (SessionStep, Vec<u8>) {
    let mut out = Output::new();
    let mut step = session.serve(input, start(), &mut out);
    let mut replies = out.take();
    while step == SessionStep::Flush {
        step = session.serve(SessionEvent::Turn, start(), &mut out);
        replies.extend(out.take());
    }
    (step, replies)
}

const PIPELINE: &[u8] = b"INCR a\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n\r\n*0\r\nnope x y\r\nINCR\r\nMULTI\r\nINCR a\r\nINCR b\r\nEXEC\r\nINCR \"a b\"\r\n";

#[test]
fn replies_do_not_depend_on_how_input_is_split() {
    let (_, whole) = serve(&mut session(), PIPELINE);
    assert!(whole.starts_with(b":1\r\n:2\r\n-ERR unknown command 'nope'"));
    assert!(whole.ends_with(b"*2\r\n:3\r\n:4\r\n:5\r\n"));
    for cut in 1..PIPELINE.len() {
        let mut session = session();
        let (_, mut replies) = serve(&mut session, &PIPELINE[..cut]);
        replies.extend(serve(&mut session, &PIPELINE[cut..]).1);
        assert_eq!(replies, whole, "cut at {cut}");
    }
    let mut by_byte = session();
    let replies: Vec<u8> = PIPELINE
        .iter()
        .flat_map(|byte| serve(&mut by_byte, &[*byte]).1)
        .collect();
    assert_eq!(replies, whole);
}

#[test]
fn admit_is_called_for_every_command_and_every_queued_one() {
    struct Busy;
    impl App for Busy {
        type Conn = ();
        type Keys = NoKeys;

        fn admit(&self, spec: &Spec, _: Now) -> Result<(), Error> {
            match spec.name {
                "guarded" => Err(Error::fixed("BUSY come again")),
                _ => Ok(()),
            }
        }
    }
    let router = Router::new(Busy)
        .command("GUARDED", |_, ()| 1)
        .command("FREE", |_, ()| 2);
    let mut client = router.client();
    assert_eq!(client.call("FREE"), 2);
    assert_eq!(client.call("GUARDED").error(), "BUSY come again");
    client.call("MULTI");
    assert_eq!(client.call("FREE"), "QUEUED");
    assert_eq!(client.call("GUARDED").error(), "BUSY come again");
}

#[test]
fn turn_stops_at_its_request_limit_and_the_next_continues() {
    let mut session = connect(&engine(Limits {
        commands_per_poll_max: 2,
        ..Limits::DEFAULT
    }));
    let mut out = Output::new();
    let input = b"INCR a\r\n".repeat(5);
    assert_eq!(session.serve(&input, start(), &mut out), SessionStep::Flush);
    assert_eq!(out.take(), b":1\r\n:2\r\n");
    assert_eq!(
        session.serve(SessionEvent::Turn, start(), &mut out),
        SessionStep::Flush
    );
    assert_eq!(
        session.serve(SessionEvent::Turn, start(), &mut out),
        SessionStep::NeedInput
    );
    assert_eq!(out.take(), b":3\r\n:4\r\n:5\r\n");
}

#[test]
fn output_over_its_limit_stops_the_turn_and_reading() {
    let limits = Limits {
        output_bytes_max: 1000,
        ..Limits::DEFAULT
    };
    let mut session = connect(&engine(limits));
    let mut out = Output::new();
    let input = b"BLOB 600\r\n".repeat(10);
    assert_eq!(session.serve(&input, start(), &mut out), SessionStep::Flush);
    assert!(
        out.len() < 2 * 700,
        "two replies at most, but {} bytes are owed",
        out.len()
    );
    assert!(!session.wants_input(&out));
    let owed = out.len();
    out.advance(owed);
    assert!(session.wants_input(&out));
}

#[test]
fn protocol_error_is_reported_after_earlier_replies_and_closes() {
    let mut session = session();
    let (step, replies) = serve(&mut session, b"INCR a\r\n*1\r\n:5\r\nINCR a\r\n");
    assert_eq!(
        replies,
        b":1\r\n-ERR Protocol error: expected '$', got ':'\r\n"
    );
    assert!(matches!(step, SessionStep::Close(CloseReason::Protocol(_))));
    let (again, nothing) = serve(&mut session, b"INCR a\r\n");
    assert_eq!(again, step);
    assert!(nothing.is_empty());
}

#[test]
fn panicking_command_gets_an_error_reply_and_keeps_the_connection() {
    let mut session = session();
    let (step, replies) = serve(&mut session, b"INCR a\r\nPANIC\r\nINCR a\r\n");
    assert_eq!(step, SessionStep::NeedInput);
    assert_eq!(replies, b":1\r\n-ERR internal error\r\n:2\r\n");
}

/// A session that answers one request per turn.
fn slow_session() -> Session<Counter> {
    connect(&engine(Limits {
        commands_per_poll_max: 1,
        ..Limits::DEFAULT
    }))
}

#[test]
fn requests_before_end_of_input_are_answered() {
    let mut session = slow_session();
    let mut out = Output::new();
    let mut serve = |event: SessionEvent<'_, Counter>| session.serve(event, start(), &mut out);
    assert_eq!(serve(b"INCR a\r\nINCR a\r\nINC".into()), SessionStep::Flush);
    assert_eq!(serve(SessionEvent::End), SessionStep::Flush);
    assert_eq!(
        serve(SessionEvent::Turn),
        SessionStep::Close(CloseReason::Eof)
    );
    assert_eq!(out.take(), b":1\r\n:2\r\n");
}

#[test]
fn shutdown_answers_received_requests_and_then_closes() {
    let mut session = slow_session();
    let mut out = Output::new();
    let mut serve = |event: SessionEvent<'_, Counter>| session.serve(event, start(), &mut out);
    assert_eq!(serve(b"INCR a\r\nINCR a\r\n".into()), SessionStep::Flush);
    assert_eq!(
        serve(SessionEvent::Stop),
        SessionStep::Close(CloseReason::ShuttingDown)
    );
    assert_eq!(out.take(), b":1\r\n:2\r\n");
}

#[test]
fn idle_connection_is_closed_after_the_timeout() {
    let engine = engine(Limits::DEFAULT);
    engine.tunables.idle_timeout_s.store(10, Ordering::Relaxed);
    let mut session = connect(&engine);
    let mut out = Output::new();
    assert_eq!(
        session.serve(b"INCR a\r\nINC", start(), &mut out),
        SessionStep::NeedInput
    );
    assert_eq!(
        session.next_timeout(),
        Some(start().monotonic_us() + 10_000_000)
    );
    let almost = start().after(Duration::from_millis(9_999));
    assert_eq!(
        session.serve(SessionEvent::Turn, almost, &mut out),
        SessionStep::NeedInput
    );
    let after = start().after(Duration::from_secs(10));
    assert_eq!(
        session.serve(SessionEvent::Turn, after, &mut out),
        SessionStep::Close(CloseReason::Idle)
    );
}

#[test]
fn killed_connection_closes_at_its_next_turn() {
    let engine = engine(Limits::DEFAULT);
    let mut session = connect(&engine);
    engine
        .clients()
        .find(session.client().id())
        .expect("open")
        .kill();
    assert_eq!(
        session.serve(SessionEvent::Turn, start(), &mut Output::new()),
        SessionStep::Close(CloseReason::Killed)
    );
}

#[test]
fn paused_connection_answers_when_the_pause_ends() {
    let engine = engine(Limits::DEFAULT);
    let mut session = connect(&engine);
    let until = start().after(Duration::from_millis(50));
    engine.pause.begin(start(), until.monotonic_us(), false);
    let mut out = Output::new();
    assert_eq!(
        session.serve(b"INCR a\r\n", start(), &mut out),
        SessionStep::NeedInput
    );
    assert!(out.is_empty());
    assert_eq!(session.next_timeout(), Some(until.monotonic_us()));
    assert_eq!(
        session.serve(SessionEvent::Turn, until, &mut out),
        SessionStep::NeedInput
    );
    assert_eq!(out.take(), b":1\r\n");
}

#[test]
fn full_server_refuses_connections_until_one_closes() {
    let router = Router::new(Counter::default());
    let engine = Engine::new(
        router,
        Options {
            clients_max: 1,
            ..Options::default()
        },
        start(),
    );
    let first = connect(&engine);
    assert!(
        engine
            .connect(Peer::default(), Box::new(NoWake), start())
            .is_none()
    );
    drop(first);
    assert!(
        engine
            .connect(Peer::default(), Box::new(NoWake), start())
            .is_some()
    );
}

#[test]
fn unauthenticated_client_can_run_only_auth_commands() {
    let router = Router::new(Counter::default()).add(Row {
        spec: &INCR,
        run: incr,
    });
    let options = Options {
        password: Some(b"secret".to_vec()),
        ..Options::default()
    };
    let engine = Engine::new(router, options, start());
    let mut session = connect(&engine);
    let (_, replies) = serve(&mut session, b"INCR a\r\nAUTH secret\r\nINCR a\r\n");
    assert_eq!(
        replies,
        b"-NOAUTH Authentication required.\r\n+OK\r\n:1\r\n"
    );
}

#[test]
fn unauthenticated_clients_have_tighter_limits() {
    let router = Router::new(Counter::default()).add(Row {
        spec: &INCR,
        run: incr,
    });
    let options = Options {
        password: Some(b"secret".to_vec()),
        ..Options::default()
    };
    let engine = Engine::new(router, options, start());
    let (step, replies) = serve(&mut connect(&engine), b"*2\r\n$4\r\nINCR\r\n$16385\r\n");
    assert_eq!(
        replies,
        b"-ERR Protocol error: unauthenticated bulk length\r\n"
    );
    assert!(matches!(step, SessionStep::Close(CloseReason::Protocol(_))));
    let (step, _) = serve(
        &mut connect(&engine),
        b"AUTH secret\r\n*2\r\n$4\r\nINCR\r\n$16385\r\n",
    );
    assert_eq!(step, SessionStep::NeedInput);
}

#[test]
fn http_request_closes_the_connection() {
    let (step, replies) = serve(&mut session(), b"POST / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(step, SessionStep::Close(CloseReason::CrossProtocol));
    assert!(replies.is_empty());
}

#[test]
fn binary_call_gets_a_tagged_reply_and_a_failed_set_closes() {
    let mut session = session();
    let mut input = Vec::new();
    resp_codec::binary::write_call(&mut input, &[&b"incr"[..], b"a"]);
    let (step, replies) = serve(&mut session, &input);
    assert_eq!(step, SessionStep::NeedInput);
    let mut expected = Vec::new();
    resp_codec::Encoder::new(&mut expected, resp_codec::Proto::Binary).int(1);
    assert_eq!(replies, expected);
    let mut input = Vec::new();
    resp_codec::binary::write_set(&mut input, b"k", b"v");
    let (step, replies) = serve(&mut session, &input);
    assert_eq!(step, SessionStep::Close(CloseReason::Unanswerable));
    assert!(replies.is_empty());
}

#[test]
fn each_run_of_a_command_is_counted_once() {
    let engine = engine(Limits::DEFAULT);
    let mut session = connect(&engine);
    let _ = serve(&mut session, b"INCR a\r\nINCR a\r\nBLOB x\r\nINCR a\r\n");
    let at = engine.table.find_name(b"incr").expect("added");
    assert_eq!(
        engine.table.entry(at).stats.calls.load(Ordering::Relaxed),
        3
    );
    let at = engine.table.find_name(b"blob").expect("added");
    assert_eq!(
        engine.table.entry(at).stats.failed.load(Ordering::Relaxed),
        1
    );
    assert_eq!(engine.stats.commands.load(Ordering::Relaxed), 4);
}

#[test]
fn unknown_operation_is_refused_without_waiting_for_a_line_end() {
    let (step, replies) = serve(&mut session(), b"\x07garbage");
    assert!(matches!(step, SessionStep::Close(CloseReason::Protocol(_))));
    let mut expected = Vec::new();
    resp_codec::Encoder::new(&mut expected, resp_codec::Proto::Binary)
        .error("ERR Protocol error: unknown binary operation");
    assert_eq!(replies, expected);
}

#[test]
fn large_value_buffer_grows_with_received_bytes_up_to_its_length() {
    let mut session = session();
    let len = 32 << 20;
    let header = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${len}\r\n");
    assert_eq!(
        serve(&mut session, header.as_bytes()).0,
        SessionStep::NeedInput
    );
    assert_eq!(serve(&mut session, &[b'x'; 1000]).0, SessionStep::NeedInput);
    assert!(
        session.input.capacity() <= 4 << 20,
        "{} bytes",
        session.input.capacity()
    );
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..31 {
        assert_eq!(serve(&mut session, &chunk).0, SessionStep::NeedInput);
        assert!(
            session.input.capacity() <= len + 100,
            "{} bytes",
            session.input.capacity()
        );
    }
    let (_, reply) = serve(&mut session, &[&chunk[1000..], b"\r\n"].concat());
    assert_eq!(reply, b"-ERR refused\r\n");
    assert_eq!(session.input.capacity(), 0);
}

#[test]
fn shutdown_answers_requests_held_back_by_a_pause() {
    let engine = engine(Limits::DEFAULT);
    let mut session = connect(&engine);
    let until = start().after(Duration::from_secs(60));
    engine.pause.begin(start(), until.monotonic_us(), false);
    let mut out = Output::new();
    assert_eq!(
        session.serve(b"INCR a\r\n", start(), &mut out),
        SessionStep::NeedInput
    );
    assert_eq!(
        session.serve(SessionEvent::Stop, start(), &mut out),
        SessionStep::Close(CloseReason::ShuttingDown)
    );
    assert_eq!(out.take(), b":1\r\n");
}
