//! Keeps a worker waiting for events while a long command holds up another.
//!
//! One worker of a runtime waits for the system's events; the others sleep on a condition variable.
//! The worker that takes an event also runs the task that the event wakes, and meanwhile no worker
//! waits for events: a command of one second would hold up every connection for a second, although
//! a thread is idle. The runtime has no stable way to pass on the waiting, and doing so before each
//! request would cost a switch of threads per request.
//!
//! The watchdog is a thread that checks the workers every [`CHECK_INTERVAL`] while there is work. If one of
//! them has been at work since the last check and another one sleeps, the watchdog wakes the
//! sleeping worker. It finds no task and waits for events. Each wake-up of a worker costs one fence
//! and one load. While all workers sleep, the watchdog sleeps too.
//!
//! Two limits remain. Nothing helps when long commands hold up all workers at once. And the last
//! connection that a command wakes, for example by a message to a subscriber, is served after that
//! command, because the runtime reserves that task for the same worker.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};

/// The time between two checks. A long command is noticed after one to two of them.
const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// The number of checks without work after which the watchdog rests. Requests that come closer
/// together than this do not have to wake it.
const IDLE_CHECKS_MAX: u32 = 3;

/// Watches the workers of one runtime until it is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

/// State shared by the workers and the watchdog.
#[derive(Debug, Default)]
struct State {
    is_resting: AtomicBool,
    is_over: AtomicBool,
    /// The watchdog's thread, to wake it.
    thread: OnceLock<Thread>,
}

impl Watchdog {
    /// A watchdog for the runtime that `builder` will build. It does nothing until [`Self::start`].
    pub(crate) fn new(builder: &mut Builder) -> Self {
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        builder.on_thread_unpark(move || shared.worker_woke());
        Self {
            state,
            thread: None,
        }
    }

    /// Starts to watch the workers of the built runtime.
    ///
    /// # Errors
    /// When the system refuses the thread.
    pub(crate) fn start(&mut self, runtime: Handle) -> io::Result<()> {
        let state = Arc::clone(&self.state);
        let thread = thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(move || watch(&state, &runtime))?;
        // Set once: the watchdog is started once.
        let _ = self.state.thread.set(thread.thread().clone());
        self.thread = Some(thread);
        Ok(())
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // If it panicked, the panic hook has reported it.
            let _ = thread.join();
        }
    }
}

impl State {
    /// A worker that has just been woken, and counted as such, calls this.
    fn worker_woke(&self) {
        // Pairs with the fence in `rest`: either the watchdog sees this worker at work, or this worker
        // sees the watchdog rest.
        fence(Ordering::SeqCst);
        if self.is_resting.load(Ordering::Relaxed) {
            self.end_rest();
        }
    }

    #[cold]
    fn end_rest(&self) {
        self.is_resting.store(false, Ordering::Relaxed);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Rests until a worker wakes up, unless one is at work already.
    fn rest(&self, is_idle: impl FnOnce() -> bool) {
        self.is_resting.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !is_idle() {
            self.is_resting.store(false, Ordering::Relaxed);
        }
        while self.is_resting.load(Ordering::Relaxed) && !self.is_over.load(Ordering::Acquire) {
            thread::park();
        }
    }
}

fn watch(state: &State, runtime: &Handle) {
    let metrics = runtime.metrics();
    let mut workers = vec![0; metrics.num_workers()];
    let mut check = || {
        let counts = (0..metrics.num_workers()).map(|at| metrics.worker_park_unpark_count(at));
        check(&mut workers, counts)
    };
    let mut idle_looks = 0;
    while !state.is_over.load(Ordering::Acquire) {
        match check() {
            Finding::Idle => idle_looks += 1,
            Finding::Working => idle_looks = 0,
            Finding::HeldUp => {
                idle_looks = 0;
                // Any task wakes a worker, which then waits for events.
                drop(runtime.spawn(async {}));
            }
        }
        if idle_looks > IDLE_CHECKS_MAX {
            idle_looks = 0;
            state.rest(|| check() == Finding::Idle);
        }
        thread::park_timeout(CHECK_INTERVAL);
    }
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// All workers have slept since the last check.
    Idle,
    /// There is work, and a worker waits for events if any can.
    Working,
    /// One worker has been at work since the last check, and another one sleeps.
    HeldUp,
}

/// Compares how often each worker fell asleep or woke up (an odd count means asleep) with `before`,
/// which becomes the new count.
fn check(before: &mut [u64], counts: impl Iterator<Item = u64>) -> Finding {
    let (mut is_idle, mut is_held_up, mut has_sleeper) = (true, false, false);
    for (before, count) in before.iter_mut().zip(counts) {
        let (sleeps, is_same) = (count % 2 == 1, count == *before);
        is_idle &= sleeps && is_same;
        is_held_up |= !sleeps && is_same;
        has_sleeper |= sleeps;
        *before = count;
    }
    match (is_idle, is_held_up && has_sleeper) {
        (true, _) => Finding::Idle,
        (_, true) => Finding::HeldUp,
        _ => Finding::Working,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_busy_for_two_checks_counts_as_held_up_while_another_sleeps() {
        let mut before = vec![0; 2];
        let mut seen = |counts: [u64; 2]| check(&mut before, counts.into_iter());
        assert_eq!(seen([3, 5]), Finding::Working);
        assert_eq!(seen([3, 5]), Finding::Idle);
        assert_eq!(seen([4, 5]), Finding::Working);
        assert_eq!(seen([4, 5]), Finding::HeldUp);
        assert_eq!(seen([4, 5]), Finding::HeldUp, "at every further check too");
        assert_eq!(seen([4, 6]), Finding::Working, "no worker is left to wake");
        assert_eq!(seen([4, 6]), Finding::Working);
        assert_eq!(seen([6, 7]), Finding::Working, "it slept in between");
    }

    #[test]
    fn rest_ends_when_a_worker_wakes_or_is_already_at_work() {
        let state = Arc::new(State::default());
        state.rest(|| false);
        let resting = Arc::clone(&state);
        let thread = thread::spawn(move || resting.rest(|| true));
        state.thread.set(thread.thread().clone()).unwrap();
        while !thread.is_finished() {
            state.worker_woke();
            thread::yield_now();
        }
        assert!(!state.is_resting.load(Ordering::Relaxed));
    }
}
