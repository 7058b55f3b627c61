//! Shared test tools of Respire: transcripts and their runner, targets, and random comparison with
//! Redis.
//!
//! A [`script`] is a readable transcript: requests, the expected replies byte for byte, and how the
//! clock moves in between. The [`runner`] plays it against a [`target`]: the engine without
//! sockets, the engine with input in pieces, a server of either flavour, or a real `redis-server`.
//! The [`differential`] module sends random commands to the engine and to Redis and compares the
//! replies.
//!
//! What it deliberately is not: a part of the product. No crate depends on it, it is not published,
//! and it reads replies with its own decoder ([`reply`]), so that a bug of the codec cannot hide
//! itself.
//!
//! ```
//! use respire_testkit::{runner, script::Script, target::EngineTarget};
//!
//! let script = Script::parse("example", "== a value comes back\n> SET k v\n< +OK\n> GET k\n< $1\n< v\n")?;
//! let failures = runner::run(&script, &mut EngineTarget::whole());
//! assert!(failures.is_empty(), "{failures:?}");
//! # Ok::<(), respire_testkit::script::ScriptError>(())
//! ```
//!
//! Where to start reading: `scripts/*.resp` for what is tested, [`script`] for the notation.

#![forbid(unsafe_code)]

// Floor: entry points of the tests
pub mod differential;
pub mod documents;
pub mod examples;
pub mod exemptions;
pub mod runner;

// Floor: scripts, the targets they run on, expected replies
pub mod pattern;
pub mod script;
pub mod target;

// Floor: notation of bytes; a reply decoder of its own
pub mod quoting;
pub mod reply;
