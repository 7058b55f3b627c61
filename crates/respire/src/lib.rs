//! A key-value server that speaks RESP and a compact binary protocol, and the crates to build
//! your own.
//!
//! This crate is the door: it re-exports the others and runs their parts together. What it
//! deliberately does not have is behaviour of its own; the binary `respire-server` is this crate
//! with flags.
//!
//! ```no_run
//! use respire::commands::{Kv, add_to};
//! use respire::engine::{ArgList, Cx, Error, Reply, Router, Row, Spec};
//! use respire::serve::{self, Shutdown};
//! use respire::store::{Config, Store};
//!
//! // One command of one's own beside all of Redis's strings and keys.
//! static HELLO: Spec = Spec { name: "hi", summary: "Greets.", ..Spec::EMPTY };
//! fn hi(_: &mut Cx<'_, Kv>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
//!     reply.simple("hello");
//!     Ok(())
//! }
//!
//! fn main() -> std::io::Result<()> {
//!     let kv = Kv::new(Store::new(Config::default()));
//!     let router = add_to(Router::new(kv)).add(Row { spec: &HELLO, run: hi });
//!     serve::on(serve::Flavour::default(), router, "127.0.0.1:7000", Shutdown::on_signals()?)?;
//!     Ok(())
//! }
//! ```
//!
//! Features: `tokio` and `mio` are the two flavours, both on by default; one alone is used as it
//! is. `mimalloc` gives the binary its allocator.
//!
//! Where to start reading: [`serve`]; then [`server`] for what the flavours share, and [`engine`]
//! for what a request goes through.

#![forbid(unsafe_code)]

pub use respire_commands as commands;
pub use respire_engine as engine;
pub use respire_server as server;
pub use respire_store as store;

pub mod serve;

#[cfg(not(any(feature = "tokio", feature = "mio")))]
compile_error!("respire serves with a flavour: enable the feature `tokio`, `mio` or both");
