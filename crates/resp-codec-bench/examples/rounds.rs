//! A wasm module that runs the rounds; the bench `wasm` builds and drives it.
#![expect(unsafe_code, reason = "an exported name must not be given twice")]

use std::cell::RefCell;

use resp_codec_bench::rounds::{self, Round};

thread_local! {
    static ROUNDS: RefCell<Vec<Round>> = RefCell::new(rounds::all());
}

/// Runs round `index` `times` times.
#[unsafe(no_mangle)]
pub extern "C" fn run(index: usize, times: u32) -> usize {
    ROUNDS.with_borrow_mut(|rounds| rounds[index].run(times))
}
