//! The shared state of a running server, and the decision whether to serve a peer.

use crate::{Config, Connection, Limits, Shutdown, Stats};
use respire_engine::{App, Engine, Now, Peer, Wake};
use socket2::SockRef;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A running server without its sockets: the engine, the configuration, the shutdown switch and the
/// counters.
#[derive(Debug)]
pub struct Service<A: App> {
    /// Answers requests.
    pub engine: Arc<Engine<A>>,
    /// The configuration.
    pub config: Config,
    /// Stops the server.
    pub shutdown: Shutdown,
    /// The counters.
    pub stats: Stats,
    /// Whether a failure to accept was logged since the last successful accept.
    has_accept_trouble: AtomicBool,
}

/// Where a new connection comes from.
#[derive(Clone, Debug)]
pub struct Origin {
    peer: Peer,
    is_local: bool,
}

impl Origin {
    /// A TCP connection from `peer`, accepted on `local`.
    #[must_use]
    pub fn tcp(peer: SocketAddr, local: SocketAddr, descriptor: i32) -> Self {
        let address = peer.to_string().into_boxed_str();
        let local_address = local.to_string().into_boxed_str();
        let is_local = peer.ip().to_canonical().is_loopback();
        Self {
            peer: Peer {
                address,
                local_address,
                descriptor,
                is_unix: false,
            },
            is_local,
        }
    }

    /// A connection over the Unix socket at `path`.
    #[must_use]
    pub fn unix(path: &Path, descriptor: i32) -> Self {
        let address = format!("{}:0", path.display()).into_boxed_str();
        let local_address = address.clone();
        Self {
            peer: Peer {
                address,
                local_address,
                descriptor,
                is_unix: true,
            },
            is_local: true,
        }
    }
}

/// The error reply to a peer that is not served.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Refusal(&'static [u8]);

impl<A: App> Service<A> {
    /// A service of these parts.
    #[must_use]
    pub fn new(engine: Arc<Engine<A>>, config: Config, shutdown: Shutdown) -> Self {
        let stats = Stats::default();
        Self {
            engine,
            config,
            shutdown,
            stats,
            has_accept_trouble: AtomicBool::new(false),
        }
    }

    /// The limits of turns and waits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// Opens a connection for a peer, or refuses it.
    ///
    /// # Errors
    /// The refusal, for [`Service::refuse`].
    pub fn admit(
        &self,
        origin: Origin,
        waker: Box<dyn Wake>,
        now: Now,
    ) -> Result<Connection<A>, Refusal> {
        let is_exposed =
            self.config.protected_mode.is_on() && !self.engine.tunables().has_password();
        if is_exposed && !origin.is_local {
            return Err(Refusal(PROTECTED));
        }
        let session = self.engine.connect(origin.peer, waker, now);
        let session = session.ok_or(Refusal(Engine::<A>::REFUSAL))?;
        Stats::count(&self.stats.accepted);
        Ok(Connection::new(session, *self.limits(), now).with_tap(&self.config.tap, now))
    }

    /// Sends the refusal, as far as the non-blocking socket takes it at once, and closes the
    /// socket.
    pub fn refuse(&self, mut socket: impl Read + Write + AsFd, refusal: Refusal) {
        Stats::count(&self.stats.refused);
        tracing::debug!(
            "refused a connection: {}",
            String::from_utf8_lossy(refusal.0).trim_end()
        );
        // Any of these may fail; then the peer cannot be told.
        let _ = socket.write(refusal.0);
        let _ = SockRef::from(&socket).shutdown(std::net::Shutdown::Write);
        // Read a request that has arrived already, or TCP drops the refusal.
        let _ = socket.read(&mut [0; 512]);
    }

    /// What to do after an accept failed: `None` to continue, or how long to pause first.
    pub fn accept_failed(&self, error: &io::Error) -> Option<Duration> {
        if matches!(
            error.kind(),
            ErrorKind::ConnectionAborted | ErrorKind::Interrupted
        ) {
            return None;
        }
        Stats::count(&self.stats.accept_errors);
        if !self.has_accept_trouble.swap(true, Ordering::Relaxed) {
            tracing::error!("cannot accept connections: {error}; retrying until it works");
        }
        Some(Duration::from_millis(u64::from(
            self.limits().accept_backoff_ms,
        )))
    }

    /// Call this after a successful accept: the next failure is logged again.
    pub fn accept_succeeded(&self) {
        if self.has_accept_trouble.load(Ordering::Relaxed) {
            self.has_accept_trouble.store(false, Ordering::Relaxed);
            tracing::info!("accepting connections again");
        }
    }

    /// Counts the connections that are still open when a stopping server waits no longer, and logs
    /// some of them.
    pub fn cut_open(&self) -> u64 {
        let open = self.engine.clients().snapshot();
        if open.is_empty() {
            return 0;
        }
        let mut named: Vec<String> = open
            .iter()
            .take(NAMED_MAX)
            .map(|client| {
                let command = self.engine.last_command(client).unwrap_or("no command");
                format!("id={} {} ({command})", client.id(), client.peer().address)
            })
            .collect();
        if open.len() > NAMED_MAX {
            named.push("...".to_owned());
        }
        let (count, named) = (open.len(), named.join(", "));
        tracing::warn!("cut {count} open connections, with their last command: {named}");
        count as u64
    }

    /// Wakes every connection, so that each learns of a shutdown.
    pub fn wake_all(&self) {
        self.engine
            .clients()
            .snapshot()
            .iter()
            .for_each(|client| client.wake());
    }
}

/// The most cut connections that the log names; the others are only counted.
const NAMED_MAX: usize = 8;

/// A short form of Redis's reply to peers that protected mode refuses.
const PROTECTED: &[u8] = b"-DENIED Respire is running in protected mode because protected mode is \
enabled and no password is set. In this mode connections are only accepted from this machine. Set a \
password with 'CONFIG SET requirepass' from a local connection or with --requirepass, or switch the \
protection off with 'CONFIG SET protected-mode no' or --protected-mode no.\r\n";

#[cfg(test)]
mod tests {
    use super::*;
    use respire_engine::{NoWake, Options, Router};

    fn service(clients_max: u32) -> Service<()> {
        let options = Options {
            clients_max,
            ..Options::default()
        };
        let engine = Engine::new(Router::new(()), options, crate::clock::now());
        Service::new(engine, Config::default(), Shutdown::new())
    }

    fn from(peer: &str) -> Origin {
        let address = |text: &str| text.parse().expect("an address");
        Origin::tcp(address(peer), address("192.0.2.1:6379"), 3)
    }

    fn admit(service: &Service<()>, origin: Origin) -> Result<Connection<()>, Refusal> {
        service.admit(origin, Box::new(NoWake), crate::clock::now())
    }

    #[test]
    fn protected_mode_refuses_other_machines_until_a_password_is_set() {
        let service = service(100);
        for near in ["127.0.0.1:5", "[::1]:5", "[::ffff:127.0.0.1]:5"] {
            assert!(admit(&service, from(near)).is_ok(), "{near}");
        }
        assert!(admit(&service, Origin::unix(Path::new("/run/respire.sock"), 3)).is_ok());
        for far in ["192.0.2.7:5", "[2001:db8::1]:5"] {
            let refusal = admit(&service, from(far)).unwrap_err();
            assert!(
                refusal.0.starts_with(b"-DENIED ") && refusal.0.ends_with(b"\r\n"),
                "{far}"
            );
        }
        service.engine.tunables().set_password(b"secret");
        assert!(admit(&service, from("192.0.2.7:5")).is_ok());
        service.engine.tunables().set_password(b"");
        service.config.protected_mode.set(false);
        assert!(admit(&service, from("192.0.2.7:5")).is_ok());
    }

    #[test]
    fn ended_connections_no_longer_count_against_the_limit() {
        let service = service(1);
        let first = admit(&service, from("127.0.0.1:5"));
        let refusal = admit(&service, from("127.0.0.1:6")).unwrap_err();
        assert_eq!(refusal.0, b"-ERR max number of clients reached\r\n");
        drop(first);
        assert!(admit(&service, from("127.0.0.1:7")).is_ok());
        assert_eq!(service.stats.report(0).accepted, 2);
    }

    #[test]
    fn accepting_pauses_only_after_lasting_failures() {
        let service = service(1);
        assert_eq!(
            service.accept_failed(&ErrorKind::ConnectionAborted.into()),
            None
        );
        let exhausted = io::Error::from_raw_os_error(nix::errno::Errno::EMFILE as i32);
        assert!(service.accept_failed(&exhausted).is_some());
        assert!(service.has_accept_trouble.load(Ordering::Relaxed));
        service.accept_succeeded();
        assert!(!service.has_accept_trouble.load(Ordering::Relaxed));
        assert_eq!(service.stats.report(0).accept_errors, 1);
    }
}
