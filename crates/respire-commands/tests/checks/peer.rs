//! A driver in memory, and the service that it drives.

use respire_commands::{HasKv, Kv, add_to};
use respire_engine::driver::{CloseReason, Session, SessionEvent, SessionStep};
use respire_engine::{
    App, ArgIter, Args, Arity, Engine, Error, Flags, Later, Limits, NoWake, Now, Options, Output,
    Router, Spec,
};
use respire_store::{Config, Store};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most turns of a session without further input.
const TURNS_MAX: usize = 10_000;

/// A service with Redis's commands, and with deferred commands that reply on demand.
pub(crate) struct TestApp {
    kv: Kv,
    /// The pending calls, and the number of calls so far.
    calls: Mutex<(VecDeque<(i64, Later)>, i64)>,
}

impl App for TestApp {
    type Conn = ();
    type Keys = Kv;
}

impl HasKv for TestApp {
    fn kv(&self) -> &Kv {
        &self.kv
    }
}

impl TestApp {
    fn keep(&self, later: Later) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.1 += 1;
        let call = (calls.1, later);
        calls.0.push_back(call);
    }

    /// Replies to the oldest call with its number; returns whether there was one.
    pub(crate) fn answer(&self) -> bool {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = calls.0.pop_front();
        drop(calls);
        oldest.is_some_and(|(number, later)| {
            later.reply(number);
            true
        })
    }
}

/// The arguments of a command without any. Requests after it run while its reply is pending.
struct Pipelined;

impl Args for Pipelined {
    const SPEC: Spec = Spec {
        arity: Arity::exactly(1),
        flags: Flags::PIPELINED,
        ..Spec::EMPTY
    };

    fn parse(_: &mut ArgIter<'_>) -> Result<Self, Error> {
        Ok(Self)
    }
}

fn start() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}

/// Creates an engine whose store counts as larger than the caches.
pub(crate) fn engine(limits: Limits) -> Arc<Engine<TestApp>> {
    let store = Store::new(Config {
        cached_bytes: 0,
        shards: 4,
        ..Config::default()
    });
    let app = TestApp {
        kv: Kv::new(store),
        calls: Mutex::default(),
    };
    let router = Router::new(app)
        .deferred("later", |cx, (), later| cx.app().keep(later))
        .deferred("pipe", |cx, Pipelined, later| cx.app().keep(later))
        .deferred("lose", |_, (), later| drop(later))
        .command("burst", |_, ()| -> i64 {
            // This does not call the panic hook: a fuzzer would report that as a crash.
            std::panic::resume_unwind(Box::new("a defect, on purpose"))
        })
        .limits(limits);
    Engine::new(add_to(router), Options::default(), start())
}

/// A connection, and everything that its session has replied.
pub(crate) struct Peer {
    engine: Arc<Engine<TestApp>>,
    session: Session<TestApp>,
    now: Now,
    out: Output,
    received: Vec<u8>,
    closed: Option<CloseReason>,
}

impl Peer {
    pub(crate) fn new(engine: &Arc<Engine<TestApp>>) -> Self {
        let session = engine.connect(respire_engine::Peer::default(), Box::new(NoWake), start());
        Self {
            engine: Arc::clone(engine),
            session: session.expect("below maxclients"),
            now: start(),
            out: Output::new(),
            received: Vec::new(),
            closed: None,
        }
    }

    pub(crate) fn serve(&mut self, event: SessionEvent<'_, TestApp>) {
        let before = self.closed;
        let step = self.session.serve(event, self.now, &mut self.out);
        if before.is_some() {
            assert!(
                matches!(step, SessionStep::Close(_)),
                "a closed session stays closed"
            );
            assert!(self.out.is_empty(), "a closed session stays closed");
            return;
        }
        self.follow(step);
    }

    /// Takes the output, and gives the session turns until it needs input or closes.
    fn follow(&mut self, mut step: SessionStep) {
        for _ in 0..TURNS_MAX {
            while !self.out.is_empty() {
                self.out.pull().expect("no stream of these tests fails");
                let first = self.out.first();
                self.received.extend_from_slice(first);
                let len = first.len();
                self.out.advance(len);
            }
            match step {
                SessionStep::NeedInput => return,
                SessionStep::Close(reason) => {
                    self.closed = Some(reason);
                    return;
                }
                SessionStep::Flush => {
                    step = self
                        .session
                        .serve(SessionEvent::Turn, self.now, &mut self.out);
                }
            }
        }
        panic!("the session flushes without end");
    }

    /// Whether a driver would read from the socket now.
    fn reads(&self) -> bool {
        self.closed.is_none() && self.session.wants_input(&self.out)
    }

    /// Feeds bytes if the session wants input; returns how many.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> usize {
        if !self.reads() || bytes.is_empty() {
            return 0;
        }
        self.serve(SessionEvent::Bytes(bytes));
        bytes.len()
    }

    /// Feeds bytes through the session's room, if it has one; returns how many.
    pub(crate) fn feed_room(&mut self, bytes: &[u8]) -> usize {
        if !self.reads() || bytes.is_empty() {
            return 0;
        }
        let Some(room) = self.session.input_room() else {
            return self.feed(bytes);
        };
        let taken = bytes.len().min(room.capacity() - room.len());
        assert!(taken > 0, "a room is never full");
        room.extend_from_slice(&bytes[..taken]);
        self.serve(SessionEvent::Room);
        taken
    }

    /// Feeds bytes after a look-ahead to them, by `other` if given; with a turn in between if
    /// `late`. Returns how many bytes it fed.
    pub(crate) fn feed_ahead(
        &mut self,
        bytes: &[u8],
        other: Option<&mut Self>,
        late: bool,
    ) -> usize {
        if !self.reads() || bytes.is_empty() {
            return 0;
        }
        let mut ahead = match other {
            Some(other) => other.session.look_ahead(bytes),
            None => self.session.look_ahead(bytes),
        };
        self.session.find_ahead(&mut ahead);
        if late {
            self.serve(SessionEvent::Turn);
            if !self.reads() {
                return 0;
            }
        }
        self.serve(SessionEvent::Ahead(ahead));
        bytes.len()
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
        let is_due = |due: u64| due <= self.now.monotonic_us();
        if self.session.next_timeout().is_some_and(is_due) {
            self.serve(SessionEvent::Turn);
        }
    }

    pub(crate) fn kill(&mut self) {
        self.session.client().shared().kill();
        self.serve(SessionEvent::Turn);
        assert!(self.closed.is_some());
    }

    /// Feeds the rest, replies to the pending calls, waits for timeouts, and ends the session;
    /// returns everything that it replied.
    pub(crate) fn finish(mut self, mut rest: &[u8]) -> Vec<u8> {
        for _ in 0..TURNS_MAX {
            if self.closed.is_some() {
                return self.received;
            }
            rest = &rest[self.feed(rest)..];
            let has_answered = self.engine.app().answer();
            self.serve(SessionEvent::Turn);
            if let Some(due_us) = self.session.next_timeout() {
                let wait = due_us.saturating_sub(self.now.monotonic_us());
                self.pass(Duration::from_micros(wait));
            } else if rest.is_empty() && !has_answered {
                self.serve(SessionEvent::End);
            }
        }
        panic!("the session does not end");
    }
}
