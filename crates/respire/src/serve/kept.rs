//! A server whose keys survive a restart.

use super::{Flavour, prepare};
use respire_commands::HasKv;
use respire_disk::{Disk, Failed, Values};
use respire_engine::{Engine, Router};
use respire_net::{Config, Listeners, Report, Shutdown};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long clients wait for the data before they are answered `-LOADING`.
const QUIET: Duration = Duration::from_secs(1);

/// [`on`](super::on), with the keys kept on disk, in Redis's files: the append-only log, snapshots, or both, as `values`
/// say. The directory must exist, and belongs to one server at a time.
///
/// What is there is loaded first. If that takes longer than a second, clients get `-LOADING` meanwhile. Commands of your own
/// are logged by what they change through [`commands::view`](respire_commands::view), so a restart neither needs nor
/// runs them. With `appendfsync always`, a reply leaves when its change is on the disk.
///
/// The router must have Redis's commands ([`commands::add_to`](respire_commands::add_to)), in which changes are written
/// and read back. State that an application keeps outside of its keys is not kept. `SAVE`, `BGSAVE`, `BGREWRITEAOF`,
/// their settings in `CONFIG`, and lines of `INFO persistence` are added.
///
/// ```
/// use respire::commands::{Kv, add_to};
/// use respire::disk::{Failed, Values};
/// use respire::engine::Router;
/// use respire::serve::{self, Flavour, Shutdown};
/// use respire::store::{Config, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path().to_owned();
/// let router = add_to(Router::new(Kv::new(Store::new(Config::default()))));
/// let values = Values { appendonly: true, dir, ..Values::default() };
/// let shutdown = Shutdown::new();
/// shutdown.request(); // so that this example ends
/// serve::kept(Flavour::default(), router, "127.0.0.1:0", values, shutdown)?;
/// # Ok::<(), Failed>(())
/// ```
///
/// # Errors
/// [`Failed::Refused`] when the files are damaged, or have something that this server does not know: it has stopped, and
/// nothing on disk has changed. [`Failed::Io`] when the address cannot be bound, when the directory is missing or used by
/// another server, when the system refuses something else, and when the last changes could not be written at the end.
pub fn kept<A: HasKv>(
    flavour: Flavour,
    router: Router<A>,
    address: impl ToSocketAddrs,
    values: Values,
    shutdown: Shutdown,
) -> Result<Report, Failed> {
    Kept::bind(flavour, router, address, values)?.serve(shutdown)
}

/// A server as [`kept`] makes it, which knows its address before it serves.
pub struct Kept<A: HasKv> {
    flavour: Flavour,
    listeners: Listeners,
    engine: Arc<Engine<A>>,
    config: Config,
    disk: Arc<Disk>,
}

impl<A: HasKv> Kept<A> {
    /// Binds the address. Nothing is read from disk yet.
    ///
    /// # Errors
    /// When the address cannot be bound, or the router lacks Redis's commands.
    pub fn bind(
        flavour: Flavour,
        router: Router<A>,
        address: impl ToSocketAddrs,
        values: Values,
    ) -> Result<Self, Failed> {
        let disk = Disk::new(values);
        let (listeners, engine, config) = prepare(flavour, disk.add_to(router), address)?;
        if engine.commands().find_name(b"set").is_none() {
            let text =
                "the router has no SET: a log is made of Redis's commands (commands::add_to)";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text).into());
        }
        disk.attach(&engine);
        Ok(Self {
            flavour,
            listeners,
            engine,
            config,
            disk,
        })
    }

    /// The addresses on which it listens.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.local_addresses()
    }

    /// Loads the data and serves, until a shutdown is requested. Blocks the calling thread.
    ///
    /// # Errors
    /// As for [`kept`].
    pub fn serve(self, shutdown: Shutdown) -> Result<Report, Failed> {
        let loading = self.load(shutdown.clone())?;
        let served = self
            .flavour
            .serve(self.listeners, self.engine, self.config, shutdown);
        // The thread also ends if serving failed: it waits for nobody.
        let loaded = loading.join();
        let is_kept = self.disk.close();
        let panicked = |_| Err(io::Error::other("the thread that loads data panicked").into());
        loaded.unwrap_or_else(panicked)?;
        if !is_kept {
            return Err(io::Error::other("not all data could be written to disk").into());
        }
        Ok(served?)
    }

    /// Begins to load, and returns when that is done or takes long. If it fails, the server stops.
    fn load(&self, shutdown: Shutdown) -> io::Result<JoinHandle<Result<(), Failed>>> {
        let (disk, engine) = (Arc::clone(&self.disk), Arc::clone(&self.engine));
        let thread = thread::Builder::new().name("respire-load".to_owned());
        let (done, is_done) = mpsc::channel::<()>();
        let thread = thread.spawn(move || {
            let opened = disk.open(&engine, None);
            if opened.is_err() {
                shutdown.request();
            }
            drop(done);
            opened
        })?;
        // It ends when the thread drops its end, also by a panic.
        let _ = is_done.recv_timeout(QUIET);
        Ok(thread)
    }
}

impl<A: HasKv> core::fmt::Debug for Kept<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Kept")
            .field("flavour", &self.flavour)
            .field("disk", &self.disk)
            .finish_non_exhaustive()
    }
}
