//! The sans-IO core of Respire: it takes bytes and the time, and returns replies and a deadline.
//!
//! A [`Session`](driver::Session) is one connection without its socket. An [`Engine`] is the state
//! that all connections share. A [`Router`] holds the commands, each a [`Command`] with its
//! [`Spec`]. Two servers, the tests, the fuzzers and the protocol explorer run this same code.
//!
//! What it deliberately is not: it opens no socket, reads no clock, starts no thread, and uses no
//! store and no runtime. Drivers pass the time as [`Now`]; the functions that need a process are in
//! [`Host`] and [`Wake`].
//!
//! ```
//! use respire_engine::{App, ArgList, Cx, Engine, Error, NoKeys, NoWake, Now, Options, Output, Peer};
//! use respire_engine::driver::{Session, SessionStep};
//! use respire_engine::{Arity, Reply, Router, Row, Spec};
//! use std::time::Duration;
//!
//! struct Doubler;
//! impl App for Doubler {
//!     type Conn = ();
//!     type Keys = NoKeys;
//! }
//! static DOUBLE: Spec = Spec { name: "double", arity: Arity::exactly(2), ..Spec::EMPTY };
//! fn double(_: &mut Cx<'_, Doubler>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
//!     let number = resp_codec::number::parse_i64(&args[0]).ok_or(respire_engine::text::NOT_AN_INTEGER)?;
//!     reply.int(number.saturating_mul(2));
//!     Ok(())
//! }
//!
//! let now = Now::new(Duration::ZERO, Duration::ZERO);
//! let router = Router::new(Doubler).add(Row { spec: &DOUBLE, run: double });
//! let engine = Engine::new(router, Options::default(), now);
//! let mut session = engine.connect(Peer::default(), Box::new(NoWake), now).unwrap();
//! let mut out = Output::new();
//! assert_eq!(session.serve(b"DOUBLE 21\r\n", now, &mut out), SessionStep::NeedInput);
//! assert_eq!(out.to_vec(), b":42\r\n");
//! ```
//!
//! Where to start reading: [`Session`](driver::Session) states the contract with a driver,
//! `session/turn.rs` is one turn, `session/dispatch.rs` takes a request to its command, and
//! `command/run.rs` runs it.

#![forbid(unsafe_code)]

// Floor: interfaces for drivers and for services with their own commands
pub mod driver;
mod embed;

// Floor: sessions, and the commands that every client library expects
mod redis;
mod session;

// Floor: commands, their table and the engine that runs them
mod command;

// Floor: statistics and logs
mod observe;

// Floor: connections, and messages between them
mod client;

// Floor: arguments and replies
#[doc(hidden)]
#[path = "args/derive_support.rs"]
pub mod __derive;
mod args;
mod reply;

// Floor: basic types
mod error;
mod glob;
mod limits;
mod now;
pub mod secret;
mod settings;
mod spec;

pub use args::{ArgError, ArgIter, Args, FromArg, Rest, Words};
pub use client::gates::{Gate, GateKind};
pub use client::guard::Denied;
pub use client::later::{BoxFuture, Later, Spawn};
pub use client::mailbox::WhenFull;
pub use client::pusher::{IntoPush, PushError, Pusher};
pub use client::transaction::WatchedKey;
pub use client::tunables::Tunables;
pub use client::{Client, ClientShared, Clients, Names, NoWake, Peer, Publisher, ReplyMode, Wake};
pub use command::app::App;
pub use command::authenticator::{Authenticator, PasswordMissing, Passwords};
pub use command::calls::{Callee, Calls, NotFound};
pub use command::commits::Commits;
pub use command::cx::{Cx, CxParts};
pub use command::engine::{Engine, Options};
pub use command::extension::Extension;
pub use command::host::{Host, NoHost};
pub use command::keeper::{Keeper, ShutdownCall, ShutdownOptions};
pub use command::keyspace::{Keyspace, NoKeys, SectionScope, Widen, WideningBody};
pub use command::layer::{End, Layer};
pub use command::long_calls::{LongCall, Relief};
pub use command::long_work::{BeginLongWork, LongWork};
pub use command::row::{Command, Flow, KeyPositions, Row, Run, keys_by_spec};
pub use command::table::{CommandEntry, CommandTable};
#[cfg(feature = "msgpack")]
pub use embed::msgpack::Mp;
pub use embed::router::Router;
pub use embed::test_client::{IntoRequest, Like, TestClient, TestReply};
pub use error::{Error, text};
pub use glob::glob_match;
pub use limits::Limits;
pub use now::Now;
pub use observe::info::InfoWriter;
pub use observe::metrics::{self, Metrics};
pub use observe::unknown::Unknown;
pub use reply::output::{Mark, Output, SHARED_BYTES_MIN};
pub use reply::stream::{Body, Broken, Stream};
pub use reply::{
    Attributed, BigNumber, IntoReply, Map, NotANumber, Null, Reply, Set, Status, Verbatim,
};
pub use settings::{Setting, parse_memory};
pub use spec::{
    Arg, ArgKind, Arity, Example, Flags, Group, KeyBegin, KeyFind, KeyFlag, KeySpec, Spec,
};

/// Derives [`Args`] for a struct.
#[cfg(feature = "derive")]
#[doc(inline)]
pub use respire_derive::EngineArgs as Args;
/// Derives [`Words`] for an enum.
#[cfg(feature = "derive")]
#[doc(inline)]
pub use respire_derive::EngineWords as Words;

/// The borrowed arguments of one request, as passed to [`Command::call`].
pub use resp_codec::Args as ArgList;
pub use resp_codec::Proto;

/// Shared bytes that are not copied, as arguments and as replies.
pub use bytes::Bytes;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
