//! The sans-IO heart of Respire: bytes and the time go in, replies and a deadline come out.
//!
//! A [`Session`](driver::Session) is one connection without its socket; an [`Engine`] is what all connections
//! share; a [`Router`] holds the commands, each a [`Command`] with its [`Spec`]. Two servers, the
//! tests, the fuzzers and the protocol explorer run this very code.
//!
//! What it deliberately is not: it opens no socket, reads no clock, starts no thread, knows no
//! store and no runtime. Time comes in as [`Now`]; the few things only a process can do come in
//! as [`Host`] and [`Wake`].
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
//! Where to start reading: [`Session`](driver::Session) states the contract with a driver; `session/turn.rs` is one
//! turn; `session/dispatch.rs` takes a request to its command, and `command/run.rs` runs it.

#![forbid(unsafe_code)]

// Floor: the ways in, for drivers and for services with commands of their own
pub mod driver;
mod embed;

// Floor: a connection's bytes, and the commands every client library expects
mod redis;
mod session;

// Floor: what a command is, runs on and is run by
mod command;

// Floor: what is counted, timed and noted
mod observe;

// Floor: a connection as the others see it
mod client;

// Floor: what goes into a command, and what comes out
#[doc(hidden)]
#[path = "args/derive_support.rs"]
pub mod __derive;
mod args;
mod reply;

// Floor: what all of it is made of
mod error;
mod glob;
mod limits;
mod now;
pub mod secret;
mod settings;
mod spec;

pub use args::{ArgError, ArgIter, Args, FromArg, Rest, Words};
pub use client::guard::Denied;
pub use client::later::{BoxFuture, Later, Spawn};
pub use client::mailbox::WhenFull;
pub use client::pusher::{IntoPush, PushError, Pusher};
pub use client::transaction::WatchedKey;
pub use client::tunables::Tunables;
pub use client::{Client, ClientShared, Clients, Names, NoWake, Peer, Publisher, ReplyMode, Wake};
pub use command::app::App;
pub use command::authenticator::{Authenticator, PasswordMissing, Passwords};
pub use command::cx::{Cx, CxParts};
pub use command::engine::{Engine, Options};
pub use command::host::{Host, NoHost};
pub use command::keyspace::{Keyspace, NoKeys, SectionScope};
pub use command::layer::{End, Layer};
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

/// Makes a struct the arguments of a command.
#[cfg(feature = "derive")]
#[doc(inline)]
pub use respire_derive::EngineArgs as Args;
/// Makes an enum words that exclude each other.
#[cfg(feature = "derive")]
#[doc(inline)]
pub use respire_derive::EngineWords as Words;

/// The borrowed arguments of one request, as [`Command::call`] gets them.
pub use resp_codec::Args as ArgList;
pub use resp_codec::Proto;

/// Bytes that are shared instead of copied: as arguments and as replies.
pub use bytes::Bytes;

/// Holds the README's example to what compiles and passes.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
