//! Measures the cost of a request without sockets: whole turns of a session on the key-value
//! commands, or only decoding or encoding.
//!
//! `cargo run --release -p respire-commands --example turns -- [load] [keys] [requests] [pipeline]`
//!
//! Loads: `ping`, `get`, `set`, `mix` (256-byte values, ten reads to a write), `dump` (of 4 KiB of one
//! byte), `transaction`, `publish`, `decode`, `encode`; `binary-get` and `binary-set` in the binary
//! protocol; `mget`, `exists`, `mset`, and `replace`, which is `DEL` and then `MSETNX`. The last four
//! name eight keys, or the number that follows the name, as in `mset100`. `zrange` (of ten elements by
//! rank), `zrank` and `zadd` have a sorted set of all keys. The suffix `-ahead` turns on
//! the look-ahead, however few keys there are. It prints processor time. `cargo xtask instructions`
//! counts instructions instead.
#![expect(clippy::print_stdout, reason = "a measurement is there to be printed")]

mod load;
mod served;

use load::Load;
use nix::time::{ClockId, clock_gettime};
use served::{Bench, engine};
use std::time::Duration;

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: respire_alloc::Mimalloc = respire_alloc::Mimalloc;

/// With more turns, the benchmark would measure how fast requests are read from memory.
const TURNS_MAX: usize = 512;

/// The number of keys of a request with many, unless the load's name gives another.
const MANY: usize = 8;

fn main() {
    let mut args = std::env::args().skip(1);
    let whole_name = args.next().unwrap_or_else(|| "get".to_owned());
    let mut number = |default| {
        args.next()
            .and_then(|arg| arg.parse::<usize>().ok())
            .unwrap_or(default)
    };
    let (keys, requests, pipeline) = (number(1_000_000), number(4_000_000), number(64));
    let name = whole_name.strip_suffix("-ahead").unwrap_or(&whole_name);
    let (name, is_binary) = match name.strip_prefix("binary-") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let (name, many) = match name.trim_end_matches(|digit: char| digit.is_ascii_digit()) {
        all if all == name => (name, MANY),
        start => (start, name[start.len()..].parse().unwrap_or(MANY)),
    };
    let value_bytes = match name {
        "mix" => 256,
        "dump" => 4096,
        _ => 3,
    };
    let load = Load {
        is_binary,
        many,
        keys,
        value: vec![b'x'; value_bytes],
        pipeline,
        name: name.to_owned(),
    };
    let mut bench = Bench::on(&engine(whole_name.ends_with("-ahead")));
    bench.answer_all(&load.population());
    let turns: Vec<Vec<u8>> = (0..(requests / pipeline).clamp(1, TURNS_MAX))
        .map(|turn| load.turn(turn))
        .collect();
    let work = match name {
        "decode" => Bench::decode_all,
        "encode" => Bench::encode_all,
        _ => Bench::answer_all,
    };
    // Warm up: the first calls of a command are timed, and buffers grow.
    (0..10_000 / turns.len() / pipeline + 1).for_each(|_| work(&mut bench, &turns));
    let rounds = (requests / pipeline / turns.len()).max(1);
    let times: Vec<f64> = (0..rounds)
        .map(|_| {
            let began = cpu_ns();
            measured(work, &mut bench, &turns);
            (cpu_ns() - began) / (turns.len() * pipeline) as f64
        })
        .collect();
    let mean = times.iter().sum::<f64>() / rounds as f64;
    let best = times.iter().copied().fold(f64::MAX, f64::min);
    println!("{whole_name}: {mean:.1} ns a request, {best:.1} in the best round");
}

/// `cargo xtask instructions` counts the instructions of this function.
#[inline(never)]
fn measured(work: fn(&mut Bench, &[Vec<u8>]), bench: &mut Bench, turns: &[Vec<u8>]) {
    work(bench, turns);
}

/// The processor time of this thread, in nanoseconds. Other programs on the machine do not count.
fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has one");
    Duration::from(time).as_nanos() as f64
}
