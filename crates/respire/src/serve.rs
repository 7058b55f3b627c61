//! Running a server with one call, in the flavour of one's choice.

use respire_engine::{App, Engine, Options, Router};
use respire_server::{Config, Listeners, Report, Server, clock};
use std::io;
use std::net::ToSocketAddrs;
use std::sync::Arc;

pub use respire_server::Shutdown;

/// How connections are served. The answers are the same, byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Many threads, one task per connection.
    #[cfg(feature = "tokio")]
    Tokio,
    /// One thread, one reactor.
    #[cfg(feature = "mio")]
    Mio,
}

impl Flavour {
    /// Those that this build has; the first is the default.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "tokio")]
        Self::Tokio,
        #[cfg(feature = "mio")]
        Self::Mio,
    ];

    /// Its name, as `--flavour` takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "tokio")]
            Self::Tokio => respire_tokio::Tokio::NAME,
            #[cfg(feature = "mio")]
            Self::Mio => respire_mio::Mio::NAME,
        }
    }

    /// How many threads serve when `threads` are asked for.
    #[must_use]
    pub fn threads(self, threads: usize) -> usize {
        if self.has_many_threads() {
            threads.max(1)
        } else {
            1
        }
    }

    fn has_many_threads(self) -> bool {
        match self {
            #[cfg(feature = "tokio")]
            Self::Tokio => true,
            #[cfg(feature = "mio")]
            Self::Mio => false,
        }
    }

    /// Serves until `shutdown` is pressed; see [`Server::serve`].
    ///
    /// # Errors
    /// When the system refuses what serving needs at all.
    pub fn serve<A: App>(
        self,
        listeners: Listeners,
        engine: Arc<Engine<A>>,
        config: Config,
        shutdown: Shutdown,
    ) -> io::Result<Report> {
        match self {
            #[cfg(feature = "tokio")]
            Self::Tokio => respire_tokio::Tokio.serve(listeners, engine, config, shutdown),
            #[cfg(feature = "mio")]
            Self::Mio => respire_mio::Mio.serve(listeners, engine, config, shutdown),
        }
    }
}

impl Default for Flavour {
    fn default() -> Self {
        Self::ALL[0]
    }
}

/// Serves these commands on an address until `shutdown` is pressed. Blocks the calling thread.
///
/// Unlike the binary, this has no protected mode: the address is the caller's decision.
///
/// ```
/// use respire::commands::{Kv, add_to};
/// use respire::engine::Router;
/// use respire::serve::{self, Flavour, Shutdown};
/// use respire::store::{Config, Store};
///
/// let router = add_to(Router::new(Kv::new(Store::new(Config::default()))));
/// let shutdown = Shutdown::new();
/// shutdown.request(); // so that this example ends
/// let report = serve::on(Flavour::default(), router, "127.0.0.1:0", shutdown).unwrap();
/// assert_eq!(report.accepted, 0);
/// ```
///
/// # Errors
/// When the address cannot be listened on, or the system refuses what serving needs.
pub fn on<A: App>(
    flavour: Flavour,
    router: Router<A>,
    address: impl ToSocketAddrs,
    shutdown: Shutdown,
) -> io::Result<Report> {
    let config = Config {
        protected_mode: respire_server::ProtectedMode::new(false),
        ..Config::default()
    };
    let addresses: Vec<_> = address.to_socket_addrs()?.collect();
    let listeners = Listeners::on(&addresses, &config)?;
    let engine = Engine::new(router, Options::default(), clock::now());
    flavour.serve(listeners, engine, config, shutdown)
}

/// [`on`] with many threads.
///
/// # Errors
/// As [`on`].
#[cfg(feature = "tokio")]
pub fn tokio<A: App>(
    router: Router<A>,
    address: impl ToSocketAddrs,
    shutdown: Shutdown,
) -> io::Result<Report> {
    on(Flavour::Tokio, router, address, shutdown)
}

/// [`on`] with one thread.
///
/// # Errors
/// As [`on`].
#[cfg(feature = "mio")]
pub fn mio<A: App>(
    router: Router<A>,
    address: impl ToSocketAddrs,
    shutdown: Shutdown,
) -> io::Result<Report> {
    on(Flavour::Mio, router, address, shutdown)
}
