//! Wakes a connection's task from any thread.

use atomic_waker::AtomicWaker;
use respire_engine::Wake;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

/// The wake state of a task: whether it was woken, and its waker.
#[derive(Debug, Default)]
pub(crate) struct WakeState {
    is_woken: AtomicBool,
    waker: AtomicWaker,
}

impl WakeState {
    /// Whether it was woken since the last call. The waker is registered first, so that a wake-up
    /// between the two steps is not lost.
    pub(crate) fn take(&self, waker: &Waker) -> bool {
        self.waker.register(waker);
        self.is_woken.load(Ordering::Acquire) && self.is_woken.swap(false, Ordering::AcqRel)
    }
}

/// The wake handle of the task, which the engine holds.
#[derive(Debug)]
pub(crate) struct WakeHandle(pub(crate) Arc<WakeState>);

impl Wake for WakeHandle {
    fn wake(&self) {
        self.0.is_woken.store(true, Ordering::Release);
        self.0.waker.wake();
    }

    fn drops_killed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wake_is_taken_once() {
        let state = Arc::new(WakeState::default());
        let handle = WakeHandle(Arc::clone(&state));
        assert!(!state.take(Waker::noop()));
        handle.wake();
        handle.wake();
        assert!(state.take(Waker::noop()));
        assert!(!state.take(Waker::noop()));
    }
}
