//! The settings of durability, under Redis's names.

use respire_engine::{Setting, parse_memory};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use respire_durable::log::Policy;

/// The values of all settings at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// `appendonly`: whether there is a log.
    pub appendonly: bool,
    /// `appendfsync`: when the log is synced.
    pub appendfsync: Policy,
    /// `dir`: the directory of the snapshot, and of the log's own directory.
    pub dir: PathBuf,
    /// `dbfilename`: the snapshot's name in `dir`.
    pub dbfilename: String,
    /// `appenddirname`: the name of the log's directory in `dir`.
    pub appenddirname: String,
    /// `appendfilename`: what the names of the log's files begin with.
    pub appendfilename: String,
    /// `save`: a snapshot is written when one of these is met.
    pub save: Vec<SavePoint>,
    /// `auto-aof-rewrite-percentage`: the log is rewritten when it has grown by this; 0 is never.
    pub rewrite_percentage: u32,
    /// `auto-aof-rewrite-min-size`: and has at least so many bytes.
    pub rewrite_bytes_min: u64,
    /// `aof-load-truncated`: whether a torn end of the log is cut when the server starts.
    pub load_truncated: bool,
    /// `aof-timestamp-enabled`: whether the log has lines with the time.
    pub timestamps: bool,
    /// `rdbcompression`: whether snapshots pack long strings.
    pub compression: bool,
    /// `rdbchecksum`: whether snapshots end with a checksum.
    pub checksum: bool,
    /// `stop-writes-on-bgsave-error`: whether writes are refused after a snapshot failed.
    pub stop_writes: bool,
    /// Whether the server has loaded its data: from then on `dir` must exist.
    pub is_open: bool,
    /// `log-buffer-bytes`: changes that wait for the disk before writers wait as well.
    pub buffer_bytes: u64,
}

/// A rule of `save`: a snapshot after so many seconds if there are at least so many changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavePoint {
    /// Seconds since the last snapshot.
    pub seconds: u64,
    /// Changes since the last snapshot.
    pub changes: u64,
}

impl Default for Values {
    /// Redis's defaults, but no snapshots by themselves: without settings a server keeps nothing.
    fn default() -> Self {
        Self {
            appendonly: false,
            appendfsync: Policy::EverySec,
            dir: PathBuf::from("."),
            dbfilename: "dump.rdb".to_owned(),
            appenddirname: "appendonlydir".to_owned(),
            appendfilename: "appendonly.aof".to_owned(),
            save: Vec::new(),
            rewrite_percentage: 100,
            rewrite_bytes_min: 64 << 20,
            load_truncated: true,
            timestamps: false,
            compression: true,
            checksum: true,
            stop_writes: true,
            is_open: false,
            buffer_bytes: 64 << 20,
        }
    }
}

impl Values {
    /// The path of the snapshot.
    #[must_use]
    pub fn snapshot(&self) -> PathBuf {
        self.dir.join(&self.dbfilename)
    }

    /// The directory of the log.
    #[must_use]
    pub fn log_dir(&self) -> PathBuf {
        self.dir.join(&self.appenddirname)
    }

    /// The name of `appendfsync`'s value.
    pub(crate) fn policy_name(&self) -> &'static str {
        policy_name(self.appendfsync)
    }

    pub(crate) fn save_text(&self) -> String {
        let mut text = String::new();
        for point in &self.save {
            let blank = if text.is_empty() { "" } else { " " };
            // Writing to a String cannot fail.
            let _ = write!(text, "{blank}{} {}", point.seconds, point.changes);
        }
        text
    }
}

/// The settings of a server, which `CONFIG SET` changes.
#[derive(Debug, Default)]
pub struct Settings {
    values: Mutex<Values>,
}

/// Called after a setting has changed.
pub(crate) type Changed = dyn Fn() + Send + Sync;

impl Settings {
    /// Settings with these values.
    #[must_use]
    pub fn new(values: Values) -> Self {
        Self {
            values: Mutex::new(values),
        }
    }

    /// The values now.
    #[must_use]
    pub fn values(&self) -> Values {
        self.lock().clone()
    }

    /// Replaces `dir` by the same without links and relative parts.
    pub(crate) fn open(&self, dir: PathBuf) {
        let mut values = self.lock();
        values.dir = dir;
        values.is_open = true;
    }

    /// Takes `appendonly` back, after it could not be done.
    pub(crate) fn set_appendonly(&self, is_on: bool) {
        self.lock().appendonly = is_on;
    }

    /// Reads the values without a copy.
    pub(crate) fn read<R>(&self, f: impl FnOnce(&Values) -> R) -> R {
        f(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows of `CONFIG`. `changed` is called after each change.
    pub(crate) fn rows(self: &Arc<Self>, changed: Arc<Changed>) -> Vec<Setting> {
        let row = |name, get: fn(&Values) -> String, set: SetValue| {
            let (read, write, changed) = (Arc::clone(self), Arc::clone(self), Arc::clone(&changed));
            let set = move |text: &str| {
                let mut values = write.lock();
                set(&mut values, text)?;
                drop(values);
                changed();
                Ok(())
            };
            Setting::mutable(name, move || get(&read.lock()), set)
        };
        ROWS.iter()
            .map(|(name, get, set)| row(*name, *get, *set))
            .collect()
    }
}

type SetValue = fn(&mut Values, &str) -> Result<(), String>;
type Row = (&'static str, fn(&Values) -> String, SetValue);

const ROWS: &[Row] = &[
    (
        "appendonly",
        |v| shown(v.appendonly),
        |v, text| switch(&mut v.appendonly, text),
    ),
    (
        "appendfsync",
        |v| policy_name(v.appendfsync).to_owned(),
        |v, text| {
            v.appendfsync = policy(text)?;
            Ok(())
        },
    ),
    (
        "dir",
        |v| v.dir.display().to_string(),
        |v, text| {
            if v.is_open {
                let is_same = directory(text)? == v.dir;
                return unchanged(is_same, PROTECTED);
            }
            v.dir = PathBuf::from(text);
            Ok(())
        },
    ),
    (
        "dbfilename",
        |v| v.dbfilename.clone(),
        |v, text| file_name(&mut v.dbfilename, text, v.is_open, PROTECTED),
    ),
    (
        "appenddirname",
        |v| v.appenddirname.clone(),
        |v, text| file_name(&mut v.appenddirname, text, v.is_open, IMMUTABLE),
    ),
    (
        "appendfilename",
        |v| v.appendfilename.clone(),
        |v, text| file_name(&mut v.appendfilename, text, v.is_open, IMMUTABLE),
    ),
    ("save", Values::save_text, |v, text| {
        v.save = save_points(text)?;
        Ok(())
    }),
    (
        "auto-aof-rewrite-percentage",
        |v| v.rewrite_percentage.to_string(),
        |v, text| {
            v.rewrite_percentage = text.parse().map_err(|_| NO_INTEGER)?;
            Ok(())
        },
    ),
    (
        "auto-aof-rewrite-min-size",
        |v| v.rewrite_bytes_min.to_string(),
        |v, text| memory(&mut v.rewrite_bytes_min, text),
    ),
    (
        "aof-load-truncated",
        |v| shown(v.load_truncated),
        |v, text| switch(&mut v.load_truncated, text),
    ),
    (
        "aof-use-rdb-preamble",
        |_| shown(true),
        |_, text| preamble(text),
    ),
    (
        "aof-timestamp-enabled",
        |v| shown(v.timestamps),
        |v, text| switch(&mut v.timestamps, text),
    ),
    (
        "no-appendfsync-on-rewrite",
        |_| shown(false),
        |_, text| switch(&mut false, text),
    ),
    (
        "rdbcompression",
        |v| shown(v.compression),
        |v, text| switch(&mut v.compression, text),
    ),
    (
        "rdbchecksum",
        |v| shown(v.checksum),
        |v, text| switch(&mut v.checksum, text),
    ),
    (
        "stop-writes-on-bgsave-error",
        |v| shown(v.stop_writes),
        |v, text| switch(&mut v.stop_writes, text),
    ),
    (
        "log-buffer-bytes",
        |v| v.buffer_bytes.to_string(),
        |v, text| memory(&mut v.buffer_bytes, text),
    ),
];

const NO_INTEGER: &str = "argument couldn't be parsed into an integer";

fn shown(is_on: bool) -> String {
    if is_on { "yes" } else { "no" }.to_owned()
}

fn switch(value: &mut bool, text: &str) -> Result<(), String> {
    *value = match &*text.to_ascii_lowercase() {
        "yes" => true,
        "no" => false,
        _ => return Err("argument must be 'yes' or 'no'".to_owned()),
    };
    Ok(())
}

/// A base of the log is a snapshot always: it loads faster, and has checksums.
fn preamble(text: &str) -> Result<(), String> {
    let mut is_on = true;
    switch(&mut is_on, text)?;
    if is_on {
        Ok(())
    } else {
        Err("a base of the append-only file is always a snapshot".to_owned())
    }
}

fn memory(value: &mut u64, text: &str) -> Result<(), String> {
    *value = parse_memory(text).ok_or("argument must be a memory value")?;
    Ok(())
}

fn policy_name(policy: Policy) -> &'static str {
    match policy {
        Policy::Always => "always",
        Policy::EverySec => "everysec",
        Policy::No => "no",
    }
}

fn policy(text: &str) -> Result<Policy, String> {
    match &*text.to_ascii_lowercase() {
        "always" => Ok(Policy::Always),
        "everysec" => Ok(Policy::EverySec),
        "no" => Ok(Policy::No),
        _ => Err("argument(s) must be one of the following: everysec, always, no".to_owned()),
    }
}

/// A client that chooses where the server writes could replace files of the system.
const PROTECTED: &str = "can't set protected config";

const IMMUTABLE: &str = "can't set immutable config";

/// The reply to a setting that stays as it is from the start on.
fn unchanged(is_same: bool, refusal: &str) -> Result<(), String> {
    if is_same {
        Ok(())
    } else {
        Err(refusal.to_owned())
    }
}

/// Names of files in a directory: a path would lead out of it.
fn file_name(value: &mut String, text: &str, is_open: bool, refusal: &str) -> Result<(), String> {
    if text.is_empty() || Path::new(text).file_name() != Some(text.as_ref()) {
        return Err("it can't be a path, just a filename".to_owned());
    }
    if is_open {
        return unchanged(value == text, refusal);
    }
    text.clone_into(value);
    Ok(())
}

fn directory(text: &str) -> Result<PathBuf, String> {
    let path = std::fs::canonicalize(text).map_err(|error| error.to_string())?;
    if path.is_dir() {
        Ok(path)
    } else {
        Err("Not a directory".to_owned())
    }
}

fn save_points(text: &str) -> Result<Vec<SavePoint>, String> {
    let words: Vec<&str> = text
        .split_ascii_whitespace()
        .filter(|word| *word != "\"\"")
        .collect();
    let (pairs, rest) = words.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("Invalid save parameters".to_owned());
    }
    let number = |word: &str| {
        word.parse::<u64>()
            .map_err(|_| "Invalid save parameters".to_owned())
    };
    let point = |[seconds, changes]: &[&str; 2]| {
        let (seconds, changes) = (number(seconds)?, number(changes)?);
        if seconds == 0 {
            return Err("Invalid save parameters".to_owned());
        }
        Ok(SavePoint { seconds, changes })
    };
    pairs.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_back_as_they_were_set_and_refuse_what_redis_refuses() {
        let settings = Arc::new(Settings::default());
        let rows = settings.rows(Arc::new(|| ()));
        let row = |name: &str| rows.iter().find(|row| row.name() == name).expect("a row");
        for (name, value, wrong) in [
            ("appendonly", "yes", "maybe"),
            ("appendfsync", "always", "sometimes"),
            ("dbfilename", "x.rdb", "../x.rdb"),
            ("appenddirname", "log", "a/b"),
            ("appendfilename", "log.aof", ""),
            ("save", "3600 1 300 100", "3600"),
            ("auto-aof-rewrite-percentage", "50", "-1"),
            ("auto-aof-rewrite-min-size", "1048576", "lots"),
            ("aof-load-truncated", "no", "2"),
            ("aof-use-rdb-preamble", "yes", "no"),
            ("rdbcompression", "no", ""),
            ("log-buffer-bytes", "1000", "x"),
        ] {
            assert!(row(name).set(wrong).is_err(), "{name}");
            assert_eq!(row(name).set(value), Ok(()), "{name}");
            assert_eq!(row(name).get(), value, "{name}");
        }
        assert_eq!(row("save").set(""), Ok(()));
        assert!(settings.values().save.is_empty());
        // No client chooses where the server writes.
        settings.open(PathBuf::from("/"));
        for (name, same, other) in [
            ("dir", "/.", "/proc"),
            ("dir", "/", "/no/such/directory"),
            ("dbfilename", "x.rdb", "y.rdb"),
            ("appenddirname", "log", "other"),
            ("appendfilename", "log.aof", "other"),
        ] {
            let before = row(name).get();
            assert_eq!(row(name).set(same), Ok(()), "{name}");
            assert!(row(name).set(other).is_err(), "{name}");
            assert_eq!(row(name).get(), before, "{name}");
        }
    }
}
