//! Measures the store's operations, without a protocol, on one thread, with a thousand and with a million keys.
//!
//! `cargo bench -p respire-store`; throughput is in keys. As a test (`cargo test --benches`) each runs once, with
//! a thousand keys.

use criterion::{
    BatchSize, Bencher, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group,
    criterion_main,
};
use respire_store::{Config, Expiry, Policy, Store};
use std::hint::black_box;
use std::time::Duration;

type Key = [u8; 16];

/// The expiry of keys that have one, in unix milliseconds.
const DEADLINE_MS: u64 = 1_000_000;
/// The budget of a sweep.
const SWEEP_BUDGET: usize = 1_024;
/// Milliseconds between the sweeps of `sweep_in_time`.
const SWEEP_STEP_MS: u64 = 100;
/// The default count of `SCAN`.
const SCAN_COUNT: usize = 10;

/// A store, and its keys in an order that is independent of their places.
struct Filled {
    store: Store,
    order: Vec<Key>,
}

fn key(number: usize) -> Key {
    let text = format!("key:{number:012}");
    text.as_bytes()
        .try_into()
        .expect("there are fewer keys than twelve digits can count")
}

impl Filled {
    fn new(keys: usize, expiry: impl Fn(usize) -> Expiry) -> Self {
        let store = Store::new(Config {
            shards: 1_024,
            ..Config::default()
        });
        for number in 0..keys {
            set(&store, &key(number), expiry(number));
        }
        // The factor is a prime above any number of keys here, so every key comes once.
        let order = (0..keys).map(|nth| key(nth * 2_654_435_761 % keys));
        Self {
            store,
            order: order.collect(),
        }
    }

    /// Measures `each`, called with one key after the other.
    fn each_key(&self, bencher: &mut Bencher<'_>, mut each: impl FnMut(&Store, &Key)) {
        let mut keys = self.order.iter().cycle();
        bencher.iter(|| {
            let key = keys.next().expect("a cycle has no end");
            each(&self.store, black_box(key));
        });
    }
}

fn set(store: &Store, key: &Key, expiry: Expiry) {
    store
        .view(0, 0)
        .update(key, |slot| slot.set(&b"xxx"[..], expiry));
}

fn sizes() -> &'static [usize] {
    let is_measured = std::env::args().any(|arg| arg == "--bench");
    if is_measured {
        &[1_000, 1_000_000]
    } else {
        &[1_000]
    }
}

fn single_keys(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("store");
    group
        .throughput(Throughput::Elements(1))
        .measurement_time(Duration::from_secs(2));
    for &keys in sizes() {
        let filled = Filled::new(keys, |_| Expiry::Clear);
        group.bench_function(BenchmarkId::new("get", keys), |bencher| {
            filled.each_key(bencher, |store, key| {
                let found = store.view(0, 0).read(key, |entry| entry.is_some());
                assert!(found);
            });
        });
        group.bench_function(BenchmarkId::new("get, none there", keys), |bencher| {
            filled.each_key(bencher, |store, key| {
                let found = store.view(0, 0).read(&key[1..], |entry| entry.is_some());
                assert!(!found);
            });
        });
        group.bench_function(BenchmarkId::new("set", keys), |bencher| {
            filled.each_key(bencher, |store, key| set(store, key, Expiry::Clear));
        });
        group.bench_function(BenchmarkId::new("set, expiring", keys), |bencher| {
            let mut expires_at = DEADLINE_MS;
            filled.each_key(bencher, |store, key| {
                expires_at += 1;
                set(store, key, Expiry::At(expires_at));
            });
        });
        group.bench_function(BenchmarkId::new("expire", keys), |bencher| {
            let mut expires_at = DEADLINE_MS;
            filled.each_key(bencher, |store, key| {
                expires_at += 1;
                let is_set = store
                    .view(0, 0)
                    .update(key, |slot| slot.set_expiry(Some(expires_at)));
                assert!(is_set);
            });
        });
    }
    group.finish();
}

/// Measures writes that evict one key each.
fn eviction(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("store");
    group
        .throughput(Throughput::Elements(1))
        .measurement_time(Duration::from_secs(2));
    for &keys in sizes() {
        let filled = Filled::new(keys, |_| Expiry::Clear);
        let bytes_max = filled.store.memory().total() as u64;
        filled
            .store
            .set_max_memory(bytes_max, Policy::AllKeysLru, 5);
        group.bench_function(BenchmarkId::new("evict", keys), |bencher| {
            let mut number = keys;
            bencher.iter(|| {
                number += 1;
                set(&filled.store, &key(number), Expiry::Clear);
                assert!(filled.store.make_room(0));
            });
        });
    }
    group.finish();
}

/// Measures operations on all keys.
fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("store");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .measurement_time(Duration::from_secs(5));
    for &keys in sizes() {
        group.throughput(Throughput::Elements(keys as u64));
        let filled = Filled::new(keys, |_| Expiry::Clear);
        group.bench_function(BenchmarkId::new("scan", keys), |bencher| {
            bencher.iter(|| assert!(scan(&filled.store) >= keys));
        });
        group.bench_function(BenchmarkId::new("sweep", keys), |bencher| {
            let due = || Filled::new(keys, |_| Expiry::At(DEADLINE_MS)).store;
            bencher.iter_batched(due, |store| sweep(&store, keys), BatchSize::PerIteration);
        });
        group.bench_function(BenchmarkId::new("sweep in time", keys), |bencher| {
            let spread = |number| Expiry::At(DEADLINE_MS * (1 + number as u64) / keys as u64);
            let due = || Filled::new(keys, spread).store;
            bencher.iter_batched(due, |store| sweep_in_time(&store), BatchSize::PerIteration);
        });
    }
    group.finish();
}

/// Returns the number of keys that a scan visits.
fn scan(store: &Store) -> usize {
    let (mut cursor, mut seen) = (0, 0);
    loop {
        cursor = store.view(0, 0).scan(cursor, SCAN_COUNT, |_, _| seen += 1);
        if cursor == 0 {
            return seen;
        }
    }
}

fn sweep(store: &Store, keys: usize) {
    assert_eq!(store.len(0), keys);
    while !store.sweep(DEADLINE_MS, SWEEP_BUDGET).finished {}
    assert!(store.is_empty(0));
}

/// Sweeps every [`SWEEP_STEP_MS`], as a server does, while the keys expire one after the other.
fn sweep_in_time(store: &Store) {
    let mut now_ms = 0;
    while !store.is_empty(0) {
        now_ms += SWEEP_STEP_MS;
        while !store.sweep(now_ms, SWEEP_BUDGET).finished {}
    }
}

criterion_group!(benches, single_keys, eviction, whole);
criterion_main!(benches);
