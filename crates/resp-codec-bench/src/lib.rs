//! Inputs and decoding loops for the benches of `resp-codec`, and the codecs it is compared with.
//!
//! Without the features `compare`, `hiredis` or `wasm` this crate is empty: `cargo bench -p
//! resp-codec-bench --features hiredis` compares the codec with others, `cargo bench -p
//! resp-codec-bench --features wasm` compares wasm with native code.
#![cfg(any(feature = "compare", feature = "wasm"))]

pub mod drain;
#[cfg(feature = "hiredis")]
pub mod hiredis;
pub mod inputs;
#[cfg(feature = "wasm")]
pub mod rounds;
