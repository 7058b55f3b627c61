//! The protocol explorer's page on an HTTP listener of its own, and the live view of a server's own
//! traffic.
//!
//! A [`Tap`](respire_net::tap::Tap) brings copies of what connections read and write to one thread of the
//! explorer. It cuts them into frames with the codec's decoders, hides passwords, and hands them to
//! those who look on. docs/explorer.md tells what they get and what bounds it.
//!
//! What it deliberately is not: it reads from no client's socket and changes no session. What it shows
//! are copies, taken by `respire-net`'s `Connection`.
//!
//! Where to start reading: [`ExplorerListener::serve_live`], then `live.rs`, the thread between the
//! connections and those who look on.

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
use viewer::Lobby;

/// The page is some hundred kilobytes, and the way to it may be long.
const BOUNDS: Bounds = Bounds {
    exchange: Duration::from_secs(30),
    ..Bounds::DEFAULT
};

/// What the page needs besides its own policy, which is sent as a header too.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n";

/// A listener that answers `GET /` with the explorer's page, and, with a tap, `GET /tap` with the
/// traffic as server-sent events.
///
/// It has threads of its own, in both flavours. Everything a peer may take is bounded: the head of a
/// request by 8 KiB, an exchange by 30 seconds, exchanges at once by 8, of which 4 may look on.
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

/// A listener that shows the explorer. Dropping it stops it, and sends away those who look on.
#[derive(Debug)]
pub struct ExplorerServer {
    live: Option<(Arc<Lobby>, JoinHandle<()>)>,
    serving: HttpServer,
}

impl ExplorerListener {
    /// Binds the first of these addresses that can be; port 0 lets the system choose.
    ///
    /// # Errors
    /// When none can be bound.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        HttpListener::bind(address).map(Self)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Whether only this machine reaches it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.address().ip().to_canonical().is_loopback()
    }

    /// Shows the page until the returned value is dropped. Nothing of the server is shown.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn serve(self, page: &Page) -> io::Result<ExplorerServer> {
        self.open(page, None)
    }

    /// Shows the page, and in it the traffic that `listener` hears of: requests and replies of all
    /// clients, keys and values included, to everybody on this machine. Passwords are hidden.
    ///
    /// # Errors
    /// When the address is not one of this machine alone, or the system refuses a thread.
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
        let lobby = Arc::new(Lobby::new(listener.bell()));
        let live = Live::new(engine, listener, Arc::clone(&lobby), flavour);
        let thread = thread::Builder::new()
            .name("explorer-tap".to_owned())
            .spawn(move || live.run())?;
        self.open(&page, Some((lobby, thread)))
    }

    fn open(
        self,
        page: &Page,
        live: Option<(Arc<Lobby>, JoinHandle<()>)>,
    ) -> io::Result<ExplorerServer> {
        // Who may ask by which name is a question of where it listens: names of other machines lead
        // to a page on an open address, and nowhere but here to one of this machine.
        let is_local = self.is_local();
        let lobby = live.as_ref().map(|(lobby, _)| Arc::clone(lobby));
        let page = page.clone();
        let route = move |request: &Request<'_>| {
            if is_local && !gate::is_asked_locally(request) {
                return Answer::Refused(Status::Forbidden);
            }
            match (request.path, &lobby) {
                ("/" | "/tap", _) if request.method != "GET" => {
                    Answer::Refused(Status::MethodNotAllowed)
                }
                ("/", _) => page.answer(request, HEADERS),
                ("/tap", Some(_)) if !gate::is_same_origin(request) => {
                    Answer::Refused(Status::Forbidden)
                }
                ("/tap", Some(lobby)) => viewer::answer(lobby, HEADERS),
                _ => Answer::Refused(Status::NotFound),
            }
        };
        let serving = self.0.serve("explorer", BOUNDS, route)?;
        Ok(ExplorerServer { live, serving })
    }
}

impl ExplorerServer {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.serving.address()
    }
}

impl Drop for ExplorerServer {
    fn drop(&mut self) {
        if let Some((lobby, thread)) = self.live.take() {
            lobby.close();
            // It can only have panicked, which has been told.
            let _ = thread.join();
        }
    }
}

/// Holds the README's example to what compiles and passes.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
