//! Keeps a worker waiting for events while another is held up by a long command.
//!
//! One worker of a runtime waits for the system's events; the others sleep on a condition variable. The
//! worker that takes an event also runs what the event leads to, and meanwhile nobody waits for events: a
//! command of one second would hold up every connection for a second, although a thread is idle. The
//! runtime has no stable way to hand the waiting over, and doing so before each request would cost a
//! switch of threads per request.
//!
//! The watchdog is a thread that looks at the workers every [`LOOK`] while there is work. If one of them
//! has been at work since the last look and another one sleeps, the watchdog wakes the sleeper, which
//! finds nothing to do and waits for events. A worker pays one fence and one load each time it wakes up.
//! While all workers sleep, so does the watchdog.
//!
//! Two limits remain. Nothing helps when long commands hold up all workers at once. And the last
//! connection that a command wakes, for example by a message to a subscriber, is served when that command
//! has ended, because the runtime reserves that task for the same worker.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};

/// The time between two looks. A long command is noticed after one to two of them.
const LOOK: Duration = Duration::from_millis(2);

/// Looks without work before the watchdog rests. Requests that come closer together than this do not
/// have to wake it.
const IDLE_LOOKS_MAX: u32 = 3;

/// Watches the workers of one runtime until it is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

/// What the workers and the watchdog share.
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

    /// Begins to watch the workers of the runtime that was built.
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
            // Should it have panicked, the panic's hook has told.
            let _ = thread.join();
        }
    }
}

impl State {
    /// Called by a worker that has just been woken, and counted as such.
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
    let mut look = || {
        let counts = (0..metrics.num_workers()).map(|at| metrics.worker_park_unpark_count(at));
        look(&mut workers, counts)
    };
    let mut idle_looks = 0;
    while !state.is_over.load(Ordering::Acquire) {
        match look() {
            Seen::Idle => idle_looks += 1,
            Seen::Working => idle_looks = 0,
            Seen::HeldUp => {
                idle_looks = 0;
                // Any task wakes a worker, which then waits for events.
                drop(runtime.spawn(async {}));
            }
        }
        if idle_looks > IDLE_LOOKS_MAX {
            idle_looks = 0;
            state.rest(|| look() == Seen::Idle);
        }
        thread::park_timeout(LOOK);
    }
}

/// How the workers were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// All of them have slept since the last look.
    Idle,
    /// There is work, and events are waited for as far as that can be.
    Working,
    /// One has been at work since the last look, and another one sleeps.
    HeldUp,
}

/// Compares how often each worker fell asleep or woke up (an odd count: it sleeps) with `before`, which
/// becomes the new count.
fn look(before: &mut [u64], counts: impl Iterator<Item = u64>) -> Seen {
    let (mut is_idle, mut is_held_up, mut has_sleeper) = (true, false, false);
    for (before, count) in before.iter_mut().zip(counts) {
        let (sleeps, is_same) = (count % 2 == 1, count == *before);
        is_idle &= sleeps && is_same;
        is_held_up |= !sleeps && is_same;
        has_sleeper |= sleeps;
        *before = count;
    }
    match (is_idle, is_held_up && has_sleeper) {
        (true, _) => Seen::Idle,
        (_, true) => Seen::HeldUp,
        _ => Seen::Working,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_at_work_for_two_looks_is_held_up_while_another_sleeps() {
        let mut before = vec![0; 2];
        let mut seen = |counts: [u64; 2]| look(&mut before, counts.into_iter());
        assert_eq!(seen([3, 5]), Seen::Working);
        assert_eq!(seen([3, 5]), Seen::Idle);
        assert_eq!(seen([4, 5]), Seen::Working);
        assert_eq!(seen([4, 5]), Seen::HeldUp);
        assert_eq!(seen([4, 5]), Seen::HeldUp, "as often as it takes");
        assert_eq!(seen([4, 6]), Seen::Working, "nobody is left to wake");
        assert_eq!(seen([4, 6]), Seen::Working);
        assert_eq!(seen([6, 7]), Seen::Working, "it slept in between");
    }

    #[test]
    fn rest_ends_when_a_worker_wakes_or_was_at_work_before() {
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
