//! Redis's commands on the Respire store, as one set of rows for the engine's router.
//!
//! The rows cover strings, bits, keys and the keyspace as a whole, with the replies and the error
//! texts of Redis 7.0. The engine itself has the commands about connections, transactions and the
//! server.
//!
//! What it deliberately is not: it knows no protocol (a command replies with *null* or *map*, and
//! the engine encodes it), opens no socket and reads no clock. It adds its rows to the router by
//! the same way as an embedder.
//!
//! ```
//! use respire_commands::{Kv, add_to};
//! use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
//! use respire_store::{Config, Store};
//! use std::time::Duration;
//!
//! let kv = Kv::new(Store::new(Config::default()));
//! let now = Now::new(Duration::ZERO, Duration::from_secs(1_700_000_000));
//! let engine = Engine::new(add_to(Router::new(kv)), Options::default(), now);
//! let mut session = engine.connect(Peer::default(), Box::new(NoWake), now).unwrap();
//! let mut out = Output::new();
//! let _step = session.serve(b"SET greeting hello EX 60\r\nGET greeting\r\n", now, &mut out);
//! assert_eq!(out.to_vec(), b"+OK\r\n$5\r\nhello\r\n");
//! ```
//!
//! Where to start reading: `table.rs` describes how to add a command; `string/get.rs` is a complete
//! command; `ctx.rs` has the context of a command, and `options.rs` parses its arguments.

#![forbid(unsafe_code)]

// Floor: the service as the engine sees it, and values for files
mod app;
mod info;
mod monitor;
pub mod payload;
mod table;

// Floor: commands, one folder per family
mod bit;
mod geo;
mod hash;
mod hll;
mod key;
mod list;
mod server;
mod set;
#[cfg(feature = "toy")]
mod stack;
mod stream;
mod string;
mod zset;

// Floor: the context, the state and the settings of commands
mod block;
mod ctx;
mod family;
mod kv;
mod settings;
mod streamed;
mod unlocked;

// Floor: what commands on keys need from each type of value
mod digest;
mod rdb;
mod value_type;

// Floor: parts that all of the above use
mod errors;
mod extended;
mod help;
mod notify;
mod options;
mod pace;
mod scan_options;
mod stats;
mod value;
mod work;

#[cfg(all(test, feature = "toy"))]
mod lock_time;

pub(crate) use ctx::Ctx;
pub use kv::{HasKv, Kv, view};
pub use notify::EventClass;

use respire_engine::{Command, Router};

/// Adds every command of this crate to a router. It replaces commands of the same name.
///
/// ```
/// use respire_commands::{Kv, add_to};
/// use respire_engine::Router;
/// use respire_store::{Config, Store};
///
/// let router = add_to(Router::new(Kv::new(Store::new(Config::default()))));
/// assert_eq!(router.app().store().databases(), 16);
/// ```
#[must_use]
pub fn add_to<A: HasKv>(router: Router<A>) -> Router<A> {
    let router = table::rows().fold(router, |router, row| router.add(*row));
    table::containers().fold(router, |router, (container, subcommands)| {
        let subcommands = subcommands
            .iter()
            .map(|row| Box::new(*row) as Box<dyn Command<A>>);
        router.container(*container, subcommands)
    })
}

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
