//! What one request costs without sockets: whole turns of a session on the key-value commands.
//!
//! `cargo run --release -p respire-commands --example turns -- [load] [keys] [requests] [pipeline]`
//!
//! Loads: `get`, `set`, `mget`, `mix` (256-byte values, ten reads to a write), `ping`. Under
//! `valgrind --tool=callgrind --toggle-collect='*answer_all*'` it counts the instructions.
#![expect(clippy::print_stdout, reason = "a measurement is there to be printed")]

use nix::time::{ClockId, clock_gettime};
use respire_commands::{Kv, add_to};
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router, Session};
use respire_store::{Config, Store};
use std::hint::black_box;
use std::time::Duration;

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut args = std::env::args().skip(1);
    let load = args.next().unwrap_or_else(|| "get".to_owned());
    let mut number = |default| {
        args.next()
            .and_then(|arg| arg.parse::<usize>().ok())
            .unwrap_or(default)
    };
    let (keys, requests, pipeline) = (number(1_000_000), number(4_000_000), number(64));
    let store = Store::new(Config {
        shards: 1024,
        seed: [1, 2, 3, 4],
        ..Config::default()
    });
    let engine = Engine::new(
        add_to(Router::new(Kv::new(store))),
        Options::default(),
        now(),
    );
    let mut session = engine
        .connect(Peer::default(), Box::new(NoWake), now())
        .expect("there is room for one");
    let value = vec![b'x'; if load == "mix" { 256 } else { 3 }];
    for turn in 0..keys.div_ceil(pipeline) {
        let mut bytes = Vec::new();
        for at in 0..pipeline {
            let key = key(turn * pipeline + at);
            resp_codec::command(&mut bytes, &[b"SET", &key[..], &value]);
        }
        answer(&mut session, &bytes);
    }
    // More turns than fit the caches would measure how fast requests are read from memory.
    let turns: Vec<Vec<u8>> = (0..(requests / pipeline).clamp(1, 512))
        .map(|turn| {
            let mut bytes = Vec::new();
            for at in 0..pipeline {
                request(&load, turn * pipeline + at, keys, &value, &mut bytes);
            }
            bytes
        })
        .collect();
    // The first calls of a command are timed, and buffers grow.
    (0..10_000 / turns.len() / pipeline + 1).for_each(|_| warm_up(&mut session, &turns));
    let mut best = f64::MAX;
    let rounds = (requests / pipeline / turns.len()).max(1);
    let began = cpu_ns();
    for round in 0..rounds {
        let began = cpu_ns();
        answer_all(&mut session, &turns);
        let took = (cpu_ns() - began) / (turns.len() * pipeline) as f64;
        best = if round == 0 { took } else { best.min(took) };
    }
    let mean = (cpu_ns() - began) / (rounds * turns.len() * pipeline) as f64;
    println!("{load}: {mean:.1} ns a request, {best:.1} in the best round");
}

/// What this thread has had of a processor, in nanoseconds: others on the machine do not count.
fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has one");
    Duration::from(time).as_nanos() as f64
}

#[inline(never)]
fn warm_up(session: &mut Session<Kv>, turns: &[Vec<u8>]) {
    turns.iter().for_each(|turn| answer(session, turn));
}

#[inline(never)]
fn answer_all(session: &mut Session<Kv>, turns: &[Vec<u8>]) {
    for turn in turns {
        answer(session, turn);
    }
}

fn answer(session: &mut Session<Kv>, bytes: &[u8]) {
    thread_local! {
        static OUT: std::cell::RefCell<Output> = const { std::cell::RefCell::new(Output::new()) };
    }
    OUT.with_borrow_mut(|out| {
        let _step = black_box(session.serve(black_box(bytes), now(), out));
        assert!(out.first().first() != Some(&b'-'));
        out.advance(out.len());
    });
}

fn request(load: &str, nth: usize, keys: usize, value: &[u8], out: &mut Vec<u8>) {
    let random = |nth: usize| {
        let mut state = (nth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ (state >> 31)) % keys as u64) as usize
    };
    let picked = key(random(nth));
    match load {
        "ping" => resp_codec::command(out, &[b"PING"]),
        "set" => resp_codec::command(out, &[b"SET", &picked[..], value]),
        "mix" if nth.is_multiple_of(11) => resp_codec::command(out, &[b"SET", &picked[..], value]),
        "mget" => {
            let keys: Vec<_> = (0..8).map(|at| key(random(nth * 8 + at))).collect();
            let args: Vec<&[u8]> = [&b"MGET"[..]]
                .into_iter()
                .chain(keys.iter().map(|key| &key[..]))
                .collect();
            resp_codec::command(out, &args);
        }
        _ => resp_codec::command(out, &[b"GET", &picked[..]]),
    }
}

fn key(number: usize) -> Vec<u8> {
    format!("key:{number:012}").into_bytes()
}

fn now() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}
