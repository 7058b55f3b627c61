//! The codec of RESP: RESP2, RESP3, inline commands and a compact binary protocol, zero-copy and
//! resumable, without I/O.
//!
//! The caller owns the bytes; the codec owns offsets and counters only. A decoder is called with the
//! bytes of a connection that are not consumed yet, always from the same start, and answers
//! [`Step::Ready`] or [`Step::NeedMore`]; it goes on where it stopped.
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
//! * A server: [`CommandDecoder`] and [`Encoder`]; [`Hello`] for the protocol's version.
//! * A client: [`command`] and [`FrameDecoder`]; [`Frame`] borrows, [`Value`] owns.
//! * A proxy: [`EventDecoder`] where values may be larger than memory, [`Frame::wire`] and
//!   [`Frame::encode`] to pass values on.
//! * Something for people: [`annotate`](annotate::annotate) names every byte,
//!   [`diagnose`](annotate::diagnose) says what was expected and what might mend it.
//! * Something that runs: [`examples`] has a whole client, a proxy and an echo server.
//! * RESP itself: [`guide`].
//!
//! # Invariants
//! * Any split of the input gives the same items and the same errors at the same offsets, and costs
//!   at most two looks at each byte and 24 a call.
//! * Nothing recurses, neither decoding nor dropping, cloning, comparing or printing a [`Value`].
//! * Every limit is checked before anything is reserved; an announced count reserves nothing.
//! * No allocation per request or reply once a decoder has seen its largest.
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

/// RESP, learned by its bytes.
#[doc = include_str!("../docs/resp.md")]
pub mod guide {}

/// Whole programs on this crate, as they stand in its folder `examples/`.
///
/// # A client over `std::net`
///
/// Any Redis, in a page: a buffer, a decoder, and a loop around [`FrameDecoder::decode`].
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
