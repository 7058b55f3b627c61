//! Runs the checks of payloads of `RESTORE` on random ones, and on the corpus of the fuzzer.

mod payload_checks;

use fastrand::Rng;
use std::fs;
use std::path::Path;

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/restore");
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let read = |file: fs::DirEntry| fs::read(file.path()).expect("the file is read");
    let inputs: Vec<_> = files
        .map(|file| read(file.expect("it is listed")))
        .collect();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    inputs
}

#[test]
fn corpus_of_the_fuzzer_passes_the_checks() {
    for input in corpus() {
        payload_checks::check_payload(&input);
    }
}

#[test]
fn changed_payload_is_refused_or_usable() {
    let mut rng = Rng::with_seed(1);
    for input in corpus() {
        for _ in 0..5 {
            let mut input = input.clone();
            for _ in 0..rng.usize(1..4) {
                let at = rng.usize(..input.len());
                input[at] = rng.u8(..);
            }
            payload_checks::check_payload(&input);
        }
    }
}
