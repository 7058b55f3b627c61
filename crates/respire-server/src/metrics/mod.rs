//! What monitoring scrapes: the engine's numbers as OpenMetrics text, on an HTTP listener of its own.

mod http;
mod text;

pub use text::{CONTENT_TYPE, encode};

use crate::clock;
use respire_engine::{App, Engine};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A listener that answers `GET /metrics` and nothing else.
///
/// It has threads of its own, so that a scrape takes no turn from the connections that are served,
/// whatever the flavour. Everything a peer may take is bounded: the head of a request by 8 KiB, an
/// exchange by 5 seconds, and exchanges at once by 8.
///
/// Who may connect may read: there is no password. Bind it to the loopback address, or to one that
/// only monitoring reaches.
///
/// ```
/// use respire_engine::{App, Engine, Options, Router};
/// use respire_server::{clock, metrics::MetricsListener};
/// use std::io::{Read, Write};
///
/// struct Nothing;
/// impl App for Nothing {
///     type Conn = ();
/// }
/// let engine = Engine::new(Router::new(Nothing), Options::default(), clock::now());
/// let listener = MetricsListener::bind("127.0.0.1:0").unwrap();
/// let address = listener.address();
/// let serving = listener.serve(engine).unwrap();
///
/// let mut peer = std::net::TcpStream::connect(address).unwrap();
/// peer.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
/// let mut answer = String::new();
/// peer.read_to_string(&mut answer).unwrap();
/// assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"));
/// assert!(answer.contains("\nrespire_connections 0.0\n"));
/// drop(serving); // stops it
/// ```
#[derive(Debug)]
pub struct MetricsListener {
    listener: TcpListener,
    address: SocketAddr,
}

/// Exchanges at once; further peers are sent away.
const EXCHANGES_MAX: usize = 8;

/// How long to rest after the system could not accept, because it is out of descriptors or memory.
const BACKOFF: Duration = Duration::from_millis(100);

impl MetricsListener {
    /// Binds the first of these addresses that can be; port 0 lets the system choose.
    ///
    /// # Errors
    /// When none can be bound.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers scrapes until the returned value is dropped.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn serve<A: App>(self, engine: Arc<Engine<A>>) -> io::Result<MetricsServer> {
        let Self { listener, address } = self;
        let is_over = Arc::new(AtomicBool::new(false));
        let switch = Arc::clone(&is_over);
        let thread = thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || accept(&listener, &engine, &is_over))?;
        Ok(MetricsServer {
            address,
            is_over: switch,
            thread: Some(thread),
        })
    }
}

/// A listener that answers scrapes. Dropping it stops it.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsServer {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // The thread waits for a peer; this is one.
        let reachable = SocketAddr::new(reachable(self.address.ip()), self.address.port());
        let woken = TcpStream::connect_timeout(&reachable, Duration::from_secs(1));
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            // It can only have panicked, which has been told.
            let _ = thread.join();
        }
    }
}

/// An address of this machine under which a listener on `ip` is reached.
fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

fn accept<A: App>(listener: &TcpListener, engine: &Arc<Engine<A>>, is_over: &AtomicBool) {
    let exchanges = Arc::new(AtomicUsize::new(0));
    loop {
        let accepted = listener.accept();
        if is_over.load(Ordering::Acquire) {
            return;
        }
        match accepted {
            Ok((peer, _)) => begin(peer, engine, &exchanges),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                tracing::debug!("cannot accept a scrape: {error}");
                thread::sleep(BACKOFF);
            }
        }
    }
}

/// Answers one peer on a thread of its own, if there is room.
fn begin<A: App>(peer: TcpStream, engine: &Arc<Engine<A>>, exchanges: &Arc<AtomicUsize>) {
    let Some(place) = Place::take(exchanges) else {
        http::send_away(&peer);
        return;
    };
    let engine = Arc::clone(engine);
    let answer = move || {
        let body = || encode(engine.metrics(clock::now()));
        if let Err(error) = http::answer(&peer, &http::Bounds::DEFAULT, body) {
            tracing::debug!("a scrape failed: {error}");
        }
        drop(place);
    };
    let thread = thread::Builder::new().name("scrape".to_owned());
    if let Err(error) = thread.spawn(answer) {
        tracing::debug!("no thread for a scrape: {error}");
    }
}

/// A place among the exchanges, free again when it is dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    /// Only one thread takes places.
    fn take(exchanges: &Arc<AtomicUsize>) -> Option<Self> {
        if exchanges.load(Ordering::Relaxed) >= EXCHANGES_MAX {
            return None;
        }
        exchanges.fetch_add(1, Ordering::Relaxed);
        Some(Self(Arc::clone(exchanges)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
