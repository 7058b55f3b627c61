//! The two threads of a log: one writes, the other syncs and changes manifests. No other thread touches its files.

use super::folder::Folder;
use super::journal::Journal;
use super::kept::Kept;
use super::order::{Order, Ordered};
use super::stage::Stage;
use crate::clock::Clock;
use crate::gates::Gates;
use core::sync::atomic::{AtomicU64, Ordering};
use respire_durable::log::{Base, Batch, Busy, Lane, Log, Operation, Policy, RewriteId, Trouble};
use std::io;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What the threads of a log, the keeper and `INFO` share.
pub(crate) struct Shared {
    pub(crate) journal: Arc<Journal>,
    pub(crate) kept: Arc<Kept>,
    folder: Folder,
    clock: Clock,
    state: Mutex<State>,
    /// The sync lane waits here.
    sync_bell: Condvar,
    /// Whoever waits for progress: a rewrite's begin, the end.
    progress: Condvar,
    gates: Option<Arc<Gates>>,
    /// Writers wait while more bytes than this wait for the disk.
    buffer_bytes: AtomicU64,
}

/// The log, and the units on their way to it.
pub(crate) struct State {
    pub(crate) log: Log,
    order: Order,
    policy: Policy,
    has_timestamps: bool,
    /// The last unit before the cut of a rewrite that has not begun yet.
    cut: Option<u64>,
    /// The database that is selected behind what was appended.
    db: u32,
    /// Whether all that memory holds has been in the files once.
    was_whole: bool,
    trouble: Option<Trouble>,
    was_slow: bool,
    /// The sync lane waits for something to do.
    is_sync_idle: bool,
    /// What it is to do next.
    sync_operation: Option<Operation>,
    /// The last error, for people.
    error: String,
    used: Vec<Stage>,
    /// Bytes of stages that were used up since the journal was told.
    returned: u64,
}

/// Bytes that are appended as one batch.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// The longest wait of a thread for something to do. It only bounds the harm of a defect.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// The running threads.
pub(crate) struct Lanes {
    pub(crate) shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What a log's threads begin with.
pub(crate) struct Begin {
    pub(crate) journal: Arc<Journal>,
    pub(crate) kept: Arc<Kept>,
    pub(crate) folder: Folder,
    pub(crate) log: Log,
    pub(crate) policy: Policy,
    /// `log-buffer-bytes`.
    pub(crate) buffer_bytes: u64,
    /// Closed while the log cannot take changes.
    pub(crate) gates: Option<Arc<Gates>>,
}

impl Lanes {
    /// Starts the threads. The next unit has the ticket behind the last one that the log knows.
    pub(crate) fn start(begin: Begin) -> io::Result<Self> {
        let order = Order::new(begin.log.appended() + 1);
        let was_whole = begin.log.is_whole();
        let shared = Arc::new(Shared {
            journal: begin.journal,
            kept: begin.kept,
            folder: begin.folder,
            clock: Clock::new(),
            state: Mutex::new(State {
                log: begin.log,
                order,
                policy: begin.policy,
                has_timestamps: false,
                cut: None,
                db: 0,
                was_whole,
                trouble: None,
                was_slow: false,
                is_sync_idle: false,
                sync_operation: None,
                error: String::new(),
                used: Vec::new(),
                returned: 0,
            }),
            sync_bell: Condvar::new(),
            progress: Condvar::new(),
            gates: begin.gates,
            buffer_bytes: AtomicU64::new(begin.buffer_bytes),
        });
        let bytes_max = shared.buffer_bytes.load(Ordering::Relaxed);
        shared.journal.bound(bytes_max, shared.gates.clone());
        shared.lock_and_publish();
        let mut lanes = Self {
            shared,
            threads: Vec::new(),
        };
        lanes.spawn("respire-log", Shared::write_lane)?;
        lanes.spawn("respire-sync", Shared::sync_lane)?;
        Ok(lanes)
    }

    fn spawn(&mut self, name: &str, run: fn(&Shared)) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name(name.to_owned());
        self.threads.push(thread.spawn(move || run(&shared))?);
        Ok(())
    }

    /// Writes and syncs all that was handed over, and ends the threads. Gives up after this time. Returns whether all
    /// is durable.
    pub(crate) fn stop(self, patience: Duration) -> bool {
        self.shared.lock().log.stop();
        self.shared.call();
        let is_over = |state: &mut State| state.log.is_stopped();
        let is_stopped = self.shared.wait_until(patience, is_over);
        if is_stopped {
            for thread in self.threads {
                // A thread that panicked has said so.
                let _ = thread.join();
            }
        }
        is_stopped
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds since 1970 that never go back.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// The folder of the log.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Lets both threads look for something to do.
    pub(crate) fn call(&self) {
        self.journal.call();
        self.sync_bell.notify_one();
    }

    /// Waits until the state is so, for this time at most. Returns whether it is.
    pub(crate) fn wait_until(
        &self,
        patience: Duration,
        is_so: impl FnMut(&mut State) -> bool,
    ) -> bool {
        let mut is_so = is_so;
        let wait = self
            .progress
            .wait_timeout_while(self.lock(), patience, |state| !is_so(state));
        !wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Begins a rewrite at a cut, which `cut` makes: it returns the last ticket before it. No unit behind the cut is
    /// appended before the rewrite has begun.
    pub(crate) fn begin_rewrite<C>(
        &self,
        patience: Duration,
        cut: impl FnOnce() -> Option<(u64, C)>,
    ) -> Result<(RewriteId, C), Busy> {
        let mut state = self.lock();
        if state.cut.is_some() || state.log.rewrite().is_some() {
            return Err(Busy::InProgress);
        }
        // Nothing is appended until the ticket is known. The lock is not held meanwhile: the cut waits for commands
        // that hold keys, and one of them may be about to ask the log for its figures.
        state.cut = Some(state.log.appended());
        drop(state);
        let cut = cut();
        self.lock().cut = cut.as_ref().map(|(ticket, _)| *ticket);
        let Some((ticket, cut)) = cut else {
            self.call();
            return Err(Busy::InProgress);
        };
        self.call();
        let mut begun = Err(Busy::NotNow);
        self.wait_until(patience, |state| {
            if state.log.appended() < ticket {
                return false;
            }
            begun = state.log.begin_rewrite(self.now_ms());
            begun != Err(Busy::NotNow)
        });
        self.lock().cut = None;
        self.call();
        begun.map(|id| (id, cut))
    }

    /// The base of a rewrite has been written.
    pub(crate) fn base_finished(&self, id: RewriteId, base: Base) -> Result<(), Base> {
        let finished = self.lock().log.base_finished(id, base);
        self.call();
        finished
    }

    /// The base of a rewrite will not be written.
    pub(crate) fn base_aborted(&self, id: RewriteId) {
        self.lock().log.base_aborted(id, self.now_ms());
        self.call();
    }

    /// Changes `appendfsync` and `aof-timestamp-enabled`.
    pub(crate) fn configure(&self, policy: Policy, timestamps: bool, buffer_bytes: u64) {
        self.buffer_bytes.store(buffer_bytes, Ordering::Relaxed);
        self.journal.bound(buffer_bytes, self.gates.clone());
        let mut state = self.lock();
        if (state.policy, state.has_timestamps) == (policy, timestamps) {
            return;
        }
        state.has_timestamps = timestamps;
        state.policy = policy;
        state.log.set_policy(policy);
        state.log.set_timestamps(timestamps);
        drop(state);
        self.lock_and_publish();
        self.call();
    }

    fn write_lane(&self) {
        let (mut used, mut wait) = (Vec::new(), Duration::ZERO);
        loop {
            let stages = self.journal.take(wait, &mut used);
            let mut state = self.lock();
            used.append(&mut state.used);
            for stage in stages {
                let unused = state.order.add(stage);
                state.returned += unused.map_or(0, |stage| stage.bytes_len());
            }
            state.append(self.now_ms());
            self.journal.taken(mem::take(&mut state.returned));
            let operation = state.log.next(Lane::Write, self.now_ms());
            if state.log.is_stopped() && operation.is_none() {
                return self.publish(state);
            }
            wait = match operation {
                Some(operation) => {
                    self.publish(state);
                    self.perform(Lane::Write, &operation);
                    Duration::ZERO
                }
                None => {
                    let wait = self.until(state.log.wake_at());
                    self.publish(state);
                    wait
                }
            };
        }
    }

    fn sync_lane(&self) {
        let mut state = self.lock();
        loop {
            state.is_sync_idle = false;
            let taken = state.sync_operation.take();
            if let Some(operation) = taken.or_else(|| state.log.next(Lane::Sync, self.now_ms())) {
                drop(state);
                self.perform(Lane::Sync, &operation);
                self.journal.call();
                state = self.lock();
                continue;
            }
            if state.log.is_stopped() {
                drop(state);
                return self.journal.call();
            }
            state.is_sync_idle = true;
            let wait = self.until(state.log.wake_at());
            let waited = self.sync_bell.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn until(&self, wake_at: Option<u64>) -> Duration {
        let now_ms = self.now_ms();
        let wait = wake_at.map(|at| Duration::from_millis(at.saturating_sub(now_ms)));
        // A time that has passed is due on the other lane.
        wait.map_or(WAIT_MAX, |wait| {
            wait.clamp(Duration::from_millis(1), WAIT_MAX)
        })
    }

    fn perform(&self, lane: Lane, operation: &Operation) {
        let (outcome, error) = self.folder.perform(operation);
        let mut state = self.lock();
        if let Some(error) = error {
            state.error = error.to_string();
        }
        state.log.complete(lane, outcome, self.now_ms());
        self.publish(state);
    }

    fn tell_trouble(&self, trouble: Option<Trouble>, error: &str) {
        match trouble {
            None => tracing::info!("the append-only file is well again"),
            Some(Trouble::NoSpace) => {
                tracing::error!("no room for the append-only file: {error}; writes are refused")
            }
            Some(Trouble::Renewing) => {
                tracing::error!("the append-only file failed: {error}; all data is written anew")
            }
            Some(Trouble::Overdue | Trouble::Failed) => {
                tracing::error!("the append-only file failed: {error}; writes are refused")
            }
        }
        if let Some(gates) = &self.gates {
            gates.set_log_trouble(trouble.map(|trouble| (trouble, error)));
        }
    }

    fn lock_and_publish(&self) {
        self.publish(self.lock());
    }

    /// Tells everybody what has become of the log.
    fn publish(&self, mut state: MutexGuard<'_, State>) {
        state.was_whole |= state.log.is_whole();
        let kept = match state.policy {
            // The log was turned on a moment ago, and nothing was promised before.
            _ if !state.was_whole => u64::MAX,
            Policy::Always => state.log.durable(),
            Policy::EverySec => state.log.written(),
            Policy::No => u64::MAX,
        };
        let trouble = state.log.trouble(self.now_ms());
        let told = (trouble != state.trouble).then(|| {
            state.trouble = trouble;
            state.error.clone()
        });
        // The lane sleeps through most batches: waking it costs more than asking for it.
        let has_stopped = state.log.is_stopped();
        if state.is_sync_idle && state.sync_operation.is_none() {
            state.sync_operation = state.log.next(Lane::Sync, self.now_ms());
        }
        let wakes_sync = state.is_sync_idle && (has_stopped || state.sync_operation.is_some());
        let was_over = self.journal.take_over();
        state.was_slow |= was_over;
        let waiting = state.log.waiting_bytes() + self.journal.waiting_bytes();
        let is_slow = state.is_slow(waiting, self.buffer_bytes.load(Ordering::Relaxed));
        let has_turned = is_slow != mem::replace(&mut state.was_slow, is_slow);
        drop(state);
        self.kept.set(kept);
        if let Some(error) = told {
            self.tell_trouble(trouble, &error);
        }
        if let (Some(gates), true) = (&self.gates, has_turned) {
            gates.set_log_slow(is_slow);
        }
        self.progress.notify_all();
        if wakes_sync {
            self.sync_bell.notify_one();
        }
    }
}

impl State {
    /// Whether changes come faster than the disk takes them. Once it is so, it is until half of them are written.
    fn is_slow(&self, waiting: u64, bytes_max: u64) -> bool {
        waiting
            > if self.was_slow {
                bytes_max / 2
            } else {
                bytes_max
            }
    }

    /// Appends the units that have arrived, in their order, up to the cut.
    fn append(&mut self, now_ms: u64) {
        let up_to = self.cut.unwrap_or(u64::MAX);
        loop {
            let first = self.log.appended() + 1;
            let mut ordered = Ordered::default();
            let (used, returned) = (&mut self.used, &mut self.returned);
            self.order
                .take(up_to, BATCH_BYTES_MAX, &mut ordered, |mut stage| {
                    *returned += stage.bytes_len();
                    stage.clear();
                    used.push(stage);
                });
            if ordered.last < first {
                return;
            }
            let db_at_start = ordered.db.unwrap_or(self.db);
            self.db = ordered.db_after.unwrap_or(self.db);
            let batch = Batch {
                first,
                last: ordered.last,
                db_at_start,
                db_at_end: self.db,
                offset: 0,
            };
            let appended = self.log.append(batch, [ordered.bytes.into()], now_ms);
            debug_assert!(appended.is_ok(), "the order has no gaps: {appended:?}");
        }
    }
}
