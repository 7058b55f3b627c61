//! Measures the cost of requests to a session, without a socket: codec, engine, commands and store
//! together.
//!
//! `cargo bench -p respire-commands`; throughput is in requests, where a transaction of two
//! commands counts as one. As a test (`cargo test --benches`) each benchmark runs once, on a
//! thousand keys.

#[path = "../examples/turns/load.rs"]
mod load;
#[path = "../examples/turns/served.rs"]
#[expect(
    dead_code,
    reason = "the parts of a session have benchmarks of their own"
)]
mod served;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use load::Load;
use respire_commands::Kv;
use respire_engine::driver::{Session, SessionEvent, SessionStep};
use respire_engine::{Engine, Output};
use served::{Bench, connect, engine, now};
use std::sync::Arc;
use std::time::Duration;

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: respire_alloc::Mimalloc = respire_alloc::Mimalloc;

/// The number of requests in all turns of a benchmark, with random keys.
const REQUESTS: usize = 32_768;

fn load(name: &str, keys: usize, pipeline: usize) -> Load {
    Load {
        name: name.to_owned(),
        is_binary: false,
        keys,
        value: b"xxx".to_vec(),
        pipeline,
        many: 8,
    }
}

/// Measures whole turns of a load.
fn turns(criterion: &mut Criterion, bench: &mut Bench, load: &Load) {
    let turns: Vec<[Vec<u8>; 1]> = (0..REQUESTS / load.pipeline)
        .map(|turn| [load.turn(turn)])
        .collect();
    let mut group = criterion.benchmark_group(format!("session/{}", load.name));
    group
        .throughput(Throughput::Elements(load.pipeline as u64))
        .measurement_time(Duration::from_secs(2));
    let parameter = format!("{} keys, pipeline {}", load.keys, load.pipeline);
    group.bench_function(BenchmarkId::from_parameter(parameter), |bencher| {
        let mut next = turns.iter().cycle();
        bencher.iter(|| bench.answer_all(next.next().expect("a cycle has no end")));
    });
    group.finish();
}

fn requests(criterion: &mut Criterion) {
    let is_measured = std::env::args().any(|arg| arg == "--bench");
    let sizes: &[usize] = if is_measured {
        &[1_000, 1_000_000]
    } else {
        &[1_000]
    };
    for &keys in sizes {
        let mut bench = Bench::on(&engine(false));
        bench.answer_all(&load("set", keys, 64).population());
        for name in ["ping", "get", "set", "mget", "transaction"] {
            for pipeline in [1, 64] {
                turns(criterion, &mut bench, &load(name, keys, pipeline));
            }
        }
    }
}

/// Measures a message to a number of subscribers, and its output to each.
fn publish(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("session/publish");
    group
        .throughput(Throughput::Elements(1))
        .measurement_time(Duration::from_secs(2));
    for subscribers in [0, 1, 100] {
        let engine = engine(false);
        let mut bench = Bench::on(&engine);
        let mut listeners: Vec<_> = (0..subscribers).map(|_| subscriber(&engine)).collect();
        let message = [load("publish", 1, 1).turn(0)];
        let parameter = format!("{subscribers} subscribers");
        group.bench_function(BenchmarkId::from_parameter(parameter), |bencher| {
            bencher.iter(|| {
                bench.answer_all(&message);
                for (session, out) in &mut listeners {
                    let step = session.serve(SessionEvent::Turn, now(), out);
                    assert!(step == SessionStep::NeedInput && !out.is_empty());
                    out.advance(out.len());
                }
            });
        });
    }
    group.finish();
}

fn subscriber(engine: &Arc<Engine<Kv>>) -> (Session<Kv>, Output) {
    let mut session = connect(engine);
    let mut out = Output::new();
    let step = session.serve(b"SUBSCRIBE news\r\n", now(), &mut out);
    assert_eq!(step, SessionStep::NeedInput);
    out.advance(out.len());
    (session, out)
}

criterion_group!(benches, requests, publish);
criterion_main!(benches);
