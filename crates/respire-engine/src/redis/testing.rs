//! A small service and connections to it without sockets, for the tests of this folder.

use super::Act;
use crate::session::{Session, SessionEvent, SessionStep};
use crate::{
    App, ArgList, Arity, Cx, Denied, Engine, Error, Flags, Flow, Host, InfoWriter, KeyFlag,
    KeySpec, Keyspace, Limits, Metrics, NoWake, Now, Options, Output, Peer, Reply, Router, Row,
    SectionScope, Spec, Unknown, Wake, WatchedKey,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A database and a key in it.
type Key = (u32, Vec<u8>);

/// Values by database and key, the number of changes, and a record of calls to the service.
#[derive(Default)]
pub(crate) struct Cells {
    values: Mutex<BTreeMap<Key, Vec<u8>>>,
    changes: Arc<AtomicU64>,
    /// The scope of the last atomic section: `0:a 2:b`, or `everything`.
    pub(crate) scope: Mutex<String>,
    pub(crate) is_full: AtomicBool,
}

struct AnyChange {
    changes: Arc<AtomicU64>,
    seen: u64,
}

impl WatchedKey for AnyChange {
    fn is_dirty(&self, _: Now) -> bool {
        self.changes.load(Relaxed) != self.seen
    }
}

impl App for Cells {
    type Conn = ();
    type Keys = Self;

    fn info(&self, section: &str, _: Now, out: &mut InfoWriter) {
        if section == "cells" {
            out.field("cells", 7);
        }
    }

    fn info_sections(&self) -> &'static [&'static str] {
        &["cells"]
    }

    fn metrics(&self, _: Now, out: &mut Metrics) {
        out.gauge("cells", "Cells.", &[], 7.0);
    }
}

impl Keyspace<Self> for Cells {
    type Conn = ();
    type Held = ();
    type Hint<'k> = ();

    fn shorten<'s, 'k: 's>(hint: &'s ()) -> &'s () {
        hint
    }

    fn databases(_: &Self) -> u32 {
        4
    }

    fn make_room(cells: &Self, _: Now) -> Result<(), Error> {
        if cells.is_full.load(Relaxed) {
            return Err(Error::fixed("OOM full"));
        }
        Ok(())
    }

    fn is_far(_: &Self) -> bool {
        true
    }

    fn foresee(_: &Self, _: u32, _: &[u8]) {}

    fn atomically(cells: &Self, scope: &SectionScope<'_>, _: Now, body: &mut dyn FnMut(&mut ())) {
        let shown = match scope {
            SectionScope::Everything => "everything".to_owned(),
            SectionScope::Keys(keys) => {
                let show = |(db, key): &(u32, &[u8])| format!("{db}:{}", key.escape_ascii());
                keys.iter().map(show).collect::<Vec<_>>().join(" ")
            }
        };
        *cells.scope.lock().expect("no test panics with it held") = shown;
        body(&mut ());
    }

    fn watch(cells: &Self, _: u32, _: &[u8], _: Now) -> Box<dyn WatchedKey> {
        let changes = Arc::clone(&cells.changes);
        Box::new(AnyChange {
            seen: changes.load(Relaxed),
            changes,
        })
    }

    fn info(_: &Self, section: &str, _: Now, out: &mut InfoWriter) {
        if section == "keyspace" {
            out.field("db0", "keys=1");
        }
    }

    fn info_sections() -> &'static [&'static str] {
        &["keyspace"]
    }
}

static GET: Spec = Spec {
    name: "get",
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    ..Spec::EMPTY
};
static SET: Spec = Spec {
    name: "set",
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).update()],
    ..Spec::EMPTY
};
static COPY: Spec = Spec {
    name: "copy",
    arity: Arity::exactly(3),
    keys: &[
        KeySpec::at(1),
        KeySpec::at(2).flags(&[KeyFlag::Ow, KeyFlag::Update]),
    ],
    ..Spec::EMPTY
};
static PANIC: Spec = Spec {
    name: "panic",
    summary: "Panics.",
    ..Spec::EMPTY
};
static NAP: Spec = Spec {
    name: "nap",
    ..Spec::EMPTY
};
static COUNT: Spec = Spec {
    name: "count",
    flags: Flags::ALL_KEYS,
    ..Spec::EMPTY
};

fn get(cx: &mut Cx<'_, Cells>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let values = cx.app().values.lock().expect("no test panics with it held");
    match values.get(&(cx.client().db(), args[0].to_vec())) {
        Some(value) => reply.bulk(value),
        None => reply.null(),
    }
    Ok(())
}

fn set(cx: &mut Cx<'_, Cells>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    if args.len() > 2 {
        return Err(crate::text::SYNTAX);
    }
    let app = cx.app();
    let mut values = app.values.lock().expect("no test panics with it held");
    values.insert((cx.client().db(), args[0].to_vec()), args[1].to_vec());
    app.changes.fetch_add(1, Relaxed);
    reply.ok();
    Ok(())
}

fn nap(_: &mut Cx<'_, Cells>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
    reply.ok();
    Flow::RepliedAfter { wait_us: 20_000 }
}

fn panics(_: &mut Cx<'_, Cells>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.array(2);
    panic!("the cells are gone");
}

fn nothing(_: &mut Cx<'_, Cells>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.ok();
    Ok(())
}

/// A process whose stopwatch advances by 5 ms with each read, so that every timed command is slow.
#[derive(Default)]
pub(crate) struct Process {
    watch_ns: AtomicU64,
    /// The panics, each with its command.
    pub(crate) panics: Mutex<Vec<String>>,
    pub(crate) can_stop: AtomicBool,
    /// Other reports that it received.
    pub(crate) reports: Mutex<Vec<String>>,
}

impl Process {
    fn report(&self, what: String) {
        let mut reports = self.reports.lock().expect("no test panics with it held");
        reports.push(what);
    }

    /// The reports received since the last call.
    pub(crate) fn take_reports(&self) -> Vec<String> {
        std::mem::take(&mut *self.reports.lock().expect("no test panics with it held"))
    }
}

impl Host for Process {
    fn stopwatch_ns(&self) -> u64 {
        self.watch_ns.fetch_add(5_000_000, Relaxed)
    }

    fn shutdown(&self) -> bool {
        self.can_stop.load(Relaxed)
    }

    fn panicked(&self, command: &str, text: &str) {
        let mut panics = self.panics.lock().expect("no test panics with it held");
        panics.push(format!("{command}: {text}"));
    }

    fn denied(&self, denied: Denied<'_>) {
        self.report(format!("{} wrong from {}", denied.count, denied.latest));
    }

    fn unknown_command(&self, unknown: Unknown<'_>) {
        self.report(format!("{} from {}", unknown.name, unknown.peer));
    }

    fn metrics(&self, out: &mut Metrics) {
        out.gauge("process_test_threads", "Threads.", &[], 1.0);
    }

    fn info(&self, section: &str, out: &mut InfoWriter) {
        if section == "cpu" {
            out.field("used_cpu_sys", 1);
        }
    }
}

/// A server without sockets.
pub(crate) struct Server {
    pub(crate) engine: Arc<Engine<Cells>>,
    pub(crate) process: Arc<Process>,
}

/// One connection to the server.
pub(crate) struct Line {
    pub(crate) session: Session<Cells>,
    pub(crate) now: Now,
    /// The step that the last turn returned.
    pub(crate) step: SessionStep,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::DEFAULT)
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self::with(|router| router.limits(limits))
    }

    /// A server with a changed router.
    pub(crate) fn with(change: impl FnOnce(Router<Cells>) -> Router<Cells>) -> Self {
        let router = Router::new(Cells::default())
            .add(Row {
                spec: &GET,
                run: get,
            })
            .add(Row {
                spec: &SET,
                run: set,
            })
            .add(Row {
                spec: &COPY,
                run: nothing,
            })
            .add(Row {
                spec: &PANIC,
                run: panics,
            })
            .add(Act {
                spec: &NAP,
                run: nap,
            })
            .add(Row {
                spec: &COUNT,
                run: nothing,
            });
        let process = Arc::new(Process::default());
        let options = Options {
            host: Arc::clone(&process) as Arc<dyn Host>,
            ..Options::default()
        };
        Self {
            engine: Engine::new(change(router), options, start()),
            process,
        }
    }

    pub(crate) fn connect(&self) -> Line {
        self.open("10.0.0.1:5", NoWake)
    }

    pub(crate) fn connect_with(&self, wake: impl Wake) -> Line {
        self.open("10.0.0.1:5", wake)
    }

    pub(crate) fn connect_from(&self, address: &str) -> Line {
        self.open(address, NoWake)
    }

    fn open(&self, address: &str, wake: impl Wake) -> Line {
        let peer = Peer {
            address: address.into(),
            local_address: "10.0.0.2:6379".into(),
            descriptor: 9,
            is_unix: false,
        };
        let session = self.engine.connect(peer, Box::new(wake), start());
        let session = session.expect("below maxclients");
        Line {
            session,
            now: start(),
            step: SessionStep::NeedInput,
        }
    }
}

impl Line {
    /// The replies to these lines, each an inline request. Line ends are shown as `|`.
    pub(crate) fn ask(&mut self, requests: &str) -> String {
        let mut out = Output::new();
        let bytes = requests.replace('\n', "\r\n") + "\r\n";
        self.step = self.session.serve(bytes.as_bytes(), self.now, &mut out);
        String::from_utf8_lossy(&out.take()).replace("\r\n", "|")
    }

    /// The replies to earlier requests that have arrived by now.
    pub(crate) fn poll(&mut self) -> String {
        let mut out = Output::new();
        self.step = self.session.serve(SessionEvent::Turn, self.now, &mut out);
        String::from_utf8_lossy(&out.take()).replace("\r\n", "|")
    }

    /// Advances the connection's clock.
    pub(crate) fn pass(&mut self, by: Duration) {
        self.now = self.now.after(by);
    }
}

/// Sends requests on a new connection to a new server, and checks the replies.
pub(crate) fn check(dialogue: &[(&str, &str)]) {
    let mut line = Server::new().connect();
    for (request, replies) in dialogue {
        assert_eq!(line.ask(request), *replies, "{request}");
    }
}

fn start() -> Now {
    Now::new(
        Duration::from_secs(10),
        Duration::from_micros(1_700_000_000_123_456),
    )
}
