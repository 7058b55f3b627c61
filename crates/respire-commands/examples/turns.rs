//! What a request costs without sockets: whole turns of a session on the key-value commands, and
//! their parts, decoding and encoding.
//!
//! `cargo run --release -p respire-commands --example turns -- [load] [keys] [requests] [pipeline]`
//!
//! Loads: `ping`, `get`, `set`, `mget` (of eight keys), `mix` (256-byte values, ten reads to a write),
//! `decode`, `encode`; `binary-get` and `binary-set` in the binary protocol. With `-ahead` behind the
//! name, keys are looked ahead to, however few there are. It prints processor time. `cargo xtask instructions` counts instructions instead.
#![expect(clippy::print_stdout, reason = "a measurement is there to be printed")]

use nix::time::{ClockId, clock_gettime};
use resp_codec::{CommandDecoder, Encoder, Limits, Proto, Step, binary};
use respire_commands::{Kv, add_to};
use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router, Session};
use respire_store::{Config, Store};
use std::hint::black_box;
use std::time::Duration;

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// More turns than that would measure how fast requests are read from memory.
const TURNS_MAX: usize = 512;

struct Load {
    name: String,
    is_binary: bool,
    keys: usize,
    value: Vec<u8>,
    pipeline: usize,
}

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
    let load = Load {
        is_binary,
        keys,
        value: vec![b'x'; if name == "mix" { 256 } else { 3 }],
        pipeline,
        name: name.to_owned(),
    };
    let mut bench = Bench::new(whole_name.ends_with("-ahead"));
    bench.answer_all(&load.population());
    let turns: Vec<Vec<u8>> = (0..(requests / pipeline).clamp(1, TURNS_MAX))
        .map(|turn| load.turn(turn))
        .collect();
    let work = match name {
        "decode" => Bench::decode_all,
        "encode" => Bench::encode_all,
        _ => Bench::answer_all,
    };
    // The first calls of a command are timed, and buffers grow.
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

/// Where instructions are counted.
#[inline(never)]
fn measured(work: fn(&mut Bench, &[Vec<u8>]), bench: &mut Bench, turns: &[Vec<u8>]) {
    work(bench, turns);
}

/// What this thread has had of a processor, in nanoseconds: others on the machine do not count.
fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has one");
    Duration::from(time).as_nanos() as f64
}

fn now() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}

struct Bench {
    session: Session<Kv>,
    decoder: CommandDecoder,
    out: Output,
}

impl Bench {
    fn new(looks_ahead: bool) -> Self {
        let mut config = Config {
            shards: 1024,
            seed: [1, 2, 3, 4],
            ..Config::default()
        };
        if looks_ahead {
            config.cached_bytes = 0;
        }
        let router = add_to(Router::new(Kv::new(Store::new(config))));
        let engine = Engine::new(router, Options::default(), now());
        let session = engine
            .connect(Peer::default(), Box::new(NoWake), now())
            .expect("there is room for one");
        Self {
            session,
            decoder: CommandDecoder::new(Limits::SERVER),
            out: Output::new(),
        }
    }

    fn answer_all(&mut self, turns: &[Vec<u8>]) {
        for turn in turns {
            let step = self.session.serve(black_box(turn), now(), &mut self.out);
            assert_eq!(black_box(step), respire_engine::Step::NeedInput);
            assert!(self.out.first().first() != Some(&b'-'));
            self.out.advance(self.out.len());
        }
    }

    fn decode_all(&mut self, turns: &[Vec<u8>]) {
        for turn in turns {
            let mut rest = &turn[..];
            while let Ok(Step::Ready { item, consumed }) = self.decoder.decode(black_box(rest)) {
                black_box(item.len());
                rest = &rest[consumed..];
            }
            assert!(rest.is_empty());
        }
    }

    fn encode_all(&mut self, turns: &[Vec<u8>]) {
        for turn in turns {
            for _ in 0..turn.len() / ENCODED_REQUEST_BYTES {
                Encoder::new(&mut self.out, Proto::Resp2).bulk(black_box(&b"xxx"[..]));
            }
            self.out.advance(self.out.len());
        }
    }
}

/// `GET` and a key of [`Load::key`], as it is sent: for each a value of three bytes is encoded.
const ENCODED_REQUEST_BYTES: usize = 36;

impl Load {
    /// A `SET` of every key, in turns.
    fn population(&self) -> Vec<Vec<u8>> {
        let all: Vec<usize> = (0..self.keys).collect();
        let set = |bytes: &mut Vec<u8>, nth: &usize| self.set(bytes, &self.key(*nth));
        all.chunks(self.pipeline)
            .map(|chunk| {
                let mut bytes = Vec::new();
                chunk.iter().for_each(|nth| set(&mut bytes, nth));
                bytes
            })
            .collect()
    }

    /// One turn's requests, of keys in no order.
    fn turn(&self, turn: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for nth in turn * self.pipeline..(turn + 1) * self.pipeline {
            let key = self.random_key(nth);
            match self.name.as_str() {
                "ping" => resp_codec::command(&mut out, &[b"PING"]),
                "set" => self.set(&mut out, &key),
                "mix" if nth.is_multiple_of(11) => self.set(&mut out, &key),
                "mget" => {
                    let keys = (0..8).map(|at| self.random_key(nth * 8 + at));
                    let args: Vec<Vec<u8>> =
                        std::iter::once(b"MGET".to_vec()).chain(keys).collect();
                    resp_codec::command(&mut out, &args);
                }
                _ if self.is_binary => binary::write_get(&mut out, &key),
                _ => resp_codec::command(&mut out, &[b"GET", &key[..]]),
            }
        }
        out
    }

    fn set(&self, out: &mut Vec<u8>, key: &[u8]) {
        if self.is_binary {
            binary::write_set(out, key, &self.value);
        } else {
            resp_codec::command(out, &[b"SET", key, &self.value]);
        }
    }

    fn random_key(&self, nth: usize) -> Vec<u8> {
        let mut state = (nth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.key(((state ^ (state >> 31)) % self.keys as u64) as usize)
    }

    fn key(&self, number: usize) -> Vec<u8> {
        format!("key:{number:012}").into_bytes()
    }
}
