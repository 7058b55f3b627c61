//! A client of a server that lives in the test alone, with a clock that the test moves.

use crate::settings::Tuning;
use crate::{Kv, add_to};
use respire_engine::driver::{Session, SessionEvent};
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Config, Store};
use std::sync::Arc;
use std::time::Duration;

/// One connection, and the engine behind it.
pub(crate) struct Client {
    engine: Arc<Engine<Kv>>,
    session: Session<Kv>,
    now: Now,
}

impl Client {
    /// The first client of a fresh server.
    pub(crate) fn new() -> Self {
        Self::with(Options::default())
    }

    /// The same, of a server with these options.
    pub(crate) fn with(options: Options) -> Self {
        let now = Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000));
        let kv = Kv::new(Store::new(Config::default()));
        let engine = Engine::new(add_to(Router::new(kv)), options, now);
        Self::connect(engine, now)
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &Engine<Kv> {
        &self.engine
    }

    /// Another client of the same server.
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

    /// Changes what the store is set to.
    pub(crate) fn tune(&self, change: impl FnOnce(&mut Tuning)) {
        self.engine.app().tune(change);
    }

    /// Moves this client's clock.
    pub(crate) fn advance(&mut self, by: Duration) {
        self.now = self.now.after(by);
    }

    /// Lets the server keep house.
    pub(crate) fn tick(&self) {
        self.engine.tick(self.now);
    }

    /// Sends a request in the quoting of redis-cli; the reply as it stands on the wire.
    pub(crate) fn send(&mut self, request: &str) -> String {
        let reply = self.send_for_output(request);
        String::from_utf8_lossy(&reply.to_vec()).into_owned()
    }

    /// The same; the reply in the pieces that it is written in.
    pub(crate) fn send_for_output(&mut self, request: &str) -> Output {
        let mut out = Output::new();
        let request = format!("{request}\r\n");
        let _ = self.session.serve(request.as_bytes(), self.now, &mut out);
        out
    }

    /// What is sent without a request: replies that were held back.
    pub(crate) fn poll(&mut self) -> String {
        let mut out = Output::new();
        let _ = self.session.serve(SessionEvent::Turn, self.now, &mut out);
        String::from_utf8_lossy(&out.to_vec()).into_owned()
    }

    /// Sends one request after another, and compares the replies.
    pub(crate) fn check(&mut self, exchanges: &[(&str, &str)]) {
        for (request, expected) in exchanges {
            assert_eq!(self.send(request), *expected, "{request}");
        }
    }
}
