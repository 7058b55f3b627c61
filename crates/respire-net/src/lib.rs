//! What both Respire servers share: the [`Server`] trait, configuration, limits, shutdown and
//! statistics, and the work of one connection ([`Connection`]) without its socket.
//!
//! What it deliberately is not: it waits for no socket and serves no client by itself; a flavour
//! does that. It knows no command and no protocol. It is the only crate that reads the clocks
//! ([`clock`]).
//!
//! ```
//! use respire_engine::{Engine, NoWake, Options, Output, Peer, Router};
//! use respire_net::{Connection, Limits, Pace, Scratch, Transport, clock};
//! use std::io::{self, IoSlice};
//!
//! /// A peer that sends PING once and reads the reply.
//! struct Peer1 { sent: bool, replies: Vec<u8> }
//! impl Transport for Peer1 {
//!     fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
//!         if std::mem::replace(&mut self.sent, true) {
//!             return Ok(0);
//!         }
//!         buffer[..6].copy_from_slice(b"PING\r\n");
//!         Ok(6)
//!     }
//!     fn read_onto(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
//!         unreachable!("its requests are short")
//!     }
//!     fn write_some(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
//!         self.replies.extend_from_slice(&slices[0]);
//!         Ok(slices[0].len())
//!     }
//!     fn finish(&mut self) {}
//! }
//!
//! let now = clock::now();
//! let engine = Engine::new(Router::new(()), Options::default(), now);
//! let session = engine.connect(Peer::default(), Box::new(NoWake), now).unwrap();
//! let mut connection = Connection::new(session, Limits::DEFAULT, now);
//! let mut scratch = Scratch::new(&Limits::DEFAULT);
//! let mut peer = Peer1 { sent: false, replies: Vec::new() };
//! while connection.drive(&mut peer, &mut scratch, now) != Pace::Closed {}
//! assert_eq!(peer.replies, b"+PONG\r\n");
//! ```
//!
//! Where to start reading: [`Connection::drive`] is one turn; `service.rs` decides which peers are
//! served.

#![forbid(unsafe_code)]

// Floor: starting, watching and stopping a server
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod process;
mod server;
mod supervise;

// Floor: state that all connections share
mod listeners;
mod service;

// Floor: one connection; configuration
mod config;
mod config_file;
mod connection;

// Floor: parts of connections and servers
#[cfg(feature = "http")]
pub mod http;
mod limits;
mod shutdown;
mod stats;
pub mod tap;
mod throttle;

// Floor: time
pub mod clock;

pub use config::{Config, ProtectedMode};
pub use config_file::{ConfigFile, Line, Mistake, Parsed};
pub use connection::{Arrival, Connection, Pace, Scratch, Transport, arrival_buffer};
pub use limits::{LimitRow, Limits};
pub use listeners::{Listeners, check_protected_mode};
pub use process::{Facts, Process};
pub use server::Server;
pub use service::{Origin, Refusal, Service};
pub use shutdown::Shutdown;
pub use stats::{Report, Stats};
pub use supervise::supervise;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
