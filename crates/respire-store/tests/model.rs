//! Compares the store with a simple model, a `BTreeMap`, by random operations with a clock that moves.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use respire_store::{
    Config, EntryRef, Expiry, Freeing, Scope, Section, Slot, Store, StringRef, View, Watch,
};

const DATABASES: u32 = 3;

type Key = u8;

#[derive(Debug, Clone)]
enum Op {
    Set(u32, Key, Vec<u8>, When),
    SetInt(u32, Key, i64, When),
    Append(u32, Key, Vec<u8>),
    Share(u32, Key),
    Expire(u32, Key, Option<u64>),
    Remove(u32, Key),
    Move(u32, Key, u32, Key),
    Read(u32, Vec<Key>),
    Section(bool, Vec<(u32, Key, Vec<u8>)>),
    Many(Many, u32, bool, Vec<(Key, Vec<u8>)>),
    Sweep(usize),
    Scan(u32, usize),
    RandomKey(u32),
    Flush(u32),
    FlushAll,
    Swap(u32, u32),
    Watch(u32, Key),
    Advance(u64),
}

/// An operation on several keys.
#[derive(Debug, Clone, Copy)]
enum Many {
    Write,
    Insert,
    Remove,
}

/// An expiry relative to the current time.
#[derive(Debug, Clone, Copy)]
enum When {
    Clear,
    Keep,
    In(i64),
}

impl When {
    fn at(self, now_ms: u64) -> Expiry {
        match self {
            When::Clear => Expiry::Clear,
            When::Keep => Expiry::Keep,
            When::In(ms) => Expiry::At(now_ms.saturating_add_signed(ms)),
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    let db = 0..DATABASES;
    let key = 0..24_u8;
    // Lengths around every limit of a representation.
    let len = prop_oneof![6 => 0..30_usize, 2 => 200..300_usize, 1 => 900..1200_usize, 1 => 16_300..16_500_usize];
    let value = (any::<u8>(), len).prop_map(|(byte, len)| vec![byte; len]);
    let when = prop_oneof![
        Just(When::Clear),
        Just(When::Keep),
        (-5..200_i64).prop_map(When::In)
    ];
    let write = (db.clone(), key.clone(), value.clone());
    let many = prop_oneof![Just(Many::Write), Just(Many::Insert), Just(Many::Remove)];
    let many = (
        many,
        db.clone(),
        any::<bool>(),
        vec((key.clone(), value.clone()), 0..6),
    );
    prop_oneof![
        8 => (db.clone(), key.clone(), value.clone(), when.clone()).prop_map(|(db, key, value, when)| Op::Set(db, key, value, when)),
        4 => (db.clone(), key.clone(), any::<i64>(), when).prop_map(|(db, key, value, when)| Op::SetInt(db, key, value, when)),
        4 => write.clone().prop_map(|(db, key, value)| Op::Append(db, key, value)),
        2 => (db.clone(), key.clone()).prop_map(|(db, key)| Op::Share(db, key)),
        4 => (db.clone(), key.clone(), proptest::option::of(0..300_u64)).prop_map(|(db, key, at)| Op::Expire(db, key, at)),
        3 => (db.clone(), key.clone()).prop_map(|(db, key)| Op::Remove(db, key)),
        3 => (db.clone(), key.clone(), db.clone(), key.clone()).prop_map(|(a, from, b, to)| Op::Move(a, from, b, to)),
        3 => (db.clone(), vec(key.clone(), 0..6)).prop_map(|(db, keys)| Op::Read(db, keys)),
        3 => (any::<bool>(), vec(write, 1..5)).prop_map(|(all, writes)| Op::Section(all, writes)),
        3 => many.prop_map(|(what, db, inside, writes)| Op::Many(what, db, inside, writes)),
        3 => (0..20_usize).prop_map(Op::Sweep),
        1 => (db.clone(), 1..20_usize).prop_map(|(db, count)| Op::Scan(db, count)),
        1 => db.clone().prop_map(Op::RandomKey),
        1 => db.clone().prop_map(Op::Flush),
        1 => Just(Op::FlushAll),
        1 => (db.clone(), db.clone()).prop_map(|(a, b)| Op::Swap(a, b)),
        2 => (db, key).prop_map(|(db, key)| Op::Watch(db, key)),
        5 => (0..60_u64).prop_map(Op::Advance),
    ]
}

/// A value and its expiry.
type Contents = (Vec<u8>, Option<u64>);

/// The expected contents of a database. Expired keys stay in it until an operation meets them.
type Model = BTreeMap<Vec<u8>, Contents>;

struct World {
    store: Store,
    now_ms: u64,
    model: [Model; DATABASES as usize],
    /// Watches, with their keys' contents at the start of the watch.
    watches: Vec<(Watch, u32, Option<Contents>)>,
}

impl World {
    fn new(shards: usize, cached_bytes: usize) -> World {
        let store = Store::new(Config {
            databases: DATABASES,
            shards,
            cached_bytes,
            ..Config::default()
        });
        World {
            store,
            now_ms: 1_000,
            model: Default::default(),
            watches: Vec::new(),
        }
    }

    fn view(&self, db: u32) -> View<'_> {
        self.store.view(db, self.now_ms)
    }

    fn model(&mut self, db: u32) -> &mut Model {
        let now_ms = self.now_ms;
        let model = &mut self.model[db as usize];
        model.retain(|_, (_, expires_at)| expires_at.is_none_or(|at| at > now_ms));
        model
    }

    fn model_set(&mut self, db: u32, key: Key, value: Vec<u8>, expiry: Expiry) {
        let now_ms = self.now_ms;
        let model = self.model(db);
        let expires_at = match expiry {
            Expiry::Clear => None,
            Expiry::Keep => model
                .get(&name(key))
                .and_then(|(_, expires_at)| *expires_at),
            Expiry::At(at) => Some(at),
        };
        if expires_at.is_some_and(|at| at <= now_ms) {
            model.remove(&name(key));
        } else {
            model.insert(name(key), (value, expires_at));
        }
    }

    fn run(&mut self, op: Op) {
        let now_ms = self.now_ms;
        match op {
            Op::Set(db, key, value, when) => {
                self.view(db).update(&name(key), |slot| {
                    slot.set(value.as_slice(), when.at(now_ms))
                });
                self.model_set(db, key, value, when.at(now_ms));
            }
            Op::SetInt(db, key, value, when) => {
                self.view(db)
                    .update(&name(key), |slot| slot.set(value, when.at(now_ms)));
                self.model_set(db, key, value.to_string().into_bytes(), when.at(now_ms));
            }
            Op::Append(db, key, value) => {
                self.view(db).update(&name(key), |slot| {
                    slot.edit_string(|bytes| bytes.extend_from_slice(&value))
                });
                self.model(db)
                    .entry(name(key))
                    .or_default()
                    .0
                    .extend_from_slice(&value);
            }
            Op::Share(db, key) => self.view(db).update(&name(key), |slot| slot.share_string()),
            Op::Expire(db, key, after) => {
                self.expire(db, key, after.map(|after| now_ms - 50 + after))
            }
            Op::Remove(db, key) => {
                let removed = self.view(db).update(&name(key), |slot| slot.remove());
                assert_eq!(removed, self.model(db).remove(&name(key)).is_some());
            }
            Op::Move(a, from, b, to) => self.rename(a, from, b, to),
            Op::Read(db, keys) => self.read(db, &keys),
            Op::Section(all, writes) => self.section(all, writes),
            Op::Many(what, db, inside, writes) => self.many(what, db, inside, &writes),
            Op::Sweep(budget) => assert!(self.store.sweep(now_ms, budget).expired <= budget),
            Op::Scan(db, count) => self.scan(db, count),
            Op::RandomKey(db) => {
                let key = self.view(db).random_key();
                let model = self.model(db);
                assert_eq!(key.is_none(), model.is_empty());
                assert!(key.is_none_or(|key| model.contains_key(&*key)));
            }
            Op::Flush(db) => {
                self.view(db).flush(Freeing::InSteps);
                self.model(db).clear();
            }
            Op::FlushAll => {
                self.view(0).flush_all(Freeing::AtOnce);
                self.model = Default::default();
            }
            Op::Swap(a, b) => {
                self.view(0).swap(a, b);
                self.model.swap(a as usize, b as usize);
            }
            Op::Watch(db, key) => {
                let watch = self.view(db).watch(&name(key));
                let was = self.model(db).get(&name(key)).cloned();
                self.watches.push((watch, db, was));
            }
            Op::Advance(ms) => self.now_ms += ms,
        }
    }

    fn expire(&mut self, db: u32, key: Key, at: Option<u64>) {
        let found = self.view(db).update(&name(key), |slot| slot.set_expiry(at));
        let now_ms = self.now_ms;
        let model = self.model(db);
        assert_eq!(found, model.contains_key(&name(key)));
        if let Some((_, expires_at)) = model.get_mut(&name(key)) {
            *expires_at = at;
        }
        model.retain(|_, (_, expires_at)| expires_at.is_none_or(|at| at > now_ms));
    }

    fn rename(&mut self, a: u32, from: Key, b: u32, to: Key) {
        let (from, to) = (name(from), name(to));
        self.view(0)
            .locked(&Scope::Keys(&[(a, &from), (b, &to)]), |view| {
                let taken = view.in_db(a).update(&from, |slot| slot.take());
                if let Some(owned) = taken {
                    view.in_db(b).update(&to, |slot| slot.put(owned));
                }
            });
        if let Some(taken) = self.model(a).remove(&from) {
            self.model(b).insert(to, taken);
        }
    }

    fn read(&mut self, db: u32, keys: &[Key]) {
        let names: Vec<Vec<u8>> = keys.iter().map(|key| name(*key)).collect();
        let mut together = Vec::new();
        self.view(db)
            .read_many(names.iter().map(Vec::as_slice), |at, entry| {
                assert_eq!(at, together.len());
                together.push(entry.map(contents));
            });
        for (key, together) in names.iter().zip(together) {
            let alone = self.view(db).read(key, |entry| entry.map(contents));
            assert_eq!(alone, together);
            assert_eq!(alone.as_ref(), self.model(db).get(key));
        }
    }

    fn section(&mut self, all: bool, writes: Vec<(u32, Key, Vec<u8>)>) {
        let names: Vec<(u32, Vec<u8>)> = writes
            .iter()
            .map(|(db, key, _)| (*db, name(*key)))
            .collect();
        let keys: Vec<(u32, &[u8])> = names
            .iter()
            .map(|(db, key)| (*db, key.as_slice()))
            .collect();
        let scope = if all {
            Scope::Everything
        } else {
            Scope::Keys(&keys)
        };
        let mut section = self.store.lock(&scope);
        for ((db, key), (_, _, value)) in keys.iter().zip(&writes) {
            let mut view = View::within(&self.store, *db, self.now_ms, Some(section.held()));
            view.update(key, |slot| slot.set(value.as_slice(), Expiry::Keep));
        }
        drop(section);
        for (db, key, value) in writes {
            self.model_set(db, key, value, Expiry::Keep);
        }
    }

    fn many(&mut self, what: Many, db: u32, inside: bool, writes: &[(Key, Vec<u8>)]) {
        let names: Vec<Vec<u8>> = writes.iter().map(|(key, _)| name(*key)).collect();
        let keys = || names.iter().map(Vec::as_slice);
        let scope = Scope::Database(db);
        let mut section = inside.then(|| self.store.lock(&scope));
        let held = section.as_mut().map(Section::held);
        let mut view = View::within(&self.store, db, self.now_ms, held);
        let set = |at: usize, slot: &mut Slot<'_>| {
            assert_eq!(slot.key(), names[at]);
            slot.set(writes[at].1.as_slice(), Expiry::Keep);
        };
        let (mut removed, mut is_done) = (0, true);
        match what {
            Many::Write => view.update_many(keys(), set),
            Many::Insert => is_done = view.insert_many(keys(), set),
            Many::Remove => view.update_many(keys(), |_, slot| {
                removed += usize::from(slot.remove());
            }),
        }
        drop(section);
        let model = self.model(db);
        match what {
            Many::Remove => {
                let known = keys().filter(|key| model.remove(*key).is_some());
                assert_eq!(removed, known.count());
            }
            Many::Insert if !is_done => assert!(keys().any(|key| model.contains_key(key))),
            Many::Insert | Many::Write => {
                let is_new = !keys().any(|key| model.contains_key(key));
                assert!(is_new || matches!(what, Many::Write));
                for (key, value) in writes {
                    self.model_set(db, *key, value.clone(), Expiry::Keep);
                }
            }
        }
    }

    fn scan(&mut self, db: u32, count: usize) {
        let mut seen = BTreeSet::new();
        let mut cursor = 0;
        loop {
            cursor = self.view(db).scan(cursor, count, |key, entry| {
                assert!(contents(entry).1.is_none_or(|at| at > self.now_ms));
                seen.insert(key.to_vec());
            });
            if cursor == 0 {
                break;
            }
        }
        let expected: BTreeSet<Vec<u8>> = self.model(db).keys().cloned().collect();
        assert_eq!(seen, expected);
    }

    /// Compares everything. It sweeps first, so that no expired key is counted.
    fn check(&mut self) {
        while !self.store.sweep(self.now_ms, 100).finished {}
        let mut memory = 0;
        for db in 0..DATABASES {
            let mut actual = Model::new();
            self.view(db).for_each(|key, entry| {
                memory += entry.memory();
                assert!(actual.insert(key.to_vec(), contents(entry)).is_none());
            });
            let now_ms = self.now_ms;
            let model = self.model(db).clone();
            assert_eq!(actual, model);
            let ttls: Vec<u64> = model
                .values()
                .filter_map(|(_, at)| Some(at.as_ref()? - now_ms))
                .collect();
            let average = ttls
                .iter()
                .sum::<u64>()
                .checked_div(ttls.len() as u64)
                .unwrap_or(0);
            assert_eq!(self.store.len(db), model.len());
            assert_eq!(
                (
                    self.store.expires_len(db),
                    self.store.avg_ttl_ms(db, now_ms)
                ),
                (ttls.len(), average)
            );
        }
        let counted = self.store.memory();
        let slot = size_of::<usize>() * 2 + 1;
        assert_eq!(memory, counted.dataset + counted.keys * slot);
        for (watch, db, was) in &self.watches {
            let is = self.model[*db as usize].get(watch.key());
            assert!(
                watch.is_dirty(self.now_ms) || is == was.as_ref(),
                "{watch:?} of {db} missed a change"
            );
        }
    }
}

fn name(key: Key) -> Vec<u8> {
    // A few keys are long, up to more than a byte can count.
    let padding = if key % 8 == 7 {
        usize::from(key) * 12
    } else {
        0
    };
    format!("key:{key}{}", "x".repeat(padding)).into_bytes()
}

fn contents(entry: EntryRef<'_>) -> Contents {
    let string = entry.value().as_string().unwrap_or(StringRef::Int(0));
    (string.to_vec(), entry.expires_at())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn store_equals_the_model_after_random_operations(
        shards in prop_oneof![Just(2_usize), Just(8)],
        cached_bytes in prop_oneof![Just(0), Just(1 << 20)],
        ops in vec(op(), 1..120),
    ) {
        let mut world = World::new(shards, cached_bytes);
        for op in ops {
            world.run(op);
        }
        world.check();
    }
}
