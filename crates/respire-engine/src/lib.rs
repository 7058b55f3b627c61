//! The sans-IO heart of Respire: bytes and the time go in, replies and a deadline come out.
//!
//! A [`Session`] is one connection without its socket; an [`Engine`] is what all connections
//! share; a [`Router`] holds the commands, each a [`Command`] with its [`Spec`]. Two servers, the
//! tests, the fuzzers and the protocol explorer run this very code.
//!
//! What it deliberately is not: it opens no socket, reads no clock, starts no thread, knows no
//! store and no runtime. Time comes in as [`Now`]; the few things only a process can do come in
//! as [`Host`] and [`Wake`].
//!
//! ```
//! use respire_engine::{App, ArgList, Cx, Engine, Error, NoKeys, NoWake, Now, Options, Output, Peer};
//! use respire_engine::{Arity, Reply, Router, Row, Session, Spec, Step};
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
//! assert_eq!(session.serve(b"DOUBLE 21\r\n", now, &mut out), Step::NeedInput);
//! assert_eq!(out.to_vec(), b":42\r\n");
//! ```
//!
//! Where to start reading: [`Session`] states the contract with a driver; `session/turn.rs` is one
//! turn; `session/dispatch.rs` takes a request to its command.

#![forbid(unsafe_code)]

#[doc(hidden)]
#[path = "derive_support.rs"]
pub mod __derive;
mod app;
mod args;
mod authenticator;
mod builtin;
mod client;
mod clients;
mod command;
mod cx;
mod engine;
mod error;
mod glob;
mod guard;
mod histogram;
mod host;
mod info;
mod keyspace;
mod latency;
mod later;
mod layer;
mod limits;
mod mailbox;
pub mod metrics;
mod monitor;
#[cfg(feature = "msgpack")]
mod msgpack;
mod now;
mod output;
mod pause;
mod pubsub;
mod pusher;
mod reply;
mod router;
mod run;
mod sampler;
pub mod secret;
mod session;
mod settings;
mod shape;
mod slowlog;
mod spec;
mod stats;
mod stream;
mod table;
mod test_client;
mod transaction;
mod tunables;
mod typed;
mod unknown;

pub use app::App;
pub use args::{ArgError, ArgIter, Args, FromArg, Rest, Words};
pub use authenticator::{Authenticator, PasswordMissing, Passwords};
pub use client::{Client, ClientShared, Names, Peer, ReplyMode};
pub use clients::Clients;
pub use command::{Command, Flow, KeyPositions, Row, Run, keys_by_spec};
pub use cx::{Cx, CxParts};
pub use engine::{Engine, Options};
pub use error::{Error, text};
pub use glob::glob_match;
pub use guard::Denied;
pub use host::{Host, NoHost, NoWake, Wake};
pub use info::InfoWriter;
pub use keyspace::{Keyspace, NoKeys, Scope, Watch};
pub use later::{BoxFuture, Later, Spawn};
pub use layer::{End, Layer};
pub use limits::Limits;
pub use mailbox::WhenFull;
pub use metrics::Metrics;
#[cfg(feature = "msgpack")]
pub use msgpack::Mp;
pub use now::Now;
pub use output::{Mark, Output, SHARED_BYTES_MIN};
pub use pusher::{IntoPush, PushError, Pusher};
pub use reply::{Attributed, BigNumber, IntoReply, Map, NotANumber, Null, Set, Status, Verbatim};
pub use router::Router;
pub use session::{Ahead, CloseReason, Session, Step};
pub use settings::{Setting, parse_memory};
pub use spec::{Arg, ArgKind, Arity, Example, Flags, Group, KeyBegin, KeyFind, KeySpec, Spec};
pub use stream::{Body, Broken, Stream};
pub use table::{CommandTable, Entry};
pub use test_client::{IntoRequest, Like, TestClient, TestReply};
pub use tunables::Tunables;
pub use unknown::Unknown;

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

/// What a command writes its reply to; shapes of RESP3 degrade by themselves for RESP2 peers.
pub type Reply<'o> = resp_codec::Encoder<'o, Output>;

/// Holds the README's example to what compiles and passes.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
