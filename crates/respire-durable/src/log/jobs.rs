//! Jobs: what takes several operations, one after the other, on the sync lane.
//!
//! | job | steps |
//! |---|---|
//! | found | the manifest as it is, empty at first, so that no data file lies beside no manifest |
//! | open | open the last file, write its end again, manifest: the last process may have died before
//! its syncs, or after one that failed |
//! | begin | create, sync the folder, manifest |
//! | rotate | create, sync the folder, write what lies before the cut, sync the old file, manifest |
//! | renew | create; the file is listed together with its base |
//! | install | rename the base, sync the folder and a file that is not listed yet, manifest |
//! | clean | delete old files, manifest |
//!
//! "Manifest" stands for: write and sync a temporary file, rename it, sync the folder. If the rename
//! or the sync of the folder fails, nobody knows which manifest is on disk. Then the three are done
//! again until they succeed, and no file of either manifest is deleted or written.

use super::block::Current;
use super::lanes::InSync;
use super::operation::{Failure, FileId, Operation};
use super::{Log, RETRY_MS_MAX, RETRY_MS_MIN, Retry, RewriteId};
use crate::manifest::{self, End, Entry, Manifest};
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug)]
pub(super) enum Kind {
    Found,
    /// From where on the bytes of the last file are written again.
    Open {
        redo_from: u64,
    },
    Begin(Current),
    Rotate(Current),
    Renew(Current),
    Install(Install),
    Clean {
        names: VecDeque<Arc<str>>,
    },
}

impl Kind {
    /// Whether the job waits for what lies before a cut.
    pub(super) const fn makes_cut(&self) -> bool {
        matches!(self, Self::Rotate(_) | Self::Renew(_))
    }

    /// Whether the job ends when the current file is left.
    pub(super) const fn needs_current(&self) -> bool {
        !matches!(self, Self::Found | Self::Clean { .. })
    }
}

/// A base on its way into the manifest.
#[derive(Debug)]
pub(super) struct Install {
    id: RewriteId,
    temporary_name: Arc<str>,
    entry: Entry,
    bytes: u64,
    first_seq: u64,
    /// The current file, if it is listed together with the base: what has to be synced of it first.
    unlisted: Option<Unlisted>,
}

#[derive(Debug)]
struct Unlisted {
    entry: Entry,
    /// The length that has to be synced, known once the step is reached, and its last ticket.
    goal: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Open,
    Redo,
    Create,
    RenameBase,
    SyncDirBefore,
    Drain,
    SyncFile,
    Unlink,
    WriteManifest,
    RenameManifest,
    SyncDirAfter,
    Done,
}

#[derive(Debug)]
pub(super) struct Job {
    pub(super) kind: Kind,
    step: Step,
    pub(super) retry: Retry,
    /// The manifest that is being written.
    target: Manifest,
    /// Whether that manifest may be on disk.
    is_ambiguous: bool,
    /// Failures other than for want of space.
    failures: u32,
    /// Whether it ends once its step in flight is over.
    pub(super) is_given_up: bool,
}

impl Job {
    pub(super) fn new(kind: Kind) -> Self {
        let step = match &kind {
            Kind::Found => Step::WriteManifest,
            Kind::Open { .. } => Step::Open,
            Kind::Begin(_) | Kind::Rotate(_) | Kind::Renew(_) => Step::Create,
            Kind::Install(_) => Step::RenameBase,
            Kind::Clean { .. } => Step::Unlink,
        };
        Self {
            kind,
            step,
            retry: Retry::default(),
            target: Manifest::default(),
            is_ambiguous: false,
            failures: 0,
            is_given_up: false,
        }
    }

    /// Whether its manifest may be on disk, or will be next.
    pub(super) const fn is_listing(&self) -> bool {
        self.is_ambiguous || matches!(self.step, Step::RenameManifest | Step::SyncDirAfter)
    }

    /// Whether it failed twice and nothing can be written until it succeeds.
    pub(super) const fn is_stuck(&self) -> bool {
        let others_wait = match &self.kind {
            Kind::Clean { .. } => false,
            Kind::Install(install) => install.unlisted.is_some(),
            _ => true,
        };
        others_wait && self.failures >= 2
    }

    /// The file that it was to bring into use.
    pub(super) fn take_file(&mut self) -> Option<Current> {
        match std::mem::replace(&mut self.kind, Kind::Found) {
            Kind::Begin(file) | Kind::Rotate(file) | Kind::Renew(file) => Some(file),
            _ => None,
        }
    }

    const fn after(&self, step: Step) -> Step {
        match (&self.kind, step) {
            (Kind::Renew(_), Step::Create) => Step::Done,
            (_, Step::Open) => Step::Redo,
            (_, Step::Redo) => Step::WriteManifest,
            (_, Step::Create | Step::RenameBase) => Step::SyncDirBefore,
            (Kind::Rotate(_), Step::SyncDirBefore) => Step::Drain,
            (_, Step::Drain) => Step::SyncFile,
            (Kind::Install(_), Step::SyncDirBefore) => Step::SyncFile,
            (_, Step::SyncDirBefore | Step::SyncFile | Step::Unlink) => Step::WriteManifest,
            (_, Step::WriteManifest) => Step::RenameManifest,
            (_, Step::RenameManifest) => Step::SyncDirAfter,
            (_, Step::SyncDirAfter | Step::Done) => Step::Done,
        }
    }
}

impl Log {
    /// The operation of the first job's step.
    pub(super) fn next_step(&mut self, now_ms: u64) -> Option<Operation> {
        loop {
            let job = self.jobs.front_mut()?;
            if job.is_given_up {
                self.give_up();
                continue;
            }
            if !job.retry.is_due(now_ms) {
                return None;
            }
            let step = job.step;
            let is_over = match step {
                Step::Drain => {
                    if !self.is_drained() {
                        return None;
                    }
                    true
                }
                Step::SyncFile => {
                    if !self.is_synced_for_job() {
                        return self.sync_current(now_ms);
                    }
                    true
                }
                _ => false,
            };
            if is_over {
                self.advance(now_ms);
                continue;
            }
            if let Some(operation) = self.step_operation() {
                self.in_sync = Some(InSync::Step);
                return Some(operation);
            }
            self.advance(now_ms);
        }
    }

    /// Whether all that lies before the cut is written.
    fn is_drained(&self) -> bool {
        self.staged.is_drained() && self.block.is_none() && self.in_write.is_none()
    }

    /// Whether what the job needs of the current file is synced.
    fn is_synced_for_job(&mut self) -> bool {
        let Some(current) = &self.current else {
            return true;
        };
        match self.jobs.front_mut().map(|job| &mut job.kind) {
            Some(Kind::Install(Install { unlisted, .. })) => {
                unlisted.as_mut().is_none_or(|unlisted| {
                    let written = (current.len, current.written_ticket);
                    current.synced >= unlisted.goal.get_or_insert(written).0
                })
            }
            _ => current.is_synced(),
        }
    }

    /// The operation of a step that needs one. `None` if the step turns out to be empty.
    fn step_operation(&mut self) -> Option<Operation> {
        let job = self.jobs.front_mut()?;
        let manifest_name = manifest::name(&self.settings.name).into();
        let temporary_name = || manifest::temporary_name(&self.settings.name).into();
        match (job.step, &mut job.kind) {
            (Step::Open, _) => {
                let current = self.current.as_ref()?;
                let (file, name) = (current.id, current.name.clone());
                Some(Operation::Open { file, name })
            }
            (Step::Redo, Kind::Open { redo_from }) => {
                let current = self.current.as_ref()?;
                let (file, offset, end) = (current.id, *redo_from, current.len);
                (offset < end).then_some(Operation::Redo { file, offset, end })
            }
            (Step::Create, Kind::Begin(file) | Kind::Rotate(file) | Kind::Renew(file)) => {
                let (file, name) = (file.id, file.name.clone());
                Some(Operation::Create { file, name })
            }
            (Step::RenameBase, Kind::Install(install)) => Some(Operation::Rename {
                from: install.temporary_name.clone(),
                to: install.entry.name.as_str().into(),
            }),
            (Step::Unlink, Kind::Clean { names }) => {
                names.pop_front().map(|name| Operation::Unlink { name })
            }
            (Step::SyncDirBefore | Step::SyncDirAfter, _) => Some(Operation::SyncDir),
            (Step::WriteManifest, kind) => {
                job.target = target(&self.listed, kind, self.current.as_ref());
                Some(Operation::WriteWhole {
                    name: temporary_name(),
                    bytes: job.target.to_bytes().into(),
                })
            }
            (Step::RenameManifest, _) => Some(Operation::Rename {
                from: temporary_name(),
                to: manifest_name,
            }),
            _ => None,
        }
    }

    /// The step in flight is over.
    pub(super) fn step_done(&mut self, outcome: Result<(), Failure>, now_ms: u64) {
        let Some(job) = self.jobs.front_mut() else {
            return;
        };
        let is_unlink = job.step == Step::Unlink;
        match outcome {
            // The next file, if there is one. A file that cannot be deleted stays behind.
            _ if is_unlink => {}
            Err(Failure::Interrupted) => {}
            _ if job.is_given_up => self.give_up(),
            Ok(()) => self.advance(now_ms),
            Err(failure) => self.step_failed(failure, now_ms),
        }
    }

    fn advance(&mut self, now_ms: u64) {
        let Some(job) = self.jobs.front_mut() else {
            return;
        };
        job.step = job.after(job.step);
        if job.step == Step::SyncDirAfter || job.step == Step::RenameManifest {
            return;
        }
        job.retry.reset();
        if job.step == Step::Done
            && let Some(job) = self.jobs.pop_front()
        {
            self.finished(job, now_ms);
        }
    }

    fn finished(&mut self, job: Job, now_ms: u64) {
        match job.kind {
            Kind::Open { .. } => {
                self.listed = job.target;
                self.is_open = true;
                self.no_space = false;
            }
            Kind::Begin(file) => {
                self.listed = job.target;
                self.bring_into_use(file, true);
                self.no_space = false;
            }
            Kind::Rotate(mut file) => {
                self.listed = job.target;
                if let Some(old) = self.current.take() {
                    file.offset = old.offset;
                    self.closing.push_back(old.id);
                    self.closed_bytes += old.len;
                }
                self.staged.clear_cut();
                self.bring_into_use(file, true);
                self.no_space = false;
                self.rotated();
            }
            Kind::Renew(file) => {
                self.bring_into_use(file, false);
                self.no_space = false;
                self.rotated();
            }
            Kind::Install(install) => {
                self.listed = job.target;
                self.installed(&install, now_ms);
            }
            Kind::Found | Kind::Clean { .. } => self.listed = job.target,
        }
    }

    fn bring_into_use(&mut self, mut file: Current, listed: bool) {
        file.listed = listed;
        self.current = Some(file);
        self.is_open = true;
        self.publish();
    }

    /// The increment that begins at the cut is in use.
    fn rotated(&mut self) {
        if let Some(rewrite) = &mut self.rewrite {
            rewrite.ready = true;
        }
        self.install_if_ready();
    }

    /// Begins to install the base, if it and the increment behind it are there.
    pub(super) fn install_if_ready(&mut self) {
        let Some(rewrite) = self.rewrite.as_ref().filter(|rewrite| rewrite.ready) else {
            return;
        };
        let Some(base) = &rewrite.base else {
            return;
        };
        let mut entry = manifest::base(&self.settings.name, rewrite.first_seq, base.is_rdb);
        entry.end = Some(End {
            len: base.bytes,
            ticket: rewrite.cut,
        });
        let unlisted = self.current.as_ref().filter(|current| !current.listed);
        let unlisted = unlisted.map(|current| Unlisted {
            entry: manifest::increment(&self.settings.name, current.id.0),
            goal: None,
        });
        self.jobs.push_back(Job::new(Kind::Install(Install {
            id: rewrite.id,
            temporary_name: base.temporary_name.as_str().into(),
            entry,
            bytes: base.bytes,
            first_seq: rewrite.first_seq,
            unlisted,
        })));
    }

    /// The manifest lists the base.
    fn installed(&mut self, install: &Install, now_ms: u64) {
        self.info.last_rewrite_ok = true;
        self.info.rewrites += 1;
        self.info.rewrite_failures = 0;
        self.last_rewrite_ms = now_ms;
        self.listed_base_bytes = install.bytes;
        self.closed_bytes = 0;
        if self.rewrite() == Some(install.id) {
            self.rewrite = None;
        }
        if let Some(unlisted) = &install.unlisted {
            let seq = unlisted.entry.seq;
            let current = self
                .current
                .as_mut()
                .filter(|current| current.id == FileId(seq));
            if let Some(current) = current {
                current.listed = true;
                self.renewal = None;
                self.failures_in_a_row = 0;
                self.base_retry.reset();
                self.publish();
            } else if let Some((_, ticket)) = unlisted.goal {
                self.written = self.written.max(ticket);
                self.durable = self.durable.max(ticket);
            }
        }
        self.info.base_bytes = self.current_bytes();
        self.clean_history();
    }

    fn step_failed(&mut self, failure: Failure, now_ms: u64) {
        let Some(job) = self.jobs.front_mut() else {
            return;
        };
        let others_wait = !matches!(job.kind, Kind::Install(_) | Kind::Clean { .. });
        job.is_ambiguous |= matches!(job.step, Step::RenameManifest | Step::SyncDirAfter);
        let is_early = !job.is_ambiguous;
        match &job.kind {
            Kind::Rotate(_) if is_early => {
                self.give_up();
                self.staged.clear_cut();
                return self.rewrite_failed(now_ms);
            }
            Kind::Install(_) if matches!(job.step, Step::RenameBase | Step::SyncDirBefore) => {
                self.give_up();
                return self.rewrite_failed(now_ms);
            }
            Kind::Install(_) => self.info.last_rewrite_ok = false,
            _ => {}
        }
        job.retry.again(now_ms, RETRY_MS_MIN, RETRY_MS_MAX);
        job.step = match &job.kind {
            Kind::Open { .. } if matches!(job.step, Step::Open | Step::Redo) => Step::Open,
            Kind::Begin(_) | Kind::Renew(_) if is_early => Step::Create,
            _ => Step::WriteManifest,
        };
        if let Kind::Begin(_) = &job.kind
            && is_early
        {
            self.begin_anew();
        }
        let Some(job) = self.jobs.front_mut() else {
            return;
        };
        if failure == Failure::NoSpace {
            self.no_space |= others_wait;
        } else {
            job.failures = job.failures.saturating_add(1);
        }
    }

    /// The first file gets another name: the old one may be lost although the file exists, since a
    /// sync of the folder failed.
    fn begin_anew(&mut self) {
        let file = self.new_increment(self.written);
        let job = self.jobs.front_mut();
        if let Some(Kind::Begin(old)) = job.map(|job| &mut job.kind) {
            let old = std::mem::replace(old, file);
            self.discard(&old);
        }
    }

    /// Ends the first job; the file that it was to bring into use is deleted.
    fn give_up(&mut self) {
        let Some(mut job) = self.jobs.pop_front() else {
            return;
        };
        if let Kind::Install(install) = &job.kind {
            self.garbage.push_back(install.temporary_name.clone());
            self.garbage.push_back(install.entry.name.as_str().into());
        }
        if let Some(file) = job.take_file() {
            self.discard(&file);
        }
    }

    /// Closes and deletes a file that no manifest lists.
    pub(super) fn discard(&mut self, file: &Current) {
        self.closing.push_back(file.id);
        self.garbage.push_back(file.name.clone());
    }

    /// The rewrite in progress ends without a base.
    pub(super) fn rewrite_failed(&mut self, now_ms: u64) {
        self.rewrite = None;
        self.info.last_rewrite_ok = false;
        self.info.rewrite_failures = self.info.rewrite_failures.saturating_add(1);
        self.last_rewrite_ms = now_ms;
        if self.renewal.is_some() {
            // Nothing lists the file that began at the cut, and without a base nothing can.
            self.retry_base_later(now_ms);
            self.drop_current(now_ms);
        }
    }
}

/// The manifest after a job.
fn target(listed: &Manifest, kind: &Kind, current: Option<&Current>) -> Manifest {
    let mut target = listed.clone();
    target.sealed = true;
    match kind {
        Kind::Begin(file) => target.increments.push(entry_of(file)),
        Kind::Rotate(file) => {
            if let (Some(last), Some(current)) = (target.increments.last_mut(), current) {
                last.end = Some(End {
                    len: current.len,
                    ticket: current.written_ticket,
                });
            }
            target.increments.push(entry_of(file));
        }
        Kind::Install(install) => {
            let mut old: Vec<_> = target.base.take().into_iter().collect();
            let increments = std::mem::take(&mut target.increments);
            let is_old = |entry: &Entry| entry.seq < install.first_seq;
            let (before, behind): (Vec<_>, Vec<_>) = increments.into_iter().partition(is_old);
            old.extend(before);
            for mut entry in old {
                entry.kind = manifest::Kind::History;
                entry.end = None;
                target.history.push(entry);
            }
            target.base = Some(install.entry.clone());
            target.increments = behind;
            let unlisted = install.unlisted.as_ref();
            target
                .increments
                .extend(unlisted.map(|unlisted| unlisted.entry.clone()));
        }
        Kind::Clean { .. } => target.history.clear(),
        Kind::Found | Kind::Open { .. } | Kind::Renew(_) => {}
    }
    target
}

fn entry_of(file: &Current) -> Entry {
    Entry {
        name: file.name.to_string(),
        seq: file.id.0,
        kind: manifest::Kind::Increment,
        end: None,
    }
}
