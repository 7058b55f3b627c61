//! Defines the state that the commands work on, and the trait of applications that contain it.

use crate::Ctx;
use crate::block::KvWait;
use crate::ctx::{Ending, split};
use crate::errors::with_subcommand;
use crate::notify::Notifications;
use crate::pace::SweepPace;
use crate::settings::Tuning;
use crate::stats::KvStats;
use crate::value_type::Types;
use respire_engine::{App, ArgList, Command, Cx, Error, Flow, KeyPositions, Reply, Spec};
use respire_store::{Store, View};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The key-value service: a store with its settings and statistics.
///
/// It is itself an [`App`], so an engine on a router of it is a complete server.
///
/// ```
/// use respire_commands::Kv;
/// use respire_store::{Config, Expiry, Store};
///
/// let kv = Kv::new(Store::new(Config::default()));
/// kv.store().view(0, 1_700_000_000_000).update(b"key", |slot| slot.set(b"value", Expiry::Clear));
/// assert_eq!(kv.store().len(0), 1);
/// ```
#[derive(Debug)]
pub struct Kv {
    store: Store,
    saved: Saved,
    pub(crate) types: Types,
    pub(crate) stats: KvStats,
    pub(crate) pace: SweepPace,
    pub(crate) notifications: Notifications,
    tuning: Mutex<Tuning>,
    hll_sparse_bytes_max: AtomicUsize,
}

/// The last save of the keys, or their load.
#[derive(Debug, Default)]
struct Saved {
    at_s: AtomicU64,
    changes: AtomicU64,
}

/// The default of `hll-sparse-max-bytes`: above it, the time that edits of the sparse form take
/// outweighs the memory that it saves.
pub(crate) const HLL_SPARSE_BYTES_MAX: usize = 3000;

impl Kv {
    /// Creates a service on this store, with these types of value.
    pub(crate) fn with_types(store: Store, types: Types) -> Self {
        Self {
            types,
            stats: KvStats::new(&store),
            notifications: Notifications::new(&store),
            store,
            saved: Saved::default(),
            pace: SweepPace::default(),
            tuning: Mutex::default(),
            hll_sparse_bytes_max: AtomicUsize::new(HLL_SPARSE_BYTES_MAX),
        }
    }

    /// The store. A command uses a [`view`] instead, because that also works inside `EXEC`.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Says that the keys have been saved at this time, in unix seconds, as they were after so many
    /// [changes](Store::changes): for `LASTSAVE` and `INFO`.
    pub fn note_saved(&self, at_s: u64, changes: u64) {
        self.saved.at_s.store(at_s, Ordering::Relaxed);
        self.saved.changes.store(changes, Ordering::Relaxed);
    }

    /// When the keys were saved last, in unix seconds; 0 if they were not.
    #[must_use]
    pub fn saved_at_s(&self) -> u64 {
        self.saved.at_s.load(Ordering::Relaxed)
    }

    /// The number of changes since the keys were saved or loaded last.
    #[must_use]
    pub fn unsaved_changes(&self) -> u64 {
        let changes = self.saved.changes.load(Ordering::Relaxed);
        self.store.changes().saturating_sub(changes)
    }

    /// The settings of the store, as `CONFIG` has set them.
    pub(crate) fn tuning(&self) -> Tuning {
        *self.lock_tuning()
    }

    /// Changes the settings of the store.
    pub(crate) fn tune(&self, change: impl FnOnce(&mut Tuning)) {
        let mut tuning = self.lock_tuning();
        change(&mut tuning);
        tuning.apply(&self.store);
    }

    /// The length up to which `HyperLogLogs` are sparse, in bytes (`hll-sparse-max-bytes`).
    pub(crate) fn hll_sparse_bytes_max(&self) -> usize {
        self.hll_sparse_bytes_max.load(Ordering::Relaxed)
    }

    pub(crate) fn set_hll_sparse_bytes_max(&self, bytes: usize) {
        self.hll_sparse_bytes_max.store(bytes, Ordering::Relaxed);
    }

    fn lock_tuning(&self) -> MutexGuard<'_, Tuning> {
        self.tuning.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An application that has the key-value commands among its own.
///
/// [`Kv`] implements it. Embedders implement it for their own state that contains a [`Kv`], and
/// choose [`Kv`] as [`App::Keys`]: then expiry, `WATCH`, `EXEC`, `CONFIG` and `INFO` include the keys.
///
/// ```
/// use respire_commands::{HasKv, Kv, add_to};
/// use respire_engine::{App, Router};
/// use respire_store::{Config, Store};
///
/// struct Shop {
///     kv: Kv,
/// }
///
/// impl App for Shop {
///     type Conn = ();
///     type Keys = Kv;
/// }
///
/// impl HasKv for Shop {
///     fn kv(&self) -> &Kv {
///         &self.kv
///     }
/// }
///
/// let kv = Kv::new(Store::new(Config::default()));
/// let mut client = add_to(Router::new(Shop { kv })).client();
/// let mut other = client.connect();
/// client.call("WATCH key");
/// other.call("SET key changed");
/// client.call("MULTI");
/// client.call("GET key");
/// assert_eq!(client.call("EXEC"), respire_engine::Null);
/// ```
pub trait HasKv: App<Keys = Kv> {
    /// The key-value service that this application contains.
    fn kv(&self) -> &Kv;
}

/// The keys for an embedder's own command: the selected database at the time of the turn.
///
/// Inside `EXEC` the view uses the shards that the transaction has locked. [`Store::view`] would
/// deadlock there: it would wait for the transaction in which the command itself runs.
///
/// The command must declare its keys (`#[arg(key)]`) or all keys (`#[args(all_keys)]`).
///
/// # Panics
/// Inside `EXEC` the view panics if it is used with an undeclared key; the client gets an internal
/// error.
///
/// ```
/// use respire_commands::{Kv, add_to, view};
/// use respire_engine::{ArgIter, Args, Arity, Bytes, Error, KeySpec, Router, Spec};
/// use respire_store::{Config, Store};
///
/// /// What `#[derive(Args)]` writes for a struct with a field that is a key.
/// struct Length(Bytes);
/// impl Args for Length {
///     const SPEC: Spec = Spec {
///         arity: Arity::exactly(2),
///         keys: &[KeySpec::at(1)],
///         ..Spec::EMPTY
///     };
///     fn parse(args: &mut ArgIter<'_>) -> Result<Self, Error> {
///         Ok(Self(args.required("key")?))
///     }
/// }
/// let kv = Kv::new(Store::new(Config::default()));
/// let router = add_to(Router::new(kv)).command("LENGTH", |cx, Length(key)| {
///     view(cx).read(&key, |entry| entry.and_then(|it| Some(it.value().as_string()?.len())))
/// });
/// let mut client = router.client();
/// client.call("MULTI");
/// client.call("SET a 123");
/// client.call("LENGTH a");
/// assert_eq!(client.call("EXEC").at(1), 3);
/// ```
pub fn view<'c, A: HasKv>(cx: &'c mut Cx<'_, A>) -> View<'c> {
    let now = cx.now();
    split(cx.parts(), now).view
}

/// The function of a command: its context, its arguments after the name, its reply.
pub(crate) type KvRun = fn(&mut Ctx<'_>, ArgList<'_>, &mut Reply<'_>) -> Result<(), Error>;

/// A row of the command table.
#[derive(Clone, Copy)]
pub(crate) struct KvRow {
    pub(crate) spec: &'static Spec,
    pub(crate) run: KvRun,
    /// Finds the keys, for commands whose keys the spec alone cannot describe.
    pub(crate) keys: Option<KeyPositions>,
    /// Answers later, for commands that wait ([`Ctx::wait`]).
    pub(crate) waiting: Option<KvWait>,
}

impl KvRow {
    pub(crate) const fn new(spec: &'static Spec, run: KvRun) -> Self {
        Self {
            spec,
            run,
            keys: None,
            waiting: None,
        }
    }

    /// The same row of a command that may wait.
    pub(crate) const fn with_wait(self, wait: KvWait) -> Self {
        Self {
            waiting: Some(wait),
            ..self
        }
    }

    /// The same row, with a function that finds the keys.
    pub(crate) const fn with_keys(self, keys: KeyPositions) -> Self {
        Self {
            keys: Some(keys),
            ..self
        }
    }
}

impl KvRow {
    /// Lets the command answer later.
    #[cold]
    fn wait<A: HasKv>(&self, cx: &mut Cx<'_, A>, args_len: usize) -> Flow {
        let (later, request) = (cx.later(), cx.request());
        let args = request.skip(request.len() - args_len);
        if let Some(wait) = self.waiting {
            wait(&mut Ctx::new(cx), args, later);
        }
        Flow::Pending
    }
}

impl<A: HasKv> Command<A> for KvRow {
    fn spec(&self) -> &Spec {
        self.spec
    }

    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        // Were the arguments used again, they would be copied before the call.
        let args_len = args.len();
        let mut ctx = Ctx::new(cx);
        match (self.run)(&mut ctx, args, reply) {
            Ok(()) => match ctx.ending() {
                Ending::AtOnce => Flow::Replied,
                Ending::After(wait_us) => Flow::RepliedAfter { wait_us },
                Ending::Waits => self.wait(cx, args_len),
            },
            Err(error) => {
                let error = with_subcommand(error, self.spec, cx.request());
                reply.error(error.text());
                Flow::Replied
            }
        }
    }

    fn keys(&self, request: ArgList<'_>, found: &mut dyn FnMut(usize)) -> Result<(), Error> {
        match self.keys {
            Some(keys) => keys(request, found),
            None => respire_engine::keys_by_spec(self.spec, request, found),
        }
    }
}
