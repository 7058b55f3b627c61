//! The log: a state machine that turns batches of changes, time and completions into operations on
//! files.
//!
//! The caller appends batches in the order of their tickets and does the operations of two
//! [lanes](Lane). It asks for the [next](Log::next) operation of a lane whenever the lane is free
//! and something happened: an append, a completion on either lane, a request, or the time of
//! [`Log::wake_at`]. The caller keeps the clock: milliseconds since 1970 that never go back.
//!
//! ```
//! use respire_durable::log::{Batch, Lane, Log, Operation, Policy, Settings, Start};
//! let settings = Settings { policy: Policy::Always, ..Settings::default() };
//! let mut log = Log::new(settings, Start::empty());
//! let unit = bytes::Bytes::from_static(b"*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n");
//! log.append(Batch { first: 1, last: 1, db_at_start: 0, db_at_end: 0, offset: 0 }, [unit], 0)?;
//! let mut names = Vec::new();
//! loop {
//!     let lanes = [Lane::Sync, Lane::Write];
//!     let next = lanes.iter().find_map(|lane| Some((*lane, log.next(*lane, 0)?)));
//!     let Some((lane, operation)) = next else { break };
//!     // A real caller does the operation here.
//!     let written = if let Operation::Write { len, .. } = &operation { *len } else { 0 };
//!     if let Operation::Create { name, .. } = operation {
//!         names.push(name);
//!     }
//!     log.complete(lane, Ok(written), 0);
//! }
//! assert_eq!(log.durable(), 1);
//! assert_eq!(&*names[0], "appendonly.aof.1.incr.aof");
//! # Ok::<(), respire_durable::log::OutOfOrder>(())
//! ```
//!
//! # What is promised
//! * [`Log::written`]: a `kill -9` of the process takes nothing up to this ticket.
//! * [`Log::durable`]: a power cut takes nothing up to this ticket.
//! * A file is never written or synced again after a write or a sync of it failed, other than for
//!   want of space. The log asks for a new base from memory instead ([`Log::wants_base`]), and both
//!   tickets stay where they are until that base and the increment behind it are durable.
//! * Whatever operation fails or is cut short, the manifest on disk lists files that exist, and
//!   none but the last may be torn.

mod block;
mod jobs;
mod lanes;
mod operation;
mod report;
mod settings;
mod staged;

pub use operation::{Failure, FileId, Lane, Operation, Outcome};
pub use report::{Busy, Info, OutOfOrder, RewriteId, Trouble};
pub use settings::{LastFile, Policy, Settings, Start};

use crate::checksum::ID_BYTES;
use crate::manifest::{Manifest, increment};
use block::{Block, Current};
use bytes::Bytes;
use jobs::{Job, Kind};
use lanes::{InSync, InWrite};
use staged::Staged;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most pieces of one write operation: what `pwritev` takes at once (`IOV_MAX`).
pub const PIECES_MAX: usize = 1024;

/// `everysec`: from the start of one sync to the start of the next.
const SYNC_EVERY_MS: u64 = 1000;
/// A failed operation is tried again after this time, then after twice the time, up to the maximum.
const RETRY_MS_MIN: u64 = 100;
const RETRY_MS_MAX: u64 = 1000;
/// The same for a whole base, which takes more than a try of one operation.
const BASE_RETRY_MS_MIN: u64 = 1000;
const BASE_RETRY_MS_MAX: u64 = 60_000;
/// As Redis: from this number of failures on, automatic rewrites wait a minute, then twice as long
/// after each further failure, up to an hour.
const REWRITE_FAILURES_FREE: u32 = 3;
const REWRITE_WAIT_MS_MIN: u64 = 60_000;
const REWRITE_WAIT_MS_MAX: u64 = 3_600_000;

/// Some whole units in the order of their tickets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The ticket of the first unit: one above that of the last unit before.
    pub first: u64,
    /// The ticket of the last unit. Units without bytes are allowed.
    pub last: u64,
    /// The database that the first command is meant for. The log writes a `SELECT` before it if
    /// the file has another one selected. It is ignored if the batch has no bytes.
    pub db_at_start: u32,
    /// The database that is selected behind the last command.
    pub db_at_end: u32,
    /// The replication offset behind the last unit; 0 if there is none.
    pub offset: u64,
}

/// A base that the caller has written and synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The name of the file in the log's folder.
    pub temporary_name: String,
    /// Whether it is an RDB file; otherwise it consists of commands.
    pub is_rdb: bool,
    /// Its length.
    pub bytes: u64,
}

/// The log without its files. The module's documentation has an example.
#[derive(Debug)]
pub struct Log {
    settings: Settings,
    replication_id: Option<[u8; ID_BYTES]>,
    last_appended: u64,
    staged: Staged,
    current: Option<Current>,
    /// Whether the caller has the current file open.
    is_open: bool,
    block: Option<Block>,
    /// Whether the tail of a failed write is to be cut before it is written again.
    repair: bool,
    in_write: Option<InWrite>,
    in_sync: Option<InSync>,
    /// Whether the last operation on the sync lane synced an increment: then jobs come first.
    synced_last: bool,
    /// When the write lane and the sync lane were asked for an operation last.
    asked_ms: [u64; 2],
    write_retry: Retry,
    jobs: VecDeque<Job>,
    closing: VecDeque<FileId>,
    garbage: VecDeque<Arc<str>>,
    listed: Manifest,
    next_seq: u64,
    rewrite: Option<Rewrite>,
    rewrites_begun: u64,
    /// Set while what is written is not what the manifest lists.
    renewal: Option<Renewal>,
    /// Batches are dropped: the next base will hold them.
    dropping: bool,
    base_retry: Retry,
    failures_in_a_row: u32,
    no_space: bool,
    written: u64,
    durable: u64,
    last_sync_ms: u64,
    last_rewrite_ms: u64,
    stopping: bool,
    closed_bytes: u64,
    listed_base_bytes: u64,
    info: Info,
}

#[derive(Debug)]
struct Rewrite {
    id: RewriteId,
    /// The number of the increment that begins at the cut.
    first_seq: u64,
    /// The last ticket before the cut.
    cut: u64,
    /// Whether that increment is in use.
    ready: bool,
    base: Option<Base>,
}

#[derive(Clone, Copy, Debug)]
struct Renewal {
    since_ms: u64,
}

/// When to try again.
#[derive(Clone, Copy, Debug, Default)]
struct Retry {
    attempts: u32,
    at_ms: u64,
}

impl Retry {
    fn again(&mut self, now_ms: u64, min_ms: u64, max_ms: u64) {
        let delay = min_ms
            .saturating_mul(1 << self.attempts.min(20))
            .min(max_ms);
        self.attempts = self.attempts.saturating_add(1);
        self.at_ms = now_ms.saturating_add(delay);
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    const fn is_due(&self, now_ms: u64) -> bool {
        self.attempts == 0 || now_ms >= self.at_ms
    }

    fn wake_at(&self) -> Option<u64> {
        (self.attempts > 0).then_some(self.at_ms)
    }
}

impl Log {
    /// A log that begins with `start`. It performs nothing until it is asked for operations.
    #[must_use]
    pub fn new(settings: Settings, start: Start) -> Self {
        let mut log = Self {
            settings,
            replication_id: None,
            last_appended: start.last_ticket,
            staged: Staged::default(),
            current: None,
            is_open: false,
            block: None,
            repair: false,
            in_write: None,
            in_sync: None,
            synced_last: false,
            asked_ms: [0; 2],
            write_retry: Retry::default(),
            jobs: VecDeque::new(),
            closing: VecDeque::new(),
            garbage: VecDeque::new(),
            next_seq: start.next_seq.max(1),
            rewrite: None,
            rewrites_begun: 0,
            renewal: None,
            dropping: false,
            base_retry: Retry::default(),
            failures_in_a_row: 0,
            no_space: false,
            written: if start.from_memory {
                0
            } else {
                start.last_ticket
            },
            durable: 0,
            last_sync_ms: 0,
            last_rewrite_ms: 0,
            stopping: false,
            closed_bytes: start.closed_bytes,
            listed_base_bytes: start.base_bytes,
            info: Info {
                last_write_ok: true,
                last_rewrite_ok: true,
                ..Info::default()
            },
            listed: Manifest::default(),
        };
        log.begin(start);
        log
    }

    fn begin(&mut self, start: Start) {
        self.listed = start.manifest;
        self.garbage
            .extend(start.temporary.iter().map(|name| name.as_str().into()));
        let last = start.last.zip(self.listed.increments.last());
        if last.is_none() || start.from_memory {
            self.jobs.push_back(Job::new(Kind::Found));
        }
        if start.from_memory {
            self.dropping = true;
            self.renewal = Some(Renewal { since_ms: 0 });
        } else if let Some((last, entry)) = last {
            let mut current = Current::new(entry.seq, &entry.name, start.last_ticket);
            current.len = last.len;
            current.offset = start.offset;
            current.listed = true;
            let is_covered = last.uncovered_from >= last.len;
            current.uncovered = (!is_covered).then_some((last.uncovered_from, last.uncovered_crc));
            // Nobody knows whether the file was synced before the last process died.
            if last.len > 0 {
                current.synced_ticket = 0;
            }
            self.durable = current.synced_ticket;
            self.current = Some(current);
            let redo_from = last.undeclared_from;
            self.jobs.push_back(Job::new(Kind::Open { redo_from }));
        } else {
            let file = self.new_increment(start.last_ticket);
            self.jobs.push_back(Job::new(Kind::Begin(file)));
        }
        self.clean_history();
        self.info.base_bytes = self.current_bytes();
    }

    /// Deletes the files that the manifest lists as history.
    fn clean_history(&mut self) {
        let history = self.listed.history.iter();
        let names: VecDeque<_> = history.map(|entry| entry.name.as_str().into()).collect();
        if !names.is_empty() {
            self.jobs.push_back(Job::new(Kind::Clean { names }));
        }
    }

    fn new_increment(&mut self, ticket: u64) -> Current {
        let seq = self.next_seq;
        self.next_seq += 1;
        Current::new(seq, &increment(&self.settings.name, seq).name, ticket)
    }

    /// Appends the next batch; its bytes are those of `pieces`, one behind the other, and empty
    /// pieces are allowed. O(pieces); no byte is copied or looked at.
    ///
    /// # Errors
    /// [`OutOfOrder`] if the batch does not follow the one before; nothing is appended then.
    pub fn append(
        &mut self,
        batch: Batch,
        pieces: impl IntoIterator<Item = Bytes>,
        now_ms: u64,
    ) -> Result<(), OutOfOrder> {
        let expected = self.last_appended + 1;
        if batch.first != expected || batch.last < batch.first {
            return Err(OutOfOrder { expected });
        }
        self.last_appended = batch.last;
        if !self.dropping {
            self.staged.push(batch, pieces, now_ms);
        }
        Ok(())
    }

    /// The ticket of the last unit that was appended.
    #[must_use]
    pub const fn appended(&self) -> u64 {
        self.last_appended
    }

    /// The ticket of the last unit that a `kill -9` of the process cannot take any more.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// The ticket of the last unit that a power cut cannot take any more. 0 after a start, until
    /// the first sync.
    #[must_use]
    pub const fn durable(&self) -> u64 {
        self.durable
    }

    /// What keeps the log from taking changes as it should.
    #[must_use]
    pub fn trouble(&self, now_ms: u64) -> Option<Trouble> {
        let stuck = self.jobs.front().is_some_and(Job::is_stuck);
        if self.failures_in_a_row >= 2 || stuck {
            return Some(Trouble::Failed);
        }
        if self.no_space {
            return Some(Trouble::NoSpace);
        }
        let renewal = self.renewal.filter(|_| self.failures_in_a_row > 0)?;
        let overdue = now_ms >= renewal.since_ms.saturating_add(self.settings.hold_ms);
        Some(if overdue {
            Trouble::Overdue
        } else {
            Trouble::Renewing
        })
    }

    /// The bytes that are appended and not written.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        let block = self
            .block
            .as_ref()
            .map_or(0, |block| block.len - block.written);
        self.staged.bytes() + block
    }

    /// For how long the oldest unit that is not durable has been waiting, in milliseconds. `None`
    /// if all are durable.
    #[must_use]
    pub fn oldest_age_ms(&self, now_ms: u64) -> Option<u64> {
        let renewal = self.renewal.filter(|_| self.durable < self.last_appended);
        let since = [
            renewal.map(|renewal| renewal.since_ms),
            self.current
                .as_ref()
                .and_then(|current| current.unsynced_since_ms),
            self.block.as_ref().map(|block| block.oldest_ms),
            self.staged.oldest_ms(),
        ];
        let oldest = since.into_iter().flatten().min()?;
        Some(now_ms.saturating_sub(oldest))
    }

    /// Whether the caller should make a cut, call [`Log::begin_rewrite`] and write a base: a file
    /// failed, or the log was turned on at run time.
    #[must_use]
    pub const fn wants_base(&self, now_ms: u64) -> bool {
        self.dropping && !self.stopping && self.base_retry.is_due(now_ms)
    }

    /// Whether all that memory holds is in listed files, or on its way there. False from the start
    /// with [`Start::from_memory`], or from a failure, until the new base is durable.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.renewal.is_none()
    }

    /// Whether an automatic rewrite is due, by `auto-aof-rewrite-percentage` (0: never) and
    /// `auto-aof-rewrite-min-size`. After three failures it waits longer and longer, as Redis does.
    #[must_use]
    pub fn rewrite_due(&self, percentage: u64, bytes_min: u64, now_ms: u64) -> bool {
        if percentage == 0 || self.rewrite.is_some() || self.renewal.is_some() || self.stopping {
            return false;
        }
        let failures = self.info.rewrite_failures;
        if failures >= REWRITE_FAILURES_FREE {
            let doublings = (failures - REWRITE_FAILURES_FREE).min(20);
            let wait = (REWRITE_WAIT_MS_MIN << doublings).min(REWRITE_WAIT_MS_MAX);
            if now_ms < self.last_rewrite_ms.saturating_add(wait) {
                return false;
            }
        }
        let bytes = self.current_bytes();
        let before = self.info.base_bytes.max(1);
        let growth = u128::from(bytes) * 100 / u128::from(before);
        bytes > bytes_min && growth >= 100 + u128::from(percentage)
    }

    /// Begins a rewrite: all that was appended so far lies before the cut, and the base has to hold
    /// exactly that. What is appended later goes to a new increment.
    ///
    /// # Errors
    /// [`Busy`] if that is not possible now.
    pub fn begin_rewrite(&mut self, now_ms: u64) -> Result<RewriteId, Busy> {
        // An earlier rewrite may have lost its base while its rotation goes on: one cut at a time.
        let is_cutting = self.jobs.iter().any(|job| job.kind.makes_cut());
        if self.rewrite.is_some() || is_cutting {
            return Err(Busy::InProgress);
        }
        let can_rotate = self.current.is_some() && self.is_open && !self.no_space;
        if self.stopping || !(self.dropping || can_rotate) {
            return Err(Busy::NotNow);
        }
        self.rewrites_begun += 1;
        self.last_rewrite_ms = now_ms;
        let id = RewriteId(self.rewrites_begun);
        let file = self.new_increment(self.last_appended);
        self.rewrite = Some(Rewrite {
            id,
            first_seq: file.id.0,
            cut: self.last_appended,
            ready: false,
            base: None,
        });
        if self.dropping {
            self.dropping = false;
            self.jobs.push_back(Job::new(Kind::Renew(file)));
        } else {
            self.staged.set_cut();
            self.jobs.push_back(Job::new(Kind::Rotate(file)));
        }
        Ok(id)
    }

    /// The rewrite in progress. If it is not the one whose base the caller writes, that base is of
    /// no use any more.
    #[must_use]
    pub fn rewrite(&self) -> Option<RewriteId> {
        self.rewrite.as_ref().map(|rewrite| rewrite.id)
    }

    /// Whether the base of the rewrite still is to be written.
    #[must_use]
    pub fn awaits_base(&self) -> bool {
        self.rewrite
            .as_ref()
            .is_some_and(|rewrite| rewrite.base.is_none())
    }

    /// The base of a rewrite is written and synced under a temporary name. The log renames it.
    ///
    /// # Errors
    /// Gives the base back if the rewrite is not in progress any more; the caller deletes the file.
    pub fn base_finished(&mut self, id: RewriteId, base: Base) -> Result<(), Base> {
        match &mut self.rewrite {
            Some(rewrite) if rewrite.id == id && rewrite.base.is_none() => {
                rewrite.base = Some(base);
                self.install_if_ready();
                Ok(())
            }
            _ => Err(base),
        }
    }

    /// The base of a rewrite will not be written. The old files stay, with both increments.
    pub fn base_aborted(&mut self, id: RewriteId, now_ms: u64) {
        let is_it = |rewrite: &Rewrite| rewrite.id == id && rewrite.base.is_none();
        if self.rewrite.as_ref().is_some_and(is_it) {
            self.rewrite_failed(now_ms);
        }
    }

    /// Changes `appendfsync`.
    pub const fn set_policy(&mut self, policy: Policy) {
        self.settings.policy = policy;
    }

    /// Changes `aof-timestamp-enabled`.
    pub const fn set_timestamps(&mut self, timestamps: bool) {
        self.settings.timestamps = timestamps;
    }

    /// The id of the replication history, for the checksum lines from now on.
    pub const fn set_replication_id(&mut self, id: Option<[u8; ID_BYTES]>) {
        self.replication_id = id;
    }

    /// Write and sync all that was appended, then stop. A rewrite whose base is not there is given
    /// up.
    pub fn stop(&mut self) {
        self.stopping = true;
        if self.awaits_base() {
            self.rewrite = None;
        }
    }

    /// Whether the log was asked to stop, and has written and synced all. If a file fails while it
    /// stops, nothing is left that it could do: then [`Log::durable`] stays below
    /// [`Log::appended`].
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let idle = self.in_write.is_none() && self.in_sync.is_none();
        let nothing_left = self.staged.is_empty() && self.block.is_none() && self.jobs.is_empty();
        let closed = self.current.as_ref().is_none_or(|current| {
            current.is_synced() && (!self.settings.checksum || current.declares_all())
        });
        self.stopping && idle && nothing_left && closed
    }

    /// The manifest that is on disk, as far as the log knows.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.listed
    }

    /// Figures for `INFO`.
    #[must_use]
    pub fn info(&self) -> Info {
        let unsynced = |current: &Current| current.len.saturating_sub(current.synced);
        Info {
            current_bytes: self.current_bytes(),
            waiting_bytes: self.waiting_bytes(),
            unsynced_bytes: self.current.as_ref().map_or(0, unsynced),
            syncs_pending: u32::from(matches!(self.in_sync, Some(InSync::File { .. }))),
            rewrite_in_progress: self.rewrite.is_some(),
            ..self.info
        }
    }

    fn current_bytes(&self) -> u64 {
        let current = self.current.as_ref().map_or(0, |current| current.len);
        self.listed_base_bytes + self.closed_bytes + current
    }
}
