//! The engine: everything connections share, and the running of one command.

use crate::ArgList;
use crate::client::Peer;
use crate::clients::Clients;
use crate::latency::LatencyMonitor;
use crate::pause::Pause;
use crate::pubsub::PubSub;
use crate::slowlog::SlowLog;
use crate::stats::{SAMPLE_US, Stats};
use crate::table::{CommandTable, Entry};
use crate::tunables::Tunables;
use crate::{
    App, Client, Cx, Flow, Host, Limits, NoHost, Now, Reply, Router, Session, Setting, Wake,
};
use resp_codec::Proto;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How an engine is set up, besides its commands.
pub struct Options {
    /// What a session may hold and do.
    pub limits: Limits,
    /// The most connections at once (`maxclients`).
    pub clients_max: u32,
    /// The password connections must give (`requirepass`); empty or `None`: none.
    pub password: Option<Vec<u8>>,
    /// The process around the engine.
    pub host: Arc<dyn Host>,
    /// Rows of `CONFIG` that belong to the process: ports, files, threads.
    pub settings: Vec<Setting>,
    /// 16 random bytes that name this run in `INFO`.
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
        // The password stays out of every log.
        f.debug_struct("Options")
            .field("limits", &self.limits)
            .field("clients_max", &self.clients_max)
            .finish_non_exhaustive()
    }
}

/// What all connections of a server share. Made once, then used from any thread.
pub struct Engine<A: App> {
    app: Arc<A>,
    pub(crate) table: CommandTable<A>,
    pub(crate) clients: Clients,
    pub(crate) tunables: Arc<Tunables>,
    pub(crate) limits: Limits,
    pub(crate) stats: Stats,
    pub(crate) pause: Pause,
    pub(crate) pubsub: PubSub,
    pub(crate) slowlog: SlowLog,
    pub(crate) latency: LatencyMonitor,
    pub(crate) settings: Vec<Setting>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) run_id: [u8; 16],
    pub(crate) started: Now,
    pub(crate) binary: BinaryEntries,
}

/// The commands behind the binary protocol's own operations, where the router has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BinaryEntries {
    pub(crate) get: Option<u32>,
    pub(crate) set: Option<u32>,
    pub(crate) take: Option<u32>,
}

impl<A: App> Engine<A> {
    /// An engine for these commands, started at `now`.
    #[must_use]
    pub fn new(router: Router<A>, options: Options, now: Now) -> Arc<Self> {
        let (app, table) = router.into_parts();
        let tunables = Tunables::new(
            &options.limits,
            options.clients_max,
            options.password.as_deref(),
        );
        let tunables = Arc::new(tunables);
        let mut settings = crate::builtin::settings(&tunables);
        settings.extend(app.settings());
        settings.extend(options.settings);
        settings.sort_by_key(Setting::name);
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
            limits: options.limits,
            stats: Stats::default(),
            pause: Pause::default(),
            pubsub: PubSub::default(),
            slowlog: SlowLog::default(),
            latency: LatencyMonitor::default(),
            settings,
            host: options.host,
            run_id: options.run_id,
            started: now,
            binary,
        })
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &A {
        &self.app
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

    /// The values of `CONFIG` that the engine itself reads.
    #[must_use]
    pub fn tunables(&self) -> &Tunables {
        &self.tunables
    }

    /// The rows of `CONFIG`, sorted by name: the engine's own, the application's and the process's.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// When the engine was made.
    #[must_use]
    pub fn started(&self) -> &Now {
        &self.started
    }

    /// The process around the engine.
    #[must_use]
    pub fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// Opens a session for a new connection, or `None` when `maxclients` are open already: then
    /// [`Engine::REFUSAL`] is what the peer should be told.
    pub fn connect(
        self: &Arc<Self>,
        peer: Peer,
        waker: Box<dyn Wake>,
        now: Now,
    ) -> Option<Session<A>> {
        let shared = self
            .clients
            .open(peer, now, waker, self.tunables.clients_max());
        let Some(shared) = shared else {
            Stats::add(&self.stats.rejected_connections, 1);
            return None;
        };
        Stats::add(&self.stats.connections, 1);
        Some(Session::new(Arc::clone(self), shared))
    }

    /// What a connection past `maxclients` is told before it is closed.
    pub const REFUSAL: &'static [u8] = b"-ERR max number of clients reached\r\n";

    /// Housekeeping, to be called by one driver thread; returns when to call again.
    pub fn tick(&self, now: Now) -> Duration {
        self.stats.sample(now.monotonic_us());
        let most = Duration::from_micros(SAMPLE_US);
        self.app.tick(now).map_or(most, |wish| wish.min(most))
    }

    /// Runs the command of one entry, which has been found, admitted and checked, and counts it.
    #[inline(always)]
    pub(crate) fn run(
        &self,
        at: u32,
        cx: &mut Cx<'_, A>,
        request: ArgList<'_>,
        name_len: usize,
        reply: &mut Reply<'_>,
    ) -> Flow {
        let entry = self.table.entry(at);
        let (errors, before) = (reply.error_count(), reply.sink().len());
        cx.client.shared.last_entry.store(at, Ordering::Relaxed);
        let slow_us = self.tunables.slowlog_us.load(Ordering::Relaxed);
        // A command of constant cost is not worth two looks at the clock, unless whoever runs the
        // server asks for times that short.
        let flow = if entry.is_timed || (0..SHORT_US).contains(&slow_us) {
            let began = self.host.stopwatch_us();
            let flow = call(entry, cx, request.skip(name_len), reply);
            let took = self.host.stopwatch_us().saturating_sub(began);
            let waited = if let Flow::RepliedAfter(wait) = flow {
                wait.as_micros() as u64
            } else {
                0
            };
            self.took(at, cx, request, took.saturating_add(waited));
            flow
        } else {
            call(entry, cx, request.skip(name_len), reply)
        };
        self.count(cx.client, at);
        if reply.error_count() != errors {
            self.failed(entry, reply, before);
        }
        flow
    }

    /// Counts a call that was answered with an error, which begins where `before` bytes were owed.
    #[cold]
    fn failed(&self, entry: &Entry<A>, reply: &mut Reply<'_>, before: usize) {
        Stats::add(&entry.stats.failed, 1);
        // The tagged form has the length of the text between tag and text.
        let text_at = if reply.proto() == Proto::Binary {
            1 + size_of::<u32>()
        } else {
            1
        };
        let reply = reply.sink().put_since(before);
        let text = if reply.first() == Some(&b'-') {
            reply.get(text_at..)
        } else {
            None
        };
        let code = text
            .unwrap_or_default()
            .split(|byte| !byte.is_ascii_alphanumeric())
            .next();
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        self.stats
            .count_error(code.filter(|code| !code.is_empty()).unwrap_or("ERR"));
    }

    #[cold]
    fn took(&self, at: u32, cx: &Cx<'_, A>, request: ArgList<'_>, took_us: u64) {
        let entry = self.table.entry(at);
        Stats::add(&entry.stats.micros, took_us);
        let spec = entry.spec();
        let slow_us = self.tunables.slowlog_us.load(Ordering::Relaxed);
        if slow_us >= 0
            && took_us >= slow_us.unsigned_abs()
            && !spec.flags.has(crate::Flags::SKIP_SLOWLOG)
        {
            let len_max = self.tunables.slowlog_len_max.load(Ordering::Relaxed) as usize;
            self.slowlog
                .add(cx.now(), took_us, request, cx.client.shared(), len_max);
        }
        let threshold_ms = self.tunables.latency_threshold_ms.load(Ordering::Relaxed);
        if threshold_ms > 0 && took_us >= threshold_ms.saturating_mul(1000) {
            let event = if entry.is_timed {
                "command"
            } else {
                "fast-command"
            };
            self.latency.add(event, cx.now(), took_us / 1000);
        }
    }

    /// Counts a call; runs of the same command are added up before they reach the shared counters.
    #[inline]
    fn count(&self, client: &mut Client, at: u32) {
        if client.tally.entry != at {
            self.flush_tally(client);
            client.tally.entry = at;
        }
        client.tally.calls += 1;
    }

    pub(crate) fn flush_tally(&self, client: &mut Client) {
        let calls = std::mem::take(&mut client.tally.calls);
        if calls > 0 {
            Stats::add(&self.table.entry(client.tally.entry).stats.calls, calls);
            Stats::add(&self.stats.commands, calls);
        }
    }

    /// Sets all counters back to zero: `CONFIG RESETSTAT`.
    pub(crate) fn reset_stats(&self) {
        self.stats.reset();
        self.table.all().for_each(|entry| entry.stats.reset());
        self.app.reset_stats();
    }
}

/// Calls a command; one that panics is a defect of the service, answered as an error, and costs
/// nobody the connection.
#[inline(always)]
fn call<A: App>(
    entry: &Entry<A>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Flow {
    let mark = reply.sink().mark();
    let called = catch_unwind(AssertUnwindSafe(|| entry.command().call(cx, args, reply)));
    called.unwrap_or_else(|_| {
        reply.sink().cut(mark);
        reply.error("ERR internal error");
        Flow::Replied
    })
}

/// A slow-log threshold below this asks for the time of every command.
const SHORT_US: i64 = 1000;

impl<A: App> std::fmt::Debug for Engine<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("clients", &self.clients.len())
            .finish_non_exhaustive()
    }
}
