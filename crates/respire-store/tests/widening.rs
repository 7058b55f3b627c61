//! Races widening sections with everything else that locks shards. No thread sees half of a change, and no
//! thread waits forever.
//!
//! Two databases have accounts of two kinds. The sum of the local accounts of each database stays the same,
//! and so does the sum of the shared accounts of both. Every read at one moment must see these sums.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use respire_store::{Config, Expiry, Freeing, Held, MemoryUse, Scope, Slot, Store, View, Widener};

/// Far longer than the test takes, and far shorter than forever.
const PATIENCE: Duration = Duration::from_secs(60);

const THREADS: u64 = 6;
const STEPS: usize = 3_000;

const LOCAL: [&[u8]; 10] = [
    b"l0", b"l1", b"l2", b"l3", b"l4", b"l5", b"l6", b"l7", b"l8", b"l9",
];
const SHARED: [&[u8]; 5] = [b"s0", b"s1", b"s2", b"s3", b"s4"];
const BALANCE: i64 = 1_000;

/// A database without accounts, which is flushed again and again.
const SPARE: u32 = 2;

/// A key of a database.
type Place = (u32, &'static [u8]);

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn db(&mut self) -> u32 {
        self.below(2) as u32
    }

    fn local(&mut self) -> &'static [u8] {
        LOCAL[self.below(LOCAL.len())]
    }

    fn shared(&mut self) -> Place {
        (self.db(), SHARED[self.below(SHARED.len())])
    }
}

fn balance(slot: &Slot<'_>) -> i64 {
    let value = slot
        .get()
        .and_then(|entry| entry.value().as_string()?.to_int());
    value.unwrap_or(0)
}

/// Adds to an account. Emptied accounts are removed, so that keys come and go.
fn add(slot: &mut Slot<'_>, amount: i64) {
    match balance(slot) + amount {
        0 => drop(slot.remove()),
        balance => slot.set(balance, Expiry::Keep),
    }
}

fn look(view: &mut View<'_>, key: &[u8]) -> i64 {
    let found = view.read(key, |entry| entry?.value().as_string()?.to_int());
    found.unwrap_or(0)
}

fn check_local(view: &mut View<'_>) {
    let mut sum = 0;
    view.read_many(LOCAL.into_iter(), |_, entry| {
        let found = entry.and_then(|entry| entry.value().as_string()?.to_int());
        sum += found.unwrap_or(0);
    });
    assert_eq!(sum, BALANCE * LOCAL.len() as i64);
}

/// A section that is widened to each key when it is used, as that of a script.
struct Script<'w, 's> {
    store: &'s Store,
    held: &'w mut Held,
    widener: Widener<'w, 's>,
}

impl<'s> Script<'_, 's> {
    fn run(store: &'s Store, declared: &[Place], body: impl FnOnce(&mut Script<'_, 's>)) {
        let mut section = store.lock_widening(&Scope::Keys(declared));
        let (held, widener) = section.split();
        body(&mut Script {
            store,
            held,
            widener,
        });
    }

    fn widen(&mut self, scope: &Scope<'_>) {
        if !self.held.covers(self.store, scope) {
            self.widener.widen(self.held, scope);
        }
    }

    fn view(&mut self, db: u32) -> View<'_> {
        View::within(self.store, db, 0, Some(self.held))
    }

    fn add(&mut self, place: Place, amount: i64) {
        self.widen(&Scope::Keys(&[place]));
        self.view(place.0).update(place.1, |slot| add(slot, amount));
    }

    fn look(&mut self, place: Place) -> i64 {
        self.widen(&Scope::Keys(&[place]));
        look(&mut self.view(place.0), place.1)
    }

    /// Looks at accounts one by one, from the one at `start`.
    fn sum(&mut self, places: &[Place], start: usize) -> i64 {
        let (before, after) = places.split_at(start % places.len());
        let places = after.iter().chain(before);
        places.map(|place| self.look(*place)).sum()
    }
}

fn all_shared() -> Vec<Place> {
    let of = |db| SHARED.into_iter().map(move |key| (db, key));
    of(1).chain(of(0)).collect()
}

fn run_script(store: &Store, random: &mut Random) {
    let (db, start) = (random.db(), random.below(100));
    let declared: Vec<Place> = match random.below(3) {
        0 => Vec::new(),
        1 => vec![random.shared()],
        _ => vec![(db, random.local()), (1 - db, random.local())],
    };
    Script::run(store, &declared, |script| match random.below(8) {
        0 => {
            let places = LOCAL.map(|key| (db, key));
            let sum = script.sum(&places, start);
            assert_eq!(sum, BALANCE * LOCAL.len() as i64);
        }
        1 => {
            let sum = script.sum(&all_shared(), start);
            assert_eq!(sum, 2 * BALANCE * SHARED.len() as i64);
        }
        2 => {
            script.widen(&Scope::Database(db));
            check_local(&mut script.view(db));
        }
        3 if start < 20 => {
            script.widen(&Scope::Everything);
            let places: Vec<Place> = all_shared();
            let balances = places.iter().map(|place| (*place, script.look(*place)));
            let balances: Vec<_> = balances.collect();
            let locals = [0, 1].map(|db| LOCAL.map(|key| script.look((db, key))));
            script.view(0).flush_all(Freeing::InSteps);
            balances
                .iter()
                .for_each(|(place, balance)| script.add(*place, *balance));
            for (db, balances) in (0..).zip(locals) {
                let accounts = LOCAL.into_iter().zip(balances);
                accounts.for_each(|(key, balance)| script.add((db, key), balance));
            }
        }
        4 if start < 40 => {
            script.add(random.shared(), 0);
            script.widen(&Scope::Databases(0, 1));
            script.view(0).swap(0, 1);
        }
        _ => {
            for amount in 1..4 {
                script.add((db, random.local()), -amount);
                script.add(random.shared(), amount);
                script.add((db, random.local()), amount);
                script.add(random.shared(), -amount);
            }
        }
    });
}

/// Does what a command does that knows its keys.
fn run_command(store: &Store, random: &mut Random) {
    let (db, from, to) = (random.db(), random.shared(), random.shared());
    let mut view = store.view(db, 0);
    let locals: [&[u8]; 6] = core::array::from_fn(|_| random.local());
    match random.below(24) {
        0..8 => view.update_many(locals.into_iter(), |at, slot| {
            add(slot, if at % 2 == 0 { 3 } else { -3 });
        }),
        8..12 => check_local(&mut view),
        12..15 => view.locked(&Scope::Keys(&[from, to]), |view| {
            view.in_db(from.0).update(from.1, |slot| add(slot, -5));
            view.in_db(to.0).update(to.1, |slot| add(slot, 5));
        }),
        15..18 => view.locked(&Scope::Keys(&[from, to]), |view| {
            // As RENAME, both ways.
            let first = view.in_db(from.0).update(from.1, |slot| slot.take());
            let second = view.in_db(to.0).update(to.1, |slot| slot.take());
            for ((db, key), owned) in [(to, first), (from, second)] {
                if let Some(owned) = owned {
                    view.in_db(db).update(key, |slot| slot.put(owned));
                }
            }
        }),
        18 => {
            let places = all_shared();
            let sum: i64 = view.locked(&Scope::Keys(&places), |view| {
                let places = places.iter();
                places
                    .map(|(db, key)| look(&mut view.in_db(*db), key))
                    .sum()
            });
            assert_eq!(sum, 2 * BALANCE * SHARED.len() as i64);
        }
        19 => view.swap(0, 1),
        20 => {
            let mut sum = 0;
            view.for_each(|key, entry| {
                let balance = entry.value().as_string().and_then(|value| value.to_int());
                sum += balance.filter(|_| key[0] == b'l').unwrap_or(0);
            });
            assert_eq!(sum, BALANCE * LOCAL.len() as i64);
        }
        21 => {
            let mut spare = view.in_db(SPARE);
            spare.update(locals[0], |slot| slot.set(b"spare", Expiry::At(1)));
            assert!(spare.flush(Freeing::InSteps) <= LOCAL.len());
        }
        22 => drop(store.sweep(2, 100)),
        _ => {
            let mut spare = view.in_db(SPARE);
            spare.update_many(locals.into_iter(), |_, slot| slot.set(1, Expiry::Clear));
            drop(spare.watch(locals[0]));
        }
    }
}

fn race() {
    let store = Store::new(Config {
        databases: 3,
        shards: 8,
        ..Config::default()
    });
    for (db, key) in (0..2).flat_map(|db| LOCAL.into_iter().chain(SHARED).map(move |key| (db, key)))
    {
        let mut view = store.view(db, 0);
        view.update(key, |slot| slot.set(BALANCE, Expiry::Clear));
    }
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                let mut random = Random(seed);
                for _ in 0..STEPS {
                    match random.below(3) {
                        0 => run_script(store, &mut random),
                        _ => run_command(store, &mut random),
                    }
                }
            });
        }
    });
    (0..2).for_each(|db| check_local(&mut store.view(db, 0)));
    assert!(!store.is_widening());
    store.view(0, 0).flush_all(Freeing::AtOnce);
    while !store.sweep(0, 1_000).finished {}
    assert_eq!(store.memory(), MemoryUse::default());
}

#[test]
fn widening_sections_are_atomic_and_do_not_deadlock() {
    let (done, wait) = channel::<()>();
    let racers = thread::spawn(move || {
        race();
        drop(done);
    });
    // The channel is closed at the end, also by a panic.
    let ended = wait.recv_timeout(PATIENCE);
    assert_eq!(
        ended,
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected),
        "threads wait for each other"
    );
    if let Err(panic) = racers.join() {
        std::panic::resume_unwind(panic);
    }
}
