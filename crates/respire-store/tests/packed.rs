//! Runs the checks of the packed forms on pseudo-random bytes, and on the corpora of the fuzzer.

mod packed_checks;

use packed_checks::{check_intset, check_listpack};
use std::fs;
use std::path::Path;

/// Returns pseudo-random bytes, the same in each run.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn replay(folder: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(folder);
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        check(&fs::read(file.expect("it is listed").path()).expect("it is read"));
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}

#[test]
fn any_bytes_are_refused_or_edited_as_a_model() {
    for seed in 0..if cfg!(miri) { 20 } else { 500 } {
        let mut data = bytes(seed, 12 + seed as usize % 150);
        data[0] |= 1;
        check_intset(&data);
        // Elements of one byte: an integer and its length.
        for pair in data[9..].chunks_exact_mut(2) {
            pair[0] &= 0x7f;
            pair[1] = 1;
        }
        data[2] = (12 * 256 / (data.len() - 3)).min(255) as u8;
        check_listpack(&data);
    }
}

#[test]
fn corpora_of_the_fuzzer_pass_the_checks() {
    replay("listpack", check_listpack);
    replay("intset", check_intset);
}
