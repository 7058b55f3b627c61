//! Tests of large arguments: any split gives the same replies, values are kept without a copy, and
//! announced lengths are not trusted.

use super::*;
use crate::command::keyspace::testing::FarKeys;
use crate::session::{Session, SessionEvent, SessionStep};
use crate::{
    App, ArgList, Arity, Cx, Engine, Error, NoWake, Now, Options, Output, Peer, Reply, Router, Row,
    Spec,
};
use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Keeps one value, and counts how often it was kept without a copy.
#[derive(Default)]
struct Keeper {
    value: Mutex<Bytes>,
    shared: Mutex<usize>,
}

impl App for Keeper {
    type Conn = ();
    type Keys = FarKeys;
}

static KEEP: Spec = Spec {
    name: "keep",
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};
static SHOW: Spec = Spec {
    name: "show",
    ..Spec::EMPTY
};

fn keep(cx: &mut Cx<'_, Keeper>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let value = match cx.client().share(&args[0]) {
        Some(value) => {
            *cx.app().shared.lock().expect("no test panics with it held") += 1;
            value
        }
        None => Bytes::copy_from_slice(&args[0]),
    };
    *cx.app().value.lock().expect("no test panics with it held") = value;
    reply.int(args.len() as i64);
    Ok(())
}

fn show(cx: &mut Cx<'_, Keeper>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let value = cx.app().value.lock().expect("no test panics with it held");
    reply.bulk_shared(value.clone());
    Ok(())
}

fn now() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}

fn connect() -> (Arc<Engine<Keeper>>, Session<Keeper>) {
    let router = Router::new(Keeper::default())
        .add(Row {
            spec: &KEEP,
            run: keep,
        })
        .add(Row {
            spec: &SHOW,
            run: show,
        });
    let engine = Engine::new(router, Options::default(), now());
    let session = engine
        .connect(Peer::default(), Box::new(NoWake), now())
        .expect("the first connection");
    (engine, session)
}

/// A connection whose driver reads a given number of bytes at a time.
struct Line {
    engine: Arc<Engine<Keeper>>,
    session: Session<Keeper>,
    heard: Vec<u8>,
}

impl Line {
    fn new() -> Self {
        let (engine, session) = connect();
        Self {
            engine,
            session,
            heard: Vec::new(),
        }
    }

    /// Gives the session the beginning of `input`, and returns its length.
    fn read(&mut self, input: &[u8], bytes_max: usize) -> usize {
        let mut read = input.len().min(bytes_max);
        let mut out = Output::new();
        let mut step = match self.session.input_room() {
            Some(room) => {
                read = read.min(room.capacity() - room.len());
                assert!(read > 0, "a read into no room is no end of input");
                room.extend_from_slice(&input[..read]);
                self.session.serve(SessionEvent::Room, now(), &mut out)
            }
            None => self.session.serve(&input[..read], now(), &mut out),
        };
        while step == SessionStep::Flush {
            self.heard.append(&mut out.take());
            step = self.session.serve(SessionEvent::Turn, now(), &mut out);
        }
        assert_eq!(step, SessionStep::NeedInput);
        self.heard.append(&mut out.take());
        read
    }

    fn read_all(&mut self, mut input: &[u8], mut bytes_max: impl FnMut() -> usize) {
        while !input.is_empty() {
            let read = self.read(input, bytes_max());
            input = &input[read..];
        }
    }

    fn reserved(&self) -> usize {
        self.session.input.capacity()
    }

    fn shared(&self) -> usize {
        let shared = self.engine.app().shared.lock();
        *shared.expect("no test panics with it held")
    }
}

#[derive(Clone, Copy, Debug)]
enum Wire {
    Resp,
    Binary,
}

impl Wire {
    fn request(self, args: &[&[u8]]) -> Vec<u8> {
        let mut bytes = match self {
            Self::Resp => format!("*{}\r\n", args.len()).into_bytes(),
            Self::Binary => [&[resp_codec::binary::CALL][..], &count(args.len())].concat(),
        };
        for arg in args {
            match self {
                Self::Resp => bytes.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes()),
                Self::Binary => bytes.extend_from_slice(&count(arg.len())),
            }
            bytes.extend_from_slice(arg);
            if let Self::Resp = self {
                bytes.extend_from_slice(b"\r\n");
            }
        }
        bytes
    }
}

fn count(len: usize) -> [u8; 4] {
    (len as u32).to_le_bytes()
}

fn value(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + seed) as u8).collect()
}

/// The length of each value, or `None` to show the value; and whether another argument follows.
fn requests() -> impl Strategy<Value = Vec<(Option<usize>, bool)>> {
    let around = |len: usize| (len - 40)..(len + 40);
    let len = prop_oneof![
        2 => 0..100_usize,
        2 => around(LARGE_BYTES_MIN),
        2 => around(3 * LARGE_BYTES_MIN),
        1 => around(3 * TRUSTED_BYTES),
    ];
    vec(
        (
            prop_oneof![2 => len.prop_map(Some), 1 => Just(None)],
            any::<bool>(),
        ),
        1..8,
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn replies_do_not_depend_on_how_input_is_read(
        requests in requests(),
        wire in prop_oneof![Just(Wire::Resp), Just(Wire::Binary)],
        reads in vec(prop_oneof![1..100_usize, 1..LARGE_BYTES_MIN, Just(usize::MAX)], 1..20),
    ) {
        let input: Vec<u8> = requests
            .iter()
            .enumerate()
            .flat_map(|(nth, (len, has_more))| match len {
                Some(len) => {
                    let value = value(*len, nth);
                    let args = [&b"KEEP"[..], &value, b"more"];
                    wire.request(if *has_more { &args } else { &args[..2] })
                }
                None => wire.request(&[b"SHOW"]),
            })
            .collect();
        let mut whole = Line::new();
        whole.read_all(&input, || usize::MAX);

        let mut cut = Line::new();
        let mut reads = reads.iter().copied().cycle();
        cut.read_all(&input, || reads.next().expect("endless"));
        prop_assert!(cut.heard == whole.heard);
        prop_assert!(cut.reserved() <= KEPT_BYTES_MAX);
    }
}

#[test]
fn large_value_is_kept_without_a_copy() {
    for wire in [Wire::Resp, Wire::Binary] {
        let mut line = Line::new();
        let expected = value(1 << 20, 1);
        // The next request arrives together with the end of the value.
        let keep = wire.request(&[b"KEEP", &expected]);
        line.read_all(&[keep, wire.request(&[b"SHOW"])].concat(), || 100_000);
        assert_eq!(line.shared(), 1);
        assert!(line.reserved() <= KEPT_BYTES_MAX);
        let end = if let Wire::Resp = wire { 2 } else { 0 };
        assert!(line.heard[..line.heard.len() - end].ends_with(&expected));
    }
}

#[test]
fn large_value_in_a_transaction_is_kept_without_a_copy() {
    for wire in [Wire::Resp, Wire::Binary] {
        let mut line = Line::new();
        line.read_all(&wire.request(&[b"MULTI"]), || usize::MAX);
        line.read_all(&wire.request(&[b"KEEP", b"less"]), || usize::MAX);
        let expected = value(1 << 20, 1);
        let keep = wire.request(&[b"KEEP", &expected]);
        let (head, tail) = keep.split_at(keep.len() / 2);
        line.read(head, usize::MAX);
        let room = line.session.input_room().expect("half of a large value");
        let arrives_in = room.as_ptr().addr()..room.as_ptr().addr() + room.capacity();
        line.read_all(tail, || usize::MAX);
        assert_eq!(line.shared(), 0, "it is queued");
        line.read_all(&wire.request(&[b"EXEC"]), || usize::MAX);
        assert_eq!(line.shared(), 1);
        let kept = line.engine.app().value.lock();
        let kept = kept.expect("no test panics with it held");
        assert!(*kept == expected && arrives_in.contains(&kept.as_ptr().addr()));
    }
}

#[test]
fn large_argument_followed_by_another_is_copied() {
    let large = value(LARGE_BYTES_MIN, 1);
    let mut line = Line::new();
    line.read_all(&Wire::Resp.request(&[b"KEEP", &large, &large]), || 100_000);
    assert_eq!(line.heard, b":2\r\n");
    assert_eq!(line.shared(), 0);
}

#[test]
fn reserved_memory_is_bounded_by_a_multiple_of_received_bytes() {
    for wire in [Wire::Resp, Wire::Binary] {
        let mut line = Line::new();
        let len = 256 << 20;
        let head = match wire {
            Wire::Resp => format!("*2\r\n$4\r\nKEEP\r\n${len}\r\n").into_bytes(),
            Wire::Binary => [&b"\x10\x02\0\0\0\x04\0\0\0KEEP"[..], &count(len)].concat(),
        };
        let mut arrived = line.read(&head, usize::MAX);
        assert!(line.reserved() <= TRUSTED_BYTES);
        let chunk = vec![b'x'; 1 << 20];
        while arrived < 20 << 20 {
            arrived += line.read(&chunk, usize::MAX);
            // The byte that made the buffer grow had not arrived yet.
            let most = 2 * ((arrived + 1) * TRUST).max(TRUSTED_BYTES);
            let reserved = line.reserved();
            assert!(reserved <= most, "{reserved} bytes for {arrived}");
        }
    }
}

#[test]
fn large_request_behind_a_pending_call_reserves_no_room() {
    let mut line = Line::new();
    line.engine.pause.begin(now(), u64::MAX, false);
    let input = Wire::Resp.request(&[b"KEEP", &value(LARGE_BYTES_MIN, 1)]);
    let (head, tail) = input.split_at(input.len() - 10);
    line.read_all(head, || usize::MAX);
    assert!(
        line.session.input_room().is_some(),
        "its end may still be wrong"
    );
    line.read_all(tail, || usize::MAX);
    assert!(line.session.input_room().is_none());
    assert!(!line.session.wants_input(&Output::new()));
    line.engine.pause.end();
    let mut out = Output::new();
    assert_eq!(
        line.session.serve(SessionEvent::Turn, now(), &mut out),
        SessionStep::NeedInput
    );
    assert_eq!(out.take(), b":1\r\n");
}
