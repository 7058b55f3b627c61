//! Runs the checks of the fuzz target `store_ops` on pseudo-random bytes and on its corpus. They are in the
//! crate because they need its type of value for tests.

#[path = "../tests/checks/mod.rs"]
mod checks;

use std::fs;
use std::path::Path;

/// Returns pseudo-random bytes, the same in each run.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let numbers = (0..len as u64).map(|at| crate::hash::mix(seed << 32 | at));
    numbers.map(|number| (number >> 24) as u8).collect()
}

#[test]
fn store_equals_the_model_after_random_operations() {
    let inputs = if cfg!(miri) { 5 } else { 300 };
    for seed in 0..inputs {
        checks::check_store_ops(&bytes(seed, 40 + seed as usize * 5));
    }
}

#[test]
fn store_equals_the_model_on_every_input_of_the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/store_ops");
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let input = fs::read(file.expect("it is listed").path()).expect("it is read");
        checks::check_store_ops(&input);
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}
