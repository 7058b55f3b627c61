//! Checks of logs and snapshots, and repairs of each damaged byte.

use super::apply::make;
use super::fix::tests::steps_of;
use super::*;
use respire_durable::checksum::{self, Line, Sum};
use respire_durable::manifest::{self, End, Manifest};
use std::fs;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// The smallest snapshot, without a checksum.
const SNAPSHOT: &[u8] = b"REDIS0010\xff\0\0\0\0\0\0\0\0";
const NAME: &str = "appendonly.aof";

fn command(words: &[&str]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        out.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
    out
}

/// An increment of ours: each block sets a key to its number and says the time.
fn increment(seq: u64, blocks: std::ops::Range<u64>) -> Vec<u8> {
    let mut out = Vec::new();
    checksum::write_file(&mut out, seq);
    let mut from = 0;
    for number in blocks {
        checksum::write_time(&mut out, 1000 + number);
        out.extend_from_slice(checksum::DATABASE);
        out.extend(command(&["SELECT", "0"]));
        out.extend(command(&["SET", "key", &number.to_string(), "PXAT", "99"]));
        let mut sum = Sum::new(seq, from as u64);
        sum.update(&out[from..]);
        let line = Line {
            seq: number,
            offset: 0,
            id: None,
            at: from as u64,
            len: (out.len() - from) as u64,
            durable: out.len() as u64,
            crc: 0,
        };
        checksum::write(&mut out, &line, sum);
        from = out.len();
    }
    out
}

/// A log with a base and two increments, in `appendonlydir` of a data directory.
struct Log(TempDir);

impl Log {
    fn new() -> Self {
        let log = Self(tempfile::tempdir().unwrap());
        fs::create_dir(log.folder()).unwrap();
        let (first, second) = (increment(1, 1..3), increment(2, 3..5));
        let mut manifest = Manifest {
            base: Some(manifest::base(NAME, 1, true)),
            increments: vec![manifest::increment(NAME, 1), manifest::increment(NAME, 2)],
            ..Manifest::default()
        };
        manifest.increments[0].end = Some(End {
            len: first.len() as u64,
            ticket: 2,
        });
        log.write("appendonly.aof.1.base.rdb", SNAPSHOT);
        log.write("appendonly.aof.1.incr.aof", &first);
        log.write("appendonly.aof.2.incr.aof", &second);
        log.write("appendonly.aof.manifest", &manifest.to_bytes());
        log
    }

    fn folder(&self) -> std::path::PathBuf {
        self.0.path().join("appendonlydir")
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn check(&self) -> Report {
        check(self.0.path(), &Options::default()).unwrap()
    }

    fn fix(&self, cut: Cut) -> io::Result<Fixed> {
        fix(self.0.path(), cut, &Options::default(), 60)
    }
}

/// All names in a folder with their contents.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let names = path::names(folder).unwrap();
    let read = |name: String| (name.clone(), fs::read(folder.join(&name)).unwrap());
    names.into_iter().map(read).collect()
}

/// The values that a log sets its key to, one after the other, as a server would load it.
fn values(folder: &Path) -> Vec<u64> {
    let text = fs::read(folder.join("appendonly.aof.manifest")).unwrap();
    let manifest = Manifest::parse(&text).unwrap();
    let mut values = Vec::new();
    for entry in &manifest.increments {
        let bytes = fs::read(folder.join(&entry.name)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let parts = text.split("$3\r\nkey\r\n$1\r\n").skip(1);
        values.extend(parts.map(|part| part[..1].parse::<u64>().unwrap()));
    }
    values
}

fn is_prefix(values: &[u64]) -> bool {
    *values == (1..=4).take(values.len()).collect::<Vec<_>>()
}

#[test]
fn whole_log_is_whole_by_each_path_that_names_it() {
    let log = Log::new();
    log.write("temp-rewrite", b"");
    for path in [
        log.0.path().to_owned(),
        log.folder(),
        log.path("appendonly.aof.manifest"),
    ] {
        let report = check(&path, &Options::default()).unwrap();
        assert_eq!(report.verdict, Verdict::Whole, "{report:?}");
        assert_eq!((report.kind, &report.command), (Kind::Log, &None));
        assert_eq!(report.unlisted, ["temp-rewrite"]);
        let kinds: Vec<_> = report.files.iter().map(|file| file.kind).collect();
        assert_eq!(kinds, ["base", "increment", "increment"]);
        let last = &report.files[2];
        assert_eq!((last.commands, last.checksums), (4, 2));
        assert_eq!((last.last_seq, last.last_time_s), (Some(4), Some(1004)));
        assert_eq!(report.files[0].keys, Some(0));
    }
    for name in ["appendonly.aof.1.incr.aof", "appendonly.aof.2.incr.aof"] {
        let report = check(&log.path(name), &Options::default()).unwrap();
        assert_eq!(
            (report.verdict, report.kind),
            (Verdict::Whole, Kind::Commands)
        );
        assert_eq!(report.files.len(), 1);
    }
    let base = log.path("appendonly.aof.1.base.rdb");
    let report = check(&base, &Options::default()).unwrap();
    assert_eq!(
        (report.verdict, report.kind),
        (Verdict::Whole, Kind::Snapshot)
    );
}

#[test]
fn single_file_of_an_old_redis_is_checked_with_and_without_a_snapshot_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    for preamble in [&b""[..], SNAPSHOT] {
        let mut bytes = preamble.to_vec();
        bytes.extend(command(&["SELECT", "0"]));
        bytes.extend(command(&["SET", "a", "b"]));
        fs::write(&path, &bytes).unwrap();
        for path in [folder.path(), &path] {
            let report = check(path, &Options::default()).unwrap();
            assert_eq!(report.verdict, Verdict::Whole);
            assert_eq!(report.files[0].commands, 2);
        }
        let whole = bytes.len() as u64;
        bytes.extend(b"*3\r\n$3\r\nSE");
        fs::write(&path, &bytes).unwrap();
        let fixed = fix(&path, Cut::Damage, &Options::default(), 0).unwrap();
        assert_eq!(fixed.before.verdict, Verdict::Torn);
        let done = fixed.done.unwrap();
        assert_eq!((done.loss.bytes, done.loss.commands), (10, 0));
        assert_eq!(done.after.verdict, Verdict::Whole);
        assert_eq!(fs::metadata(&path).unwrap().len(), whole);
        let original = folder.path().join(&done.originals[0]);
        assert_eq!(fs::read(original).unwrap(), bytes);
        fs::remove_file(folder.path().join(&done.originals[0])).unwrap();
    }
}

#[test]
fn paths_that_name_nothing_or_several_things_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let text = |path: &Path| check(path, &Options::default()).unwrap_err().to_string();
    assert!(text(folder.path()).contains("no manifest"));
    assert!(text(&folder.path().join("none")).contains("No such file"));
    let notes = folder.path().join("notes.txt");
    fs::write(&notes, "hello").unwrap();
    assert!(text(&notes).contains("neither a manifest"));
    for name in ["a.manifest", "b.manifest"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    assert!(text(folder.path()).contains("name one of a.manifest, b.manifest"));
}

/// A file with a byte flipped, dropped or doubled.
fn damaged(bytes: &[u8], at: usize) -> [Vec<u8>; 3] {
    let mut flipped = bytes.to_vec();
    flipped[at] ^= 4;
    let dropped = [&bytes[..at], &bytes[at + 1..]].concat();
    let doubled = [&bytes[..=at], &bytes[at..]].concat();
    [flipped, dropped, doubled]
}

#[test]
fn each_damaged_byte_is_found_and_repairs_leave_a_prefix() {
    let log = Log::new();
    let originals = content(&log.folder());
    for (name, bytes) in &originals {
        for at in 0..bytes.len() {
            // Each byte in one of the ways: all of them take long.
            let ways = damaged(bytes, at).into_iter().enumerate();
            for (nth, changed) in ways.skip(at % 3).take(1) {
                let what = format!("{name} byte {at} way {nth}");
                log.write(name, &changed);
                let before = content(&log.folder());
                let report = log.check();
                assert_eq!(log.check(), report, "{what}");
                assert_eq!(content(&log.folder()), before, "{what}");
                repair(&log, &report, &changed != bytes, &what);
                for (name, _) in content(&log.folder()) {
                    fs::remove_file(log.path(&name)).unwrap();
                }
                for (name, bytes) in &originals {
                    log.write(name, bytes);
                }
            }
        }
    }
}

/// Repairs a log with one damaged byte.
fn repair(log: &Log, report: &Report, is_changed: bool, what: &str) {
    let before = content(&log.folder());
    let fixed = log.fix(Cut::Damage).unwrap();
    assert_eq!(&fixed.before, report, "{what}");
    let Some(done) = fixed.done else {
        assert_eq!(content(&log.folder()), before, "{what}");
        // White space at the end of a manifest means nothing, and this snapshot has no checksum.
        let is_data = what.contains("incr");
        if is_data && report.verdict == Verdict::Whole {
            // The start of a checksum line is damaged, so that it is an unknown annotation.
            assert_eq!(values(&log.folder()), [1, 2, 3, 4], "{what}");
            return;
        }
        assert!(
            !is_data || !is_changed || report.verdict == Verdict::Torn,
            "{what}: {report:?}"
        );
        return;
    };
    assert_eq!(
        done.after.verdict,
        Verdict::Whole,
        "{what}: {:?}",
        done.after
    );
    let kept = values(&log.folder());
    assert!(is_prefix(&kept), "{what}: {kept:?}");
    let lost = 2 * (4 - kept.len() as u64);
    // A damaged command is not one any more, and a SELECT may be kept.
    assert!(
        done.loss.commands.abs_diff(lost) <= 2,
        "{what}: {:?}",
        done.loss
    );
    for original in &done.originals {
        let name = original.strip_suffix(".corrupt-19700101T000100Z").unwrap();
        let (_, bytes) = before.iter().find(|(own, _)| own == name).unwrap();
        assert_eq!(fs::read(log.path(original)).unwrap(), *bytes, "{what}");
    }
}

#[test]
fn repair_that_ends_at_any_step_can_be_made_again() {
    let damage = |log: &Log| {
        let path = log.path("appendonly.aof.1.incr.aof");
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.len() - 20;
        bytes[at] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    let count = {
        let log = Log::new();
        damage(&log);
        steps_of(&log.folder(), NAME).len()
    };
    assert!(count > 6);
    for crash in 0..=count {
        let log = Log::new();
        damage(&log);
        for step in &steps_of(&log.folder(), NAME)[..crash] {
            make(&log.folder(), step).unwrap();
        }
        let between = log.check();
        if between.verdict == Verdict::Whole || between.verdict == Verdict::Torn {
            assert!(is_prefix(&values(&log.folder())), "step {crash}");
        }
        let fixed = log.fix(Cut::Damage).unwrap();
        let after = fixed.done.map_or(fixed.before, |done| done.after);
        assert_eq!(after.verdict, Verdict::Whole, "step {crash}");
        // Once the damaged checksum line is the last one, it counts as torn, and the change before it is taken.
        let kept = values(&log.folder());
        assert!(kept == [1] || kept == [1, 2], "step {crash}: {kept:?}");
    }
}

#[test]
fn cut_at_an_offset_keeps_whole_units_and_drops_the_files_behind() {
    let log = Log::new();
    let length = fs::metadata(log.path("appendonly.aof.2.incr.aof"))
        .unwrap()
        .len();
    let done = log.fix(Cut::Offset(length - 1)).unwrap().done.unwrap();
    assert_eq!(values(&log.folder()), [1, 2, 3, 4]);
    assert_eq!(done.after.verdict, Verdict::Whole);

    let first = log.path("appendonly.aof.1.incr.aof");
    let length = fs::metadata(&first).unwrap().len();
    let fixed = fix(&first, Cut::Offset(length * 2 / 3), &Options::default(), 60).unwrap();
    assert_eq!(
        fixed.done.unwrap().loss.files,
        ["appendonly.aof.2.incr.aof"]
    );
    assert_eq!(values(&log.folder()), [1]);
    assert_eq!(log.check().verdict, Verdict::Whole);
    let error = log.fix(Cut::Offset(length)).unwrap_err().to_string();
    assert!(error.contains("behind its end"), "{error}");
}

#[test]
fn cut_at_a_time_ends_before_the_first_later_unit() {
    for (limit_s, kept) in [(1004, 4), (1003, 3), (1002, 2), (1001, 1), (1000, 0)] {
        let log = Log::new();
        let fixed = log.fix(Cut::Time(limit_s)).unwrap();
        assert_eq!(fixed.done.is_some(), kept < 4, "{limit_s}");
        assert_eq!(values(&log.folder()), (1..=kept).collect::<Vec<_>>());
        assert_eq!(log.check().verdict, Verdict::Whole);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(NAME), command(&["SELECT", "0"])).unwrap();
    let error = fix(folder.path(), Cut::Time(5), &Options::default(), 0).unwrap_err();
    assert!(
        error.to_string().contains("aof-timestamp-enabled"),
        "{error}"
    );
}

#[test]
fn offset_behind_damage_keeps_nothing_behind_it() {
    let log = Log::new();
    let path = log.path("appendonly.aof.2.incr.aof");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(3)
        .position(|window| window == b"key")
        .unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    log.fix(Cut::Offset(bytes.len() as u64))
        .unwrap()
        .done
        .unwrap();
    assert_eq!(values(&log.folder()), [1, 2]);
}

#[test]
fn damaged_bases_and_manifests_are_left_as_they_are() {
    for name in ["appendonly.aof.1.base.rdb", "appendonly.aof.manifest"] {
        let log = Log::new();
        let path = log.path(name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[6] ^= 0x40;
        fs::write(&path, bytes).unwrap();
        let before = content(&log.folder());
        for cut in [Cut::Damage, Cut::Time(1001)] {
            let fixed = log.fix(cut).unwrap();
            assert_eq!((fixed.done, fixed.before.verdict), (None, Verdict::Damaged));
            assert!(fixed.refused.unwrap().contains("cannot be repaired"));
        }
        assert_eq!(content(&log.folder()), before);
    }
    for name in ["appendonly.aof.1.base.rdb", "appendonly.aof.manifest"] {
        let log = Log::new();
        fs::remove_file(log.path(name)).unwrap();
        let fixed = log.fix(Cut::Damage).unwrap();
        assert_eq!((fixed.done, fixed.before.verdict), (None, Verdict::Damaged));
    }
}

#[test]
fn missing_increment_ends_the_log_before_it() {
    let log = Log::new();
    fs::remove_file(log.path("appendonly.aof.1.incr.aof")).unwrap();
    let done = log.fix(Cut::Damage).unwrap().done.unwrap();
    assert_eq!(done.after.verdict, Verdict::Whole);
    assert_eq!(values(&log.folder()), [0; 0]);
}

#[test]
fn folder_that_a_server_uses_is_read_and_not_changed() {
    let log = Log::new();
    let path = log.path("appendonly.aof.2.incr.aof");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let server = fs::File::open(log.folder()).unwrap();
    let lock = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    rustix::fs::flock(&server, lock).unwrap();
    assert!(log.check().is_in_use);
    let error = log.fix(Cut::Damage).unwrap_err();
    assert!(error.to_string().contains("stop it first"), "{error}");
    drop(server);
    assert!(!log.check().is_in_use);
    assert!(log.fix(Cut::Damage).unwrap().done.is_some());
}

#[test]
fn commands_that_the_server_does_not_know_are_named_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let mut bytes = command(&["SELECT", "0"]);
    let at = bytes.len() as u64;
    for name in ["xadd", "XADD", "SET"] {
        bytes.extend(command(&[name, "k", "v"]));
    }
    fs::write(&path, bytes).unwrap();
    let knows = |name: &[u8]| !name.eq_ignore_ascii_case(b"xadd");
    let options = Options {
        knows: Some(&knows),
    };
    let report = check(&path, &options).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    let unknown = Unknown {
        file: NAME.to_owned(),
        offset: at,
        name: "xadd".to_owned(),
        count: 2,
    };
    assert_eq!(report.unknown, [unknown]);
    let next = format!(
        "respire-server check {} --until-offset {at}",
        path.display()
    );
    assert_eq!(report.command.as_deref(), Some(&*next));
    fix(&path, Cut::Offset(at), &options, 0)
        .unwrap()
        .done
        .unwrap();
    assert_eq!(check(&path, &options).unwrap().verdict, Verdict::Whole);
}
