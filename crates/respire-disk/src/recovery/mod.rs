//! Recovery: judges the files, loads them, and mends a torn end, in this order.

mod files;
mod replay;
mod snapshot;

use crate::served::Served;
use crate::settings::Values;
use crate::status::{Loading, Status};
use core::fmt;
use core::sync::atomic::Ordering;
use files::{RealFiles, create_folder};
use respire_durable::log::Start;
use respire_durable::recovery::{Change, FileReport, Judgement, Options, Outcome, Place, judge};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use snapshot::load as load_snapshot;

/// Why the data cannot be loaded.
#[derive(Debug)]
pub enum Failed {
    /// The files are damaged, or have something that this server does not know.
    Refused(Refused),
    /// The system refused something.
    Io(io::Error),
}

/// Why files are not loaded. Nothing on disk has been changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The file.
    pub file: PathBuf,
    /// Where in the file.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
    /// The last unit before that is known to be good.
    pub last_good: Option<u64>,
    /// The last time before that, in unix seconds.
    pub last_good_time_s: Option<u64>,
    /// The command that shows or repairs it.
    pub command: String,
}

impl Refused {
    pub(crate) fn new(file: &Path, offset: u64, what: String, command: String) -> Self {
        Self {
            file: file.to_owned(),
            offset,
            what,
            last_good: None,
            last_good_time_s: None,
            command,
        }
    }
}

impl Failed {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let text = format!("{}: {error}", path.display());
        Self::Io(io::Error::new(error.kind(), text))
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, what) = (self.file.display(), &self.what);
        write!(f, "{file}: byte {}: {what}", self.offset)?;
        if let Some(ticket) = self.last_good {
            write!(f, "; the last change known to be good is number {ticket}")?;
        }
        if let Some(time_s) = self.last_good_time_s {
            write!(f, ", of unix time {time_s}")?;
        }
        write!(f, "; nothing was changed on disk; next: {}", self.command)
    }
}

impl core::error::Error for Failed {}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A path as an argument that can be typed.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The folder of a log, which other processes cannot use as long as this is open.
///
/// # Errors
/// When another process uses it, or the system refuses something.
pub(crate) fn lock_folder(path: &Path) -> Result<File, Failed> {
    create_folder(path).map_err(|error| Failed::io(path, error))?;
    let folder = File::open(path).map_err(|error| Failed::io(path, error))?;
    let operation = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    rustix::fs::flock(&folder, operation).map_err(|error| {
        let text = match error {
            rustix::io::Errno::WOULDBLOCK => "another server uses this directory".to_owned(),
            error => error.to_string(),
        };
        Failed::io(path, io::Error::other(text))
    })?;
    Ok(folder)
}

/// Judges a log, loads it into an empty server, and mends a torn end. Returns what the log goes on with, and whether
/// there was a log.
///
/// # Errors
/// When the files are damaged, or cannot be read. Nothing on disk is changed then, but that an old single file has been
/// moved into the folder.
pub(crate) fn recover(
    values: &Values,
    served: &dyn Served,
    status: &Status,
) -> Result<(Start, bool), Failed> {
    let mut recovery = Recovery {
        files: RealFiles::new(values.log_dir(), values.dir.clone()),
        values,
        served,
        status,
    };
    let mut judgement = recovery.judge()?;
    if judgement.upgrade.is_some() {
        tracing::info!(
            "moving the single append-only file into {}",
            values.log_dir().display()
        );
        recovery.mend(&judgement)?;
        judgement = recovery.judge()?;
    }
    let is_there = judgement.outcome != Outcome::Empty;
    recovery.load(&judgement)?;
    if let Outcome::TornEnd {
        file,
        offset,
        bytes,
    } = &judgement.outcome
    {
        tracing::warn!(
            "{file} ended within a change: its last {bytes} bytes are cut off, and kept as {file}.torn-{offset}"
        );
        recovery.mend(&judgement)?;
        judgement = recovery.judge()?;
    }
    let start = judgement.start().ok_or_else(|| {
        Failed::Io(io::Error::other(
            "the append-only file is still torn after it was mended",
        ))
    })?;
    Ok((start, is_there))
}

/// What a log begins with that is turned on while the server runs: all in its folder is replaced.
///
/// # Errors
/// When the files of an earlier log are damaged or cannot be read.
pub(crate) fn start_from_memory(values: &Values) -> Result<Start, Failed> {
    let mut files = RealFiles::new(values.log_dir(), values.dir.clone());
    let options = Options {
        name: values.appendfilename.clone(),
        ..Options::default()
    };
    let judgement = judge(&mut files, &options);
    Ok(Start::from_memory(
        judgement.manifest,
        judgement.next_seq,
        judgement.last_ticket,
    ))
}

/// Loads a single file that is named: a snapshot, or the append-only file of an old server.
pub(crate) fn load_single(
    path: &Path,
    served: &dyn Served,
    loading: &Loading,
) -> Result<(), Failed> {
    let command = format!("respire-server check {}", shown(path));
    let is_snapshot = files::is_snapshot(path).map_err(|error| Failed::io(path, error))?;
    let from = if is_snapshot {
        load_snapshot(path, false, served, loading, &command)?
    } else {
        0
    };
    let length = std::fs::metadata(path)
        .map_err(|error| Failed::io(path, error))?
        .len();
    replay::load(path, from..length.max(from), served, loading)
}

struct Recovery<'r> {
    files: RealFiles,
    values: &'r Values,
    served: &'r dyn Served,
    status: &'r Status,
}

impl Recovery<'_> {
    fn judge(&mut self) -> Result<Judgement, Failed> {
        let options = Options {
            name: self.values.appendfilename.clone(),
            load_truncated: self.values.load_truncated,
            ..Options::default()
        };
        let judgement = judge(&mut self.files, &options);
        match judgement.outcome {
            Outcome::Refused(refusal) => {
                let folder = self.values.log_dir();
                Err(Failed::Refused(Refused {
                    file: folder.join(&refusal.file),
                    offset: refusal.offset,
                    what: refusal.what,
                    last_good: refusal.last_good_ticket,
                    last_good_time_s: refusal.last_good_time_s,
                    command: refusal.command.replace("PATH", &shown(&folder)),
                }))
            }
            _ => Ok(judgement),
        }
    }

    fn mend(&mut self, judgement: &Judgement) -> Result<(), Failed> {
        let changes: Vec<Change> = judgement.mend(&self.values.appendfilename);
        for change in changes {
            let made = self.files.make(&change);
            made.map_err(|error| Failed::io(&self.values.log_dir(), error))?;
        }
        Ok(())
    }

    fn load(&mut self, judgement: &Judgement) -> Result<(), Failed> {
        let loading = &self.status.loading;
        let total = judgement.files.iter().map(|file| file.whole_to).sum();
        loading.bytes_total.store(total, Ordering::Relaxed);
        for file in &judgement.files {
            self.load_file(file)?;
        }
        Ok(())
    }

    fn load_file(&mut self, file: &FileReport) -> Result<(), Failed> {
        let (path, loading) = (
            self.files.path(Place::Folder, &file.name),
            &self.status.loading,
        );
        let from = if file.is_rdb {
            let command = format!("respire-server check {}", shown(&self.values.log_dir()));
            load_snapshot(&path, true, self.served, loading, &command)?
        } else {
            0
        };
        replay::load(&path, from..file.whole_to.max(from), self.served, loading)
    }
}
