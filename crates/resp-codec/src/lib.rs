//! The codec of RESP, the protocol of Redis and Valkey: RESP2, RESP3, inline commands and a compact
//! binary protocol. It is zero-copy and resumable, and does no I/O.
//!
//! The caller owns the bytes; the codec stores only offsets and counters. Call a decoder with the
//! bytes of a connection that it has not consumed yet, always from the same start. It returns
//! [`Step::Ready`] or [`Step::NeedMore`]; the next call continues where it stopped.
//!
//! ```
//! use resp_codec::{CommandDecoder, Encoder, Limits, Proto, Step};
//!
//! let mut decoder = CommandDecoder::new(Limits::SERVER);
//! let input = b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
//! let mut reply = Vec::new();
//! match decoder.decode(input).unwrap() {
//!     Step::Ready { item, consumed } => {
//!         assert_eq!(consumed, input.len());
//!         assert_eq!(item.name(), b"GET");
//!         Encoder::new(&mut reply, Proto::Resp2).bulk(&item.args()[1]);
//!     }
//!     Step::NeedMore { .. } => unreachable!("the request is whole"),
//! }
//! assert_eq!(reply, b"$3\r\nkey\r\n");
//! ```
//!
//! # Where to start
//! * A server: [`CommandDecoder`] and [`Encoder`]; [`Hello`] to negotiate the protocol version.
//! * A client: [`command`] and [`FrameDecoder`]; [`Frame`] borrows, [`Value`] owns.
//! * A proxy: [`EventDecoder`] if values may be larger than memory, [`Frame::wire`] and
//!   [`Frame::encode`] to forward values.
//! * Output for people: [`annotate`](annotate::annotate) labels every byte,
//!   [`diagnose`](annotate::diagnose) says what was expected and suggests fixes.
//! * Complete programs: [`examples`] has a client, a proxy and an echo server.
//! * RESP itself: [`guide`].
//!
//! # Invariants
//! * Any split of the input gives the same items and the same errors at the same offsets. A decoder
//!   examines each byte at most twice, plus 24 bytes per call.
//! * Nothing recurses: not decoding, nor dropping, cloning, comparing or printing a [`Value`].
//! * Every limit is checked before memory is reserved; an announced count reserves no memory.
//! * A decoder does not allocate per request or reply once it has decoded its largest.
//! * A decoder that failed stays failed until it is reset.
//!
//! # What it does not do
//! No sockets, no clock, no threads, no commands: `SET` is a string like any other here.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

// Floor: explanations for people; tokio-util
pub mod annotate;
#[cfg(feature = "codec")]
mod codec;

// Floor: owned values
mod value;

// Floor: decoders: bytes in, requests and replies out
pub mod binary;
mod command;
mod event;
mod frame;
mod hello;

// Floor: encoders: requests and replies in, bytes out
mod encode;
mod write;

// Floor: grammar: lines, tokens, nesting
mod grammar;
mod nesting;
mod token;

// Floor: basics
mod args;
mod error;
mod kind;
mod limits;
pub mod lit;
pub mod number;
mod sink;
mod step;

#[cfg(test)]
mod work;

pub use args::{Args, ArgsIter, Span};
#[cfg(feature = "codec")]
pub use codec::{ClientCodec, CodecError, OwnedCommand, ServerCodec};
pub use command::{Command, CommandDecoder};
pub use encode::{Encoder, Proto};
pub use error::{Error, ErrorKind};
pub use event::{Event, EventDecoder, Scalar};
#[cfg(feature = "bytes")]
pub use frame::OwnedFrame;
pub use frame::{Children, Chunks, Frame, FrameDecoder, Pairs as FramePairs};
pub use hello::{Hello, HelloError, ServerHello};
pub use kind::{Kind, NullForm};
pub use limits::Limits;
pub use sink::{Sink, SliceSink};
pub use step::{PendingBulk, Step};
pub use token::Dialect;
pub use value::{Attributed, Pairs, Value, Values};
pub use write::{command, command_len};

/// A guide to RESP that shows every type by its bytes.
#[doc = include_str!("../docs/resp.md")]
pub mod guide {}

/// Complete programs that use this crate, included from its folder `examples/`.
///
/// # A client over `std::net`
///
/// A client for any Redis in one page: a buffer, a decoder, and a loop around
/// [`FrameDecoder::decode`].
///
/// ```no_run
#[doc = include_str!("../examples/client.rs")]
/// ```
///
/// # A proxy that counts commands
///
/// ```no_run
#[doc = include_str!("../examples/count_proxy.rs")]
/// ```
///
/// # A capture, explained
///
/// ```no_run
#[doc = include_str!("../examples/capture.rs")]
/// ```
#[cfg_attr(feature = "codec", doc = "# An echo server on tokio-util")]
#[cfg_attr(feature = "codec", doc = "```no_run")]
#[cfg_attr(feature = "codec", doc = include_str!("../examples/framed_echo.rs"))]
#[cfg_attr(feature = "codec", doc = "```")]
pub mod examples {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
