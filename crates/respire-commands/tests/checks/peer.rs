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

/// How long a session may go on when nothing more arrives.
const TURNS_MAX: usize = 10_000;

/// Redis's commands, and those that answer when they are told to.
pub(crate) struct Desk {
    kv: Kv,
    /// Calls that wait, and how many there were before.
    calls: Mutex<(VecDeque<(i64, Later)>, i64)>,
}

impl App for Desk {
    type Conn = ();
    type Keys = Kv;
}

impl HasKv for Desk {
    fn kv(&self) -> &Kv {
        &self.kv
    }
}

impl Desk {
    fn keep(&self, later: Later) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.1 += 1;
        let call = (calls.1, later);
        calls.0.push_back(call);
    }

    /// Answers the oldest call with its number; whether there was one.
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

/// No arguments, and requests behind it run.
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

/// An engine of its own, whose store is taken to be beyond the caches.
pub(crate) fn engine(limits: Limits) -> Arc<Engine<Desk>> {
    let store = Store::new(Config {
        cached_bytes: 0,
        shards: 4,
        ..Config::default()
    });
    let desk = Desk {
        kv: Kv::new(store),
        calls: Mutex::default(),
    };
    let router = Router::new(desk)
        .deferred("later", |cx, (), later| cx.app().keep(later))
        .deferred("pipe", |cx, Pipelined, later| cx.app().keep(later))
        .deferred("lose", |_, (), later| drop(later))
        .command("burst", |_, ()| -> i64 {
            // A fuzzer would take what calls the panic hook for a finding.
            std::panic::resume_unwind(Box::new("a defect, on purpose"))
        })
        .limits(limits);
    Engine::new(add_to(router), Options::default(), start())
}

/// A connection.
pub(crate) struct Peer {
    engine: Arc<Engine<Desk>>,
    session: Session<Desk>,
    now: Now,
    out: Output,
    heard: Vec<u8>,
    closed: Option<CloseReason>,
}

impl Peer {
    pub(crate) fn new(engine: &Arc<Engine<Desk>>) -> Self {
        let session = engine.connect(respire_engine::Peer::default(), Box::new(NoWake), start());
        Self {
            engine: Arc::clone(engine),
            session: session.expect("below maxclients"),
            now: start(),
            out: Output::new(),
            heard: Vec::new(),
            closed: None,
        }
    }

    pub(crate) fn tell(&mut self, event: SessionEvent<'_, Desk>) {
        let before = self.closed;
        let step = self.session.serve(event, self.now, &mut self.out);
        if before.is_some() {
            assert!(matches!(step, SessionStep::Close(_)), "it had closed");
            assert!(self.out.is_empty(), "it had closed");
            return;
        }
        self.follow(step);
    }

    /// Takes what was written, and has the rest answered.
    fn follow(&mut self, mut step: SessionStep) {
        for _ in 0..TURNS_MAX {
            self.out.pull().expect("nothing here breaks off");
            self.heard.extend_from_slice(&self.out.to_vec());
            self.out.advance(self.out.len());
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

    /// Whether a driver would read now.
    fn reads(&self) -> bool {
        self.closed.is_none() && self.session.wants_input(&self.out)
    }

    /// Gives it bytes, if it wants any; how many it took.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> usize {
        if !self.reads() || bytes.is_empty() {
            return 0;
        }
        self.tell(SessionEvent::Bytes(bytes));
        bytes.len()
    }

    /// The same by way of its room, if it has one.
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
        self.tell(SessionEvent::Room);
        taken
    }

    /// The same, looked ahead to: by `seer` if given, and with a turn before they are served if `late`.
    pub(crate) fn feed_ahead(
        &mut self,
        bytes: &[u8],
        seer: Option<&mut Self>,
        late: bool,
    ) -> usize {
        if !self.reads() || bytes.is_empty() {
            return 0;
        }
        let mut ahead = match seer {
            Some(seer) => seer.session.look_ahead(bytes),
            None => self.session.look_ahead(bytes),
        };
        self.session.find_ahead(&mut ahead);
        if late {
            self.tell(SessionEvent::Turn);
            if !self.reads() {
                return 0;
            }
        }
        self.tell(SessionEvent::Ahead(ahead));
        bytes.len()
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
        let is_due = |due: u64| due <= self.now.monotonic_us();
        if self.session.next_timeout().is_some_and(is_due) {
            self.tell(SessionEvent::Turn);
        }
    }

    pub(crate) fn kill(&mut self) {
        self.session.client().shared().kill();
        self.tell(SessionEvent::Turn);
        assert!(self.closed.is_some());
    }

    /// Gives it the rest, answers its calls, waits for what is due, and ends it; all that it answered.
    pub(crate) fn finish(mut self, mut rest: &[u8]) -> Vec<u8> {
        for _ in 0..TURNS_MAX {
            if self.closed.is_some() {
                return self.heard;
            }
            rest = &rest[self.feed(rest)..];
            let has_answered = self.engine.app().answer();
            self.tell(SessionEvent::Turn);
            if let Some(due_us) = self.session.next_timeout() {
                let wait = due_us.saturating_sub(self.now.monotonic_us());
                self.pass(Duration::from_micros(wait));
            } else if rest.is_empty() && !has_answered {
                self.tell(SessionEvent::End);
            }
        }
        panic!("the session does not end");
    }
}
