//! Serves the engine's metrics as OpenMetrics text, on an HTTP listener of its own.

mod text;

pub use text::{CONTENT_TYPE, encode};

use crate::clock;
use crate::http::{Answer, Bounds, HttpListener, HttpServer, Request, Status};
use respire_engine::{App, Engine};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// A listener that responds to `GET /metrics` and to no other request.
///
/// It has threads of its own, so that a scrape takes no turn from the connections that the server
/// serves, whatever the flavour. Limits apply to every peer: 8 KiB for the head of a request, 5
/// seconds for an exchange, and 8 exchanges at a time.
///
/// There is no password: everyone who can connect can read the metrics. Bind it to the loopback
/// address, or to an address that only monitoring reaches.
///
/// ```
/// use respire_engine::{Engine, Options, Router};
/// use respire_net::{clock, metrics::MetricsListener};
/// use std::io::{Read, Write};
///
/// let engine = Engine::new(Router::new(()), Options::default(), clock::now());
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
pub struct MetricsListener(HttpListener);

impl MetricsListener {
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

    /// Responds to scrapes until the returned value is dropped.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn serve<A: App>(self, engine: Arc<Engine<A>>) -> io::Result<MetricsServer> {
        let route = move |request: &Request<'_>| match refused(request) {
            Some(status) => Answer::Refused(status),
            None => Answer::Document {
                headers: format!("Content-Type: {CONTENT_TYPE}\r\n"),
                body: encode(engine.metrics(clock::now())).into(),
            },
        };
        let serving = self.0.serve("metrics", Bounds::DEFAULT, route)?;
        Ok(MetricsServer(serving))
    }
}

/// A running listener. Dropping it stops it.
#[derive(Debug)]
pub struct MetricsServer(HttpServer);

impl MetricsServer {
    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// The status that refuses a request, if it must be refused.
fn refused(request: &Request<'_>) -> Option<Status> {
    if request.path != "/metrics" {
        Some(Status::NotFound)
    } else if request.method != "GET" {
        Some(Status::MethodNotAllowed)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_get_metrics_returns_metrics() {
        for (method, path, status) in [
            ("GET", "/", Some(Status::NotFound)),
            ("GET", "/metrics/", Some(Status::NotFound)),
            ("GET", "/METRICS", Some(Status::NotFound)),
            ("POST", "/", Some(Status::NotFound)),
            ("POST", "/metrics", Some(Status::MethodNotAllowed)),
            ("GET", "/metrics", None),
        ] {
            let headers = &[];
            let request = Request {
                method,
                path,
                headers,
            };
            assert_eq!(refused(&request), status, "{method} {path}");
        }
    }
}
