//! Replays the fuzzers' corpora: every input that once reached new code or found a bug.

mod checks;

use std::fs;
use std::path::Path;

/// Runs `check` on every file of a corpus.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(target);
    let mut count = 0;
    for entry in
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .path();
        let input = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        check(&input);
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}

#[test]
fn commands_corpus_passes() {
    replay("commands", checks::check_commands);
}

#[test]
fn inline_corpus_passes() {
    replay("inline", checks::check_inline);
}

#[test]
fn frames_corpus_passes() {
    replay("frames", checks::check_frames);
}

#[test]
fn events_corpus_passes() {
    replay("events", checks::check_events);
}

#[test]
fn annotate_corpus_passes() {
    replay("annotate", checks::check_annotate);
}

#[test]
fn binary_corpus_passes() {
    replay("binary", checks::check_binary);
}

#[cfg(feature = "arbitrary")]
#[test]
fn round_trip_corpus_passes() {
    replay("round_trip", |data| {
        use arbitrary::{Arbitrary, Unstructured};
        if let Ok(value) = resp_codec::Value::arbitrary(&mut Unstructured::new(data)) {
            checks::check_round_trip(&value);
        }
    });
}
