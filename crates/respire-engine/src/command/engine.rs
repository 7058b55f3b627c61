//! The engine: the state and the commands that all connections share.

use crate::client::Clients;
use crate::client::gates::Gates;
use crate::client::guard::Guard;
use crate::client::pause::Pause;
use crate::client::pubsub::PubSub;
use crate::client::tunables::Tunables;
use crate::command::commits::{CommitTurn, Keeping};
use crate::command::keeper::Keeper;
use crate::command::layer::Setup;
use crate::command::long_calls::LongCalls;
use crate::command::table::{CommandEntry, CommandTable};
use crate::observe::latency::LatencyMonitor;
use crate::observe::slowlog::SlowLog;
use crate::observe::stats::{SAMPLE_US, Stats};
use crate::observe::unknown::Unknowns;
use crate::{
    App, Authenticator, Commits, Error, Extension, Gate, GateKind, Host, Keyspace, Layer, Limits,
    LongCall, NoHost, Now, Publisher, Relief, Setting, Spawn,
};
use resp_codec::binary;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// The options of an engine, besides its commands.
pub struct Options {
    /// Limits of each session.
    pub limits: Limits,
    /// The maximum number of connections (`maxclients`).
    pub clients_max: u32,
    /// The password that clients must send (`requirepass`); with `None` or an empty one they need
    /// none.
    pub password: Option<Vec<u8>>,
    /// The process that runs the engine.
    pub host: Arc<dyn Host>,
    /// Rows of `CONFIG` for the process: ports, files, threads.
    pub settings: Vec<Setting>,
    /// 16 random bytes that identify this run in `INFO`.
    pub run_id: [u8; 16],
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::DEFAULT,
            clients_max: 10_000,
            password: None,
            host: Arc::new(NoHost),
            settings: Vec::new(),
            run_id: [0; 16],
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The password must not appear in logs.
        f.debug_struct("Options")
            .field("limits", &self.limits)
            .field("clients_max", &self.clients_max)
            .finish_non_exhaustive()
    }
}

/// The state that all connections of a server share. It is created once and used from any thread.
pub struct Engine<A: App> {
    app: Arc<A>,
    pub(crate) table: CommandTable<A>,
    pub(crate) clients: Clients,
    pub(crate) tunables: Arc<Tunables>,
    pub(crate) limits: Limits,
    pub(crate) stats: Stats,
    pub(crate) guard: Guard,
    pub(crate) unknowns: Unknowns,
    pub(crate) pause: Pause,
    pub(crate) long_calls: LongCalls,
    pub(crate) gates: Gates,
    pub(crate) keeping: Keeping,
    pub(crate) keeper: OnceLock<Arc<dyn Keeper>>,
    pub(crate) pubsub: Arc<PubSub>,
    pub(crate) slowlog: SlowLog,
    pub(crate) latency: LatencyMonitor,
    pub(crate) settings: Vec<Setting>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) run_id: [u8; 16],
    pub(crate) started: Now,
    pub(crate) binary: BinaryEntries,
    pub(crate) layers: Vec<Arc<dyn Layer<A>>>,
    pub(crate) extensions: Vec<Arc<dyn Extension>>,
    /// The spawner of futures that the router chose. Without one, the server's spawner is used.
    chosen_spawner: Option<Arc<dyn Spawn>>,
    spawner: RwLock<Option<Arc<dyn Spawn>>>,
    pub(crate) authenticator: Option<Arc<dyn Authenticator<A>>>,
}

/// The commands that implement the binary protocol's own operations, if the router has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BinaryEntries {
    pub(crate) get: Option<u32>,
    pub(crate) set: Option<u32>,
    pub(crate) take: Option<u32>,
}

impl BinaryEntries {
    /// The command that implements an operation.
    #[inline]
    pub(crate) fn entry(&self, op: u8) -> Option<u32> {
        match op {
            binary::GET => self.get,
            binary::DELETE => self.take,
            binary::SET => self.set,
            _ => None,
        }
    }
}

impl<A: App> Engine<A> {
    /// Creates an engine from an application, its commands and its environment.
    pub(crate) fn assemble(
        (app, mut table, setup): (Arc<A>, CommandTable<A>, Setup<A>),
        builtin_settings: impl FnOnce(&Arc<Tunables>) -> Vec<Setting>,
        options: Options,
        now: Now,
    ) -> Arc<Self> {
        let Setup {
            layers,
            authenticator,
            limits,
            spawn,
            extensions,
        } = setup;
        let limits = limits.unwrap_or(options.limits);
        if !layers.is_empty() {
            table.time_all();
        }
        let tunables = Tunables::new(
            &limits,
            options.clients_max,
            options.password.as_deref().unwrap_or_default(),
            authenticator.is_some(),
        );
        let tunables = Arc::new(tunables);
        let mut settings = builtin_settings(&tunables);
        settings.extend(app.settings());
        settings.extend(A::Keys::settings(&app));
        let extras = extensions.iter().map(Arc::clone);
        settings.extend(extras.flat_map(Extension::settings));
        settings.extend(options.settings);
        one_of_each_name(&mut settings);
        let pubsub = Arc::default();
        let publisher = Publisher::new(&pubsub, limits.mailbox_bytes_max);
        app.started(&publisher);
        A::Keys::started(&app, &publisher);
        let binary = BinaryEntries {
            get: table.find_name(b"get"),
            set: table.find_name(b"set"),
            take: table.find_name(b"getdel"),
        };
        Arc::new(Self {
            app,
            table,
            clients: Clients::default(),
            tunables,
            limits,
            stats: Stats::default(),
            guard: Guard::default(),
            unknowns: Unknowns::default(),
            pause: Pause::default(),
            long_calls: LongCalls::default(),
            gates: Gates::default(),
            keeping: Keeping::default(),
            keeper: OnceLock::new(),
            pubsub,
            slowlog: SlowLog::default(),
            latency: LatencyMonitor::default(),
            settings,
            host: options.host,
            run_id: options.run_id,
            started: now,
            binary,
            layers,
            extensions,
            chosen_spawner: spawn,
            spawner: RwLock::new(None),
            authenticator,
        })
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &A {
        &self.app
    }

    pub(crate) fn app_shared(&self) -> Arc<A> {
        Arc::clone(&self.app)
    }

    /// Sets the spawner for the futures of [`Router::future`](crate::Router::future), unless the
    /// router chose one. Servers call this when they start.
    pub fn set_spawner(&self, spawner: Arc<dyn Spawn>) {
        let mut slot = self.spawner.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(spawner);
    }

    pub(crate) fn spawner(&self) -> Option<Arc<dyn Spawn>> {
        let chosen = self.chosen_spawner.clone();
        chosen.or_else(|| {
            let slot = self.spawner.read();
            slot.unwrap_or_else(PoisonError::into_inner).clone()
        })
    }

    /// Sets what serves other connections while a long call holds up a thread. Servers call this
    /// when they start; a second one has no effect.
    pub fn set_relief(&self, relief: Arc<dyn Relief>) {
        A::Keys::set_relief(&self.app, &relief);
        self.long_calls.set_relief(relief);
    }

    /// Sets what keeps the changes of commands. Call it before the first connection: sessions that
    /// are open already do not wait for it. A second one has no effect.
    pub fn set_commits(&self, commits: Arc<dyn Commits>) {
        let _ = self.keeping.commits.set(commits);
    }

    /// What keeps the changes of commands, if anything does.
    #[must_use]
    pub fn commits(&self) -> Option<&Arc<dyn Commits>> {
        self.keeping.commits.get()
    }

    /// Whether replies that show changes of others wait until these are kept, too.
    #[must_use]
    #[inline]
    pub fn notes_reads(&self) -> bool {
        self.keeping.notes_reads.load(Relaxed)
    }

    /// Switches [`Engine::notes_reads`] on or off. It is off at first. Commands that run at that
    /// moment may be treated either way.
    pub fn set_notes_reads(&self, notes_reads: bool) {
        self.keeping.notes_reads.store(notes_reads, Relaxed);
    }

    /// Sets what keeps the data set when the server is told to stop. A second one has no effect.
    pub fn set_keeper(&self, keeper: Arc<dyn Keeper>) {
        let _ = self.keeper.set(keeper);
    }

    /// The 40 hexadecimal digits that identify this run, as `INFO` shows them.
    #[must_use]
    pub fn run_id(&self) -> String {
        const BYTES: usize = 20;
        let bytes = self.run_id.iter().cycle().take(BYTES);
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }

    /// Closes a gate: from now on some commands are refused or wait, each kind of gate on its own.
    /// Commands that run already are not stopped. Costs nothing while all gates are open.
    ///
    /// ```
    /// use respire_engine::{Engine, Gate, GateKind, NoWake, Now, Options, Output, Peer, Router};
    /// use std::time::Duration;
    ///
    /// let now = Now::new(Duration::ZERO, Duration::ZERO);
    /// let engine = Engine::new(Router::new(()), Options::default(), now);
    /// let mut session = engine.connect(Peer::default(), Box::new(NoWake), now).unwrap();
    /// let mut out = Output::new();
    /// engine.close_gate(Gate::Loading);
    /// let _step = session.serve(b"PING\r\n", now, &mut out);
    /// engine.open_gate(GateKind::Loading);
    /// let _step = session.serve(b"PING\r\n", now, &mut out);
    /// assert_eq!(out.take(), b"-LOADING Redis is loading the dataset in memory\r\n+PONG\r\n");
    /// ```
    pub fn close_gate(&self, gate: Gate) {
        self.gates
            .close(gate, |closed| self.pause.note_gates(closed));
    }

    /// Opens a gate, and wakes the connections that may wait for it.
    pub fn open_gate(&self, kind: GateKind) {
        let was_closed = self.gates.is_closed(kind);
        self.gates
            .open(kind, |closed| self.pause.note_gates(closed));
        if was_closed && kind == GateKind::Pace {
            // All of them, not only those that wait now: one may be about to wait.
            for client in self.clients.snapshot() {
                client.wake();
            }
        }
    }

    /// The error with which writes are refused now ([`Gate::Misconf`]), if they are.
    #[must_use]
    #[inline]
    pub fn writes_refused(&self) -> Option<Error> {
        if self.pause.is_on() {
            self.gates.misconf()
        } else {
            None
        }
    }

    /// The number of long calls that run now.
    #[must_use]
    pub fn long_calls(&self) -> usize {
        self.long_calls.len()
    }

    /// Declares that a call, which began at `began_ns` on the host's stopwatch, takes long: other
    /// requests no longer wait for its keys, and after `busy-reply-threshold` get `busy`.
    pub fn begin_long_call(&self, began_ns: u64, busy: Error) -> LongCall<'_> {
        self.long_calls.begin(&self.pause, began_ns, busy)
    }

    /// The commands.
    #[must_use]
    pub fn commands(&self) -> &CommandTable<A> {
        &self.table
    }

    /// The open connections.
    #[must_use]
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The name of the command that a connection is running or, if it runs none, ran last; `None`
    /// before its first command.
    #[must_use]
    pub fn last_command(&self, client: &crate::ClientShared) -> Option<&str> {
        let entry = client.last_entry.load(Relaxed);
        (entry != u32::MAX).then(|| self.table.entry(entry).spec().name)
    }

    /// The values of `CONFIG` that the engine reads.
    #[must_use]
    pub fn tunables(&self) -> &Tunables {
        &self.tunables
    }

    /// The rows of `CONFIG`, sorted by name: those of the engine, the application and the process.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The time at which the engine was created.
    #[must_use]
    pub fn started(&self) -> &Now {
        &self.started
    }

    /// The process that runs the engine.
    #[must_use]
    pub fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// Does housekeeping. One driver thread calls it and waits as long as it returns before the
    /// next call. Zero means: call again as soon as every ready connection has had a turn.
    pub fn tick(&self, now: Now) -> Duration {
        // Keys that expire are changes, too.
        let _turn = self.commits().map(|commits| CommitTurn::enter(&**commits));
        self.stats.sample(now.monotonic_us());
        self.guard
            .report(now, &self.limits, |denied| self.host.denied(denied));
        let most = Duration::from_micros(SAMPLE_US);
        if self.gates.is_closed(GateKind::Loading) {
            // Nothing may expire before all is loaded.
            return most;
        }
        let wishes = [self.app.tick(now), A::Keys::tick(&self.app, now)];
        wishes.into_iter().flatten().fold(most, Duration::min)
    }

    /// Sets all counters to zero: `CONFIG RESETSTAT`.
    pub(crate) fn reset_stats(&self) {
        self.stats.reset();
        self.unknowns.reset();
        self.table.all().for_each(CommandEntry::reset_stats);
        self.app.reset_stats();
        A::Keys::reset_stats(&self.app);
        self.extensions.iter().for_each(|part| part.reset_stats());
    }
}

/// Sorts rows by name. Of several rows with one name, the last stays: a part of the server with more
/// knowledge of it has added that.
fn one_of_each_name(settings: &mut Vec<Setting>) {
    settings.reverse();
    settings.sort_by_key(Setting::name);
    settings.dedup_by_key(|setting| setting.name());
}

impl<A: App> std::fmt::Debug for Engine<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("clients", &self.clients.len())
            .finish_non_exhaustive()
    }
}
