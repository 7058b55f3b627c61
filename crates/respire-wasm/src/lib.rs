//! The WebAssembly side of the protocol explorer: computes everything its page shows about bytes.
//!
//! The page (`web/`) is TypeScript; everything it says about bytes comes from here, and so from the
//! codec and the engine: this crate parses no bytes that they could parse. JavaScript calls the
//! functions of `bind`. The rest is an ordinary library, whose tests run natively.
//!
//! ```
//! use respire_wasm::Document;
//! let mut document = Document::new(1, 0).unwrap();
//! document.set_bytes(b"%1\r\n+a\r\n:1\r\n".to_vec()).unwrap();
//! document.parse(usize::MAX);
//! assert_eq!(document.path(9), "reply[0][0].value.digits");
//! assert_eq!(document.state(7).unwrap().text, "between CR and LF of the simple string");
//! ```
//!
//! Three modules are built, with one feature each: `document`, which the page loads first;
//! `capture`, loaded when a capture is opened; and `server`, the engine with all commands, loaded
//! when the console is opened.
//!
//! Where to start reading: [`Document`]; [`Server`]; `tables.rs` for the numbers passed to
//! JavaScript.

// Floor: functions that JavaScript calls
#[cfg(target_arch = "wasm32")]
mod bind;

// Floor: one part of the page each
#[cfg(feature = "capture")]
mod capture;
#[cfg(feature = "server")]
mod commands;
#[cfg(feature = "document")]
mod compare;
#[cfg(feature = "document")]
mod paste;
#[cfg(feature = "server")]
mod server;

// Floor: documents: bytes and their meaning
#[cfg(feature = "document")]
mod document;

// Floor: reading bytes and words
#[cfg(feature = "document")]
mod mode;
#[cfg(feature = "document")]
mod msgpack;
#[cfg(feature = "document")]
mod words;

// Floor: names, numbers, texts, the engine
#[cfg(feature = "server")]
mod engine;
#[cfg(feature = "document")]
mod names;
#[cfg(feature = "document")]
mod quote;
#[cfg(feature = "document")]
mod tables;

#[cfg(all(test, feature = "capture", feature = "document", feature = "server"))]
mod generated;

#[cfg(feature = "capture")]
pub use capture::{Capture, CaptureSummary, SEGMENT_WORDS, StreamSummary};
#[cfg(feature = "server")]
pub use commands::{ArgInfo, CommandInfo, command_table};
#[cfg(feature = "document")]
pub use compare::{Comparison, Cost, Form, Loss, compare_command};
#[cfg(feature = "document")]
pub use document::{
    DocError, Document, FRAME_WORDS, FixInfo, MARK_WORDS, NODE_WORDS, OpenValue, READ_WORDS, State,
    Verdict,
};
#[cfg(feature = "document")]
pub use mode::{guess_mode, guess_mode_number};
#[cfg(feature = "document")]
pub use msgpack::{MsgPack, MsgPackToken, msgpack};
#[cfg(feature = "document")]
pub use names::command_names;
#[cfg(feature = "document")]
pub use paste::{Guess, decode_as, guesses};
#[cfg(feature = "server")]
pub use server::{Progress, Server};
#[cfg(feature = "document")]
pub use tables::{ERRORS, FrameStatus, KINDS, Meaning, NodeKind, ROLES, Wire};
#[cfg(feature = "document")]
pub use words::{Words, encode_command, encode_words, split_words};
