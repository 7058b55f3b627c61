//! Redis's own checker reads what the log writes, on a real file system.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use bytes::Bytes;
use respire_durable::Log;
use respire_durable::log::{Base, Batch, FileId, Lane, Operation, Policy, Settings, Start};
use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

/// The simplest caller that a log can have.
struct Caller {
    log: Log,
    folder: PathBuf,
    open: HashMap<FileId, File>,
    now_ms: u64,
}

impl Caller {
    fn perform(&mut self, operation: Operation) -> usize {
        let path = |name: &str| self.folder.join(name);
        match operation {
            Operation::Create { file, name } => {
                self.open
                    .insert(file, File::create_new(path(&name)).unwrap());
            }
            Operation::Open { file, name } => {
                let options = File::options().write(true).open(path(&name));
                self.open.insert(file, options.unwrap());
            }
            Operation::Write {
                file,
                offset,
                pieces,
                len,
            } => {
                self.open[&file]
                    .write_all_at(&pieces.concat(), offset)
                    .unwrap();
                return len;
            }
            Operation::Truncate { file, len } => self.open[&file].set_len(len).unwrap(),
            Operation::Sync { file } => self.open[&file].sync_data().unwrap(),
            Operation::Close { file } => _ = self.open.remove(&file),
            Operation::WriteWhole { name, bytes } => fs::write(path(&name), bytes).unwrap(),
            Operation::Rename { from, to } => fs::rename(path(&from), path(&to)).unwrap(),
            Operation::Unlink { name } => _ = fs::remove_file(path(&name)),
            Operation::SyncDir | Operation::Redo { .. } => {}
        }
        0
    }

    fn run(&mut self) {
        let lanes = [Lane::Sync, Lane::Write];
        while let Some((lane, operation)) = lanes
            .iter()
            .find_map(|lane| Some((*lane, self.log.next(*lane, self.now_ms)?)))
        {
            let bytes = self.perform(operation);
            self.log.complete(lane, Ok(bytes), self.now_ms);
        }
    }

    fn append(&mut self, db: u32, units: &[&[&str]]) {
        let mut bytes = Vec::new();
        for unit in units {
            resp_codec::command(&mut bytes, unit);
        }
        let ticket = self.log.appended() + 1;
        let batch = Batch {
            first: ticket,
            last: ticket,
            db_at_start: db,
            db_at_end: db,
            offset: 7,
        };
        self.log
            .append(batch, [Bytes::from(bytes)], self.now_ms)
            .unwrap();
        self.now_ms += 1500;
        self.run();
    }
}

#[test]
fn checker_of_redis_accepts_manifests_annotations_and_rewrites() {
    let folder = std::env::temp_dir().join(format!("respire-durable-{}", std::process::id()));
    // A test of an earlier process with this number may have left it.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let settings = Settings {
        policy: Policy::EverySec,
        timestamps: true,
        ..Settings::default()
    };
    let mut caller = Caller {
        log: Log::new(settings, Start::empty()),
        folder: folder.clone(),
        open: HashMap::new(),
        now_ms: 1_700_000_000_000,
    };
    caller.log.set_replication_id(Some([b'e'; 40]));
    caller.run();
    caller.append(0, &[&["SET", "a", "1"]]);
    caller.append(
        3,
        &[
            &["MULTI"],
            &["SET", "b", "1"],
            &["APPEND", "b", "2"],
            &["EXEC"],
        ],
    );
    let id = caller.log.begin_rewrite(caller.now_ms).unwrap();
    caller.run();
    caller.append(3, &[&["SET", "c", "1"]]);
    let mut base = Vec::new();
    for command in [
        &["SELECT", "0"][..],
        &["SET", "a", "1"],
        &["SELECT", "3"],
        &["SET", "b", "12"],
    ] {
        resp_codec::command(&mut base, command);
    }
    fs::write(folder.join("temp-base"), &base).unwrap();
    let base = Base {
        temporary_name: "temp-base".to_owned(),
        is_rdb: false,
        bytes: base.len() as u64,
    };
    caller.log.base_finished(id, base).unwrap();
    caller.run();
    caller.append(0, &[&["DEL", "a"]]);
    caller.log.stop();
    caller.run();
    assert!(caller.log.is_stopped());
    let manifest = folder.join("appendonly.aof.manifest");
    let output = Command::new("redis-check-aof")
        .arg(&manifest)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("All AOF files and manifest are valid"),
        "{text}"
    );
    assert_eq!(
        fs::read_dir(&folder).unwrap().count(),
        3,
        "old files are deleted"
    );
    fs::remove_dir_all(&folder).unwrap();
}
