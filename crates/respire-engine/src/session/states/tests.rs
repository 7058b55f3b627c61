//! Checks every event in every state against `transitions.txt`.

use super::{SessionEvent, SessionStep, State};
use crate::redis::testing::{Cells, Line, Server};
use crate::{ArgIter, Args, Arity, Error, Flags, Later, Limits, Output, Spec};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An action of a test on a session, and its name in the table.
type Action = (&'static str, fn(&mut Fixture) -> SessionStep);

/// A session, its server, and its unanswered calls.
struct Fixture {
    server: Server,
    line: Line,
    waiting: Arc<Mutex<Vec<Later>>>,
}

/// The empty arguments of a command that lets later requests run before it is answered.
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

impl Fixture {
    fn new() -> Self {
        let waiting = Arc::new(Mutex::new(Vec::new()));
        let (wait, pipe) = (Arc::clone(&waiting), Arc::clone(&waiting));
        let keep = |kept: &Mutex<Vec<Later>>, later| {
            kept.lock().expect("no panic").push(later);
        };
        let server = Server::with(|router| {
            router
                .limits(Limits {
                    commands_per_poll_max: 2,
                    ..Limits::DEFAULT
                })
                .deferred("wait", move |_, (), later| keep(&wait, later))
                .deferred("pipe", move |_, Pipelined, later| keep(&pipe, later))
        });
        Self {
            line: server.connect(),
            server,
            waiting,
        }
    }

    fn serve<'b>(&mut self, event: impl Into<SessionEvent<'b, Cells>>) -> SessionStep {
        let Line { session, now, .. } = &mut self.line;
        session.serve(event, *now, &mut Output::new())
    }

    fn pause(&mut self) {
        let (now, until) = (self.line.now, self.line.now.after(DUE));
        self.server
            .engine
            .pause
            .begin(now, until.monotonic_us(), false);
    }

    fn state(&self) -> &'static str {
        match self.line.session.state {
            State::Serving => "serving",
            State::Paused { .. } => "paused",
            State::Waiting { .. } => "waiting",
            State::Pending => "pending",
            State::Ending(_) => "ending",
            State::Done(_) => "done",
        }
    }
}

/// The length of a pause in these tests. A delayed reply takes less.
const DUE: Duration = Duration::from_secs(1);

/// How to reach each state.
const STATES: [Action; 6] = [
    ("serving", |it| it.serve(b"PING\r\n")),
    ("paused", |it| {
        it.pause();
        it.serve(b"PING\r\n")
    }),
    ("waiting", |it| it.serve(b"NAP\r\n")),
    ("pending", |it| it.serve(b"WAIT\r\n")),
    ("ending", |it| it.serve(b"PIPE\r\nQUIT\r\n")),
    ("done", |it| it.serve(b"QUIT\r\n")),
];

const EVENTS: [Action; 15] = [
    ("a request", |it| it.serve(b"PING\r\n")),
    ("a partial request", |it| it.serve(b"PIN")),
    ("more than a turn", |it| {
        it.serve(b"PING\r\nPING\r\nPING\r\n")
    }),
    ("a request in a pause", |it| {
        it.pause();
        it.serve(b"PING\r\n")
    }),
    ("a delayed reply", |it| it.serve(b"NAP\r\n")),
    ("a deferred reply", |it| it.serve(b"WAIT\r\n")),
    ("QUIT", |it| it.serve(b"QUIT\r\n")),
    ("QUIT after a call", |it| it.serve(b"PIPE\r\nQUIT\r\n")),
    ("an invalid request", |it| it.serve(b"*x\r\n")),
    ("an early turn", |it| it.serve(SessionEvent::Turn)),
    ("a turn when due", |it| {
        it.line.now = it.line.now.after(DUE);
        it.serve(SessionEvent::Turn)
    }),
    ("the answer to a call", |it| {
        let waiting = std::mem::take(&mut *it.waiting.lock().expect("no panic"));
        for later in waiting {
            later.reply(1);
        }
        it.serve(SessionEvent::Turn)
    }),
    ("a kill", |it| {
        it.line.session.client().shared().kill();
        it.serve(SessionEvent::Turn)
    }),
    ("the end of input", |it| it.serve(SessionEvent::End)),
    ("the shutdown", |it| it.serve(SessionEvent::Stop)),
];

fn table() -> String {
    let mut table = "# The next state and the step for each event in each state.\n".to_owned();
    for (state, reach) in STATES {
        for (event, happen) in EVENTS {
            let mut it = Fixture::new();
            let _step = reach(&mut it);
            assert_eq!(it.state(), state);
            let step = match happen(&mut it) {
                SessionStep::NeedInput => "needs input".to_owned(),
                SessionStep::Flush => "flushes".to_owned(),
                SessionStep::Close(reason) => format!("closes: {}", reason.text()),
            };
            let arrow = format!("{state} + {event}");
            writeln!(table, "{arrow:32} -> {:8} {step}", it.state()).expect("writing to a string");
        }
    }
    table
}

/// `RESPIRE_ACCEPT=1` rewrites the table.
#[test]
fn transitions_match_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/session/transitions.txt");
    let table = table();
    if std::env::var_os("RESPIRE_ACCEPT").is_some() {
        std::fs::write(path, &table).expect("writing the table");
    }
    let known = std::fs::read_to_string(path).expect("reading the table");
    for (found, known) in table.lines().zip(known.lines()) {
        assert_eq!(found, known);
    }
    assert_eq!(table.lines().count(), known.lines().count());
}
