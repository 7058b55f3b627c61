//! Inputs for the benches of `resp-codec`, and the codecs it is held against.
//!
//! Nothing is built without the feature `compare`:
//! `cargo bench -p resp-codec-bench --features hiredis`.
#![cfg(feature = "compare")]

#[cfg(feature = "hiredis")]
pub mod hiredis;
pub mod inputs;
