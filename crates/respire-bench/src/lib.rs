//! A load generator for any server of the Redis protocol.
//!
//! It sends the requests of a [`workload::Workload`] over a given number of connections, from one
//! thread that never blocks ([`engine`]), checks every reply, values included ([`check`]), and
//! keeps latencies in HDR histograms ([`stats`]). A closed loop measures the throughput of a
//! server, an open loop ([`schedule`]) its latency at a given rate, without coordinated omission.
//! [`compare`] compares servers in interleaved rounds. The crate knows no particular server; of
//! this project it uses only `resp-codec`.
//!
//! ```no_run
//! use respire_bench::check::Verify;
//! use respire_bench::engine::{Bound, Load};
//! use respire_bench::target::Login;
//! use respire_bench::workload::Workload;
//!
//! let load = Load {
//!     target: "127.0.0.1:6379".parse().unwrap(),
//!     login: Login::default(),
//!     workload: Workload::mixed(1, 10),
//!     verify: Verify::Values,
//!     clients: 50,
//!     threads: 1,
//!     bound: Bound::requests(100_000),
//!     rate: None,
//!     seed: 1,
//!     logging: false,
//!     beside: None,
//! };
//! let (report, _) = load.run(|_| ()).unwrap();
//! assert!(report.is_sound());
//! print!("{report}");
//! ```
//!
//! # Invariants
//! - A load ends: by count or time, and by an error once a server has been silent for 10 seconds.
//! - The workload and the seed alone determine every request; values follow from keys.
//! - In the steady state no request allocates, and an expected reply is not parsed.
//!
//! Start reading in [`workload`], then `engine/worker.rs`.

// Floor: from the command line to the output
pub mod app;

// Floor: runs of several loads, and a server to compare with
pub mod compare;
pub mod null;

// Floor: command line
pub mod cli;

// Floor: running a load and showing it
pub mod engine;
pub mod launch;
pub mod plot;
pub mod progress;
pub mod schedule;

// Floor: measurements
pub mod stats;

// Floor: requests, targets, checks of replies
pub mod check;
pub mod target;
pub mod workload;

// Floor: system and errors
pub mod error;
pub mod os;
