//! Sessions driven by lists of operations, and the corpus of the fuzzer that makes them.

mod checks;

use std::fs;
use std::path::Path;

/// Numbers that look random and are the same in each run.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(next).collect()
}

#[test]
fn whatever_a_driver_does_the_answers_are_the_same() {
    for seed in 0..400 {
        checks::check_session_ops(&bytes(seed, 40 + seed as usize));
    }
}

#[test]
fn sessions_of_one_engine_bear_whatever_is_done_to_them() {
    for seed in 0..200 {
        checks::check_sessions_together(&bytes(seed, 100 + seed as usize * 4));
    }
}

#[test]
fn corpus_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/session_ops");
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let input = fs::read(file.expect("it is listed").path()).expect("it is read");
        checks::check_session_ops(&input);
        checks::check_sessions_together(&input);
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}
