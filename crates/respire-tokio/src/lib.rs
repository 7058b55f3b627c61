//! The Tokio flavour of the Respire server: many threads, one task per connection.
//!
//! What it deliberately is not: it knows no protocol and no command, and has no policy of its own.
//! It shares both with the mio flavour; the two files have the same functions and read side by side
//! (`accept_ready`, `drive`, `read_some`, `write_some`, `finish`).
//!
//! ```no_run
//! use respire_engine::{Engine, Options, Router};
//! use respire_net::{Config, Listeners, Server, Shutdown, clock};
//!
//! let engine = Engine::new(Router::new(()), Options::default(), clock::now());
//! let config = Config { port: 7000, ..Config::default() };
//! let listeners = Listeners::bind(&config).unwrap();
//! respire_tokio::Tokio.serve(listeners, engine, config, Shutdown::on_signals().unwrap()).unwrap();
//! ```
//!
//! Invariants: no lock is held and no buffer is borrowed while a task waits; a task makes only
//! system calls that are likely to succeed.
//!
//! Where to start reading: `Task::drive`.

#![forbid(unsafe_code)]

mod relief;
mod socket;
mod wake;
mod watchdog;

use relief::HandOver;
use respire_engine::{App, BoxFuture, CommandEntry, Engine, Flags};
use respire_net::{
    Config, Connection, Limits, Listeners, Origin, Pace, Report, Scratch, Server, Service,
    Shutdown, clock, supervise,
};
use socket::Polled;
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, sleep_until};
use wake::{WakeHandle, WakeState};
use watchdog::Watchdog;

/// The flavour: a Tokio runtime with `Config::threads` workers, beside the thread that calls
/// [`Server::serve`] and waits.
///
/// A long command holds up its own worker, unless it lets others be served, as scripts do
/// ([`Relief`](respire_engine::Relief)). While another worker is free, the other connections are
/// served, after a few milliseconds at most. As many long commands at a time as there are workers
/// hold up everything, as one does in a server of one thread.
///
/// Do not call [`Server::serve`] from a task of another Tokio runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokio;

impl Server for Tokio {
    const NAME: &'static str = "tokio";

    fn serve<A: App>(
        self,
        listeners: Listeners,
        engine: Arc<Engine<A>>,
        config: Config,
        shutdown: Shutdown,
    ) -> io::Result<Report> {
        let has_scripts = engine.commands().all().any(is_script);
        let (runtime, watchdog) = runtime(config.threads, has_scripts)?;
        let handle = runtime.handle().clone();
        engine.set_spawner(Arc::new(move |task: BoxFuture| drop(handle.spawn(task))));
        engine.set_relief(Arc::new(HandOver));
        let service = Arc::new(Service::new(engine, config, shutdown));
        supervise("respire-tokio", &service, move |service| {
            let cut = runtime.block_on(run(listeners, &service))?;
            drop(watchdog);
            // Connections that did not end in time are dropped, with their sockets, at their await
            // point.
            drop(runtime);
            Ok(cut)
        })
    }
}

/// A runtime with this many workers. A single worker is the thread that serves, and shares nothing,
/// unless scripts can hold it up: then another thread must be able to take its place. Several workers
/// have a watchdog.
fn runtime(threads: usize, has_scripts: bool) -> io::Result<(Runtime, Option<Watchdog>)> {
    if threads <= 1 && !has_scripts {
        let runtime = configure(&mut Builder::new_current_thread()).build()?;
        return Ok((runtime, None));
    }
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(threads.max(1))
        .thread_name("respire-tokio");
    if threads <= 1 {
        return Ok((configure(&mut builder).build()?, None));
    }
    let mut watchdog = Watchdog::new(&mut builder);
    let runtime = configure(&mut builder).build()?;
    watchdog.start(runtime.handle().clone())?;
    Ok((runtime, Some(watchdog)))
}

/// Whether a command runs other commands, and may take long.
fn is_script<A: App>(entry: &CommandEntry<A>) -> bool {
    entry.spec().flags.has(Flags::SCRIPT)
}

fn configure(builder: &mut Builder) -> &mut Builder {
    builder
        .enable_io()
        .enable_time()
        .max_io_events_per_tick(WOKEN_AT_ONCE_MAX)
        .event_interval(QUEUE_TASKS_MAX)
}

/// The capacity of a worker's task queue. Further tasks go to the queue that all workers share,
/// which is checked only now and then.
const QUEUE_TASKS_MAX: u32 = 256;

/// The most connections woken at a time, so that they fit into the worker's queue. Connections in
/// the shared queue would wait while the others are served again and again. For the same reason the
/// worker polls the system only after it has worked off its queue.
const WOKEN_AT_ONCE_MAX: usize = QUEUE_TASKS_MAX as usize / 2;

/// Every connection's task holds one; the server has ended when none is left.
type Open = mpsc::Sender<Infallible>;

/// Accepts until the server is stopped, then waits for the connections; returns how many were left.
async fn run<A: App>(listeners: Listeners, service: &Arc<Service<A>>) -> io::Result<u64> {
    let stop = Arc::new(Notify::new());
    let pressed = Arc::clone(&stop);
    service.shutdown.on_request(move || pressed.notify_one());

    let (open, mut ended) = mpsc::channel(1);
    let mut tasks = JoinSet::new();
    for listener in Listener::all(listeners)? {
        tasks.spawn(accept_ready(listener, Arc::clone(service), open.clone()));
    }
    tasks.spawn(tick(Arc::clone(service)));
    stop.notified().await;

    // Stop accepting before this returns, so that `wake_all` reaches every connection.
    tasks.shutdown().await;
    drop(open);
    service.wake_all();
    let grace = sleep(Duration::from_millis(u64::from(
        service.limits().shutdown_grace_ms,
    )));
    tokio::pin!(grace);
    while !service.shutdown.is_forced() {
        tokio::select! {
            _ = ended.recv() => break,
            () = &mut grace => break,
            () = stop.notified() => {}
        }
    }
    Ok(service.cut_open())
}

/// Runs the housekeeping, for as long as the server runs.
async fn tick<A: App>(service: Arc<Service<A>>) {
    loop {
        let wait = service.engine.tick(clock::now());
        if wait.is_zero() {
            // Yield to the tasks that wait; a timer would pause for a millisecond or two.
            tokio::task::yield_now().await;
        } else {
            sleep(wait).await;
        }
    }
}

enum Listener {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, PathBuf),
}

enum Accepted {
    Tcp(TcpStream, Origin),
    Unix(UnixStream, Origin),
}

impl Listener {
    fn all(listeners: Listeners) -> io::Result<Vec<Self>> {
        let tcp = listeners.tcp.into_iter().map(|listener| {
            let local = listener.local_addr()?;
            Ok(Self::Tcp(TcpListener::from_std(listener)?, local))
        });
        let unix = listeners
            .unix
            .into_iter()
            .map(|(listener, path)| Ok(Self::Unix(UnixListener::from_std(listener)?, path)));
        tcp.chain(unix).collect()
    }

    async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(listener, local) => {
                let (stream, peer) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let local = if local.ip().is_unspecified() {
                    stream.local_addr()?
                } else {
                    *local
                };
                let origin = Origin::tcp(peer, local, stream.as_raw_fd());
                Ok(Accepted::Tcp(stream, origin))
            }
            Self::Unix(listener, path) => {
                let (stream, _) = listener.accept().await?;
                let origin = Origin::unix(path, stream.as_raw_fd());
                Ok(Accepted::Unix(stream, origin))
            }
        }
    }
}

/// Accepts connections, for as long as the server runs.
async fn accept_ready<A: App>(listener: Listener, service: Arc<Service<A>>, open: Open) {
    let mut in_a_row = 0;
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                service.accept_succeeded();
                admit(accepted, &service, &open);
                in_a_row += 1;
            }
            Err(error) => {
                if let Some(rest) = service.accept_failed(&error) {
                    sleep(rest).await;
                }
            }
        }
        if in_a_row == service.limits().accepts_per_turn_max {
            in_a_row = 0;
            tokio::task::yield_now().await;
        }
    }
}

/// Admits a connection as a task of its own, or refuses it.
fn admit<A: App>(accepted: Accepted, service: &Arc<Service<A>>, open: &Open) {
    let wake_state = Arc::new(WakeState::default());
    let wake_handle = Box::new(WakeHandle(Arc::clone(&wake_state)));
    let now = clock::now();
    match accepted {
        Accepted::Tcp(socket, origin) => match service.admit(origin, wake_handle, now) {
            Ok(connection) => Task::new(connection, socket, wake_state, service, open).spawn(),
            Err(refusal) => {
                // A socket that cannot be converted back is closed, and so the peer learns of it
                // too.
                let _ = socket
                    .into_std()
                    .map(|socket| service.refuse(socket, refusal));
            }
        },
        Accepted::Unix(socket, origin) => match service.admit(origin, wake_handle, now) {
            Ok(connection) => Task::new(connection, socket, wake_state, service, open).spawn(),
            Err(refusal) => {
                let _ = socket
                    .into_std()
                    .map(|socket| service.refuse(socket, refusal));
            }
        },
    }
}

/// One connection: its session, its socket, and its wake state.
struct Task<A: App, S> {
    /// Dropped, and so closed, before the session: `CLIENT KILL` answers when the session is dropped.
    socket: S,
    connection: Connection<A>,
    wake_state: Arc<WakeState>,
    /// Armed only while the connection has a deadline, as few have.
    timer: Option<Timer>,
    service: Arc<Service<A>>,
    _open: Open,
}

/// A timer that may fire early: a deadline that moves away is checked when the timer fires.
struct Timer {
    due_us: u64,
    sleep: Pin<Box<Sleep>>,
}

thread_local! {
    /// The buffers of the task that runs on this thread.
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new(&Limits::DEFAULT));
}

impl<A: App, S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Task<A, S> {
    fn new(
        connection: Connection<A>,
        socket: S,
        wake_state: Arc<WakeState>,
        service: &Arc<Service<A>>,
        open: &Open,
    ) -> Self {
        let service = Arc::clone(service);
        Self {
            connection,
            socket,
            wake_state,
            timer: None,
            service,
            _open: open.clone(),
        }
    }

    fn spawn(mut self) {
        tokio::spawn(poll_fn(move |cx| self.drive(cx)));
    }

    /// Runs one turn, or several if deadlines have passed; ready when the connection has ended.
    fn drive(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut now = clock::now();
        if self.wake_state.take(cx.waker()) {
            self.connection.handle_wake(now);
        }
        if self.service.shutdown.is_requested() {
            self.connection.handle_shutdown();
        }
        loop {
            let pace = SCRATCH.with_borrow_mut(|scratch| {
                scratch.fit(self.service.limits());
                let mut io = Polled {
                    socket: &mut self.socket,
                    cx,
                };
                self.connection.drive(&mut io, scratch, now)
            });
            match pace {
                Pace::Closed => return Poll::Ready(()),
                Pace::Again => {
                    // Queue up after the other ready tasks, and after those whose sockets became ready
                    // meanwhile: a task that woke itself would keep the worker from asking for these.
                    let _ = pin!(tokio::task::yield_now()).poll(cx);
                    return Poll::Pending;
                }
                Pace::Wait => ready!(self.poll_deadline(cx)),
            }
            now = clock::now();
            self.connection.handle_timeout(now);
        }
    }

    /// Ready when the connection's deadline may have passed.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(due_us) = self.connection.deadline_us() else {
            self.timer = None;
            return Poll::Pending;
        };
        if self
            .timer
            .as_ref()
            .is_none_or(|timer| timer.due_us > due_us)
        {
            let sleep = Box::pin(sleep_until(clock::instant_at(due_us).into()));
            self.timer = Some(Timer { due_us, sleep });
        }
        if let Some(timer) = &mut self.timer {
            ready!(timer.sleep.as_mut().poll(cx));
        }
        self.timer = None;
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_state_fits_its_share_of_two_kibibytes() {
        // State shared with other threads, and the runtime's own, takes the other half at most.
        let bytes = size_of::<Task<(), TcpStream>>();
        assert!(bytes <= 768, "{bytes}");
    }
}

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
