//! Runs the checks of snapshot files on damaged ones, and on the corpus of the fuzzer.

mod file_checks;

use fastrand::Rng;
use std::fs;
use std::path::Path;

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/rdb_file");
    let files = fs::read_dir(&folder).expect("the corpus is there");
    let read = |file: std::io::Result<fs::DirEntry>| {
        fs::read(file.expect("the file is listed").path()).expect("the file is read")
    };
    files.map(read).collect()
}

#[test]
fn corpus_of_the_fuzzer_passes_the_checks() {
    let corpus = corpus();
    assert!(!corpus.is_empty());
    corpus
        .iter()
        .for_each(|input| file_checks::check_file(input));
}

#[test]
fn damaged_file_is_refused_or_safe() {
    let (mut rng, corpus) = (Rng::with_seed(1), corpus());
    for _ in 0..2_000 {
        let mut input = corpus[rng.usize(..corpus.len())].clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..input.len());
            match rng.u8(..4) {
                0 => input[at] = rng.u8(..),
                1 => input[at] = input[at].wrapping_add(1),
                2 => input.truncate(at + 1),
                _ => input.insert(at, rng.u8(..)),
            }
        }
        file_checks::check_file(&input);
    }
}
