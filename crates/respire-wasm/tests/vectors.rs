//! Tests that exported test vectors match the codec: `tests/vectors` has those of the page's
//! samples, and `RESPIRE_VECTORS` names a folder with others.

use respire_wasm::{Document, ERRORS, FRAME_WORDS, MARK_WORDS, ROLES};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const MODES: [&str; 4] = ["requests", "replies", "binary-requests", "binary-replies"];
const LIMITS: [&str; 3] = ["server", "unauthenticated", "client"];
const STATUSES: [&str; 4] = ["whole", "bad", "torn", "blank"];

fn number_of(names: &[&str], name: &Value) -> u32 {
    let at = names.iter().position(|known| name == known);
    at.unwrap_or_else(|| panic!("{name} is none of {names:?}")) as u32
}

fn bytes_of(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().expect("hexadecimal digits");
    let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two hexadecimal digits");
    (0..hex.len()).step_by(2).map(pair).collect()
}

/// The result of decoding a frame's bytes, in the form of a vector.
fn read(vector: &Value, mode: u32, limits: u32) -> Value {
    let mut document = Document::new(mode, limits).expect("a mode and limits");
    document
        .set_bytes(bytes_of(&vector["bytes"]))
        .expect("short");
    document.parse(usize::MAX);
    let frame = document.frames(0, 1);
    assert_eq!(frame.len(), FRAME_WORDS);
    let marks = document.marks(0, document.len());
    let marks: Vec<Value> = marks
        .chunks(MARK_WORDS)
        .map(|mark| {
            let role = ROLES[(mark[0] & 0xff) as usize].id;
            assert!(mark[0] >> 8 <= ERRORS.len() as u32);
            serde_json::json!([role, mark[1], mark[2], mark[3]])
        })
        .collect();
    let mut read = serde_json::json!({
        "bytes": vector["bytes"],
        "status": STATUSES[(frame[0] & 0xff) as usize],
        "marks": marks,
    });
    if let Some(error) = document.error(0).expect("a frame") {
        read["error"] = serde_json::json!({ "offset": error.offset, "reply": error.reply });
    }
    read
}

fn check(path: &Path) -> usize {
    let text = fs::read_to_string(path).expect("a file");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(file["format"], "respire-vectors", "{}", path.display());
    assert_eq!(file["version"], 1, "{}", path.display());
    let mode = number_of(&MODES, &file["mode"]);
    let limits = number_of(&LIMITS, &file["limits"]);
    let vectors = file["frames"].as_array().expect("frames");
    for (at, vector) in vectors.iter().enumerate() {
        let read = read(vector, mode, limits);
        assert_eq!(&read, vector, "frame {at} of {}", path.display());
    }
    vectors.len()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect()
}

#[test]
fn exported_vectors_match_the_codec() {
    let samples = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"));
    assert!(
        samples.len() >= 20,
        "there is one for each sample of the page"
    );
    let frames: usize = samples.iter().map(|path| check(path)).sum();
    assert!(frames >= samples.len());
    if let Some(folder) = std::env::var_os("RESPIRE_VECTORS") {
        let own = files(Path::new(&folder));
        assert!(!own.is_empty(), "no vectors in the folder");
        own.iter().for_each(|path| {
            check(path);
        });
    }
}
