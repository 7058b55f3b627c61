//! Replays the fuzzers' corpora: every input that once reached new code or found a bug.

mod checks;

use std::fs;
use std::path::Path;

/// Runs `check` on every file of a corpus.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(target);
    let files =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut count = 0;
    for file in files {
        let path = file.expect("the file is listed").path();
        check(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}

#[test]
fn functions_corpus_passes() {
    replay("functions", checks::functions::check_functions);
}

#[test]
fn json_corpus_passes() {
    replay("json", checks::json::check_json);
}

#[test]
fn msgpack_corpus_passes() {
    replay("msgpack", checks::msgpack::check_msgpack);
}

#[test]
fn patterns_corpus_passes() {
    replay("patterns", checks::patterns::check_patterns);
}

#[test]
fn replies_corpus_passes() {
    replay("replies", checks::replies::check_replies);
}

#[test]
fn structs_corpus_passes() {
    replay("structs", checks::structs::check_structs);
}
