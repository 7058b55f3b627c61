//! The two lanes: which operation is next, and what its completion means.

use super::block::Form;
use super::operation::{Failure, FileId, Lane, Operation, Outcome};
use super::{
    BASE_RETRY_MS_MAX, BASE_RETRY_MS_MIN, Log, Policy, RETRY_MS_MAX, RETRY_MS_MIN, Renewal,
    SYNC_EVERY_MS,
};

/// A sync that takes longer counts as delayed, as in Redis.
const SYNC_DELAYED_MS: u64 = 2000;

/// After this time without a change, the file's end is declared durable.
const DECLARE_AFTER_MS: u64 = 1000;

/// What is in flight on the write lane.
#[derive(Clone, Copy, Debug)]
pub(super) enum InWrite {
    Write { file: FileId },
    Truncate { file: FileId },
}

/// What is in flight on the sync lane.
#[derive(Clone, Copy, Debug)]
pub(super) enum InSync {
    /// A sync of an increment, and what is durable if it succeeds.
    File {
        file: FileId,
        len: u64,
        ticket: u64,
        listed: bool,
        /// Whether checksum lines covered all of the file.
        is_covered: bool,
        begun_ms: u64,
        /// When the oldest unit was appended that was written while the sync ran.
        later_since_ms: Option<u64>,
    },
    /// The step of the first job.
    Step,
    /// Closing or deleting a file that is not needed any more.
    Tidy,
}

impl Log {
    /// The next operation of a lane. `None` if one is in flight there or there is nothing to do
    /// now. O(1), apart from the checksum of a new block.
    pub fn next(&mut self, lane: Lane, now_ms: u64) -> Option<Operation> {
        self.asked_ms[usize::from(lane == Lane::Sync)] = now_ms;
        match lane {
            Lane::Write => self.next_write(now_ms),
            Lane::Sync => self.next_sync(now_ms),
        }
    }

    /// What became of the operation in flight on a lane. Ignored if there is none.
    pub fn complete(&mut self, lane: Lane, outcome: Outcome, now_ms: u64) {
        match lane {
            Lane::Write => match self.in_write.take() {
                Some(InWrite::Write { file }) => self.write_done(file, outcome, now_ms),
                Some(InWrite::Truncate { file }) => self.truncate_done(file, outcome, now_ms),
                None => {}
            },
            Lane::Sync => match self.in_sync.take() {
                Some(done @ InSync::File { .. }) => self.sync_done(done, outcome, now_ms),
                Some(InSync::Step) => self.step_done(outcome.map(|_| ()), now_ms),
                Some(InSync::Tidy) | None => {}
            },
        }
    }

    /// When the caller should ask for operations, or for [`Log::trouble`] and
    /// [`Log::wants_base`], even if nothing happens until then. Call it when [`Log::next`] has
    /// returned `None`: a time at which the lane was asked already is not named again.
    #[must_use]
    pub fn wake_at(&self) -> Option<u64> {
        let [write_asked_ms, sync_asked_ms] = self.asked_ms;
        let unwritten = self.block.is_some();
        let write = self.write_retry.wake_at().filter(|_| unwritten);
        let declare = self.declares_at().filter(|_| self.is_open);
        let job = self.jobs.front().and_then(|job| job.retry.wake_at());
        let is_unsynced = self.current.as_ref().is_some_and(|file| !file.is_synced());
        let every_second = self.settings.policy == Policy::EverySec && self.is_open;
        let sync = (is_unsynced && every_second).then_some(self.last_sync_ms + SYNC_EVERY_MS);
        let base = self.base_retry.wake_at().filter(|_| self.dropping);
        let overdue = self
            .renewal
            .filter(|_| self.failures_in_a_row == 1)
            .map(|renewal| renewal.since_ms.saturating_add(self.settings.hold_ms));
        let of_write = [write, declare].into_iter().flatten();
        let of_sync = [job, sync].into_iter().flatten();
        let of_both = [base, overdue].into_iter().flatten();
        of_write
            .filter(|at_ms| *at_ms > write_asked_ms)
            .chain(of_sync.filter(|at_ms| *at_ms > sync_asked_ms))
            .chain(of_both.filter(|at_ms| *at_ms > write_asked_ms.max(sync_asked_ms)))
            .min()
    }

    fn next_write(&mut self, now_ms: u64) -> Option<Operation> {
        if self.in_write.is_some() || !self.is_open || !self.write_retry.is_due(now_ms) {
            return None;
        }
        loop {
            let file = self.current.as_ref()?;
            let id = file.id;
            if let Some(block) = &self.block {
                if self.repair {
                    let len = block.offset;
                    self.in_write = Some(InWrite::Truncate { file: id });
                    return Some(Operation::Truncate { file: id, len });
                }
                self.in_write = Some(InWrite::Write { file: id });
                return Some(block.write(self.settings.write_bytes_max));
            }
            let form = Form {
                settings: &self.settings,
                replication_id: self.replication_id,
                now_ms,
            };
            if self.settings.checksum && file.uncovered.is_some() {
                // A line of its own: otherwise a torn block behind it would take what is durable.
                self.block = Some(form.closing(file));
            } else if self.staged.is_ready() {
                self.block = Some(form.block(file, &mut self.staged));
                self.finish_block();
            } else if self.declares_at().is_some_and(|at_ms| now_ms >= at_ms) {
                self.block = Some(form.closing(file));
            } else {
                return None;
            }
        }
    }

    /// When a line is due that says that all before it is durable: at a stop, and when nothing has
    /// happened for a while. Without it, damage to what was synced last would look like a torn end.
    fn declares_at(&self) -> Option<u64> {
        let file = self.current.as_ref()?;
        let is_quiet = self.staged.is_empty() && self.block.is_none() && self.jobs.is_empty();
        let is_due = self.settings.checksum && is_quiet && file.is_synced() && !file.declares_all();
        match self.settings.policy {
            _ if !is_due => None,
            _ if self.stopping => Some(0),
            Policy::No => None,
            Policy::Always | Policy::EverySec => Some(self.last_sync_ms + DECLARE_AFTER_MS),
        }
    }

    fn write_done(&mut self, file: FileId, outcome: Outcome, now_ms: u64) {
        // The file may have failed on the other lane meanwhile.
        let is_current = self
            .current
            .as_ref()
            .is_some_and(|current| current.id == file);
        let Some(block) = self
            .block
            .as_mut()
            .filter(|block| is_current && block.file == file)
        else {
            return;
        };
        match outcome {
            Ok(0) | Err(Failure::NoSpace) => {
                block.rewind();
                self.repair = true;
                self.no_space = true;
                self.info.last_write_ok = false;
                self.write_retry.again(now_ms, RETRY_MS_MIN, RETRY_MS_MAX);
            }
            Ok(bytes) => {
                block.advance(bytes);
                self.finish_block();
            }
            Err(Failure::Interrupted) => {}
            Err(Failure::Io) => self.distrust(now_ms),
        }
    }

    fn truncate_done(&mut self, file: FileId, outcome: Outcome, now_ms: u64) {
        if self
            .current
            .as_ref()
            .is_none_or(|current| current.id != file)
        {
            return;
        }
        match outcome {
            Ok(_) => self.repair = false,
            Err(Failure::Interrupted) => {}
            Err(Failure::NoSpace) => self.write_retry.again(now_ms, RETRY_MS_MIN, RETRY_MS_MAX),
            Err(Failure::Io) => self.distrust(now_ms),
        }
    }

    /// If the block is written as a whole, its units are.
    fn finish_block(&mut self) {
        let Some(block) = self.block.take_if(|block| block.is_written()) else {
            return;
        };
        let Some(file) = &mut self.current else {
            return;
        };
        file.written_ticket = block.last_ticket;
        file.db = block.db;
        file.offset = block.replication_offset;
        if block.len == 0 {
            if file.is_synced() && file.is_covered(self.settings.checksum) {
                file.synced_ticket = block.last_ticket;
            }
            self.publish();
            return;
        }
        file.len += block.len;
        file.time_s = block.time_s;
        file.unsynced_since_ms.get_or_insert(block.oldest_ms);
        if let Some(InSync::File {
            file: synced,
            later_since_ms,
            ..
        }) = &mut self.in_sync
            && *synced == file.id
        {
            later_since_ms.get_or_insert(block.oldest_ms);
        }
        if self.settings.checksum {
            file.uncovered = None;
        }
        if block.declares_all {
            file.declared_at = file.len;
        }
        self.info.blocks += 1;
        self.info.last_write_ok = true;
        self.no_space = false;
        self.write_retry.reset();
        self.publish();
    }

    /// Moves the published tickets to what the current file holds, if the manifest lists it.
    pub(super) fn publish(&mut self) {
        if let Some(file) = &self.current
            && file.listed
            && self.renewal.is_none()
        {
            self.written = self.written.max(file.written_ticket);
            self.durable = self.durable.max(file.synced_ticket);
        }
    }

    fn next_sync(&mut self, now_ms: u64) -> Option<Operation> {
        if self.in_sync.is_some() {
            return None;
        }
        let jobs_first = self.synced_last;
        self.synced_last = false;
        if jobs_first && let Some(operation) = self.next_chore(now_ms) {
            return Some(operation);
        }
        if self.sync_is_due(now_ms) {
            return self.sync_current(now_ms);
        }
        if jobs_first {
            None
        } else {
            self.next_chore(now_ms)
        }
    }

    fn next_chore(&mut self, now_ms: u64) -> Option<Operation> {
        if let Some(operation) = self.next_step(now_ms) {
            return Some(operation);
        }
        let operation = if let Some(file) = self.closing.pop_front() {
            Operation::Close { file }
        } else {
            let name = self.garbage.pop_front()?;
            Operation::Unlink { name }
        };
        self.in_sync = Some(InSync::Tidy);
        Some(operation)
    }

    fn sync_is_due(&self, now_ms: u64) -> bool {
        let unsynced = self.current.as_ref().is_some_and(|file| !file.is_synced());
        let by_policy = match self.settings.policy {
            Policy::Always => true,
            Policy::EverySec => now_ms >= self.last_sync_ms + SYNC_EVERY_MS,
            Policy::No => false,
        };
        self.is_open && unsynced && (by_policy || self.stopping)
    }

    /// A sync of the current file, if there is something to sync.
    pub(super) fn sync_current(&mut self, now_ms: u64) -> Option<Operation> {
        let file = self.current.as_ref().filter(|file| !file.is_synced())?;
        let is_covered = file.is_covered(self.settings.checksum);
        let ticket = if is_covered {
            file.written_ticket
        } else {
            file.synced_ticket
        };
        self.in_sync = Some(InSync::File {
            file: file.id,
            len: file.len,
            ticket,
            listed: file.listed,
            is_covered,
            begun_ms: now_ms,
            later_since_ms: None,
        });
        self.synced_last = true;
        self.last_sync_ms = now_ms;
        Some(Operation::Sync { file: file.id })
    }

    fn sync_done(&mut self, done: InSync, outcome: Outcome, now_ms: u64) {
        let InSync::File {
            file,
            len,
            ticket,
            listed,
            is_covered,
            begun_ms,
            later_since_ms,
        } = done
        else {
            return;
        };
        if now_ms.saturating_sub(begun_ms) > SYNC_DELAYED_MS {
            self.info.syncs_delayed += 1;
        }
        let current = self.current.as_mut().filter(|current| current.id == file);
        match (outcome, current) {
            (Err(Failure::Interrupted), _) | (Err(_), None) => {}
            (Ok(_), Some(current)) => {
                self.info.syncs += 1;
                current.synced = len;
                if is_covered {
                    current.durable_to = len;
                    let is_all = current.len == len;
                    current.synced_ticket = if is_all {
                        current.written_ticket
                    } else {
                        ticket
                    };
                }
                current.unsynced_since_ms = later_since_ms;
                self.publish();
            }
            (Ok(_), None) if listed => self.durable = self.durable.max(ticket),
            (Ok(_), None) => {}
            // A second sync would succeed and mean nothing: the pages count as clean now.
            (Err(_), Some(_)) => self.distrust(now_ms),
        }
    }

    /// The current file failed. It is never touched again; memory is the only source of what was
    /// not durable in it.
    fn distrust(&mut self, now_ms: u64) {
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.info.last_write_ok = false;
        if self.failures_in_a_row > 1 {
            self.retry_base_later(now_ms);
        } else {
            // The first base is wanted at once. Replies are held from now on.
            self.renewal = Some(Renewal { since_ms: now_ms });
        }
        self.drop_current(now_ms);
    }

    pub(super) fn retry_base_later(&mut self, now_ms: u64) {
        self.base_retry
            .again(now_ms, BASE_RETRY_MS_MIN, BASE_RETRY_MS_MAX);
    }

    /// Leaves the current file, and waits for a new base from memory.
    pub(super) fn drop_current(&mut self, now_ms: u64) {
        self.renewal.get_or_insert(Renewal { since_ms: now_ms });
        let is_being_listed = self.jobs.front().is_some_and(super::Job::is_listing);
        if let Some(file) = self.current.take() {
            if self.is_open {
                self.closing.push_back(file.id);
            }
            if !file.listed && !is_being_listed {
                self.garbage.push_back(file.name.clone());
            }
            if file.listed {
                self.closed_bytes += file.len;
            }
        }
        self.is_open = false;
        self.block = None;
        self.repair = false;
        self.no_space = false;
        self.write_retry.reset();
        self.staged.clear();
        self.dropping = true;
        self.rewrite = None;
        let step_in_flight = matches!(self.in_sync, Some(InSync::Step));
        let front_stays = step_in_flight || is_being_listed;
        let mut index = 0;
        let mut dropped = Vec::new();
        self.jobs.retain_mut(|job| {
            let stays = (index == 0 && front_stays) || !job.kind.needs_current();
            index += 1;
            if !stays {
                dropped.extend(job.take_file());
            }
            stays
        });
        if let Some(job) = self.jobs.front_mut() {
            job.is_given_up = step_in_flight && !is_being_listed && job.kind.needs_current();
        }
        for file in dropped {
            self.discard(&file);
        }
    }
}
