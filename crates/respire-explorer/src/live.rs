//! Runs the thread that turns the notes of connections into events for the viewers.

use crate::direction::{Cause, Context, Direction, Piece};
use crate::events::{self, From, Shown};
use crate::queue::Queue;
use crate::secrets::Secrets;
use crate::viewer::Registry;
use respire_engine::{App, Engine};
use respire_net::clock;
use respire_net::tap::{Copy, Listener, Note, Wanted, What};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How long the thread waits for room in a viewer's queue. Meanwhile notes stay in the tap, up to
/// its limit; further ones are dropped.
const STALL: Duration = Duration::from_secs(2);

/// The longest wait for a note.
const WAIT: Duration = Duration::from_secs(5);

/// The state of the thread.
pub(crate) struct Live<A: App> {
    engine: Arc<Engine<A>>,
    listener: Listener,
    registry: Arc<Registry>,
    flavour: &'static str,
    secrets: Secrets,
    viewers: Vec<Arc<Queue>>,
    connections: BTreeMap<u64, Connection>,
    /// Bytes of incomplete frames.
    held: usize,
}

/// The state of a connection.
struct Connection {
    peer: Box<str>,
    at_us: u64,
    wanted: Option<Arc<Wanted>>,
    received: Direction,
    sent: Direction,
    forms: VecDeque<bool>,
}

impl Connection {
    fn new(peer: Box<str>, at_us: u64) -> Self {
        Self {
            peer,
            at_us,
            wanted: None,
            received: Direction::new(true),
            sent: Direction::new(false),
            forms: VecDeque::new(),
        }
    }

    /// Takes a copy and returns the pieces to show or to report as lost.
    fn take(&mut self, from: From, copy: &Copy, common: (&Secrets, &mut usize)) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let (secrets, held) = common;
        let mut cx = Context {
            secrets,
            forms: &mut self.forms,
            held,
            pieces: &mut pieces,
        };
        let (side, other) = match from {
            From::Client => (&mut self.received, &mut self.sent),
            From::Server => (&mut self.sent, &mut self.received),
        };
        let has_had_enough = side.take(copy, &mut cx);
        if has_had_enough && copy.is_binary {
            // The requests are needed to send what a reply means.
            other.lose(Cause::TooFast, &mut cx);
            cx.forms.clear();
        }
        if let (true, Some(wanted)) = (has_had_enough, &self.wanted) {
            if from == From::Client || copy.is_binary {
                wanted.skip_received();
            }
            if from == From::Server || copy.is_binary {
                wanted.skip_sent();
            }
        }
        pieces
    }
}

impl<A: App> Live<A> {
    pub(crate) fn new(
        engine: Arc<Engine<A>>,
        listener: Listener,
        registry: Arc<Registry>,
        flavour: &'static str,
    ) -> Self {
        Self {
            engine,
            listener,
            registry,
            flavour,
            secrets: Secrets::new(),
            viewers: Vec::new(),
            connections: BTreeMap::new(),
            held: 0,
        }
    }

    /// Runs until the registry is closed.
    pub(crate) fn run(mut self) {
        self.learn();
        while !self.registry.is_closed() {
            self.update_viewers();
            if let Some(note) = self.listener.next(WAIT) {
                self.learn();
                self.take(note);
            }
            if self.listener.has_lost_end() {
                self.end_lost_connections();
            }
        }
        self.listener.end();
    }

    /// Remembers the server's password. It may change, and old passwords stay hidden.
    fn learn(&mut self) {
        if let Some(password) = self.engine.tunables().password() {
            self.secrets.learn(password);
        }
    }

    /// Finds viewers that came or left. The tap captures while there are viewers.
    fn update_viewers(&mut self) {
        let present = self.registry.viewers().clone();
        if present.is_empty() && !self.viewers.is_empty() {
            self.listener.end();
            self.connections.clear();
            self.held = 0;
        }
        let is_new = |viewer: &&Arc<Queue>| {
            let mut known = self.viewers.iter();
            !known.any(|known| Arc::ptr_eq(known, viewer))
        };
        let new_viewers: Vec<_> = present.iter().filter(is_new).cloned().collect();
        if self.viewers.is_empty() && !new_viewers.is_empty() {
            self.listener.begin();
            self.add_open_connections();
        }
        self.viewers = present;
        for viewer in new_viewers {
            self.send_first_events(&viewer);
        }
    }

    /// Adds the connections that are open already.
    fn add_open_connections(&mut self) {
        let now_us = clock::now().unix_us();
        for client in self.engine.clients().snapshot() {
            let connection = Connection::new(client.peer().address.clone(), now_us);
            self.connections.insert(client.id(), connection);
        }
    }

    fn send_first_events(&self, viewer: &Queue) {
        let hello = events::hello(self.flavour, clock::now().unix_us());
        let open = self
            .connections
            .iter()
            .map(|(id, connection)| events::open(*id, &connection.peer, connection.at_us));
        for event in std::iter::once(hello).chain(open) {
            give(viewer, &event);
        }
    }

    fn take(&mut self, note: Note) {
        let Note {
            connection: id,
            at_us,
            what,
            ..
        } = note;
        match what {
            What::Joined { peer, wanted } => {
                if !self.connections.contains_key(&id) {
                    self.send(&events::open(id, &peer, at_us));
                }
                let connection = self.connections.entry(id);
                let connection = connection.or_insert_with(|| Connection::new(peer, at_us));
                connection.wanted = Some(wanted);
            }
            What::Received(copy) => self.show(id, From::Client, at_us, &copy),
            What::Sent(copy) => self.show(id, From::Server, at_us, &copy),
            What::Ended(why) => self.end(id, at_us, &why),
        }
    }

    fn show(&mut self, id: u64, from: From, at_us: u64, copy: &Copy) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let pieces = connection.take(from, copy, (&self.secrets, &mut self.held));
        self.send_pieces((id, from, copy.is_binary, at_us), &pieces);
    }

    fn end(&mut self, id: u64, at_us: u64, why: &str) {
        let Some(mut connection) = self.connections.remove(&id) else {
            return;
        };
        for (from, side) in [
            (From::Client, &mut connection.received),
            (From::Server, &mut connection.sent),
        ] {
            let mut pieces = Vec::new();
            side.end(&mut Context {
                secrets: &self.secrets,
                forms: &mut connection.forms,
                held: &mut self.held,
                pieces: &mut pieces,
            });
            let is_binary = side.is_binary();
            self.send_pieces((id, from, is_binary, at_us), &pieces);
        }
        self.send(&events::close(id, at_us, why));
    }

    /// Ends connections whose note of their end was dropped.
    fn end_lost_connections(&mut self) {
        let open = self.engine.clients().snapshot();
        let is_open = |id: &u64| open.binary_search_by_key(id, |client| client.id()).is_ok();
        let gone = self.connections.keys().copied();
        let gone: Vec<u64> = gone.filter(|id| !is_open(id)).collect();
        let at_us = clock::now().unix_us();
        gone.into_iter().for_each(|id| self.end(id, at_us, "gone"));
    }

    fn send_pieces(&self, of: (u64, From, bool, u64), pieces: &[Piece]) {
        let (id, from, is_binary, at_us) = of;
        for piece in pieces {
            self.send(&match piece {
                Piece::Lost(lost) => events::lost(id, from, *lost),
                Piece::Shown { bytes, cuts } => events::bytes(&Shown {
                    id,
                    from,
                    is_binary,
                    at_us,
                    bytes,
                    cuts,
                }),
            });
        }
    }

    fn send(&self, event: &Arc<[u8]>) {
        self.viewers.iter().for_each(|viewer| give(viewer, event));
    }
}

/// Pushes an event into a viewer's queue; disconnects a viewer that does not make room in time.
fn give(viewer: &Queue, event: &Arc<[u8]>) {
    if !viewer.push(event, STALL) {
        viewer.close();
    }
}
