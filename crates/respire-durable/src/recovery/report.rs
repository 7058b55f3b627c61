//! What a judgement says.

use crate::log::{LastFile, Start};
use crate::manifest::{Kind, Manifest};

/// The judgement of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict on the whole.
    pub outcome: Outcome,
    /// The manifest; empty if there is none.
    pub manifest: Manifest,
    /// The files in the order in which they are loaded, as far as they were read.
    pub files: Vec<FileReport>,
    /// The log is a single file of a Redis before version 7, and this moves it into the folder.
    pub upgrade: Option<Upgrade>,
    /// Files in the folder that look like parts of the log and are not listed: what an unfinished
    /// rewrite leaves. Those that begin with `temp-` are of no use; the others are left alone.
    pub leftovers: Vec<String>,
    /// A number above those of all increments and bases in the folder.
    pub next_seq: u64,
    /// What the log needs to go on with the last increment, if there is one.
    pub last: Option<LastFile>,
    /// The ticket of the last unit, as far as the files say.
    pub last_ticket: u64,
}

/// The verdict on a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is no log, or it lists no files.
    Empty,
    /// All files are whole.
    Clean,
    /// The end of the last file is torn. [`Judgement::mend`] cuts it.
    TornEnd {
        /// The file.
        file: String,
        /// The end of the last whole unit.
        offset: u64,
        /// The bytes behind it.
        bytes: u64,
    },
    /// The log is damaged, or cannot be told from a damaged one.
    Refused(Refusal),
}

/// Why a log is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The file.
    pub file: String,
    /// Where the damage begins, or the unit that it lies in.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
    /// The ticket of the last unit that is known to be good.
    pub last_good_ticket: Option<u64>,
    /// The last time before the damage, in unix seconds.
    pub last_good_time_s: Option<u64>,
    /// The command that shows or repairs it; `PATH` stands for the log's folder.
    pub command: String,
}

/// How the single file of an older Redis becomes a log: as Redis 7 does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The manifest to write first, unless it is there already.
    pub manifest: Option<Manifest>,
    /// The file to move from the folder above into the log's folder.
    pub file: String,
}

/// One file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// Its name.
    pub name: String,
    /// What it is to the log.
    pub kind: Kind,
    /// Whether it begins with an RDB file.
    pub is_rdb: bool,
    /// Its length.
    pub bytes: u64,
    /// Whole commands in it.
    pub commands: u64,
    /// Valid checksum lines in it.
    pub checksums: u64,
    /// The end of the last valid checksum line.
    pub covered_to: u64,
    /// The end of the last whole unit.
    pub whole_to: u64,
    /// The ticket at its last valid checksum line, or at its end if the manifest says so.
    pub last_ticket: Option<u64>,
    /// The last time in it, in unix seconds.
    pub last_time_s: Option<u64>,
    /// The replication id and offset of its last checksum line.
    pub replication: Option<(Option<[u8; 40]>, u64)>,
    /// What is wrong with it, if anything.
    pub verdict: Verdict,
}

/// The verdict on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is whole.
    Whole,
    /// Its end is torn, behind this offset.
    Torn(u64),
    /// It is damaged.
    Damaged {
        /// Where.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

impl Judgement {
    /// What [`Log::new`](crate::Log::new) begins with once the files are loaded. `None` if the
    /// judgement is a refusal, or there is something to [mend](Judgement::mend) first.
    #[must_use]
    pub fn start(&self) -> Option<Start> {
        let is_ready = matches!(self.outcome, Outcome::Empty | Outcome::Clean);
        if !is_ready || self.upgrade.is_some() {
            return None;
        }
        let lengths = |kind| {
            let files = self.files.iter().filter(move |file| file.kind == kind);
            files.map(|file| file.bytes).sum::<u64>()
        };
        Some(Start {
            manifest: self.manifest.clone(),
            last_ticket: self.last_ticket,
            offset: self.replication().map_or(0, |(_, offset)| offset),
            next_seq: self.next_seq,
            last: self.last,
            from_memory: false,
            base_bytes: lengths(Kind::Base),
            closed_bytes: lengths(Kind::Increment) - self.last.map_or(0, |last| last.len),
            temporary: self.temporary().map(str::to_owned).collect(),
        })
    }

    /// The replication id and offset of the last checksum line of all files. What lies behind it, if
    /// anything, has moved the offset by a number that no line tells.
    #[must_use]
    pub fn replication(&self) -> Option<(Option<[u8; 40]>, u64)> {
        self.files.iter().rev().find_map(|file| file.replication)
    }

    fn temporary(&self) -> impl Iterator<Item = &str> {
        let names = self.leftovers.iter().map(String::as_str);
        names.filter(|name| name.starts_with("temp-"))
    }
}
