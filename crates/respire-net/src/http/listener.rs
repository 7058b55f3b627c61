//! Accepts HTTP connections on threads of their own, so that HTTP requests take no turn from the
//! connections that the server serves, whatever the flavour.

use super::exchange::{self, Answer, Bounds};
use super::request::Request;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The most exchanges at a time; further peers get a busy response.
const EXCHANGES_MAX: usize = 8;

/// How long to pause after an accept failed because the system is out of descriptors or memory.
const BACKOFF: Duration = Duration::from_millis(100);

/// A bound address that does not respond yet.
#[derive(Debug)]
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl HttpListener {
    /// Binds the first of these addresses that is available; port 0 lets the system choose.
    ///
    /// # Errors
    /// When no address can be bound.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Responds to each request with the answer of `route`, until the returned value is dropped.
    /// `name` names the threads and appears in the log. At most 8 exchanges run at a time; further
    /// peers get a busy response.
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
        let door = Acceptor {
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

/// A running listener. Dropping it stops it.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // The thread waits in `accept`; this connection wakes it.
        let reachable = SocketAddr::new(reachable(self.address.ip()), self.address.port());
        let woken = TcpStream::connect_timeout(&reachable, Duration::from_secs(1));
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            // The thread can only have panicked, and the panic hook reported that.
            let _ = thread.join();
        }
    }
}

/// An address of this machine that reaches a listener on `ip`.
fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

/// Accepts peers and starts their exchanges.
struct Acceptor<R> {
    name: &'static str,
    bounds: Bounds,
    route: Arc<R>,
    exchanges: Arc<AtomicUsize>,
}

impl<R> Acceptor<R>
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

    /// Responds to one peer on a thread of its own, if the limit allows.
    fn begin(&self, peer: TcpStream) {
        let Some(permit) = Permit::take(&self.exchanges) else {
            exchange::refuse_busy(&peer);
            return;
        };
        let (name, bounds, route) = (self.name, self.bounds, Arc::clone(&self.route));
        let answer = move || {
            if let Err(error) = exchange::answer(&peer, &bounds, |request| route(request)) {
                tracing::debug!("{name}: an exchange failed: {error}");
            }
            drop(permit);
        };
        let thread = thread::Builder::new().name(format!("{name}-peer"));
        if let Err(error) = thread.spawn(answer) {
            tracing::debug!("{name}: no thread for an exchange: {error}");
        }
    }
}

/// Counts as one running exchange until it is dropped.
struct Permit(Arc<AtomicUsize>);

impl Permit {
    /// Only one thread takes permits, so the check and the increment need not be atomic.
    fn take(exchanges: &Arc<AtomicUsize>) -> Option<Self> {
        if exchanges.load(Ordering::Relaxed) >= EXCHANGES_MAX {
            return None;
        }
        exchanges.fetch_add(1, Ordering::Relaxed);
        Some(Self(Arc::clone(exchanges)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
