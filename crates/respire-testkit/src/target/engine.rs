//! The engine as a target, without sockets, under a clock that only the script moves.

use super::{Received, Target};
use respire_commands::Kv;
use respire_disk::{Disk, Values};
use respire_engine::driver::{Session, SessionEvent, SessionStep};
use respire_engine::{Engine, Limits, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Config, Store};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time at which every script begins: a round number, so that expected times are readable.
pub const START_UNIX_MS: u64 = 1_700_000_000_000;

/// Redis's commands on an empty store.
#[must_use]
pub fn kv_router() -> Router<Kv> {
    let store = Store::new(Config {
        // Look ahead into whole pipelines, even for a small store.
        cached_bytes: 0,
        seed: [1, 2, 3, 4],
        ..Config::default()
    });
    // Scripts and random requests send many wrong passwords, and need the replies that Redis gives.
    let limits = Limits {
        wrong_passwords_free: u32::MAX,
        ..Limits::DEFAULT
    };
    let router = respire_commands::add_to(Router::new(Kv::new(store)));
    // It is never opened: these servers have the commands on files, and no files.
    let router = Disk::new(Values::default()).add_to(router);
    respire_script::add_to(router).limits(limits)
}

/// An engine with Redis's commands on an empty store, started at `now`.
#[must_use]
pub fn kv_engine(now: Now) -> Arc<Engine<Kv>> {
    Engine::new(kv_router(), Options::default(), now)
}

/// An engine and its sessions; input arrives whole or in pieces.
pub struct EngineTarget {
    engine: Arc<Engine<Kv>>,
    now: Now,
    connections: Vec<Connection>,
    pieces: Pieces,
}

struct Connection {
    session: Session<Kv>,
    out: Output,
    is_closed: bool,
}

#[derive(Clone, Copy, Debug)]
enum Pieces {
    Whole,
    Bytes,
    CutAt(usize),
}

impl EngineTarget {
    /// An engine that gets every input in one piece.
    #[must_use]
    pub fn whole() -> Self {
        Self::new(Pieces::Whole)
    }

    /// An engine that gets every input byte by byte.
    #[must_use]
    pub fn byte_by_byte() -> Self {
        Self::new(Pieces::Bytes)
    }

    /// An engine that gets every input in two pieces, the first of `at` bytes.
    #[must_use]
    pub fn cut_at(at: usize) -> Self {
        Self::new(Pieces::CutAt(at))
    }

    fn new(pieces: Pieces) -> Self {
        let now = Now::new(Duration::from_secs(1), Duration::from_millis(START_UNIX_MS));
        Self {
            engine: kv_engine(now),
            now,
            connections: Vec::new(),
            pieces,
        }
    }

    /// Polls all sessions until none has work left: a command may wake, kill or unblock other
    /// connections.
    fn settle(&mut self) {
        for connection in &mut self.connections {
            connection.poll(self.now);
        }
    }
}

impl Connection {
    fn serve<'b>(&mut self, event: impl Into<SessionEvent<'b, Kv>>, now: Now) {
        if !self.is_closed {
            let step = self.session.serve(event, now, &mut self.out);
            self.follow(step, now);
        }
    }

    fn poll(&mut self, now: Now) {
        self.serve(SessionEvent::Turn, now);
    }

    fn follow(&mut self, mut step: SessionStep, now: Now) {
        while step == SessionStep::Flush {
            step = self.session.serve(SessionEvent::Turn, now, &mut self.out);
        }
        self.is_closed = matches!(step, SessionStep::Close(_));
    }
}

impl Target for EngineTarget {
    fn tags(&self) -> &[&'static str] {
        match self.pieces {
            Pieces::Whole => &["respire", "engine"],
            Pieces::Bytes | Pieces::CutAt(_) => &["respire", "engine", "split"],
        }
    }

    fn reset(&mut self) {
        *self = Self::new(self.pieces);
    }

    fn connect(&mut self) -> usize {
        let peer = Peer {
            address: format!("127.0.0.1:{}", 50_000 + self.connections.len()).into(),
            local_address: "127.0.0.1:6379".into(),
            ..Peer::default()
        };
        let session = self.engine.connect(peer, Box::new(NoWake), self.now);
        let session = session.expect("fewer connections than maxclients");
        self.connections.push(Connection {
            session,
            out: Output::new(),
            is_closed: false,
        });
        self.connections.len() - 1
    }

    fn send(&mut self, connection: usize, bytes: &[u8]) {
        let now = self.now;
        let to = &mut self.connections[connection];
        match self.pieces {
            Pieces::Whole => to.serve(bytes, now),
            Pieces::Bytes => bytes.chunks(1).for_each(|byte| to.serve(byte, now)),
            Pieces::CutAt(at) => {
                let (first, second) = bytes.split_at(at.min(bytes.len()));
                to.serve(first, now);
                to.serve(second, now);
            }
        }
        self.settle();
    }

    fn receive(&mut self, connection: usize, into: &mut Vec<u8>) -> Received {
        let from = &mut self.connections[connection];
        if from.out.is_empty() {
            return if from.is_closed {
                Received::Closed
            } else {
                Received::Nothing
            };
        }
        into.extend_from_slice(&from.out.take());
        // The driver polls again once the output is written.
        from.poll(self.now);
        Received::Bytes
    }

    fn half_close(&mut self, connection: usize) {
        let now = self.now;
        self.connections[connection].serve(SessionEvent::End, now);
        self.settle();
    }

    fn advance(&mut self, by: Duration) {
        self.now = self.now.after(by);
        self.engine.tick(self.now);
        self.settle();
    }

    fn follow_wall_clock(&mut self) {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let behind = wall.saturating_sub(Duration::from_millis(self.now.unix_ms()));
        self.now = self.now.after(behind);
    }

    fn unix_ms(&self) -> u64 {
        self.now.unix_ms()
    }
}
