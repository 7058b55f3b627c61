//! The mio flavour of the Respire server: one thread, one reactor.
//!
//! What it deliberately is not: it knows no protocol and no command, and has no policy of its own.
//! It shares both with the Tokio flavour; the two files have the same functions and read side by
//! side (`accept_ready`, `drive`, `read_some`, `write_some`, `finish`).
//!
//! ```no_run
//! use respire_engine::{Engine, Options, Router};
//! use respire_net::{Config, Listeners, Server, Shutdown, clock};
//!
//! let engine = Engine::new(Router::new(()), Options::default(), clock::now());
//! let config = Config { port: 7000, ..Config::default() };
//! let listeners = Listeners::bind(&config).unwrap();
//! respire_mio::Mio.serve(listeners, engine, config, Shutdown::on_signals().unwrap()).unwrap();
//! ```
//!
//! Invariants: an edge is reported once, so a connection that stops before its socket is empty goes
//! on the `again` list; the cost of a round depends on the ready connections, not on the open ones.
//!
//! Where to start reading: `run`.

#![forbid(unsafe_code)]

mod backlog;
mod batch;
mod pool;
mod relief;
mod slot;
mod socket;
mod wakes;

use backlog::{Backlog, note_events, take_deadlines, take_sources, take_turns};
use batch::Batch;
use mio::{Events, Poll, Token, Waker};
use pool::Pool;
use relief::OtherConnections;
use respire_engine::{App, Engine, Now};
use respire_net::{
    Arrival, Config, Connection, Listeners, Origin, Pace, Report, Scratch, Server, Service,
    Shutdown, clock, supervise,
};
use slab::Slab;
use slot::Slot;
use socket::{Listener, Socket, Stream};
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use wakes::{WakeHandle, Wakes};

/// The flavour: everything runs on one thread, beside the thread that calls [`Server::serve`] and
/// waits. Only the futures of [`Router::future`](respire_engine::Router::future) run elsewhere, in
/// a pool of `Config::threads` threads that starts with the first future.
///
/// A long command holds up every connection until it has ended, as in Redis, unless it lets others
/// be served, as scripts do ([`Relief`](respire_engine::Relief)). Housekeeping works in slices;
/// commands do not. Run long computations in `Router::future` or `Router::deferred`, or on
/// several threads with Tokio. For futures that need the timers or sockets of a runtime, set one
/// with [`Router::spawn_on`](respire_engine::Router::spawn_on).
#[derive(Clone, Copy, Debug, Default)]
pub struct Mio;

impl Server for Mio {
    const NAME: &'static str = "mio";

    fn serve<A: App>(
        self,
        listeners: Listeners,
        engine: Arc<Engine<A>>,
        config: Config,
        shutdown: Shutdown,
    ) -> io::Result<Report> {
        engine.set_spawner(Arc::new(Pool::new(config.threads)));
        engine.set_relief(Arc::new(OtherConnections));
        let service = Arc::new(Service::new(engine, config, shutdown));
        supervise("respire-mio", &service, move |service| {
            let batch = Rc::new(Batch::new(service.limits()));
            let reactor = Rc::new(RefCell::new(Reactor::new(listeners, service)?));
            let _serving = OtherConnections::serve_on_this_thread(&reactor, &batch);
            run(&reactor, &batch)?;
            let service = Arc::clone(&reactor.borrow().service);
            Ok(service.cut_open())
        })
    }
}

/// Readiness events taken from the system at a time.
const EVENTS_MAX: usize = 1024;

/// Tokens of other sources than connections count down from here; connections use slot and
/// generation.
const WAKER: Token = Token(usize::MAX);

/// A token holds a slot below a generation, so that an event of a closed connection never reaches
/// the next one in its slot.
const SLOT_BITS: u32 = 32;
const _: () = assert!(
    usize::BITS == 2 * SLOT_BITS,
    "tokens hold a slot and a generation"
);

struct Reactor<A: App> {
    service: Arc<Service<A>>,
    poll: Poll,
    listeners: Vec<Listener>,
    connections: Slab<Slot<A>>,
    last_generation: u32,
    /// The sources that have more to do and wait for nothing: connections that used up their turn,
    /// and listeners that accepted their maximum. While it is not empty, polling does not wait.
    again: VecDeque<Token>,
    backlog: Backlog,
    /// At most one deadline per connection or listener, in monotonic microseconds.
    deadlines: BTreeSet<(u64, Token)>,
    wakes: Arc<Wakes>,
    /// The buffers for a turn, unless one runs.
    scratch: Option<Box<Scratch>>,
    tick_us: u64,
    /// When a stopping server waits no longer.
    stop_by_us: Option<u64>,
}

struct Registered<A: App> {
    /// Dropped, and so closed, before the session: `CLIENT KILL` answers when the session is
    /// dropped.
    socket: Socket,
    connection: Connection<A>,
}

impl<A: App> Registered<A> {
    fn turn(&mut self, cause: Cause<'_, A>, is_stopping: bool, scratch: &mut Scratch) -> Pace {
        let now = clock::now();
        match cause {
            Cause::Ready | Cause::Arrived(_) => {}
            Cause::Wake => self.connection.handle_wake(now),
            Cause::Deadline => self.connection.handle_timeout(now),
        }
        if is_stopping {
            self.connection.handle_shutdown();
        }
        let (connection, socket) = (&mut self.connection, &mut self.socket);
        match cause {
            Cause::Arrived(arrival) => connection.drive_arrived(socket, arrival, scratch, now),
            _ => connection.drive(socket, scratch, now),
        }
    }
}

/// Why a connection is driven.
enum Cause<'b, A: App> {
    Ready,
    /// The socket is ready, and its input was read ahead.
    Arrived(Arrival<'b, A>),
    Wake,
    Deadline,
}

impl<A: App> Reactor<A> {
    fn new(listeners: Listeners, service: Arc<Service<A>>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let wakes = Wakes::new(Waker::new(poll.registry(), WAKER)?);
        let waking = Arc::clone(&wakes);
        service.shutdown.on_request(move || waking.wake_reactor());
        let mut listeners = Listener::all(listeners)?;
        for (at, listener) in listeners.iter_mut().enumerate() {
            listener.register(poll.registry(), listener_token(at))?;
        }
        Ok(Self {
            scratch: None,
            service,
            poll,
            listeners,
            connections: Slab::new(),
            last_generation: 0,
            again: VecDeque::new(),
            backlog: Backlog::default(),
            deadlines: BTreeSet::new(),
            wakes,
            tick_us: 0,
            stop_by_us: None,
        })
    }

    /// How long to wait for readiness.
    fn wait(&self, now: Now) -> Duration {
        if !self.again.is_empty() {
            return Duration::ZERO;
        }
        let due = self.deadlines.first().map(|(due_us, _)| *due_us);
        let next_us = [due, self.stop_by_us]
            .into_iter()
            .flatten()
            .fold(self.tick_us, u64::min);
        clock::until(next_us, now)
    }

    /// Runs the housekeeping, for as long as the server runs.
    fn tick(&mut self, now: Now) {
        if self.tick_us <= now.monotonic_us() {
            let wait = self.service.engine.tick(now);
            // Count from its end. Otherwise housekeeping that takes as long as its interval would
            // never pause.
            self.tick_us = clock::now().after(wait).monotonic_us();
        }
    }

    /// Begins to stop when requested; returns whether nothing is left to wait for.
    fn has_stopped(&mut self, now: Now) -> bool {
        if !self.service.shutdown.is_requested() {
            return false;
        }
        let stop_by_us = *self.stop_by_us.get_or_insert_with(|| {
            self.listeners.clear();
            self.service.wake_all();
            let grace = Duration::from_millis(u64::from(self.service.limits().shutdown_grace_ms));
            now.after(grace).monotonic_us()
        });
        self.connections.is_empty()
            || self.service.shutdown.is_forced()
            || stop_by_us <= now.monotonic_us()
    }

    /// Admits a connection, which is then to be driven, or refuses it.
    fn admit(&mut self, stream: Stream, origin: Origin) -> Option<Token> {
        let slot = self.connections.vacant_key();
        self.last_generation = self.last_generation.wrapping_add(1);
        let generation = self.last_generation;
        let token = connection_token(slot, generation);
        let wake_handle = Box::new(WakeHandle {
            wakes: Arc::clone(&self.wakes),
            token,
        });
        let connection = match self.service.admit(origin, wake_handle, clock::now()) {
            Ok(connection) => connection,
            Err(refusal) => {
                stream.refuse(&self.service, refusal);
                return None;
            }
        };
        match Socket::register(stream, self.poll.registry(), token) {
            Ok(socket) => {
                let entry = Box::new(Registered { socket, connection });
                self.connections.insert(Slot::new(generation, entry));
                Some(token)
            }
            Err(error) => {
                // The system has no room for another registration; the peer sees its connection
                // closed.
                let _ = self.service.accept_failed(&error);
                None
            }
        }
    }

    /// The buffers for a turn. A turn inside a turn gets further ones.
    fn lend_scratch(&mut self) -> Box<Scratch> {
        let scratch = self.scratch.take();
        scratch.unwrap_or_else(|| Box::new(Scratch::new(self.service.limits())))
    }

    /// Takes a connection out of its slot, to be driven for this cause. `None` if it is gone, or is
    /// being driven already: then its slot takes note of the cause.
    fn take_out(&mut self, token: Token, cause: &Cause<'_, A>) -> Option<Box<Registered<A>>> {
        let slot = find(&mut self.connections, token)?;
        slot.take_out(cause)
    }

    /// Puts a connection back after its turn, and has it driven again as it needs.
    fn put_back(&mut self, token: Token, entry: Box<Registered<A>>, pace: Pace) {
        let due_us = entry.connection.deadline_us();
        let Some(slot) = find(&mut self.connections, token) else {
            return;
        };
        let missed = slot.put_back(entry);
        if missed.is_woken {
            self.wakes.push(token);
        }
        if (matches!(pace, Pace::Again) || missed.is_ready) && !slot.is_queued {
            // With edge triggering this socket may hold more input and is not reported again.
            slot.is_queued = true;
            self.again.push_back(token);
        }
        let Some(due_us) = due_us else {
            return;
        };
        if slot.armed_us.is_none_or(|armed_us| due_us < armed_us) {
            if let Some(armed_us) = slot.armed_us.replace(due_us) {
                self.deadlines.remove(&(armed_us, token));
            }
            self.deadlines.insert((due_us, token));
        }
    }

    /// Frees the slot of a connection that has ended.
    fn free_slot(&mut self, token: Token) -> Slot<A> {
        let freed = self.connections.remove(slot(token));
        if let Some(armed_us) = freed.armed_us {
            self.deadlines.remove(&(armed_us, token));
        }
        freed
    }
}

/// The reactor of a thread. It is borrowed only between turns, so that a turn can lead to others.
type Shared<A> = Rc<RefCell<Reactor<A>>>;

fn run<A: App>(reactor: &Shared<A>, batch: &Batch) -> io::Result<()> {
    let mut events = Events::with_capacity(EVENTS_MAX);
    loop {
        let now = clock::now();
        let mut this = reactor.borrow_mut();
        this.tick(now);
        if this.has_stopped(now) {
            return Ok(());
        }
        let wait = this.wait(now);
        match this.poll.poll(&mut events, Some(wait)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        drop(this);
        note_events(reactor, &events);
        take_sources(reactor);
        batch::serve_ready(reactor, batch);
        take_turns(reactor);
        take_deadlines(reactor);
    }
}

/// Accepts the waiting connections, if the token is a listener's.
fn accept_ready<A: App>(reactor: &Shared<A>, token: Token) {
    let accepts_max = reactor.borrow().service.limits().accepts_per_turn_max;
    for _ in 0..accepts_max {
        let mut this = reactor.borrow_mut();
        let Some(listener) = this.listeners.get(listener_index(token)) else {
            return;
        };
        match listener.accept() {
            Ok((stream, origin)) => {
                this.service.accept_succeeded();
                let admitted = this.admit(stream, origin);
                drop(this);
                if let Some(token) = admitted {
                    drive(reactor, token, Cause::Ready);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) => {
                if let Some(rest) = this.service.accept_failed(&error) {
                    // The edge is used up, so only the `again` list brings us back.
                    let due_us = clock::now().after(rest).monotonic_us();
                    this.deadlines.insert((due_us, token));
                    return;
                }
            }
        }
    }
    reactor.borrow_mut().again.push_back(token);
}

/// Drives one turn of a connection; does nothing if it is gone.
fn drive<A: App>(reactor: &Shared<A>, token: Token, cause: Cause<'_, A>) {
    let mut this = reactor.borrow_mut();
    let Some(mut entry) = this.take_out(token, &cause) else {
        return;
    };
    let (mut scratch, is_stopping) = (this.lend_scratch(), this.stop_by_us.is_some());
    drop(this);
    // The code of a service besides its handlers may panic. As with one task per connection, that
    // costs only this connection.
    let turn = AssertUnwindSafe(|| entry.turn(cause, is_stopping, &mut scratch));
    let pace = catch_unwind(turn).unwrap_or(Pace::Closed);
    let mut this = reactor.borrow_mut();
    this.scratch = Some(scratch);
    if !matches!(pace, Pace::Closed) {
        return this.put_back(token, entry, pace);
    }
    drop(this.free_slot(token));
    drop(this);
    drop_entry(entry);
}

/// Drops a connection and its socket.
fn drop_entry<A: App>(entry: Box<Registered<A>>) {
    // The connection state of a service may panic too when dropped. The panic hook reports it.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(entry)));
}

fn listener_token(at: usize) -> Token {
    Token(WAKER.0 - 1 - at)
}

/// The inverse; for a connection's token, an index beyond all listeners.
fn listener_index(token: Token) -> usize {
    (WAKER.0 - 1).wrapping_sub(token.0)
}

fn connection_token(slot: usize, generation: u32) -> Token {
    Token(((generation as usize) << SLOT_BITS) | slot)
}

fn slot(token: Token) -> usize {
    token.0 & (usize::MAX >> SLOT_BITS)
}

/// The slot of this token's connection, unless it is gone or the token is not a connection's.
fn find<A: App>(connections: &mut Slab<Slot<A>>, token: Token) -> Option<&mut Slot<A>> {
    let generation = (token.0 >> SLOT_BITS) as u32;
    connections
        .get_mut(slot(token))
        .filter(|slot| slot.generation == generation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_state_fits_its_share_of_two_kibibytes() {
        // State shared with other threads, such as names and addresses, takes the other half at
        // most.
        let bytes = size_of::<Registered<()>>();
        assert!(bytes <= 768, "{bytes}");
    }
}

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
