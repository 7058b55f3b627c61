//! Waking a connection's task from any thread.

use atomic_waker::AtomicWaker;
use respire_engine::Wake;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

/// The task's end: whether somebody rang, and how the task is woken.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    is_rung: AtomicBool,
    waker: AtomicWaker,
}

impl Bell {
    /// Whether it was rung since the last call. The waker is kept first, so that a ring between
    /// the two is not lost.
    pub(crate) fn take(&self, waker: &Waker) -> bool {
        self.waker.register(waker);
        self.is_rung.load(Ordering::Acquire) && self.is_rung.swap(false, Ordering::AcqRel)
    }
}

/// The other end, which the engine holds.
#[derive(Debug)]
pub(crate) struct Rope(pub(crate) Arc<Bell>);

impl Wake for Rope {
    fn wake(&self) {
        self.0.is_rung.store(true, Ordering::Release);
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
    fn a_ring_is_heard_once() {
        let bell = Arc::new(Bell::default());
        let rope = Rope(Arc::clone(&bell));
        assert!(!bell.take(Waker::noop()));
        rope.wake();
        rope.wake();
        assert!(bell.take(Waker::noop()));
        assert!(!bell.take(Waker::noop()));
    }
}
