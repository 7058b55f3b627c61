//! The protocol explorer's page on an HTTP listener of its own, with a live view of the server's
//! traffic.
//!
//! A [`Tap`](respire_net::tap::Tap) brings copies of the bytes that connections read and write to
//! one thread of the explorer. The thread cuts them into frames with the codec's decoders, hides
//! passwords, and passes the frames to the viewers. docs/explorer.md says what viewers get, and the
//! limits.
//!
//! What it deliberately is not: it reads from no client's socket and changes no session. It shows
//! copies, taken by `respire-net`'s `Connection`.
//!
//! Where to start reading: [`ExplorerListener::serve_live`], then `live.rs`, the thread between the
//! connections and the viewers.

#![forbid(unsafe_code)]

// Floor: viewers, and the thread that feeds them
mod live;
mod viewer;

// Floor: from copied bytes to frames and events
mod direction;
mod events;

// Floor: secrets that no viewer sees
mod secrets;
mod torn;

// Floor: access, the page, queues
mod gate;
mod page;
mod queue;

pub use page::Page;

use live::Live;
use respire_engine::{App, Engine};
use respire_net::http::{Answer, Bounds, HttpListener, HttpServer, Request, Status};
use respire_net::tap::Listener;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use viewer::Registry;

/// The page has some hundred kilobytes, and the connection may be slow.
const BOUNDS: Bounds = Bounds {
    exchange: Duration::from_secs(30),
    ..Bounds::DEFAULT
};

/// The headers that the page needs besides its policy, which is also sent as a header.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n";

/// A listener that answers `GET /` with the explorer's page and, with a tap, `GET /tap` with the
/// traffic as server-sent events.
///
/// It has threads of its own, in both flavours. Limits apply to every peer: 8 KiB for the head of a
/// request, 30 seconds for an exchange, and 8 exchanges at a time, 4 of them viewers.
///
/// ```
/// use respire_explorer::{ExplorerListener, Page};
/// use std::io::{Read, Write};
///
/// let html = "<html><head><meta http-equiv=\"Content-Security-Policy\" \
///     content=\"default-src 'none'; connect-src 'none'\" /></head></html>";
/// let page = Page::new(html.to_owned()).unwrap();
/// let listener = ExplorerListener::bind("127.0.0.1:0").unwrap();
/// let address = listener.address();
/// let serving = listener.serve(&page).unwrap();
///
/// let mut peer = std::net::TcpStream::connect(address).unwrap();
/// peer.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
/// let mut answer = String::new();
/// peer.read_to_string(&mut answer).unwrap();
/// assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(html));
/// drop(serving); // stops it
/// ```
#[derive(Debug)]
pub struct ExplorerListener(HttpListener);

/// A running explorer. Dropping it stops it and disconnects the viewers.
#[derive(Debug)]
pub struct ExplorerServer {
    live: Option<(Arc<Registry>, JoinHandle<()>)>,
    serving: HttpServer,
}

impl ExplorerListener {
    /// Binds the first of these addresses that is available; port 0 lets the system choose.
    ///
    /// # Errors
    /// When no address can be bound.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        HttpListener::bind(address).map(Self)
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Whether only this machine can reach it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.address().ip().to_canonical().is_loopback()
    }

    /// Serves the page until the returned value is dropped. It shows nothing of the server.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn serve(self, page: &Page) -> io::Result<ExplorerServer> {
        self.open(page, None)
    }

    /// Serves the page, and the traffic that `listener` receives: requests and replies of all
    /// clients, with keys and values, for everybody on this machine. Passwords are hidden.
    ///
    /// # Errors
    /// When other machines can reach the address, or the system refuses a thread.
    pub fn serve_live<A: App>(
        self,
        page: &Page,
        listener: Listener,
        engine: Arc<Engine<A>>,
        flavour: &'static str,
    ) -> io::Result<ExplorerServer> {
        if !self.is_local() {
            let why = "the traffic is shown on a loopback address alone";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        let page = page.with_tap()?;
        let registry = Arc::new(Registry::new(listener.bell()));
        let live = Live::new(engine, listener, Arc::clone(&registry), flavour);
        let thread = thread::Builder::new()
            .name("explorer-tap".to_owned())
            .spawn(move || live.run())?;
        self.open(&page, Some((registry, thread)))
    }

    fn open(
        self,
        page: &Page,
        live: Option<(Arc<Registry>, JoinHandle<()>)>,
    ) -> io::Result<ExplorerServer> {
        // A local listener checks the `Host` header. An open address need not: foreign names may
        // lead to the page there, and the page shows no traffic.
        let is_local = self.is_local();
        let registry = live.as_ref().map(|(registry, _)| Arc::clone(registry));
        let page = page.clone();
        let route = move |request: &Request<'_>| {
            if is_local && !gate::is_asked_locally(request) {
                return Answer::Refused(Status::Forbidden);
            }
            match (request.path, &registry) {
                ("/" | "/tap", _) if request.method != "GET" => {
                    Answer::Refused(Status::MethodNotAllowed)
                }
                ("/", _) => page.answer(request, HEADERS),
                ("/tap", Some(_)) if !gate::is_same_origin(request) => {
                    Answer::Refused(Status::Forbidden)
                }
                ("/tap", Some(registry)) => viewer::answer(registry, HEADERS),
                _ => Answer::Refused(Status::NotFound),
            }
        };
        let serving = self.0.serve("explorer", BOUNDS, route)?;
        Ok(ExplorerServer { live, serving })
    }
}

impl ExplorerServer {
    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.serving.address()
    }
}

impl Drop for ExplorerServer {
    fn drop(&mut self) {
        if let Some((registry, thread)) = self.live.take() {
            registry.close();
            // The thread can only have panicked, and the panic hook reported that.
            let _ = thread.join();
        }
    }
}

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
