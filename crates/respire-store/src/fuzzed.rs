//! The checks of the fuzz target `store_ops`, on bytes that look random and on its corpus. They stand within the
//! crate as the type of value for tests does.

#[path = "../tests/checks/mod.rs"]
mod checks;

use std::fs;
use std::path::Path;

/// Numbers that look random and are the same in each run.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let numbers = (0..len as u64).map(|at| crate::hash::mix(seed << 32 | at));
    numbers.map(|number| (number >> 24) as u8).collect()
}

#[test]
fn whatever_is_done_to_it_the_store_holds_what_the_model_holds() {
    let inputs = if cfg!(miri) { 5 } else { 300 };
    for seed in 0..inputs {
        checks::check_store_ops(&bytes(seed, 40 + seed as usize * 5));
    }
}

#[test]
fn corpus_holds() {
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
