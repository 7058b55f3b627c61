//! A key-value server that speaks RESP and a compact binary protocol, and the crates to build
//! your own.
//!
//! This crate is the front door: it re-exports the other crates and runs them together. It
//! deliberately has no behaviour of its own; the binary `respire-server` is this crate with flags.
//!
//! A server with your own commands, on Tokio or on mio:
//!
#![cfg_attr(feature = "derive", doc = "```no_run")]
#![cfg_attr(not(feature = "derive"), doc = "```ignore")]
//! use respire::serve::{self, Flavour, Shutdown};
//! use respire::{App, Args, Bytes, Error, NoKeys, Router};
//! use std::collections::HashMap;
//! use std::sync::Mutex;
//!
//! #[derive(Default)]
//! struct Buckets(Mutex<HashMap<Bytes, i64>>);
//! impl App for Buckets {
//!     type Conn = ();
//!     type Keys = NoKeys;
//! }
//!
//! /// Takes tokens from a bucket.
//! #[derive(Args)]
//! #[args(write)]
//! struct Take {
//!     #[arg(key)]
//!     bucket: Bytes,
//!     #[arg(min = 1)]
//!     n: i64,
//!     #[arg(word = "BURST", default = 100)]
//!     burst: i64,
//! }
//!
//! fn main() -> std::io::Result<()> {
//!     let router = Router::new(Buckets::default()).command("LIMIT.TAKE", |cx, take: Take| {
//!         let mut buckets = cx.app().0.lock().map_err(|_| Error::fixed("ERR no buckets"))?;
//!         let left = buckets.entry(take.bucket).or_insert(take.burst);
//!         if *left < take.n {
//!             return Err(Error::new("LIMITED", format_args!("left={left}")));
//!         }
//!         *left -= take.n;
//!         Ok(*left)
//!     });
//!     serve::on(Flavour::default(), router, "127.0.0.1:7000", Shutdown::on_signals()?)?;
//!     Ok(())
//! }
//! ```
//!
//! Or all of Redis's string and key commands, with your own, on one port:
//!
//! ```
//! use respire::commands::{Kv, add_to};
//! use respire::store::{Config, Store};
//! use respire::Router;
//!
//! let kv = Kv::new(Store::new(Config::default()));
//! let router = add_to(Router::new(kv)).command("HI", |_, ()| "hello");
//! ```
//!
//! Features: `tokio` and `mio` are the two flavours, both on by default; with only one, that one is
//! used. `derive` (the derive macros), `msgpack` (`Mp<T>`), `metrics` (the listener that Prometheus
//! scrapes) and `explorer` (the page that shows the protocol, and a server's traffic) are on by
//! default. `mimalloc` gives the binary its allocator.
//!
//! The guide [docs/embedding.md](https://github.com/respire-kv/respire/blob/main/docs/embedding.md) goes
//! from the first command to a deployed service.
//!
//! Where to start reading: [`Router`] for your own commands, [`Args`](trait@Args) and [`IntoReply`]
//! for their arguments and replies; [`serve`] for running them; then [`net`] for what the flavours
//! share, and [`engine`] for the path of a request.

#![forbid(unsafe_code)]

pub use respire_commands as commands;
pub use respire_disk as disk;
pub use respire_engine as engine;
#[cfg(feature = "explorer")]
pub use respire_explorer as explorer;
pub use respire_net as net;
#[cfg(feature = "scripts")]
pub use respire_script as script;
pub use respire_store as store;

#[doc(inline)]
pub use respire_engine::*;

// By name, so that they precede the engine's, which are for users of the engine alone.
#[cfg(feature = "derive")]
pub use respire_derive::{Args, Words};

pub mod serve;

#[cfg(not(any(feature = "tokio", feature = "mio")))]
compile_error!("respire serves with a flavour: enable the feature `tokio`, `mio` or both");

/// Compiles and runs the code of the guide.
#[cfg(all(
    doctest,
    feature = "tokio",
    feature = "mio",
    feature = "derive",
    feature = "msgpack"
))]
#[doc = include_str!("../docs/embedding.md")]
struct Guide;

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "derive"))]
#[doc = include_str!("../README.md")]
struct Readme;
