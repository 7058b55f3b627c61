//! What `INFO persistence` and the replies of `BGSAVE` and its like tell.

use crate::clock::{Moment, unix_s};
use crate::settings::Settings;
use crate::snapshot::Progress;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use respire_durable::log::Info;
use respire_engine::{InfoWriter, Metrics};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What snapshots, rewrites and loading have come to.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) save: Job,
    pub(crate) rewrite: Job,
    pub(crate) loading: Loading,
    /// How far the running snapshot or base is.
    pub(crate) progress: Progress,
    is_save_scheduled: AtomicBool,
    is_rewrite_scheduled: AtomicBool,
    /// When the server was made, in unix seconds.
    began_s: u64,
}

/// A kind of work in the background: snapshots, or rewrites of the log.
#[derive(Debug, Default)]
pub(crate) struct Job(Mutex<Past>);

#[derive(Clone, Copy, Debug, Default)]
struct Past {
    since: Option<Moment>,
    /// Seconds that the last one took; `None` before the first.
    took_s: Option<u64>,
    has_failed: bool,
    finished: u64,
    failures_in_a_row: u32,
    /// Bytes of earlier states that were kept at a time, at most.
    kept_bytes: u64,
    finished_at_s: u64,
}

impl Job {
    /// It begins. Returns false if it runs already.
    pub(crate) fn begin(&self) -> bool {
        let mut past = self.lock();
        let begins = past.since.is_none();
        past.since.get_or_insert_with(Moment::now);
        begins
    }

    /// It has ended: with so many bytes of earlier states kept at a time, or badly.
    pub(crate) fn end(&self, outcome: Option<u64>) {
        let mut past = self.lock();
        past.took_s = past.since.take().map(|since| since.elapsed().as_secs());
        past.has_failed = outcome.is_none();
        match outcome {
            Some(kept_bytes) => {
                past.finished += 1;
                past.failures_in_a_row = 0;
                past.kept_bytes = kept_bytes;
                past.finished_at_s = unix_s();
            }
            None => past.failures_in_a_row += 1,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.lock().since.is_some()
    }

    /// Whether the last one failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().has_failed
    }

    fn past(&self) -> Past {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Past> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins what is scheduled, before it is scheduled no longer: at no moment it is neither. Returns whether it has begun.
fn begin_scheduled(is_scheduled: &AtomicBool, job: &Job) -> bool {
    if is_scheduled.load(Ordering::Relaxed) {
        job.begin();
        is_scheduled.store(false, Ordering::Relaxed);
    }
    job.is_running()
}

impl Past {
    fn running_s(&self) -> i64 {
        self.since
            .map_or(-1, |since| since.elapsed().as_secs() as i64)
    }

    fn took_s(&self) -> i64 {
        self.took_s.map_or(-1, |took_s| took_s as i64)
    }

    fn outcome(&self) -> &'static str {
        outcome(!self.has_failed)
    }
}

/// How far the server is with loading its data.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    began_s: AtomicU64,
    pub(crate) bytes_total: AtomicU64,
    pub(crate) bytes_done: AtomicU64,
    pub(crate) keys_loaded: AtomicU64,
    pub(crate) keys_expired: AtomicU64,
    /// When the log was told last how far it is, in unix seconds.
    told_s: AtomicU64,
}

/// Seconds between two lines of the log about loading.
const TOLD_EVERY_S: u64 = 2;

impl Loading {
    pub(crate) fn begin(&self) {
        self.began_s.store(unix_s(), Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.began_s.store(0, Ordering::Relaxed);
    }

    /// Says in the log how far it is, every few seconds.
    pub(crate) fn tell(&self) {
        let (now_s, began_s) = (unix_s(), self.began_s.load(Ordering::Relaxed));
        let told_s = self.told_s.load(Ordering::Relaxed).max(began_s);
        if began_s == 0 || now_s < told_s + TOLD_EVERY_S {
            return;
        }
        self.told_s.store(now_s, Ordering::Relaxed);
        let total = self.bytes_total.load(Ordering::Relaxed).max(1);
        let done = self.bytes_done.load(Ordering::Relaxed).min(total);
        let percent = u128::from(done) * 100 / u128::from(total);
        tracing::info!("loading: {percent} % of {} MB", total / 1_000_000);
    }

    /// Whether the server is loading.
    pub(crate) fn is_on(&self) -> bool {
        self.began_s.load(Ordering::Relaxed) > 0
    }

    fn write(&self, out: &mut InfoWriter) {
        let began_s = self.began_s.load(Ordering::Relaxed);
        let total = self.bytes_total.load(Ordering::Relaxed);
        let done = self.bytes_done.load(Ordering::Relaxed).min(total);
        let passed_s = unix_s().saturating_sub(began_s);
        let eta_s = (passed_s * (total - done)).checked_div(done).unwrap_or(1);
        let percent = done as f64 * 100.0 / total.max(1) as f64;
        out.field("loading_start_time", began_s);
        out.field("loading_total_bytes", total);
        out.field("loading_loaded_bytes", done);
        out.field("loading_loaded_perc", format_args!("{percent:.2}"));
        out.field("loading_eta_seconds", eta_s);
    }
}

/// What `INFO` asks the log, if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogFacts {
    pub(crate) info: Info,
    /// Milliseconds for which the oldest change that is not durable has been waiting.
    pub(crate) oldest_ms: u64,
}

impl Status {
    pub(crate) fn new() -> Self {
        Self {
            save: Job::default(),
            rewrite: Job::default(),
            loading: Loading::default(),
            progress: Progress::default(),
            is_save_scheduled: AtomicBool::new(false),
            is_rewrite_scheduled: AtomicBool::new(false),
            began_s: unix_s(),
        }
    }

    /// `BGSAVE SCHEDULE` during a rewrite.
    pub(crate) fn schedule_save(&self) {
        self.is_save_scheduled.store(true, Ordering::Relaxed);
    }

    /// `BGREWRITEAOF` during a snapshot.
    pub(crate) fn schedule_rewrite(&self) {
        self.is_rewrite_scheduled.store(true, Ordering::Relaxed);
    }

    /// Begins a snapshot that was scheduled. Returns whether one has begun.
    pub(crate) fn begin_scheduled_save(&self) -> bool {
        begin_scheduled(&self.is_save_scheduled, &self.save)
    }

    /// Begins a rewrite that was scheduled. Returns whether one has begun.
    pub(crate) fn begin_scheduled_rewrite(&self) -> bool {
        begin_scheduled(&self.is_rewrite_scheduled, &self.rewrite)
    }

    /// The lines of `INFO persistence`, but for the number of changes.
    pub(crate) fn info(&self, settings: &Settings, log: Option<LogFacts>, out: &mut InfoWriter) {
        let (save, rewrite) = (self.save.past(), self.rewrite.past());
        let facts = log.map(|log| log.info).unwrap_or_default();
        out.field("loading", u8::from(self.loading.is_on()));
        out.field("async_loading", 0);
        out.field("current_save_keys_processed", self.progress.keys_done());
        out.field("current_save_keys_total", self.progress.keys_total());
        out.field("rdb_bgsave_in_progress", u8::from(save.since.is_some()));
        out.field("rdb_last_save_time", save.finished_at_s.max(self.began_s));
        out.field("rdb_last_bgsave_status", save.outcome());
        out.field("rdb_last_bgsave_time_sec", save.took_s());
        out.field("rdb_current_bgsave_time_sec", save.running_s());
        out.field("rdb_saves", save.finished);
        out.field("rdb_last_cow_size", save.kept_bytes);
        out.field(
            "rdb_last_load_keys_expired",
            self.loading.keys_expired.load(Ordering::Relaxed),
        );
        out.field(
            "rdb_last_load_keys_loaded",
            self.loading.keys_loaded.load(Ordering::Relaxed),
        );
        out.field("aof_enabled", u8::from(log.is_some()));
        out.field("aof_rewrite_in_progress", u8::from(rewrite.since.is_some()));
        let is_scheduled = self.is_rewrite_scheduled.load(Ordering::Relaxed);
        out.field("aof_rewrite_scheduled", u8::from(is_scheduled));
        out.field("aof_last_rewrite_time_sec", rewrite.took_s());
        out.field("aof_current_rewrite_time_sec", rewrite.running_s());
        out.field("aof_last_bgrewrite_status", rewrite.outcome());
        out.field("aof_rewrites", rewrite.finished);
        out.field(
            "aof_rewrites_consecutive_failures",
            rewrite.failures_in_a_row,
        );
        out.field(
            "aof_last_write_status",
            outcome(log.is_none() || facts.last_write_ok),
        );
        out.field("aof_last_cow_size", rewrite.kept_bytes);
        if let Some(log) = log {
            out.field("aof_current_size", facts.current_bytes);
            out.field("aof_base_size", facts.base_bytes);
            out.field("aof_pending_rewrite", 0);
            out.field("aof_buffer_length", facts.waiting_bytes);
            out.field("aof_pending_bio_fsync", facts.syncs_pending);
            out.field("aof_delayed_fsync", facts.syncs_delayed);
            out.field("aof_policy", settings.read(|values| values.policy_name()));
            out.field("aof_unsynced_bytes", facts.unsynced_bytes);
            out.field("aof_unsynced_ms", log.oldest_ms);
            out.field("aof_syncs", facts.syncs);
            out.field("aof_blocks", facts.blocks);
        }
        if self.loading.is_on() {
            self.loading.write(out);
        }
    }

    /// The same for monitoring.
    pub(crate) fn metrics(&self, log: Option<LogFacts>, out: &mut Metrics) {
        let (save, rewrite) = (self.save.past(), self.rewrite.past());
        let facts = log.map(|log| log.info).unwrap_or_default();
        let gauges = [
            (
                "respire_loading",
                "Whether the server loads its data.",
                u64::from(self.loading.is_on()),
            ),
            (
                "respire_snapshot_running",
                "Whether a snapshot is written.",
                u64::from(save.since.is_some()),
            ),
            (
                "respire_snapshot_failed",
                "Whether the last snapshot failed.",
                u64::from(save.has_failed),
            ),
            (
                "respire_log_enabled",
                "Whether there is a log.",
                u64::from(log.is_some()),
            ),
            (
                "respire_log_bytes",
                "Bytes of the log's files.",
                facts.current_bytes,
            ),
            (
                "respire_log_waiting_bytes",
                "Bytes of changes that are not written yet.",
                facts.waiting_bytes,
            ),
            (
                "respire_log_unsynced_bytes",
                "Bytes that are written and not durable.",
                facts.unsynced_bytes,
            ),
            (
                "respire_log_unsynced_ms",
                "Age of the oldest change that is not durable.",
                log.map_or(0, |log| log.oldest_ms),
            ),
            (
                "respire_log_rewrite_failed",
                "Whether the last rewrite failed.",
                u64::from(rewrite.has_failed),
            ),
        ];
        for (name, help, value) in gauges {
            out.gauge(name, help, &[], value as f64);
        }
    }
}

fn outcome(is_good: bool) -> &'static str {
    if is_good { "ok" } else { "err" }
}
