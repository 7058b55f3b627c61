//! A listener with threads of its own, so that what is asked over HTTP takes no turn from the
//! connections that are served, whatever the flavour.

use super::exchange::{self, Answer, Bounds};
use super::request::Request;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Exchanges at once; further peers are sent away.
const EXCHANGES_MAX: usize = 8;

/// How long to rest after the system could not accept, because it is out of descriptors or memory.
const BACKOFF: Duration = Duration::from_millis(100);

/// An address that nobody is answered on yet.
#[derive(Debug)]
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl HttpListener {
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

    /// Answers each request with what `route` says, until the returned value is dropped. The threads
    /// and the log call it by this name. Exchanges at once are bounded by 8; further peers are sent away.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn serve<R>(self, name: &'static str, bounds: Bounds, route: R) -> io::Result<HttpServer>
    where
        R: Fn(&Request<'_>) -> Answer + Send + Sync + 'static,
    {
        let Self { listener, address } = self;
        let is_over = Arc::new(AtomicBool::new(false));
        let switch = Arc::clone(&is_over);
        let door = Door {
            name,
            bounds,
            route: Arc::new(route),
            exchanges: Arc::new(AtomicUsize::new(0)),
        };
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || door.accept(&listener, &is_over))?;
        Ok(HttpServer {
            address,
            is_over: switch,
            thread: Some(thread),
        })
    }
}

/// A listener that answers. Dropping it stops it.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
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

/// What peers come in by.
struct Door<R> {
    name: &'static str,
    bounds: Bounds,
    route: Arc<R>,
    exchanges: Arc<AtomicUsize>,
}

impl<R> Door<R>
where
    R: Fn(&Request<'_>) -> Answer + Send + Sync + 'static,
{
    fn accept(&self, listener: &TcpListener, is_over: &AtomicBool) {
        loop {
            let accepted = listener.accept();
            if is_over.load(Ordering::Acquire) {
                return;
            }
            match accepted {
                Ok((peer, _)) => self.begin(peer),
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    tracing::debug!("{}: cannot accept: {error}", self.name);
                    thread::sleep(BACKOFF);
                }
            }
        }
    }

    /// Answers one peer on a thread of its own, if there is room.
    fn begin(&self, peer: TcpStream) {
        let Some(place) = Place::take(&self.exchanges) else {
            exchange::send_away(&peer);
            return;
        };
        let (name, bounds, route) = (self.name, self.bounds, Arc::clone(&self.route));
        let answer = move || {
            if let Err(error) = exchange::answer(&peer, &bounds, |request| route(request)) {
                tracing::debug!("{name}: an exchange failed: {error}");
            }
            drop(place);
        };
        let thread = thread::Builder::new().name(format!("{name}-peer"));
        if let Err(error) = thread.spawn(answer) {
            tracing::debug!("{name}: no thread for an exchange: {error}");
        }
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
