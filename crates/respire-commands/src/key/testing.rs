//! A test client with its own server in memory, and a clock that the test moves.

use crate::settings::Tuning;
use crate::{Kv, add_to};
use respire_engine::driver::{Session, SessionEvent};
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Config, Store};
use std::sync::Arc;
use std::time::Duration;

/// A connection and its engine.
pub(crate) struct Client {
    engine: Arc<Engine<Kv>>,
    session: Session<Kv>,
    now: Now,
}

impl Client {
    /// Creates a server and its first client.
    pub(crate) fn new() -> Self {
        Self::with(Options::default())
    }

    /// Creates a server with these options, and its first client.
    pub(crate) fn with(options: Options) -> Self {
        let now = Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000));
        let kv = Kv::new(Store::new(Config::default()));
        let engine = Engine::new(add_to(Router::new(kv)), options, now);
        Self::connect(engine, now)
    }

    /// The engine of the server.
    pub(crate) fn engine(&self) -> &Engine<Kv> {
        &self.engine
    }

    /// Connects another client to the same server.
    pub(crate) fn other(&self) -> Self {
        Self::connect(Arc::clone(&self.engine), self.now)
    }

    fn connect(engine: Arc<Engine<Kv>>, now: Now) -> Self {
        let session = engine
            .connect(Peer::default(), Box::new(NoWake), now)
            .expect("room for another client");
        Self {
            engine,
            session,
            now,
        }
    }

    /// Changes the settings of the store.
    pub(crate) fn tune(&self, change: impl FnOnce(&mut Tuning)) {
        self.engine.app().tune(change);
    }

    /// Moves this client's clock.
    pub(crate) fn advance(&mut self, by: Duration) {
        self.now = self.now.after(by);
    }

    /// Runs one step of the server's housekeeping.
    pub(crate) fn tick(&self) {
        self.engine.tick(self.now);
    }

    /// Sends a request in the quoting of redis-cli; returns the bytes of the reply.
    pub(crate) fn send(&mut self, request: &str) -> String {
        let mut reply = self.send_for_output(request);
        String::from_utf8_lossy(&reply.take()).into_owned()
    }

    /// Sends a request; returns the reply in the pieces in which it is written.
    pub(crate) fn send_for_output(&mut self, request: &str) -> Output {
        let mut out = Output::new();
        let request = format!("{request}\r\n");
        let _ = self.session.serve(request.as_bytes(), self.now, &mut out);
        out
    }

    /// Returns replies that are sent without a further request, because they were delayed.
    pub(crate) fn poll(&mut self) -> String {
        let mut out = Output::new();
        let _ = self.session.serve(SessionEvent::Turn, self.now, &mut out);
        String::from_utf8_lossy(&out.take()).into_owned()
    }

    /// Sends one request after another, and compares the replies.
    pub(crate) fn check(&mut self, requests_and_replies: &[(&str, &str)]) {
        for (request, expected) in requests_and_replies {
            assert_eq!(self.send(request), *expected, "{request}");
        }
    }
}
