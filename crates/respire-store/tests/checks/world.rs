//! A store, its model, and the operations on both.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use respire_store::{
    Config, Event, Foreseen, Held, Interest, ObserverId, Scope, Slot, Store, View, Watch,
};

use super::cut::CutHere;
use super::edit::{Answer, Contents, Edit, contents, go_on_after, panic_on_purpose};
use super::log::{Databases, Log};
use super::source::{DATABASES, Source};

/// A key of a database.
type Place = (u32, &'static [u8]);

/// A watch, and the state of its key.
pub(super) struct Watched {
    pub(super) watch: Watch,
    pub(super) place: Place,
    /// The key's contents when the watch began.
    pub(super) was: Option<Contents>,
    /// The key was edited since, perhaps without a change.
    pub(super) is_touched: bool,
}

/// A scan whose steps run between other operations.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) db: u32,
    cursor: u64,
    /// Keys that have existed since it began.
    pub(super) lasting: BTreeSet<Vec<u8>>,
    seen: BTreeSet<Vec<u8>>,
}

pub(crate) struct World {
    pub(super) store: Arc<Store>,
    /// Another store, with another hash function.
    other: Store,
    pub(super) now_ms: u64,
    /// The expected contents, which may include expired keys.
    pub(super) model: Databases,
    pub(super) log: Arc<Log>,
    pub(super) log_id: ObserverId,
    /// Another observer, while there is one.
    pub(super) silent: Option<ObserverId>,
    pub(super) watches: Vec<Watched>,
    pub(super) scan: Option<Scan>,
    ahead: Vec<(u32, Foreseen<'static>)>,
    /// A cut whose steps run between other operations.
    pub(super) cut: Option<CutHere>,
    /// The sweep removes expired keys.
    pub(super) is_sweeping: bool,
}

/// The keys and databases that an operation may use: inside a section, those that it covers.
pub(super) enum Cover {
    All,
    Databases(Vec<u32>),
    Keys(Vec<Place>),
}

impl Cover {
    pub(super) fn db(&self, source: &mut Source<'_>) -> u32 {
        match self {
            Cover::All => u32::from(source.byte()) % DATABASES,
            Cover::Databases(databases) => databases[source.below(databases.len())],
            Cover::Keys(places) => places[source.below(places.len())].0,
        }
    }

    fn place(&self, source: &mut Source<'_>) -> Place {
        match self {
            Cover::Keys(places) => places[source.below(places.len())],
            _ => (self.db(source), source.key()),
        }
    }

    /// A few keys of one database.
    fn keys(&self, source: &mut Source<'_>) -> (u32, Vec<&'static [u8]>) {
        let db = self.db(source);
        let keys = match self {
            Cover::Keys(places) => {
                let own: Vec<_> = places.iter().filter(|place| place.0 == db).collect();
                let count = source.below(4);
                (0..count).map(|_| own[source.below(own.len())].1).collect()
            }
            _ => source.keys(),
        };
        (db, keys)
    }

    fn has_whole_databases(&self) -> bool {
        !matches!(self, Cover::Keys(_))
    }
}

impl World {
    pub(crate) fn new(config: Config) -> World {
        let mut seed = config.seed;
        seed[0] ^= 1;
        let other = Store::new(Config {
            seed,
            ..config.clone()
        });
        let store = Arc::new(Store::new(config));
        let log = Arc::new(Log::new(Arc::downgrade(&store)));
        let log_id = store.observe(Arc::clone(&log) as _, Interest::NONE);
        World {
            store,
            other,
            now_ms: 1_000_000,
            model: Databases::default(),
            log,
            log_id,
            silent: None,
            watches: Vec::new(),
            scan: None,
            ahead: Vec::new(),
            cut: None,
            is_sweeping: true,
        }
    }

    /// Does one operation outside of sections.
    pub(crate) fn step(&mut self, source: &mut Source<'_>) {
        match source.byte() % 32 {
            0 | 1 => self.section(source),
            2 => self.sweep(source),
            3 => self.make_room(source),
            4 => {
                let contents = self.raw();
                self.change_interest(source, contents);
            }
            5..8 => self.now_ms += u64::from(source.byte()) << (source.byte() % 20),
            8 => self.set_rules(source),
            9 => self.check(),
            10 => self.take_or_drop_cut(source),
            11 => self.step_cut(),
            _ => self.step_within(source, None, &Cover::All),
        }
        self.keep_lasting();
        self.settle();
    }

    /// Does one operation on the cover of a section, or on any key.
    fn step_within(&mut self, source: &mut Source<'_>, held: Option<&mut Held>, cover: &Cover) {
        self.choose(source, held, cover);
        self.keep_lasting();
    }

    /// Removes keys from the scan's list that no longer exist.
    fn keep_lasting(&mut self) {
        let (keys, now_ms) = (&self.model, self.now_ms);
        if let Some(scan) = &mut self.scan {
            scan.lasting.retain(|key| {
                let found = keys[scan.db as usize].get(key);
                found.is_some_and(|(_, at)| at.is_none_or(|at| at > now_ms))
            });
        }
    }

    fn choose(&mut self, source: &mut Source<'_>, held: Option<&mut Held>, cover: &Cover) {
        match source.byte() % 32 {
            0 if cover.has_whole_databases() => self.flush(source, held, cover),
            1 if cover.has_whole_databases() => {
                let (a, b) = (cover.db(source), cover.db(source));
                self.swap(a, b, held);
            }
            2 | 3 if cover.has_whole_databases() => self.scan_on(source, held, cover),
            4 if cover.has_whole_databases() => self.random_key(cover.db(source), held),
            5 => self.watch(cover.place(source), held),
            6 => {
                let count = self.watches.len();
                (count > 0).then(|| self.watches.swap_remove(source.below(count)));
            }
            7 => self.look_ahead(cover.place(source), source),
            8 => self.copy(cover.place(source), cover.place(source), held),
            9 => self.rename(cover.place(source), cover.place(source), held),
            10..13 => self.read(source, held, cover),
            13..16 => self.edit_many(source, held, cover),
            _ => {
                let place = cover.place(source);
                let edit = source.edit(self.now_ms);
                let panics = source.byte() % 16 == 1;
                self.edit(place, &edit, panics, held);
            }
        }
    }

    fn section(&mut self, source: &mut Source<'_>) {
        let store = Arc::clone(&self.store);
        let (a, b) = (
            u32::from(source.byte()) % DATABASES,
            u32::from(source.byte()) % DATABASES,
        );
        let places: Vec<Place> = (0..=source.below(4))
            .map(|_| Cover::All.place(source))
            .collect();
        let (scope, cover) = match source.byte() % 8 {
            0 | 1 => (Scope::Everything, Cover::All),
            2 => (Scope::Database(a), Cover::Databases(vec![a])),
            3 if a != b => (Scope::Databases(a, b), Cover::Databases(vec![a, b])),
            _ => (Scope::Keys(&places), Cover::Keys(places.clone())),
        };
        let (count, panics) = (source.below(8), source.byte() % 8 == 1);
        if source.byte().is_multiple_of(4) {
            return self.widening_section(source, &places, (count, panics));
        }
        let is_new_to_all = matches!(cover, Cover::All) && source.byte().is_multiple_of(4);
        let contents = is_new_to_all.then(|| self.raw());
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let mut section = store.lock(&scope);
            if let Some(contents) = contents {
                self.change_interest(source, contents);
            }
            for _ in 0..count {
                self.step_within(source, Some(section.held()), &cover);
            }
            if panics {
                panic_on_purpose();
            }
        }));
        go_on_after(ended);
    }

    /// Runs steps in a section that starts with one of these places and is widened to the others one by one.
    fn widening_section(
        &mut self,
        source: &mut Source<'_>,
        places: &[Place],
        (count, panics): (usize, bool),
    ) {
        let store = Arc::clone(&self.store);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let mut section = store.lock_widening(&Scope::Keys(&places[..1]));
            let (held, mut widener) = section.split();
            for known in 1..=places.len() {
                let (known, next) = (&places[..known], places.get(known));
                let covers = |place: &Place| held.covers(&store, &Scope::Keys(&[*place]));
                assert!(known.iter().all(covers));
                for _ in 0..count {
                    self.step_within(source, Some(held), &Cover::Keys(known.to_vec()));
                }
                if let Some(next) = next {
                    widener.widen(held, &Scope::Keys(&[*next]));
                }
            }
            if source.byte().is_multiple_of(8) {
                widener.widen(held, &Scope::Everything);
                self.step_within(source, Some(held), &Cover::All);
            }
            if panics {
                panic_on_purpose();
            }
        }));
        go_on_after(ended);
    }

    /// Returns a view, inside the section if there is one.
    pub(super) fn view<'v>(&'v self, db: u32, held: Option<&'v mut Held>) -> View<'v> {
        View::within(&self.store, db, self.now_ms, held)
    }

    /// Returns the expected contents of a key.
    pub(super) fn live(&self, (db, key): Place) -> Option<&Contents> {
        let found = self.model[db as usize].get(key);
        found.filter(|(_, at)| at.is_none_or(|at| at > self.now_ms))
    }

    pub(super) fn live_keys(&self, db: u32) -> impl Iterator<Item = (&Vec<u8>, &Contents)> {
        let now_ms = self.now_ms;
        let is_live = move |(_, at): &Contents| at.is_none_or(|at| at > now_ms);
        self.model[db as usize]
            .iter()
            .filter(move |(_, found)| is_live(found))
    }

    /// Stores the expected contents of a key.
    fn put(&mut self, place: Place, is: Option<Contents>) {
        let keys = &mut self.model[place.0 as usize];
        match is {
            Some(is) => drop(keys.insert(place.1.to_vec(), is)),
            None => drop(keys.remove(place.1)),
        }
        self.touch(|watched| watched == place);
    }

    pub(super) fn touch(&mut self, is_touched: impl Fn(Place) -> bool) {
        for watched in &mut self.watches {
            watched.is_touched |= is_touched(watched.place);
        }
    }

    /// Does an edit on the model, and returns the expected answer.
    fn expect(&mut self, place: Place, edit: &Edit) -> Answer {
        let was = self.live(place).cloned();
        let (answer, is) = edit.expected(was.clone(), self.now_ms);
        if matches!(edit, Edit::Cut(_, false)) {
            // The edit is hidden from watches, so they compare with its result.
            let watches = self.watches.iter_mut();
            let unchanged = watches.filter(|watched| watched.place == place && watched.was == was);
            unchanged.for_each(|watched| watched.was.clone_from(&is));
        }
        self.put(place, is);
        answer
    }

    fn edit(&mut self, place: Place, edit: &Edit, panics: bool, held: Option<&mut Held>) {
        let was_live = self.live(place).is_some();
        let ahead = self
            .ahead
            .iter()
            .position(|(db, ahead)| (*db, ahead.key()) == place);
        let ahead = ahead.map(|at| self.ahead.swap_remove(at).1);
        let mut answer = None;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let mut view = self.view(place.0, held);
            if let Some(ahead) = &ahead {
                view.foresee(ahead);
            }
            view.update(place.1, |slot| {
                answer = Some(edit.apply(slot));
                if panics {
                    panic_on_purpose();
                }
            });
        }));
        go_on_after(ended);
        let expected = self.expect(place, edit);
        assert_eq!(answer, Some(expected), "{edit:?} of {place:?}");
        if !was_live && self.live(place).is_some() {
            self.check_added(place);
        }
    }

    /// Checks that observers have been told that the key was added.
    fn check_added(&self, (db, key): Place) {
        let heard = self.log.heard();
        let is_it = |(at, name, event): &(u32, Vec<u8>, Event)| {
            (*at, name.as_slice(), *event) == (db, key, Event::Added)
        };
        assert!(!heard.has(Interest::ADDITIONS) || heard.events.iter().any(is_it));
    }

    fn edit_many(&mut self, source: &mut Source<'_>, held: Option<&mut Held>, cover: &Cover) {
        let (db, keys) = cover.keys(source);
        let edits: Vec<Edit> = keys.iter().map(|_| source.edit(self.now_ms)).collect();
        let are_new = source.byte().is_multiple_of(3);
        let any_exists = keys.iter().any(|key| self.live((db, key)).is_some());
        let mut answers: Vec<Option<Answer>> = keys.iter().map(|_| None).collect();
        let apply = |at: usize, slot: &mut Slot<'_>| {
            assert_eq!(slot.key(), keys[at]);
            answers[at] = Some(edits[at].apply(slot));
        };
        let mut view = self.view(db, held);
        let is_done = if are_new {
            view.insert_many(keys.iter().copied(), apply)
        } else {
            view.update_many(keys.iter().copied(), apply);
            true
        };
        assert_eq!(is_done, !are_new || !any_exists);
        if !is_done {
            assert!(answers.iter().all(Option::is_none));
            return;
        }
        for ((key, edit), answer) in keys.iter().zip(&edits).zip(answers) {
            let expected = self.expect((db, key), edit);
            assert_eq!(answer, Some(expected), "{edit:?}");
        }
    }

    fn read(&mut self, source: &mut Source<'_>, held: Option<&mut Held>, cover: &Cover) {
        let (db, keys) = cover.keys(source);
        let (how, mut found) = (source.byte(), Vec::new());
        let mut view = self.view(db, held);
        view.set_touch(how & 4 == 0);
        let names = keys.iter().copied();
        match how % 4 {
            0 => view.read_many(names, |at, entry| found.push((at, entry.map(contents)))),
            1 => view.peek_many(names, |at, entry| found.push((at, entry.map(contents)))),
            2 => names.enumerate().for_each(|(at, key)| {
                found.push((at, view.read(key, |entry| entry.map(contents))));
            }),
            _ => names.enumerate().for_each(|(at, key)| {
                found.push((at, view.peek(key, |entry| entry.map(contents))));
            }),
        }
        let expected = keys.iter().map(|key| self.live((db, key)).cloned());
        assert!(found.into_iter().eq(expected.enumerate()));
    }

    fn copy(&mut self, from: Place, to: Place, mut held: Option<&mut Held>) {
        let mut view = self.view(from.0, held.as_deref_mut());
        let Some(owned) = view.read(from.1, |entry| entry.map(|entry| entry.owned())) else {
            return;
        };
        self.view(to.0, held)
            .update(to.1, |slot| slot.put_anew(owned));
        self.put(to, self.live(from).cloned());
    }

    fn rename(&mut self, from: Place, to: Place, held: Option<&mut Held>) {
        let (places, mut is_moved) = ([from, to], false);
        self.view(from.0, held)
            .locked(&Scope::Keys(&places), |view| {
                let mut moved = view.in_db(from.0).update(from.1, |slot| slot.take());
                view.in_db(to.0).update(to.1, |slot| {
                    if let Some(owned) = moved.take() {
                        slot.put(owned);
                        is_moved = true;
                    }
                });
            });
        let taken = self.live(from).cloned();
        assert_eq!(is_moved, taken.is_some());
        if taken.is_some() {
            self.put(from, None);
            self.put(to, taken);
        }
    }

    fn watch(&mut self, place: Place, held: Option<&mut Held>) {
        let watch = self.view(place.0, held).watch(place.1);
        let was = self.live(place).cloned();
        assert!(!watch.is_dirty(self.now_ms));
        self.watches.push(Watched {
            watch,
            place,
            was,
            is_touched: false,
        });
    }

    fn look_ahead(&mut self, (db, key): Place, source: &mut Source<'_>) {
        let how = source.byte();
        let store = if how % 8 == 7 {
            &self.other
        } else {
            &self.store
        };
        let mut foreseen = store.prefetch(db, key);
        if how & 8 == 0 {
            store.prefetch_entry(db, &mut foreseen);
            store.prefetch_element(db, &foreseen, b"element");
        }
        self.ahead.push((db, foreseen));
    }

    fn scan_on(&mut self, source: &mut Source<'_>, held: Option<&mut Held>, cover: &Cover) {
        let mut scan = match self.scan.take() {
            Some(scan) => scan,
            None => {
                let db = cover.db(source);
                Scan {
                    db,
                    lasting: self.live_keys(db).map(|(key, _)| key.clone()).collect(),
                    ..Scan::default()
                }
            }
        };
        if matches!(cover, Cover::Databases(databases) if !databases.contains(&scan.db)) {
            self.scan = Some(scan);
            return;
        }
        let (db, count) = (scan.db, source.below(20));
        scan.cursor = self.view(db, held).scan(scan.cursor, count, |key, entry| {
            assert_eq!(self.model[db as usize].get(key), Some(&contents(entry)));
            assert!(entry.expires_at().is_none_or(|at| at > self.now_ms));
            scan.seen.insert(key.to_vec());
        });
        if scan.cursor > 0 {
            self.scan = Some(scan);
            return;
        }
        let missed: Vec<_> = scan.lasting.difference(&scan.seen).collect();
        assert!(missed.is_empty(), "a scan missed {missed:?}");
    }

    fn random_key(&mut self, db: u32, held: Option<&mut Held>) {
        let key = self.view(db, held).random_key();
        assert_eq!(key.is_none(), self.live_keys(db).next().is_none());
        assert!(key.is_none_or(|key| self.live_keys(db).any(|(live, _)| **live == *key)));
    }

    /// Ends the scan of a database whose keys are all removed.
    pub(super) fn end_scan(&mut self, is_gone: impl Fn(u32) -> bool) {
        self.scan = self.scan.take().filter(|scan| !is_gone(scan.db));
    }
}
