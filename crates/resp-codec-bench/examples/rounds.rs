//! The rounds as a module for a wasm engine: built and driven by the bench `wasm`.
#![expect(unsafe_code, reason = "an exported name must not be given twice")]

use std::cell::RefCell;

use resp_codec_bench::rounds::{self, Round};

thread_local! {
    static ROUNDS: RefCell<Vec<Round>> = RefCell::new(rounds::all());
}

/// Runs round `index` so many times.
#[unsafe(no_mangle)]
pub extern "C" fn run(index: usize, times: u32) -> usize {
    ROUNDS.with_borrow_mut(|rounds| rounds[index].run(times))
}
