//! Loads logged commands into an empty engine.

use respire_commands::Kv;
use respire_engine::driver::{Session, SessionEvent, SessionStep};
use respire_engine::{Engine, NoWake, Now, Output, Peer};
use respire_store::Store;
use respire_testkit::reply::{Value, parse};
use respire_testkit::target::kv_engine;
use std::sync::Arc;
use std::time::Duration;

/// An engine that loads a log: no key expires meanwhile.
pub(crate) struct Loader {
    engine: Arc<Engine<Kv>>,
    session: Session<Kv>,
}

/// A time after all others, in which times of the log are not in the future.
const NOW: Now = Now::new(Duration::from_secs(1), Duration::from_secs(1 << 32)).replaying();

impl Loader {
    pub(crate) fn new() -> Self {
        let engine = kv_engine(NOW);
        let session = engine.connect(Peer::default(), Box::new(NoWake), NOW);
        let session = session.expect("the first connection is accepted");
        Loader { engine, session }
    }

    pub(crate) fn store(&self) -> &Store {
        self.engine.app().store()
    }

    /// Runs commands, and returns the replies.
    pub(crate) fn run(&mut self, commands: &[u8]) -> Vec<u8> {
        let mut out = Output::new();
        let mut step = self.session.serve(commands, NOW, &mut out);
        while step == SessionStep::Flush {
            step = self.session.serve(SessionEvent::Turn, NOW, &mut out);
        }
        out.to_vec()
    }

    /// Runs commands; each must succeed.
    pub(crate) fn load(&mut self, commands: &[u8]) {
        let replies = self.run(commands);
        let mut rest = &replies[..];
        while !rest.is_empty() {
            let parsed = parse(rest).expect("replies are well-formed");
            let (value, len) = parsed.expect("replies are whole");
            check(value, commands);
            rest = &rest[len..];
        }
    }
}

fn check(reply: Value, commands: &[u8]) {
    for value in reply.into_elements() {
        let text = &commands[..commands.len().min(2000)];
        assert!(!value.is_error(), "{value:?}: {}", text.escape_ascii());
    }
}
