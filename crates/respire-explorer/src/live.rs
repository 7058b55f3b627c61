//! The thread between the connections and those who look on.

use crate::direction::{Cause, Context, Direction, Piece};
use crate::events::{self, From, Shown};
use crate::queue::Queue;
use crate::secrets::Secrets;
use crate::viewer::Lobby;
use respire_engine::{App, Engine};
use respire_net::clock;
use respire_net::tap::{Copy, Listener, Note, Wanted, What};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How long an event waits for room with one who looks on; meanwhile what connections say is kept,
/// within the bounds of the tap, or lost.
const STALL: Duration = Duration::from_secs(2);

/// How long to wait for news at a time.
const WAIT: Duration = Duration::from_secs(5);

/// What the thread knows.
pub(crate) struct Live<A: App> {
    engine: Arc<Engine<A>>,
    listener: Listener,
    lobby: Arc<Lobby>,
    flavour: &'static str,
    secrets: Secrets,
    viewers: Vec<Arc<Queue>>,
    connections: BTreeMap<u64, Connection>,
    /// Bytes of frames that are not whole yet.
    held: usize,
}

/// What is known of a connection.
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

    /// Takes a copy; gives what there is to show, whether it is of the binary protocol, and to lose.
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
            // Without its requests nobody can tell what a reply is.
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
        lobby: Arc<Lobby>,
        flavour: &'static str,
    ) -> Self {
        Self {
            engine,
            listener,
            lobby,
            flavour,
            secrets: Secrets::new(),
            viewers: Vec::new(),
            connections: BTreeMap::new(),
            held: 0,
        }
    }

    /// Runs until the lobby is closed.
    pub(crate) fn run(mut self) {
        self.learn();
        while !self.lobby.is_closed() {
            self.meet_viewers();
            if let Some(note) = self.listener.next(WAIT) {
                self.learn();
                self.take(note);
            }
            if self.listener.has_lost_end() {
                self.end_those_who_are_gone();
            }
        }
        self.listener.end();
    }

    /// Remembers the server's password: it may change, and those that were do not become public.
    fn learn(&mut self) {
        if let Some(password) = self.engine.tunables().password() {
            self.secrets.learn(password);
        }
    }

    /// Looks who has come and who has gone. The tap runs while there is anybody.
    fn meet_viewers(&mut self) {
        let present = self.lobby.viewers().clone();
        if present.is_empty() && !self.viewers.is_empty() {
            self.listener.end();
            self.connections.clear();
            self.held = 0;
        }
        let is_new = |viewer: &&Arc<Queue>| {
            let mut known = self.viewers.iter();
            !known.any(|known| Arc::ptr_eq(known, viewer))
        };
        let newcomers: Vec<_> = present.iter().filter(is_new).cloned().collect();
        if self.viewers.is_empty() && !newcomers.is_empty() {
            self.listener.begin();
            self.know_all();
        }
        self.viewers = present;
        for viewer in newcomers {
            self.greet(&viewer);
        }
    }

    /// Those connections that are open already.
    fn know_all(&mut self) {
        let now_us = clock::now().unix_us();
        for client in self.engine.clients().snapshot() {
            let connection = Connection::new(client.peer().address.clone(), now_us);
            self.connections.insert(client.id(), connection);
        }
    }

    fn greet(&self, viewer: &Queue) {
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
                    self.tell(&events::open(id, &peer, at_us));
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
        self.tell_pieces((id, from, copy.is_binary, at_us), &pieces);
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
            self.tell_pieces((id, from, is_binary, at_us), &pieces);
        }
        self.tell(&events::close(id, at_us, why));
    }

    /// Ends connections that had no room to say so themselves.
    fn end_those_who_are_gone(&mut self) {
        let open = self.engine.clients().snapshot();
        let is_open = |id: &u64| open.binary_search_by_key(id, |client| client.id()).is_ok();
        let gone = self.connections.keys().copied();
        let gone: Vec<u64> = gone.filter(|id| !is_open(id)).collect();
        let at_us = clock::now().unix_us();
        gone.into_iter().for_each(|id| self.end(id, at_us, "gone"));
    }

    fn tell_pieces(&self, of: (u64, From, bool, u64), pieces: &[Piece]) {
        let (id, from, is_binary, at_us) = of;
        for piece in pieces {
            self.tell(&match piece {
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

    fn tell(&self, event: &Arc<[u8]>) {
        self.viewers.iter().for_each(|viewer| give(viewer, event));
    }
}

/// Puts an event into a queue; whoever does not make room for it has seen enough.
fn give(viewer: &Queue, event: &Arc<[u8]>) {
    if !viewer.push(event, STALL) {
        viewer.close();
    }
}
