//! The keeper: a thread that writes snapshots and rewrites the log, when it is asked to or when it is time.

mod rewrite;
mod snapshot;
mod wanted;

use crate::begin::LogBegin;
use crate::clock::Moment;
use crate::gates::Gates;
use crate::log::{Journal, Kept, Lanes, Shared};
use crate::recovery;
use crate::served::Served;
use crate::settings::{Policy, Settings, Values};
use crate::status::{LogFacts, Status};
use core::sync::atomic::{AtomicBool, Ordering};
use respire_store::ObserverId;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
pub(crate) use wanted::Answer;
use wanted::{Request, Wanted};

/// The keeper's handle: what commands, settings and the end of the server ask of it.
pub(crate) struct Keeper {
    core: Arc<Core>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread works with.
pub(crate) struct Core {
    pub(crate) served: Arc<dyn Served>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) status: Arc<Status>,
    pub(crate) gates: Arc<Gates>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) kept: Arc<Kept>,
    pub(crate) wanted: Wanted,
    /// Ends the work in progress.
    pub(crate) stop: AtomicBool,
    log: Mutex<Option<OpenLog>>,
    began: Moment,
}

/// A log that takes the store's changes.
pub(crate) struct OpenLog {
    pub(crate) lanes: Lanes,
    pub(crate) observer: ObserverId,
    /// Other processes are kept out of its folder as long as this is open.
    pub(crate) lock: std::fs::File,
}

/// How often the thread looks whether it is time for something.
const TICK: Duration = Duration::from_millis(100);

/// The time between two snapshots that fail.
const RETRY: Duration = Duration::from_secs(5);

/// How long the end of the server waits for the disk.
const STOP_PATIENCE: Duration = Duration::from_secs(60);

impl Keeper {
    /// Starts the thread.
    pub(crate) fn start(core: Core) -> io::Result<Self> {
        let core = Arc::new(core);
        let own = Arc::clone(&core);
        let thread = thread::Builder::new().name("respire-keeper".to_owned());
        let thread = thread.spawn(move || own.run())?;
        Ok(Self {
            core,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Writes a snapshot as fast as it can, and answers.
    pub(crate) fn save(&self, answer: Answer) {
        self.core.wanted.add(Request::Save(answer));
    }

    /// Does what the status says has begun.
    pub(crate) fn look(&self) {
        self.core.wanted.add(Request::Look);
    }

    /// Adds a command that changes no key to the log, if there is one.
    pub(crate) fn command(&self, write: impl FnOnce(&mut Vec<u8>)) {
        self.core.journal.command(self.core.served.store(), write);
    }

    /// Whether there is a log.
    pub(crate) fn has_log(&self) -> bool {
        self.core.lock().is_some()
    }

    /// A setting has changed. A log that is turned on begins with a rewrite.
    pub(crate) fn settings_changed(&self) {
        if self.core.settings.read(|values| values.appendonly) && !self.has_log() {
            self.core.status.rewrite.begin();
        }
        self.look();
    }

    /// The figures of the log, if there is one.
    pub(crate) fn log_facts(&self) -> Option<LogFacts> {
        let shared = self.core.log()?;
        let now_ms = shared.now_ms();
        let state = shared.lock();
        Some(LogFacts {
            info: state.log.info(),
            oldest_ms: state.log.oldest_age_ms(now_ms).unwrap_or(0),
        })
    }

    /// Whether the log takes no changes, or writes are refused for its sake.
    pub(crate) fn is_log_in_trouble(&self) -> bool {
        let Some(shared) = self.core.log() else {
            return false;
        };
        let now_ms = shared.now_ms();
        shared.lock().log.trouble(now_ms).is_some()
    }

    /// Ends the work in progress, writes and syncs what the log has, and ends the thread. Before, it writes a snapshot
    /// if there are changes since the last: as `saves` says, or if there are rules for that. Returns whether all is
    /// durable that should be.
    pub(crate) fn stop(&self, saves: Option<bool>) -> bool {
        self.core.stop.store(true, Ordering::Relaxed);
        self.core.wanted.add(Request::Stop);
        let thread = self.lock_thread().take();
        if let Some(thread) = thread {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
        self.core.stop.store(false, Ordering::Relaxed);
        let values = self.core.settings.values();
        let saves = saves.unwrap_or(!values.save.is_empty());
        let is_due = saves && self.core.served.unsaved_changes() > 0;
        let is_saved = !is_due || self.core.save(&values, Vec::new(), false);
        let log = self.core.lock().take();
        log.is_none_or(|log| self.core.close(log)) && is_saved
    }

    fn lock_thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    #[expect(clippy::too_many_arguments, reason = "its fields")]
    pub(crate) fn new(
        served: Arc<dyn Served>,
        settings: Arc<Settings>,
        status: Arc<Status>,
        gates: Arc<Gates>,
        journal: Arc<Journal>,
        kept: Arc<Kept>,
        log: Option<OpenLog>,
    ) -> Self {
        Self {
            served,
            settings,
            status,
            gates,
            journal,
            kept,
            wanted: Wanted::default(),
            stop: AtomicBool::new(false),
            log: Mutex::new(log),
            began: Moment::now(),
        }
    }

    fn run(&self) {
        let (mut saved_at, mut failed_at) = (Moment::now(), None::<Moment>);
        while let Some(requests) = self.wanted.wait(TICK) {
            let values = self.settings.values();
            self.follow(&values);
            let mut answers = Vec::new();
            for request in requests {
                match request {
                    Request::Save(answer) => answers.push(answer),
                    Request::Look | Request::Stop => {}
                }
            }
            let may_retry = failed_at.is_none_or(|at| at.elapsed() >= RETRY);
            let is_save_due = may_retry && self.is_save_due(&values, saved_at);
            let is_save_wanted = self.status.begin_scheduled_save() || is_save_due;
            let is_paced = answers.is_empty();
            if is_save_wanted || !is_paced {
                let is_good = self.save(&values, answers, is_paced);
                failed_at = (!is_good).then(Moment::now);
                saved_at = if is_good { Moment::now() } else { saved_at };
            }
            let is_rewrite_wanted = self.status.begin_scheduled_rewrite();
            match self.log() {
                Some(log) if is_rewrite_wanted || is_rewrite_due(&log, &values) => {
                    self.rewrite(&log, &values);
                }
                // The log was turned off in the meantime, or could not be turned on.
                None if is_rewrite_wanted => self.status.rewrite.end(None),
                _ => {}
            }
        }
    }

    /// Whether one of the rules of `save` is met.
    fn is_save_due(&self, values: &Values, saved_at: Moment) -> bool {
        let (changes, passed) = (self.served.unsaved_changes(), saved_at.elapsed().as_secs());
        let is_met = |point: &crate::SavePoint| {
            changes > 0 && changes >= point.changes && passed >= point.seconds
        };
        values.save.iter().any(is_met)
    }

    /// Does what changed settings ask for.
    fn follow(&self, values: &Values) {
        let log = self.log();
        if values.appendonly != log.is_some() && !self.stop.load(Ordering::Relaxed) {
            if values.appendonly {
                self.turn_on(values);
            } else {
                self.turn_off();
            }
        } else if let Some(log) = log {
            log.configure(values.appendfsync, values.timestamps, values.buffer_bytes);
        }
        let notes_reads = self.log().is_some() && values.appendfsync == Policy::Always;
        self.journal.set_notes_reads(notes_reads);
        self.served.set_notes_reads(notes_reads);
        let is_refused =
            values.stop_writes && !values.save.is_empty() && self.status.save.has_failed();
        self.gates.set_snapshot_failed(is_refused);
    }

    fn log(&self) -> Option<Arc<Shared>> {
        self.lock()
            .as_ref()
            .map(|log| Arc::clone(&log.lanes.shared))
    }

    fn lock(&self) -> MutexGuard<'_, Option<OpenLog>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a log while the server runs. Its first base is written next, as the log wants one.
    fn turn_on(&self, values: &Values) {
        let begun = recovery::lock_folder(&values.log_dir()).and_then(|lock| {
            let start = recovery::start_from_memory(values)?;
            let begin = LogBegin {
                journal: &self.journal,
                kept: &self.kept,
                served: &self.served,
                gates: &self.gates,
                values,
            };
            begin.begin(start, lock)
        });
        match begun {
            Ok(log) => *self.lock() = Some(log),
            Err(error) => {
                tracing::error!("the append-only file cannot be turned on: {error}");
                self.settings.set_appendonly(false);
            }
        }
    }

    fn turn_off(&self) {
        let log = self.lock().take();
        if let Some(log) = log {
            tracing::info!("the append-only file is off; its files stay");
            self.close(log);
        }
    }

    /// Stops a log. Returns whether all is durable.
    fn close(&self, log: OpenLog) -> bool {
        self.journal.set_on(false);
        self.served.store().unobserve(log.observer);
        let is_durable = log.lanes.stop(STOP_PATIENCE);
        if !is_durable {
            tracing::error!("the append-only file could not be written to its end");
        }
        self.kept.set(u64::MAX);
        self.gates.set_log_trouble(None);
        drop(log.lock);
        is_durable
    }
}

fn is_rewrite_due(log: &Shared, values: &Values) -> bool {
    let now_ms = log.now_ms();
    let state = log.lock();
    let percentage = u64::from(values.rewrite_percentage);
    state.log.wants_base(now_ms)
        || state
            .log
            .rewrite_due(percentage, values.rewrite_bytes_min, now_ms)
}
