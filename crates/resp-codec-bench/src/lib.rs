//! Inputs for the benches of `resp-codec`, and the codecs it is held against.
//!
//! Nothing is built without the features `compare`, `hiredis` or `wasm`:
//! `cargo bench -p resp-codec-bench --features hiredis` holds the codec against others,
//! `cargo bench -p resp-codec-bench --features wasm` holds wasm against native code.
#![cfg(any(feature = "compare", feature = "wasm"))]

pub mod drain;
#[cfg(feature = "hiredis")]
pub mod hiredis;
pub mod inputs;
#[cfg(feature = "wasm")]
pub mod rounds;
