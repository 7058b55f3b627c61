//! Tests the store's effects while random commands run on several connections, on both servers:
//! applied to a second store in the order of their tickets, they give the same keys. Snapshots that are taken
//! meanwhile have the keys after the effects up to their tickets.

mod apply;
mod loader;
mod log;

use apply::OwnedEffect;
use fastrand::Rng;
use loader::Loader;
use respire::serve::Flavour;
use respire_commands::Kv;
use respire_disk::snapshot::{Progress, SaveOptions, Saved, Saver};
use respire_disk::{load, record};
use respire_store::{
    Effect, Elements, End, Interest, Observer, Scope, Store, StreamId, StreamRef, StringRef,
    Ticket, ValueRef,
};
use respire_testkit::differential::Requests;
use respire_testkit::reply::Value;
use respire_testkit::target::{FlavourServer, Link, kv_router};
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of connections, each with its own random commands.
const CONNECTIONS: u64 = 4;
const STEPS: usize = 4000;
/// The number of snapshots that are compared.
const SNAPSHOTS_MAX: usize = 15;

/// The units by their tickets. A ticket that was renewed has none.
type Units = BTreeMap<u64, Option<LoggedUnit>>;

/// The effects of a unit, also as commands, and whether the unit has ended.
#[derive(Default)]
struct LoggedUnit {
    effects: Vec<OwnedEffect>,
    commands: UnitCommands,
    has_ended: bool,
}

/// The commands of a unit.
#[derive(Default)]
struct UnitCommands {
    bytes: Vec<u8>,
    number: usize,
    db: Option<u32>,
}

impl UnitCommands {
    fn add(&mut self, effect: &Effect<'_>) {
        let db = record::database(effect);
        if let Some(db) = db.filter(|_| db != self.db) {
            record::select(db, &mut self.bytes);
            self.number += 1;
        }
        self.db = db.or(self.db);
        self.number += record::encode(effect, &mut self.bytes);
    }

    /// Returns the commands as they are logged.
    fn into_bytes(self) -> Vec<u8> {
        match self.number {
            0 | 1 => self.bytes,
            _ => [MULTI, &self.bytes, EXEC].concat(),
        }
    }
}

const MULTI: &[u8] = b"*1\r\n$5\r\nMULTI\r\n";
const EXEC: &[u8] = b"*1\r\n$4\r\nEXEC\r\n";

#[derive(Default)]
struct Log(Mutex<Units>);

impl Log {
    fn lock(&self) -> MutexGuard<'_, Units> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Log {
    fn effect(&self, ticket: Ticket, effect: Effect<'_>) {
        let mut units = self.lock();
        let unit = units.entry(ticket.number()).or_default();
        let unit = unit.get_or_insert_default();
        unit.effects.push(OwnedEffect::new(effect));
        unit.commands.add(&effect);
    }

    fn ticket_renewed(&self, old: Ticket, new: Ticket) {
        let mut units = self.lock();
        // During a cut a unit may have a ticket before it has an effect.
        let unit = units.insert(old.number(), None).flatten();
        let unit = unit.or_else(|| Some(LoggedUnit::default()));
        assert!(unit.as_ref().is_some_and(|unit| !unit.has_ended));
        let replaced = units.insert(new.number(), unit);
        assert!(replaced.is_none(), "a new ticket has no unit");
    }

    fn unit_ended(&self, ticket: Ticket) {
        let mut units = self.lock();
        let unit = units.entry(ticket.number()).or_default();
        let unit = unit.get_or_insert_default();
        assert!(
            !std::mem::replace(&mut unit.has_ended, true),
            "a unit ends once"
        );
    }
}

/// Returns a value's text, which depends on nothing but its type and its elements: a string that was edited may be
/// digits where its copy is a number, and the parts of a large collection differ by its history.
fn shown(value: ValueRef<'_>, is_whole: bool) -> String {
    match value {
        ValueRef::String(string) => format!("string {:?}", string.to_vec()),
        ValueRef::Hash(hash) => {
            // With the expiries of the fields.
            let mut fields = Vec::new();
            hash.for_each_until(&mut |field, value, at| {
                fields.push((field.to_vec(), value.to_vec(), at));
            });
            fields.sort();
            format!("hash {fields:?}")
        }
        ValueRef::Set(set) => {
            let mut members = Vec::new();
            set.for_each(&mut |member| members.push(member.to_vec()));
            members.sort();
            format!("set {members:?}")
        }
        ValueRef::ZSet(zset) => {
            let mut members = Vec::new();
            zset.for_each(&mut |(member, score)| {
                members.push((member.to_bytes().into_owned(), score.to_bits()));
            });
            format!("sorted set {members:?}")
        }
        ValueRef::List(list) => {
            let elements: Vec<_> = list.iter(End::Left).map(StringRef::to_vec).collect();
            format!("list {elements:?}")
        }
        ValueRef::Stream(stream) => shown_stream(stream, is_whole),
    }
}

/// A log does not tell when consumers were seen.
fn shown_stream(stream: StreamRef<'_>, is_whole: bool) -> String {
    let time = |ms: u64| if is_whole { ms } else { 0 };
    let mut shown = vec![format!("stream {:?}", stream.marks())];
    shown.extend(stream.blocks().map(|block| format!("{block:?}")));
    for (name, group) in stream.groups() {
        shown.push(format!(
            "{name:?} {:?} {:?}",
            group.last_id, group.entries_read
        ));
        for pending in group.pending(StreamId::MIN) {
            let name = pending.consumer.name();
            let (ms, count) = (pending.delivered_ms, pending.count);
            shown.push(format!("{} {name:?} {ms} {count}", pending.id));
        }
        for consumer in group.consumers() {
            let active_ms = consumer.active_ms.filter(|_| is_whole);
            let times = (time(consumer.seen_ms), active_ms);
            shown.push(format!("{:?} {times:?}", consumer.name()));
        }
    }
    shown.join(" ")
}

/// Every key with its value and expiry, including expired keys. Unless it is to be the whole, without what a log does
/// not tell.
fn contents(store: &Store, is_whole: bool) -> Vec<(u32, Vec<u8>, String)> {
    let mut all = Vec::new();
    for db in 0..store.databases() {
        store.view(db, 0).for_each(|key, entry| {
            let shown = shown(entry.value(), is_whole);
            let shown = format!("{shown} {:?}", entry.expires_at());
            all.push((db, key.to_vec(), shown));
        });
    }
    all.sort();
    all
}

fn check_equal(copy: &Store, store: &Store, is_whole: bool) {
    let (copy, store) = (contents(copy, is_whole), contents(store, is_whole));
    for (copied, own) in copy.iter().zip(&store) {
        assert_eq!(copied, own, "as a whole: {is_whole}");
    }
    assert_eq!(copy.len(), store.len());
}

/// The commands of a connection: each call returns the next one, and is given the reply to the one before.
type Client = Box<dyn FnMut(Option<&Value>) -> Vec<Vec<u8>> + Send>;

/// Random commands of every kind that Redis has.
fn any_commands(seed: u64) -> Client {
    let mut requests = Requests::new(seed);
    Box::new(move |reply| {
        reply.into_iter().for_each(|reply| requests.learn(reply));
        requests.next()
    })
}

/// Random commands on streams and their groups that later versions have, too: with `KEEPREF`, `DELREF` and `ACKED`,
/// `XDELEX`, `XACKDEL`, and `XREADGROUP` with `CLAIM`.
fn stream_commands(seed: u64) -> Client {
    let mut rng = Rng::with_seed(seed);
    Box::new(move |_| {
        let mut one_of = |words: &[&'static str]| words[rng.usize(..words.len())];
        let (key, group) = (one_of(&["s", "t"]), one_of(&["g", "h"]));
        let (consumer, equal) = (one_of(&["c", "d"]), one_of(&["=", "~"]));
        let references = one_of(&["KEEPREF", "DELREF", "ACKED"]);
        let command = rng.u8(..100);
        let mut below = |end: u8| rng.u8(..end);
        let count = below(30);
        let [a, b] = [(); 2].map(|()| format!("0-{}", 1 + below(80)));
        let line = match command {
            0..30 => format!("XADD {key} 0-* field value"),
            30..40 => format!("XADD {key} {references} MAXLEN {equal} {count} 0-* field value"),
            40..45 => format!("XTRIM {key} MAXLEN {equal} {count} {references}"),
            45..50 => format!("XTRIM {key} MINID {equal} {a} {references}"),
            50..60 => format!("XREADGROUP GROUP {group} {consumer} COUNT 9 STREAMS {key} >"),
            60..70 => {
                format!("XREADGROUP GROUP {group} {consumer} COUNT 9 CLAIM 0 STREAMS {key} >")
            }
            70..78 => format!("XDELEX {key} {references} IDS 2 {a} {b}"),
            78..86 => format!("XACKDEL {key} {group} {references} IDS 2 {a} {b}"),
            86..90 => format!("XACK {key} {group} {a} {b}"),
            90..98 => format!("XGROUP CREATE {key} {group} 0 MKSTREAM"),
            98 => format!("XGROUP DESTROY {key} {group}"),
            _ => format!("DEL {key}"),
        };
        line.split(' ')
            .map(|word| word.as_bytes().to_vec())
            .collect()
    })
}

/// Writes a snapshot of the store, with expired keys.
fn snapshot(store: &Store) -> (Saved, Vec<u8>) {
    let (stop, progress, mut file) = (AtomicBool::new(false), Progress::default(), Vec::new());
    let options = SaveOptions {
        is_aof_base: true,
        ..SaveOptions::default()
    };
    let cut = store.cut().expect("there is no other one");
    let saved = Saver::new(options, &stop, &progress).write(cut, &mut file);
    (saved.expect("memory takes all"), file)
}

/// Returns the contents of a store that has loaded a snapshot.
fn loaded(file: &[u8]) -> Vec<(u32, Vec<u8>, String)> {
    let router = kv_router();
    let store = router.app().store();
    let options = load::Options {
        threads: 1,
        ..load::Options::default()
    };
    let report = load::load(&file, store, options, &mut ());
    assert!(report.is_ok(), "{report:?}");
    contents(store, true)
}

/// Compares the snapshots before a ticket with the store that has the effects up to there. Through a snapshot as well,
/// as the format has less of a stream's consumers than the store.
fn compare<'s>(
    snapshots: &mut Peekable<impl Iterator<Item = &'s (Saved, Vec<u8>)>>,
    ticket: u64,
    copy: &Store,
) {
    while let Some((saved, file)) = snapshots.next_if(|(saved, _)| saved.ticket.number() < ticket) {
        let expected = loaded(&snapshot(copy).1);
        assert!(loaded(file) == expected, "at {:?}", saved.ticket);
    }
}

/// Runs commands on several connections, and applies their effects to other stores: those that tell a key's new state,
/// and those that tell the steps of edits.
fn check(flavour: Flavour, commands: fn(u64) -> Client) {
    let router = kv_router();
    let app: Arc<Kv> = Arc::clone(router.app());
    let logs = [Interest::EFFECTS, Interest::CHANGES].map(|it| (it, Arc::new(Log::default())));
    let section = app.store().lock(&Scope::Everything);
    let ids = logs.each_ref().map(|(interest, log)| {
        let log: Arc<dyn Observer> = Arc::clone(log) as _;
        app.store().observe(log, *interest)
    });
    drop(section);
    let server = FlavourServer::of(flavour, router);
    let (running, mut snapshots) = (AtomicU64::new(CONNECTIONS), Vec::new());
    thread::scope(|scope| {
        for seed in 0..CONNECTIONS {
            let (address, running) = (server.address(), &running);
            scope.spawn(move || {
                let (mut link, mut next) = (Link::open(address), commands(seed));
                let mut reply = None;
                for _ in 0..STEPS {
                    reply = Some(link.call(&next(reply.as_ref())));
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while running.load(Ordering::Relaxed) > 0 {
            snapshots.push(snapshot(app.store()));
            thread::yield_now();
        }
    });
    drop(server);
    let section = app.store().lock(&Scope::Everything);
    ids.into_iter().for_each(|id| app.store().unobserve(id));
    drop(section);
    assert!(snapshots.len() > 2, "{} snapshots", snapshots.len());
    let step = snapshots.len().div_ceil(SNAPSHOTS_MAX);
    for (interest, log) in logs {
        let units = std::mem::take(&mut *log.lock());
        assert!(units.len() > 1000, "{flavour:?}: {} units", units.len());
        assert!(units.keys().copied().eq(1..=units.len() as u64));
        let (other, mut changes) = (kv_router(), 0);
        let mut loader = Loader::new();
        let copy = other.app().store();
        let mut snapshots = snapshots.iter().step_by(step).peekable();
        for (ticket, unit) in units {
            compare(&mut snapshots, ticket, copy);
            let Some(unit) = unit else {
                continue;
            };
            assert!(unit.has_ended);
            changes += unit.effects.iter().filter(|it| it.is_change()).count();
            loader.load(&unit.commands.into_bytes());
            let effects = unit.effects.into_iter();
            effects.for_each(|effect| effect.apply(copy));
        }
        assert_eq!(changes > 100, interest == Interest::CHANGES, "{changes}");
        check_equal(copy, app.store(), true);
        check_equal(loader.store(), app.store(), false);
    }
}

#[test]
fn effects_of_random_commands_rebuild_the_same_keys() {
    for flavour in [Flavour::Tokio, Flavour::Mio] {
        check(flavour, any_commands);
    }
}

#[test]
fn effects_of_later_commands_on_streams_rebuild_the_same_keys() {
    for flavour in [Flavour::Tokio, Flavour::Mio] {
        check(flavour, stream_commands);
    }
}
