//! Runs a server with one call, in the flavour of your choice.

use respire_engine::{App, Denied, Engine, Host, InfoWriter, Metrics, Options, Router, Unknown};
use respire_net::{Config, Facts, Listeners, Process, Report, Server, clock};
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

mod kept;

pub use kept::{Kept, kept};
pub use respire_net::Shutdown;
#[cfg(feature = "metrics")]
pub use respire_net::metrics::MetricsListener;

/// How connections are served. Replies are the same, byte for byte.
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
    /// The flavours of this build; the first is the default.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "tokio")]
        Self::Tokio,
        #[cfg(feature = "mio")]
        Self::Mio,
    ];

    /// Its name, in the form of `--flavour`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "tokio")]
            Self::Tokio => respire_tokio::Tokio::NAME,
            #[cfg(feature = "mio")]
            Self::Mio => respire_mio::Mio::NAME,
        }
    }

    /// How many threads serve if `threads` are requested.
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

    /// Serves until a shutdown is requested; see [`Server::serve`].
    ///
    /// # Errors
    /// When the system refuses a resource that serving needs.
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

/// Serves these commands on an address until a shutdown is requested. Blocks the calling thread.
///
/// Unlike the binary, this has no protected mode: the caller chooses the address.
///
/// Once clients can connect, it logs the address at the level `INFO` of `tracing`: `listens on
/// 127.0.0.1:7000`, with the port that the system chose for port 0. A program without a `tracing`
/// subscriber gets this one line on standard error. A program that needs the address as a value
/// binds [`Listeners::on`] and calls [`Flavour::serve`].
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
/// When the address cannot be bound, or the system refuses a resource that serving needs.
pub fn on<A: App>(
    flavour: Flavour,
    router: Router<A>,
    address: impl ToSocketAddrs,
    shutdown: Shutdown,
) -> io::Result<Report> {
    let (listeners, engine, config) = prepare(flavour, router, address)?;
    flavour.serve(listeners, engine, config, shutdown)
}

/// Binds the address, and creates the engine and the configuration.
fn prepare<A: App>(
    flavour: Flavour,
    router: Router<A>,
    address: impl ToSocketAddrs,
) -> io::Result<(Listeners, Arc<Engine<A>>, Config)> {
    let config = Config {
        protected_mode: respire_net::ProtectedMode::new(false),
        ..Config::default()
    };
    let addresses: Vec<_> = address.to_socket_addrs()?.collect();
    let listeners = Listeners::on(&addresses, &config)?;
    announce(&listeners);
    let facts = Facts {
        flavour: flavour.name(),
        allocator: "unknown",
        threads: flavour.threads(config.threads),
        port: listeners
            .local_addresses()
            .first()
            .map_or(0, SocketAddr::port),
        listens: listeners.describe(),
    };
    let options = Options {
        host: Arc::new(ServiceHost(Process::new(facts, Shutdown::new(), None))),
        ..Options::default()
    };
    let engine = Engine::new(router, options, clock::now());
    Ok((listeners, engine, config))
}

/// Logs the server's address. A new program has no subscriber yet; print the address for it.
fn announce(listeners: &Listeners) {
    let places = listeners.describe();
    if tracing::dispatcher::has_been_set() {
        tracing::info!("listens on {places}");
    } else {
        // Serve even if standard error is closed.
        let _ = writeln!(io::stderr(), "listens on {places}");
    }
}

/// The process of a service: its clients can neither stop nor configure it.
struct ServiceHost(Process);

impl Host for ServiceHost {
    fn stopwatch_ns(&self) -> u64 {
        self.0.stopwatch_ns()
    }

    fn panicked(&self, command: &str, text: &str) {
        self.0.panicked(command, text);
    }

    fn is_stopping(&self) -> bool {
        self.0.is_stopping()
    }

    fn log(&self, level: u8, text: &str) {
        self.0.log(level, text);
    }

    fn denied(&self, denied: Denied<'_>) {
        self.0.denied(denied);
    }

    fn unknown_command(&self, unknown: Unknown<'_>) {
        self.0.unknown_command(unknown);
    }

    fn info(&self, section: &str, out: &mut InfoWriter) {
        self.0.info(section, out);
    }

    fn metrics(&self, out: &mut Metrics) {
        self.0.metrics(out);
    }
}

/// [`on`], with the metrics of every command at `http://metrics/metrics` for Prometheus and
/// compatible tools, and those that [`App::metrics`] writes.
///
/// Everybody who can reach that address can read the metrics. Use the loopback interface, or an
/// address that only monitoring reaches. See [`MetricsListener`] for the limits of a scrape.
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
/// let (flavour, address, metrics) = (Flavour::default(), "127.0.0.1:0", "127.0.0.1:0");
/// let report = serve::on_with_metrics(flavour, router, address, metrics, shutdown).unwrap();
/// assert_eq!(report.accepted, 0);
/// ```
///
/// # Errors
/// As for [`on`], and when the second address cannot be bound.
#[cfg(feature = "metrics")]
pub fn on_with_metrics<A: App>(
    flavour: Flavour,
    router: Router<A>,
    address: impl ToSocketAddrs,
    metrics: impl ToSocketAddrs,
    shutdown: Shutdown,
) -> io::Result<Report> {
    let metrics = MetricsListener::bind(metrics)?;
    let (listeners, engine, config) = prepare(flavour, router, address)?;
    let _metrics = metrics.serve(Arc::clone(&engine))?;
    flavour.serve(listeners, engine, config, shutdown)
}

/// [`on`] with many threads.
///
/// # Errors
/// As for [`on`].
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
/// As for [`on`].
#[cfg(feature = "mio")]
pub fn mio<A: App>(
    router: Router<A>,
    address: impl ToSocketAddrs,
    shutdown: Shutdown,
) -> io::Result<Report> {
    on(Flavour::Mio, router, address, shutdown)
}
