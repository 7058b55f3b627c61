//! The RESP codec: RESP2, RESP3, inline commands and a compact binary protocol, zero-copy and resumable, without I/O.
//!
//! The caller owns the bytes; the codec owns offsets and counters only. A decoder is called with the
//! unconsumed bytes of a connection, always from the same start, and answers [`Step::Ready`] or
//! [`Step::NeedMore`]; it resumes where it stopped, so that any split of the input costs the same.
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
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod annotate;
mod args;
pub mod binary;
#[cfg(feature = "codec")]
mod codec;
mod command;
mod encode;
mod error;
mod event;
mod frame;
mod grammar;
mod hello;
mod kind;
mod limits;
pub mod lit;
mod nesting;
pub mod number;
mod sink;
mod step;
mod token;
mod value;
#[cfg(test)]
mod work;
mod write;

pub use args::{Args, ArgsIter, Span};
#[cfg(feature = "codec")]
pub use codec::{ClientCodec, CodecError, OwnedCommand, ServerCodec};
pub use command::{Command, CommandDecoder, PendingBulk};
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
pub use step::Step;
pub use token::Dialect;
pub use value::{Attributed, Pairs, Value, Values};
pub use write::{command, command_len};

/// RESP, learned by its bytes.
#[doc = include_str!("../docs/resp.md")]
pub mod guide {}
