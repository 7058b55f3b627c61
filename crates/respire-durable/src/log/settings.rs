//! The settings of a log, and how it starts.

use crate::manifest::Manifest;

/// When what was written is synced: `appendfsync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// As soon as possible. What is staged while a sync runs goes with the next.
    Always,
    /// Once a second.
    EverySec,
    /// When the system likes to, and when a file is finished.
    No,
}

/// The settings of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The first part of all files' names: `appendfilename`.
    pub name: String,
    /// `appendfsync`.
    pub policy: Policy,
    /// Whether checksum lines are written. Readers older than Redis 7.0 refuse them.
    pub checksum: bool,
    /// Whether times are written: `aof-timestamp-enabled`.
    pub timestamps: bool,
    /// The most bytes of a block and of one write operation. A block has one batch at least.
    pub write_bytes_max: usize,
    /// How long replies may be held after a file failed, in milliseconds, before [`Log::trouble`]
    /// says [`Trouble::Overdue`].
    ///
    /// [`Log::trouble`]: super::Log::trouble
    /// [`Trouble::Overdue`]: super::Trouble::Overdue
    pub hold_ms: u64,
}

impl Default for Settings {
    /// Redis's defaults; blocks of 2 MiB, replies held for 30 seconds.
    fn default() -> Self {
        Self {
            name: "appendonly.aof".to_owned(),
            policy: Policy::EverySec,
            checksum: true,
            timestamps: false,
            write_bytes_max: 2 << 20,
            hold_ms: 30_000,
        }
    }
}

/// What a log begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The manifest on disk; empty if there is none.
    pub manifest: Manifest,
    /// The ticket of the last unit that memory holds. The first batch begins behind it.
    pub last_ticket: u64,
    /// The replication offset behind that unit; 0 if there is none.
    pub offset: u64,
    /// A number above those of all increments and bases in the folder, listed or not, so that no
    /// name is used twice.
    pub next_seq: u64,
    /// The last increment, if the log goes on with it. Otherwise it begins a new one.
    pub last: Option<LastFile>,
    /// Whether memory holds more than the files: the log begins with a new increment and
    /// [`Log::wants_base`](super::Log::wants_base), and nothing counts as written until both are
    /// listed. That is so when the log is turned on at run time.
    pub from_memory: bool,
    /// The bytes of the base.
    pub base_bytes: u64,
    /// The bytes of all increments but [`Start::last`].
    pub closed_bytes: u64,
    /// Temporary files that a crash has left, to be deleted.
    pub temporary: Vec<String>,
}

impl Start {
    /// Begins a log where there are no files and memory holds nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            next_seq: 1,
            ..Self::default()
        }
    }

    /// Turns the log on at run time. `manifest` and `next_seq` are of what lies in the folder from
    /// earlier; its files are deleted once the new ones are durable.
    #[must_use]
    pub fn from_memory(manifest: Manifest, next_seq: u64, last_ticket: u64) -> Self {
        Self {
            manifest,
            last_ticket,
            next_seq,
            from_memory: true,
            ..Self::default()
        }
    }
}

/// The increment that a log goes on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastFile {
    /// Its length in bytes: where the next block begins.
    pub len: u64,
    /// Where the bytes begin that no checksum line covers; `len` if there are none.
    pub uncovered_from: u64,
    /// Where the bytes begin that no checksum line declares durable; `len` if there are none, or no
    /// checksum lines at all. They are written again at the start.
    pub undeclared_from: u64,
    /// The CRC-32 of the uncovered bytes. The next checksum line covers them too.
    pub uncovered_crc: u32,
}
