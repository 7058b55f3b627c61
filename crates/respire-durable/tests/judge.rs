//! Judgements of files that Redis has written, and of what people do to files.

use respire_durable::checksum::{self, Line, Sum};
use respire_durable::manifest::{Kind, Manifest};
use respire_durable::recovery::{
    Change, Files, Judgement, Options, Outcome, Place, RdbProblem, Until, cut_for, judge,
};
use std::collections::BTreeMap;
use std::io;

const SELECT: &[u8] = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n";
const SET: &[u8] = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n";
const MULTI: &[u8] = b"*1\r\n$5\r\nMULTI\r\n";
const EXEC: &[u8] = b"*1\r\n$4\r\nEXEC\r\n";
const REDIS: &[u8] = b"file appendonly.aof.1.base.aof seq 1 type b\n\
                       file appendonly.aof.1.incr.aof seq 1 type i\n\
                       file appendonly.aof.2.incr.aof seq 2 type i\n";

#[derive(Default)]
struct Folders {
    folder: BTreeMap<String, Vec<u8>>,
    above: BTreeMap<String, Vec<u8>>,
    rdb: Option<RdbProblem>,
}

impl Folders {
    /// A log of Redis with these bytes in its base and its two increments.
    fn of_redis(base: &[u8], first: &[u8], second: &[u8]) -> Self {
        let mut folders = Self::default();
        let files = [
            ("manifest", REDIS),
            ("1.base.aof", base),
            ("1.incr.aof", first),
            ("2.incr.aof", second),
        ];
        for (name, bytes) in files {
            folders
                .folder
                .insert(format!("appendonly.aof.{name}"), bytes.to_vec());
        }
        folders
    }

    fn judge(&mut self) -> Judgement {
        judge(self, &Options::default())
    }

    fn refusal(&mut self) -> (String, u64, String) {
        match self.judge().outcome {
            Outcome::Refused(refusal) => (refusal.file, refusal.offset, refusal.what),
            other => panic!("{other:?}"),
        }
    }

    fn torn(&mut self) -> (u64, u64) {
        match self.judge().outcome {
            Outcome::TornEnd { offset, bytes, .. } => (offset, bytes),
            other => panic!("{other:?}"),
        }
    }
}

impl Files for Folders {
    fn list(&mut self) -> io::Result<Vec<String>> {
        Ok(self.folder.keys().cloned().collect())
    }

    fn len(&mut self, place: Place, name: &str) -> io::Result<Option<u64>> {
        let files = if place == Place::Above {
            &self.above
        } else {
            &self.folder
        };
        Ok(files.get(name).map(|bytes| bytes.len() as u64))
    }

    fn read_at(
        &mut self,
        place: Place,
        name: &str,
        offset: u64,
        into: &mut [u8],
    ) -> io::Result<usize> {
        let files = if place == Place::Above {
            &self.above
        } else {
            &self.folder
        };
        let bytes = &files[name][offset as usize..];
        // As little as a file may give at once.
        let len = bytes.len().min(into.len()).min(1000);
        into[..len].copy_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn rdb(&mut self, _: Place, _: &str, _: u64) -> Result<u64, RdbProblem> {
        self.rdb.clone().map_or(Ok(9), Err)
    }
}

#[test]
fn log_of_redis_is_clean() {
    let second = [
        b"#TS:1700000000\r\n",
        SELECT,
        MULTI,
        SET,
        b"#TS:1700000001\r\n",
        SET,
        EXEC,
    ]
    .concat();
    let mut folders = Folders::of_redis(&[SELECT, SET].concat(), b"", &second);
    let judgement = folders.judge();
    assert_eq!(judgement.outcome, Outcome::Clean);
    assert_eq!(
        judgement
            .files
            .iter()
            .map(|file| file.commands)
            .collect::<Vec<_>>(),
        [2, 0, 5]
    );
    assert_eq!(judgement.files[2].last_time_s, Some(1_700_000_001));
    assert_eq!(judgement.next_seq, 3);
    let last = judgement.start().unwrap().last.unwrap();
    assert_eq!((last.len, last.uncovered_from), (second.len() as u64, 0));
    assert_eq!(last.uncovered_crc, crc32fast::hash(&second));
    assert_eq!(
        last.undeclared_from, last.len,
        "files of Redis are not written again"
    );
}

#[test]
fn base_with_rdb_preamble_is_walked_behind_it() {
    let base = [b"REDIS0010", SELECT, SET].concat();
    let mut folders = Folders::of_redis(&base, SELECT, SELECT);
    let judgement = folders.judge();
    assert_eq!(judgement.outcome, Outcome::Clean);
    assert!(judgement.files[0].is_rdb && judgement.files[0].commands == 2);
    folders.rdb = Some(RdbProblem {
        offset: 5,
        what: "an unknown type".to_owned(),
    });
    let refusal = folders.refusal();
    assert_eq!(
        refusal,
        (
            "appendonly.aof.1.base.aof".to_owned(),
            5,
            "an unknown type".to_owned()
        )
    );
}

#[test]
fn short_end_of_the_last_file_is_torn_at_the_last_unit() {
    let whole = [SELECT, SET].concat();
    for cut in 1..SET.len() {
        let mut folders = Folders::of_redis(b"", b"", &[&whole, &SET[..cut]].concat());
        assert_eq!(folders.torn(), (whole.len() as u64, cut as u64));
    }
    let open = [MULTI, SET].concat();
    let mut folders = Folders::of_redis(b"", b"", &[&whole[..], &open].concat());
    assert_eq!(folders.torn(), (whole.len() as u64, open.len() as u64));
    let options = Options {
        load_truncated: false,
        ..Options::default()
    };
    assert!(matches!(
        judge(&mut folders, &options).outcome,
        Outcome::Refused(_)
    ));
}

#[test]
fn zeros_to_the_end_are_torn_and_zeros_before_data_are_damage() {
    let mut folders = Folders::of_redis(b"", b"", &[SELECT, &[0; 5000]].concat());
    assert_eq!(folders.torn(), (SELECT.len() as u64, 5000));
    let mut folders = Folders::of_redis(b"", b"", &[SELECT, &[0; 5000], SET].concat());
    assert_eq!(folders.refusal().1, SELECT.len() as u64);
}

#[test]
fn short_end_of_another_file_is_refused() {
    let mut folders = Folders::of_redis(b"", &[SELECT, &SET[..5]].concat(), SELECT);
    let (file, offset, _) = folders.refusal();
    assert_eq!(
        (&*file, offset),
        ("appendonly.aof.1.incr.aof", SELECT.len() as u64)
    );
}

#[test]
fn bad_format_is_refused_with_its_offset() {
    let garbage: [&[u8]; 5] = [
        b"SET k v\r\n",
        b"*1\r\n+OK\r\n",
        b"*0\r\n",
        b"*x\r\n",
        b"*1\r\n$1\r\nabc",
    ];
    for bad in garbage {
        let mut folders = Folders::of_redis(b"", b"", &[SELECT, bad, SET].concat());
        assert_eq!(
            folders.refusal().1,
            SELECT.len() as u64,
            "{}",
            bad.escape_ascii()
        );
    }
    for bad in [&[EXEC][..], &[MULTI, MULTI]] {
        let mut folders = Folders::of_redis(b"", b"", &[SELECT, &bad.concat()].concat());
        assert_eq!(folders.refusal().1, SELECT.len() as u64);
    }
}

#[test]
fn annotations_have_at_most_1023_bytes() {
    let line = |len: usize| [b"#", &vec![b'x'; len - 3][..], b"\r\n"].concat();
    let mut folders = Folders::of_redis(b"", b"", &[&line(1023), SELECT].concat());
    assert_eq!(folders.judge().outcome, Outcome::Clean);
    let mut folders = Folders::of_redis(b"", b"", &[&line(1024), SELECT].concat());
    assert_eq!(folders.refusal().1, 0);
}

#[test]
fn announced_lengths_reserve_nothing() {
    let mut folders = Folders::of_redis(b"", b"", b"*2147483647\r\n$2000000000\r\nabc");
    assert_eq!(folders.torn().0, 0);
}

#[test]
fn missing_files_and_manifests_are_refused_and_never_empty() {
    let mut folders = Folders::of_redis(b"", SELECT, SELECT);
    folders.folder.remove("appendonly.aof.1.incr.aof");
    assert_eq!(folders.refusal().0, "appendonly.aof.1.incr.aof");
    let mut folders = Folders::of_redis(b"", SELECT, SELECT);
    folders.folder.remove("appendonly.aof.manifest");
    assert!(folders.refusal().2.contains("manifest is missing"));
    assert_eq!(
        folders.judge().next_seq,
        3,
        "a new log must not take these names"
    );
    let judgement = Folders::default().judge();
    assert_eq!(judgement.outcome, Outcome::Empty);
    assert_eq!(judgement.start().unwrap().next_seq, 1);
}

#[test]
fn single_file_of_an_older_redis_is_moved_in() {
    let mut folders = Folders::default();
    let name = "appendonly.aof";
    folders
        .above
        .insert(name.to_owned(), [SELECT, SET, &SET[..3]].concat());
    let judgement = folders.judge();
    let upgrade = judgement.upgrade.clone().unwrap();
    assert_eq!(upgrade.manifest.unwrap().base.unwrap().kind, Kind::Base);
    assert!(judgement.start().is_none(), "there is something to mend");
    for change in judgement.mend(name) {
        match change {
            Change::WriteWhole { name, bytes } => _ = folders.folder.insert(name, bytes),
            Change::Rename { from, to } => {
                let bytes = folders.folder.remove(&from).unwrap();
                folders.folder.insert(to, bytes);
                // A crash here is found out: the manifest lists what still lies above.
                assert!(folders.judge().upgrade.unwrap().manifest.is_none());
            }
            Change::MoveIn { name } => {
                let bytes = folders.above.remove(&name).unwrap();
                folders.folder.insert(name, bytes);
            }
            Change::Cut { file, len } => folders
                .folder
                .get_mut(&file)
                .unwrap()
                .truncate(len as usize),
            _ => {}
        }
    }
    let judgement = folders.judge();
    assert_eq!(judgement.outcome, Outcome::Clean);
    let start = judgement.start().unwrap();
    assert!(
        start.last.is_none(),
        "the log begins an increment behind it"
    );
    assert_eq!(start.next_seq, 2);
}

#[test]
fn damaged_manifest_is_refused_with_its_line() {
    let mut folders = Folders::of_redis(b"", SELECT, SELECT);
    let text = folders.folder.get_mut("appendonly.aof.manifest").unwrap();
    text.extend_from_slice(b"file ../x seq 3 type i\n");
    let (file, offset, what) = folders.refusal();
    assert_eq!(
        (&*file, offset),
        ("appendonly.aof.manifest", REDIS.len() as u64)
    );
    assert_eq!(what, "line 4: File can't be a path, just a filename");
}

/// A file of ours: a header, a unit and a checksum line; `durable` is what the line says.
fn ours(durable: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    checksum::write_file(&mut bytes, 2);
    bytes.extend_from_slice(SELECT);
    bytes.extend_from_slice(SET);
    let mut sum = Sum::new(2, 0);
    sum.update(&bytes);
    let line = Line {
        seq: 1,
        offset: 0,
        id: None,
        at: 0,
        len: bytes.len() as u64,
        durable,
        crc: 0,
    };
    checksum::write(&mut bytes, &line, sum);
    bytes
}

#[test]
fn what_redis_appends_to_a_file_of_ours_is_kept() {
    let value = [
        b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2000\r\n".as_slice(),
        &[0; 2000],
        b"\r\n",
    ]
    .concat();
    let bytes = [&ours(0)[..], SELECT, &value].concat();
    let mut folders = Folders::of_redis(b"", SELECT, &bytes);
    let judgement = folders.judge();
    assert_eq!(judgement.outcome, Outcome::Clean);
    assert_eq!(judgement.last_ticket, 3);
    // The same without SELECT is ours, and zeros in it are what a power cut has left.
    let bytes = [&ours(0)[..], SET, &value].concat();
    let mut folders = Folders::of_redis(b"", SELECT, &bytes);
    assert_eq!(folders.torn().0, ours(0).len() as u64);
}

#[test]
fn whole_units_behind_the_last_checksum_line_are_kept() {
    let bytes = [&ours(0)[..], SET, MULTI, SET, EXEC, &SET[..7]].concat();
    let mut folders = Folders::of_redis(b"", SELECT, &bytes);
    assert_eq!(folders.torn(), (bytes.len() as u64 - 7, 7));
}

#[test]
fn cuts_at_a_wish_lie_between_units() {
    let bytes = [
        SELECT,
        b"#TS:100\r\n",
        SET,
        b"#TS:200\r\n",
        MULTI,
        SET,
        b"#TS:201\r\n",
        EXEC,
    ]
    .concat();
    let mut folders = Folders::of_redis(b"", SELECT, &bytes);
    let mut cut = |until| cut_for(&mut folders, "appendonly.aof.2.incr.aof", 0, until).unwrap();
    let select = SELECT.len() as u64;
    let first = select + 9 + SET.len() as u64;
    assert_eq!(cut(Until::Time(99)), Some(select));
    assert_eq!(cut(Until::Time(100)), Some(first));
    assert_eq!(
        cut(Until::Time(200)),
        Some(first + 9),
        "a transaction is not cut in two"
    );
    assert_eq!(cut(Until::Time(201)), None);
    assert_eq!(cut(Until::Offset(first + 8)), Some(first));
    assert_eq!(cut(Until::Offset(bytes.len() as u64)), None);
    assert_eq!(cut(Until::Offset(0)), Some(0));
}

#[test]
fn manifest_with_pairs_of_later_versions_is_read() {
    let text = "file a.1.incr.aof seq 1 type i startoffset 0 endoffset 77\n";
    assert_eq!(
        Manifest::parse(text.as_bytes()).unwrap().increments.len(),
        1
    );
}
