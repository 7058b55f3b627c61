//! A server's data on disk: what is loaded when it starts, and kept while it runs.

use crate::begin::LogBegin;
use crate::gates::Gates;
use crate::keeper::{Core, Keeper, OpenLog};
use crate::log::{Journal, Kept};
use crate::record;
use crate::recovery::{self, Failed, Refused};
use crate::rows;
use crate::served::{Libraries, Served, ServedEngine};
use crate::settings::{Settings, Values};
use crate::status::Status;
use core::sync::atomic::Ordering;
use respire_commands::HasKv;
use respire_engine::{
    Commits, Engine, Extension, Gate, GateKind, InfoWriter, Keeper as ShutdownKeeper, Metrics, Now,
    Router, Setting, ShutdownCall, ShutdownOptions, Wake,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Keeps the data of a server on disk, in Redis's own files.
///
/// Add it to the router ([`Disk::add_to`]), then [attach](Disk::attach) it to the engine, and [open](Disk::open) it,
/// which loads what is there. [Close](Disk::close) it when the server has stopped.
///
/// ```
/// use respire_commands::{Kv, add_to};
/// use respire_disk::{Disk, Values};
/// use respire_engine::{Engine, Now, Options, Router};
/// use respire_store::{Config, Store};
/// # use std::time::Duration;
///
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path().to_owned();
/// let disk = Disk::new(Values { appendonly: true, dir, ..Values::default() });
/// let router = add_to(Router::new(Kv::new(Store::new(Config::default()))));
/// # let now = Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000));
/// let engine = Engine::new(disk.add_to(router), Options::default(), now);
/// disk.attach(&engine);
/// disk.open(&engine, None)?;
/// // The server runs here.
/// assert!(disk.close());
/// # Ok::<(), respire_disk::Failed>(())
/// ```
pub struct Disk {
    settings: Arc<Settings>,
    status: Arc<Status>,
    journal: Arc<Journal>,
    kept: Arc<Kept>,
    keeper: Mutex<Option<Arc<Keeper>>>,
    libraries: OnceLock<Arc<dyn Libraries>>,
    /// Whether the end saves what has changed since the last snapshot, if `SHUTDOWN` was told or tried.
    saves_at_end: Mutex<Option<bool>>,
}

impl Disk {
    /// Keeps nothing yet.
    #[must_use]
    pub fn new(values: Values) -> Arc<Self> {
        Arc::new(Self {
            settings: Arc::new(Settings::new(values)),
            status: Arc::new(Status::new()),
            journal: Arc::new(Journal::new()),
            kept: Arc::new(Kept::new()),
            keeper: Mutex::default(),
            libraries: OnceLock::new(),
            saves_at_end: Mutex::default(),
        })
    }

    /// Keeps libraries of functions with the keys. Whoever changes them calls [`Disk::libraries_changed`].
    pub fn set_libraries(&self, libraries: Arc<dyn Libraries>) {
        let _ = self.libraries.set(libraries);
    }

    /// Keeps a change of the libraries. `payload` is that of `FUNCTION DUMP` after it.
    pub fn libraries_changed(&self, payload: &[u8]) {
        if let Some(keeper) = self.keeper() {
            keeper.command(|out| record::libraries(payload, out));
        }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// Adds `SAVE`, `BGSAVE` and `BGREWRITEAOF`, the settings, and lines of `INFO` to a router.
    #[must_use]
    pub fn add_to<A: HasKv>(self: &Arc<Self>, router: Router<A>) -> Router<A> {
        let extension: Arc<dyn Extension> = Arc::new(DiskExtension(Arc::clone(self)));
        rows::add_to(router, self).shared_extension(extension)
    }

    /// Lets replies wait until what they show is kept, and answers commands with `-LOADING` until [`Disk::open`] has
    /// loaded the data. Call it before the first connection.
    pub fn attach<A: HasKv>(self: &Arc<Self>, engine: &Arc<Engine<A>>) {
        engine.set_commits(Arc::new(Turns {
            journal: Arc::clone(&self.journal),
            kept: Arc::clone(&self.kept),
        }));
        engine.set_keeper(Arc::new(AtShutdown(Arc::clone(self))));
        self.status.loading.begin();
        engine.close_gate(Gate::Loading);
    }

    /// Loads the data into the server, which must have none, and keeps it from now on. `snapshot` is a file to load in
    /// place of what the settings name: a `dump.rdb`, or the single append-only file of an old server. Takes long; other
    /// threads may serve meanwhile.
    ///
    /// # Errors
    /// When the files are damaged or have something that this server does not know; when there is data that nobody
    /// asked to load where new data would be written; when the system refuses something. The server then has no data or
    /// some, and must not be used.
    pub fn open<A: HasKv>(
        self: &Arc<Self>,
        engine: &Arc<Engine<A>>,
        snapshot: Option<&Path>,
    ) -> Result<(), Failed> {
        let served: Arc<dyn Served> = Arc::new(ServedEngine {
            engine: Arc::clone(engine),
            libraries: self.libraries.get().cloned(),
        });
        let mut values = self.settings.values();
        values.dir = whole_path(&values)?;
        self.settings.open(values.dir.clone());
        let gates = Arc::new(Gates::new(Arc::clone(&served)));
        let log = if values.appendonly {
            Some(self.open_log(&served, &gates, &values, snapshot)?)
        } else {
            self.load_snapshot(&*served, &values, snapshot)?;
            None
        };
        served.note_saved(0, served.store().changes());
        let has_log = log.is_some();
        let keeper = Keeper::start(Core::new(
            Arc::clone(&served),
            Arc::clone(&self.settings),
            Arc::clone(&self.status),
            gates,
            Arc::clone(&self.journal),
            Arc::clone(&self.kept),
            log,
        ))?;
        *self.lock() = Some(Arc::new(keeper));
        self.status.loading.end();
        engine.open_gate(GateKind::Loading);
        log_begin(&values, has_log);
        Ok(())
    }

    /// Writes what is not on disk yet, and stops keeping. With rules of `save`, or after `SHUTDOWN SAVE`, it writes a
    /// snapshot if there are changes since the last, unless `SHUTDOWN` was told not to. Returns whether all is durable
    /// that should be. It does nothing if it is not open.
    pub fn close(&self) -> bool {
        let keeper = self.lock().take();
        let saves = *self.saves_at_end();
        keeper.is_none_or(|keeper| keeper.stop(saves))
    }

    pub(crate) fn status(&self) -> &Status {
        &self.status
    }

    pub(crate) fn keeper(&self) -> Option<Arc<Keeper>> {
        self.lock().clone()
    }

    fn saves_at_end(&self) -> MutexGuard<'_, Option<bool>> {
        self.saves_at_end
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Keeper>>> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_log(
        &self,
        served: &Arc<dyn Served>,
        gates: &Arc<Gates>,
        values: &Values,
        snapshot: Option<&Path>,
    ) -> Result<OpenLog, Failed> {
        let lock = recovery::lock_folder(&values.log_dir())?;
        let (mut start, is_there) = recovery::recover(values, &**served, &self.status)?;
        if let Some(path) = snapshot {
            if is_there {
                return Err(refused(
                    path,
                    "there is an append-only file already, and only one of both can be loaded",
                    format!(
                        "move {} away, or start without --load",
                        values.log_dir().display()
                    ),
                ));
            }
            self.load_file(&**served, path)?;
            start.from_memory = true;
        } else if !is_there && values.snapshot().exists() {
            let path = values.snapshot();
            let next = format!(
                "start with --load {}, or move it away to begin with nothing",
                path.display()
            );
            return Err(refused(
                &path,
                "there is a snapshot and no append-only file",
                next,
            ));
        }
        let begun = LogBegin {
            journal: &self.journal,
            kept: &self.kept,
            served,
            gates,
            values,
        };
        begun.begin(start, lock)
    }

    /// Loads the snapshot that is named, or that the settings name if snapshots are written.
    fn load_snapshot(
        &self,
        served: &dyn Served,
        values: &Values,
        snapshot: Option<&Path>,
    ) -> Result<(), Failed> {
        if let Some(path) = snapshot {
            return self.load_file(served, path);
        }
        let path = values.snapshot();
        if !path.exists() {
            return Ok(());
        }
        if values.save.is_empty() {
            tracing::warn!(
                "{} is not loaded, as nothing is kept on disk; --load loads it",
                path.display()
            );
            return Ok(());
        }
        self.load_file(served, &path)
    }

    /// Loads a snapshot or an old append-only file.
    fn load_file(&self, served: &dyn Served, path: &Path) -> Result<(), Failed> {
        let length = fs::metadata(path)
            .map_err(|error| Failed::io(path, error))?
            .len();
        if length == 0 {
            let next = format!(
                "restore {0}, or move it away to begin with nothing",
                path.display()
            );
            return Err(refused(path, "it is empty: there is no data in it", next));
        }
        self.status
            .loading
            .bytes_total
            .store(length, Ordering::Relaxed);
        recovery::load_single(path, served, &self.status.loading)
    }
}

/// The directory without links. It need not exist while nothing is written there.
fn whole_path(values: &Values) -> Result<PathBuf, Failed> {
    match fs::canonicalize(&values.dir) {
        Ok(path) => Ok(path),
        Err(_) if !values.appendonly && values.save.is_empty() => Ok(values.dir.clone()),
        Err(error) => Err(Failed::io(&values.dir, error)),
    }
}

fn refused(path: &Path, what: &str, next: String) -> Failed {
    Failed::Refused(Refused::new(path, 0, what.to_owned(), next))
}

fn log_begin(values: &Values, has_log: bool) {
    let dir = values.dir.display();
    if has_log {
        let policy = values.policy_name();
        tracing::info!(
            "every change is kept in {} (appendfsync {policy})",
            values.log_dir().display()
        );
    } else if values.save.is_empty() {
        tracing::info!(
            "the data is in memory only: a restart begins with none (--appendonly yes keeps it)"
        );
    } else {
        tracing::info!(
            "snapshots are written to {dir} (save {})",
            values.save_text()
        );
    }
}

/// What an engine's turns tell the journal.
struct Turns {
    journal: Arc<Journal>,
    kept: Arc<Kept>,
}

impl Commits for Turns {
    fn enter(&self) {
        self.journal.enter();
    }

    fn leave(&self) -> u64 {
        self.journal.leave()
    }

    fn note_read(&self, db: u32, key: &[u8]) {
        self.journal.note_read(db, key);
    }

    fn note_read_all(&self) {
        self.journal.note_read_all();
    }

    fn last(&self) -> u64 {
        self.journal.last()
    }

    fn is_kept(&self, ticket: u64) -> bool {
        self.kept.has(ticket)
    }

    fn wake_when_kept(&self, ticket: u64, wake: Arc<dyn Wake>) {
        self.kept.wake_at(ticket, wake);
    }
}

/// What `SHUTDOWN` asks before the server stops.
struct AtShutdown(Arc<Disk>);

impl ShutdownKeeper for AtShutdown {
    fn before_shutdown(&self, options: ShutdownOptions, call: ShutdownCall) {
        let disk = Arc::clone(&self.0);
        let Some(keeper) = disk.keeper() else {
            return call.stop();
        };
        if keeper.is_log_in_trouble() && !options.force {
            tracing::error!(
                "the append-only file has trouble: the server goes on (SHUTDOWN FORCE stops it)"
            );
            return call.fail();
        }
        let has_rules = disk.settings.read(|values| !values.save.is_empty());
        if !options.save.unwrap_or(has_rules) {
            *disk.saves_at_end() = Some(false);
            return call.stop();
        }
        keeper.save(Box::new(move |outcome| {
            if outcome.is_ok() || options.force {
                // Clients write until the server has stopped, so save once more what they have changed.
                *disk.saves_at_end() = Some(outcome.is_ok());
                call.stop();
            } else {
                tracing::error!(
                    "the keys could not be saved: the server goes on (SHUTDOWN NOSAVE stops it)"
                );
                call.fail();
            }
        }));
    }
}

/// The disk as a part of the server.
struct DiskExtension(Arc<Disk>);

impl Extension for DiskExtension {
    fn info(&self, section: &str, _: Now, out: &mut InfoWriter) {
        if section == "persistence" {
            let log = self.0.keeper().and_then(|keeper| keeper.log_facts());
            self.0.status.info(&self.0.settings, log, out);
        }
    }

    fn metrics(&self, _: Now, out: &mut Metrics) {
        let log = self.0.keeper().and_then(|keeper| keeper.log_facts());
        self.0.status.metrics(log, out);
    }

    fn settings(self: Arc<Self>) -> Vec<Setting> {
        let disk = Arc::clone(&self.0);
        let changed = move || {
            if let Some(keeper) = disk.keeper() {
                keeper.settings_changed();
            }
        };
        self.0.settings.rows(Arc::new(changed))
    }
}

impl core::fmt::Debug for Disk {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Disk")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
