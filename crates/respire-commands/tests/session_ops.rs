//! Drives sessions by random lists of operations, and by the corpus of the fuzzer.

mod checks;

use std::fs;
use std::path::Path;

/// Pseudo-random bytes, the same in each run.
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
fn replies_do_not_depend_on_the_operations_of_the_driver() {
    for seed in 0..400 {
        checks::check_session_ops(&bytes(seed, 40 + seed as usize));
    }
}

#[test]
fn no_operation_makes_sessions_of_one_engine_panic() {
    for seed in 0..200 {
        checks::check_sessions_together(&bytes(seed, 100 + seed as usize * 4));
    }
}

#[test]
fn corpus_of_the_fuzzer_passes_both_checks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/session_ops");
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let input = fs::read(file.expect("the file is listed").path()).expect("the file is read");
        checks::check_session_ops(&input);
        checks::check_sessions_together(&input);
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}
