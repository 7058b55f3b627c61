//! Every event in every state, held against `transitions.txt`.

use super::{SessionEvent, SessionStep, State};
use crate::redis::testing::{Cells, Line, Server};
use crate::{ArgIter, Args, Arity, Error, Flags, Later, Limits, Output, Spec};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a test does to a session, and how the table calls it.
type Happening = (&'static str, fn(&mut Scene) -> SessionStep);

/// A session, its server, and the replies that it waits for.
struct Scene {
    server: Server,
    line: Line,
    waiting: Arc<Mutex<Vec<Later>>>,
}

/// The arguments, none, of a command behind which other requests run.
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

impl Scene {
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

/// How long a pause lasts here; a delayed reply, shorter.
const DUE: Duration = Duration::from_secs(1);

/// How each state is come to.
const WAYS: [Happening; 6] = [
    ("serving", |scene| scene.serve(b"PING\r\n")),
    ("paused", |scene| {
        scene.pause();
        scene.serve(b"PING\r\n")
    }),
    ("waiting", |scene| scene.serve(b"NAP\r\n")),
    ("pending", |scene| scene.serve(b"WAIT\r\n")),
    ("ending", |scene| scene.serve(b"PIPE\r\nQUIT\r\n")),
    ("done", |scene| scene.serve(b"QUIT\r\n")),
];

const EVENTS: [Happening; 15] = [
    ("a request", |scene| scene.serve(b"PING\r\n")),
    ("half a request", |scene| scene.serve(b"PIN")),
    ("more than a turn", |scene| {
        scene.serve(b"PING\r\nPING\r\nPING\r\n")
    }),
    ("a request in a pause", |scene| {
        scene.pause();
        scene.serve(b"PING\r\n")
    }),
    ("a delayed reply", |scene| scene.serve(b"NAP\r\n")),
    ("a deferred reply", |scene| scene.serve(b"WAIT\r\n")),
    ("QUIT", |scene| scene.serve(b"QUIT\r\n")),
    ("QUIT behind a call", |scene| {
        scene.serve(b"PIPE\r\nQUIT\r\n")
    }),
    ("a broken request", |scene| scene.serve(b"*x\r\n")),
    ("a turn too early", |scene| scene.serve(SessionEvent::Turn)),
    ("a turn when due", |scene| {
        scene.line.now = scene.line.now.after(DUE);
        scene.serve(SessionEvent::Turn)
    }),
    ("the answer to a call", |scene| {
        let waiting = std::mem::take(&mut *scene.waiting.lock().expect("no panic"));
        for later in waiting {
            later.reply(1);
        }
        scene.serve(SessionEvent::Turn)
    }),
    ("a kill", |scene| {
        scene.line.session.client().shared().kill();
        scene.serve(SessionEvent::Turn)
    }),
    ("the peer's end", |scene| scene.serve(SessionEvent::End)),
    ("the server's stop", |scene| scene.serve(SessionEvent::Stop)),
];

fn table() -> String {
    let mut table =
        "# What follows from each event in each state: the state, and the step.\n".to_owned();
    for (state, reach) in WAYS {
        for (event, happen) in EVENTS {
            let mut scene = Scene::new();
            let _step = reach(&mut scene);
            assert_eq!(scene.state(), state);
            let step = match happen(&mut scene) {
                SessionStep::NeedInput => "needs input".to_owned(),
                SessionStep::Flush => "flushes".to_owned(),
                SessionStep::Close(reason) => format!("closes: {}", reason.text()),
            };
            let arrow = format!("{state} + {event}");
            writeln!(table, "{arrow:32} -> {:8} {step}", scene.state()).expect("to a string");
        }
    }
    table
}

/// `RESPIRE_ACCEPT=1` writes the table anew.
#[test]
fn every_event_leads_where_the_table_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/session/transitions.txt");
    let table = table();
    if std::env::var_os("RESPIRE_ACCEPT").is_some() {
        std::fs::write(path, &table).expect("the table is written");
    }
    let known = std::fs::read_to_string(path).expect("the table is there");
    for (found, known) in table.lines().zip(known.lines()) {
        assert_eq!(found, known);
    }
    assert_eq!(table.lines().count(), known.lines().count());
}
