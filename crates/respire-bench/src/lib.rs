//! A load generator for any server of the Redis protocol.
//!
//! It sends what a [`workload::Workload`] says over as many connections as are asked for, from one thread that never
//! waits ([`engine`]), checks every reply, values included ([`check`]), and keeps latencies in HDR histograms
//! ([`stats`]). A closed loop finds out how much a server can do, an open loop ([`schedule`]) how long it takes at a
//! given rate, without coordinated omission. Servers are compared in interleaved rounds ([`compare`]). It knows no server
//! in particular, and of this project only `resp-codec`.
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
//! };
//! let (report, _) = load.run(|_| ()).unwrap();
//! assert!(report.is_sound());
//! print!("{report}");
//! ```
//!
//! # Invariants
//! - A load ends: by count or time, and by an error once a server has been silent for 10 seconds.
//! - What is sent follows from the workload and the seed alone; values follow from keys.
//! - Nothing is allocated per request in the steady state, and no reply is parsed that is what it should be.
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
