//! Runs the checks of `HyperLogLogs` on random strings, and on the corpus of the fuzzer.

mod hll_checks;

use fastrand::Rng;
use std::fs;
use std::path::Path;

#[test]
fn any_string_is_safe_as_a_hyperloglog() {
    let mut rng = Rng::with_seed(1);
    for round in 0..1000_usize {
        let mut data: Vec<u8> = (0..round % 80).map(|_| rng.u8(..)).collect();
        if let Some(first) = data.first_mut() {
            *first |= 0x80;
        }
        // A valid end, so that many strings have all registers.
        data.extend_from_slice(&[0x7f, 0xff][..round % 3]);
        hll_checks::check_hll(&data);
    }
}

#[test]
fn corpus_of_the_fuzzer_passes_the_checks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/hll");
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let input = fs::read(file.expect("the file is listed").path()).expect("the file is read");
        hll_checks::check_hll(&input);
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}
