//! Tests of what the server does with files that are torn, damaged, missing or in use.

use crate::data::{Place, fill, until};
use redis::Value;
use std::fs::{self, OpenOptions};
use std::io::Write;

const LOG: &[&str] = &["--appendonly", "yes"];
const FIRST: &str = "appendonly.aof.1.incr.aof";

/// A directory with a log of all types of values, and nobody who uses it.
fn filled() -> Place {
    let place = Place::new(LOG);
    let server = place.start();
    fill(&server);
    server.stop();
    place
}

/// The last file of the log.
fn last_file(place: &Place) -> String {
    let manifest = fs::read_to_string(place.log_file("appendonly.aof.manifest")).unwrap();
    let mut files = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("file "));
    let last = files.next_back().unwrap();
    last.split(' ').next().unwrap().to_owned()
}

/// Two starts refuse the data with these words, and change nothing.
#[track_caller]
fn assert_refused(place: &Place, words: &[&str]) {
    let before = place.files();
    let (code, log) = place.refused(&[]);
    assert_eq!(code, Some(3), "{log}");
    for word in words {
        assert!(log.contains(word), "no {word:?} in {log}");
    }
    let (code, again) = place.refused(&[]);
    assert_eq!(code, Some(3), "{again}");
    let why = |log: &str| {
        let line = log.lines().find(|line| line.starts_with("respire-server:"));
        line.map(str::to_owned)
    };
    assert_eq!(why(&again), why(&log));
    assert!(why(&log).is_some(), "{log}");
    assert!(before == place.files(), "files were changed");
}

#[test]
fn torn_end_is_cut_off_kept_and_reported() {
    for torn in [
        &b"*3\r\n$3\r\nSET\r\n$1\r\na"[..],
        b"*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nv\r\n",
        &[0; 4096],
    ] {
        let place = filled();
        let server = place.start();
        let before = server.shown();
        server.stop();
        let name = last_file(&place);
        let path = place.log_file(&name);
        let whole = fs::read(&path).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(torn).unwrap();
        drop(file);

        let server = place.start();
        assert_eq!(server.shown(), before);
        let log = server.log();
        let kept = format!("{name}.torn-{}", whole.len());
        let cut = format!("its last {} bytes are cut off", torn.len());
        assert!(log.contains(&kept) && log.contains(&cut), "{log}");
        assert_eq!(fs::read(place.log_file(&kept)).unwrap(), torn);
        server.stop();
        let server = place.start();
        assert_eq!(server.shown(), before, "the second start");
        assert!(!server.log().contains("cut off"), "{}", server.log());
    }
}

#[test]
fn log_that_ends_within_its_last_command_is_loaded_without_it() {
    let place = filled();
    let server = place.start();
    let _: Value = server.ask("SET last value");
    server.stop();
    let name = last_file(&place);
    let path = place.log_file(&name);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    let server = place.start();
    assert!(server.log().contains(&format!("{name}.torn-")));
    assert_eq!(server.ask::<u32>("EXISTS string"), 1);
}

#[test]
fn flipped_byte_is_refused_with_its_place_and_nothing_is_changed() {
    let place = filled();
    let path = place.log_file(FIRST);
    let mut bytes = fs::read(&path).unwrap();
    // In a value, so that only a checksum can tell.
    let at = bytes
        .windows(7)
        .position(|word| word == b"padding")
        .unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let check = format!(
        "respire-server check {}",
        place
            .file("appendonlydir")
            .canonicalize()
            .unwrap()
            .display()
    );
    assert_refused(&place, &[FIRST, ": byte ", &check]);
}

#[test]
fn flipped_byte_in_a_base_is_refused() {
    let place = filled();
    let server = place.start();
    let _: String = server.ask("BGREWRITEAOF");
    until("the log is rewritten", || {
        server.info("aof_rewrite_in_progress") == "0" && server.info("aof_rewrites") == "1"
    });
    server.stop();
    let manifest = fs::read_to_string(place.log_file("appendonly.aof.manifest")).unwrap();
    let base = manifest.split(' ').find(|word| word.ends_with(".base.rdb"));
    let base = base.unwrap();
    let path = place.log_file(base);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_refused(&place, &[base, ": byte ", "respire-server check "]);
}

#[test]
fn data_without_a_manifest_is_refused() {
    let place = filled();
    fs::remove_file(place.log_file("appendonly.aof.manifest")).unwrap();
    assert_refused(&place, &["manifest"]);
}

#[test]
fn file_that_the_manifest_lists_must_exist() {
    let place = filled();
    fs::remove_file(place.log_file(FIRST)).unwrap();
    assert_refused(&place, &[FIRST]);
}

#[test]
fn unknown_command_in_a_log_is_refused_with_its_name() {
    let place = Place::new(LOG);
    fs::create_dir(place.file("appendonlydir")).unwrap();
    let manifest = format!("file {FIRST} seq 1 type i\n");
    fs::write(place.log_file("appendonly.aof.manifest"), manifest).unwrap();
    let set = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nv\r\n";
    let unknown = "*2\r\n$8\r\nFROBNIFY\r\n$1\r\na\r\n";
    fs::write(place.log_file(FIRST), format!("{set}{unknown}{set}")).unwrap();
    let offset = format!("byte {}", set.len());
    assert_refused(&place, &["FROBNIFY", FIRST, &offset]);
}

#[test]
fn snapshot_that_is_damaged_is_refused() {
    let place = Place::new(&["--save", "3600 1000000"]);
    let server = place.start();
    fill(&server);
    assert_eq!(server.ask::<String>("SAVE"), "OK");
    server.kill();
    let path = place.file("dump.rdb");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&whole[..whole.len() / 2], &flipped] {
        fs::write(&path, damaged).unwrap();
        assert_refused(&place, &["dump.rdb", ": byte ", "respire-server check "]);
    }
    // As a full disk or a power cut leaves one.
    fs::write(&path, "").unwrap();
    assert_refused(&place, &["dump.rdb", "it is empty"]);
}

#[test]
fn second_server_over_the_same_log_is_refused() {
    let place = filled();
    let first = place.start();
    let (code, log) = place.refused(&[]);
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("another server uses this directory"), "{log}");
    assert_eq!(first.ask::<u32>("EXISTS string"), 1);
    first.kill();
    assert_eq!(place.start().ask::<u32>("EXISTS string"), 1);
}
