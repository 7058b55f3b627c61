//! Measures `DUMP` and `RESTORE` of large values with different contents, without a socket.
//!
//! `cargo bench -p respire-commands --bench dump`; throughput is in bytes of the value. As a test
//! (`cargo test --benches`) each benchmark runs once, on a megabyte.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use respire_commands::{Kv, add_to};
use respire_engine::driver::{Session, SessionStep};
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
use respire_store::{Config, Store};
use std::time::Duration;

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: respire_alloc::Mimalloc = respire_alloc::Mimalloc;

fn now() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}

fn connect() -> Session<Kv> {
    let router = add_to(Router::new(Kv::new(Store::new(Config::default()))));
    Engine::new(router, Options::default(), now())
        .connect(Peer::default(), Box::new(NoWake), now())
        .expect("there is room for one")
}

fn answer(session: &mut Session<Kv>, request: &[&[u8]]) -> Output {
    let (mut bytes, mut out) = (Vec::new(), Output::new());
    resp_codec::command(&mut bytes, request);
    assert_eq!(
        session.serve(&bytes, now(), &mut out),
        SessionStep::NeedInput
    );
    assert_ne!(out.first().first(), Some(&b'-'));
    out
}

/// `len` random bytes out of `letters`.
fn random_bytes(len: usize, letters: &[u8]) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        letters[(state >> 33) as usize % letters.len()]
    };
    std::iter::repeat_with(next).take(len).collect()
}

fn values(len: usize) -> [(&'static str, Vec<u8>); 3] {
    let text: Vec<u8> = (0..)
        .flat_map(|number: u32| {
            let word = number.wrapping_mul(2_654_435_761) >> 20;
            format!("word{word} ").into_bytes()
        })
        .take(len)
        .collect();
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    [
        ("zeros", vec![0; len]),
        ("text", text),
        ("random bytes", random_bytes(len, &every_byte)),
    ]
}

fn dump(criterion: &mut Criterion) {
    let is_measured = std::env::args().any(|arg| arg == "--bench");
    let len = if is_measured { 100_000_000 } else { 1_000_000 };
    let mut group = criterion.benchmark_group("large value");
    group
        .sample_size(10)
        .throughput(Throughput::Bytes(len as u64));
    for (name, value) in values(len) {
        let mut session = connect();
        answer(&mut session, &[b"SET", b"k", &value]);
        group.bench_function(BenchmarkId::new("DUMP", name), |bencher| {
            bencher.iter(|| answer(&mut session, &[b"DUMP", b"k"]));
        });
        let payload = answer(&mut session, &[b"DUMP", b"k"]).to_vec();
        let start = payload.iter().position(|byte| *byte == b'\n');
        let payload = &payload[start.map_or(0, |end| end + 1)..payload.len() - 2];
        group.bench_function(BenchmarkId::new("RESTORE", name), |bencher| {
            bencher.iter(|| answer(&mut session, &[b"RESTORE", b"r", b"0", payload, b"REPLACE"]));
        });
    }
    group.finish();
}

criterion_group!(benches, dump);
criterion_main!(benches);
