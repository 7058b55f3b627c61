//! What waits to be written to one who looks on.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// The most bytes that wait; one event is taken whatever its size.
pub(crate) const WAITING_BYTES_MAX: usize = 1 << 20;

/// Events for one peer, bounded in bytes.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Arc<[u8]>>,
    bytes: usize,
    is_closed: bool,
}

/// What a wait came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Event(Arc<[u8]>),
    /// Nothing, for as long as was waited.
    Silence,
    /// There will be nothing more.
    Closed,
}

impl Queue {
    /// Adds an event, once there is room; `false` when there is none for as long as this, or the
    /// queue is closed.
    pub(crate) fn push(&self, event: &Arc<[u8]>, patience: Duration) -> bool {
        let is_full = |state: &mut State| {
            let is_beyond = state.bytes + event.len() > WAITING_BYTES_MAX;
            !state.is_closed && is_beyond && !state.events.is_empty()
        };
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, patience, is_full);
        let (mut state, timeout) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        if state.is_closed || timeout.timed_out() {
            return false;
        }
        state.bytes += event.len();
        state.events.push_back(Arc::clone(event));
        self.changed.notify_all();
        true
    }

    /// Takes the oldest event, waiting for one at most so long.
    pub(crate) fn pop(&self, patience: Duration) -> Next {
        let is_empty = |state: &mut State| !state.is_closed && state.events.is_empty();
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), patience, is_empty);
        let (mut state, _) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        if state.is_closed {
            return Next::Closed;
        }
        match state.events.pop_front() {
            Some(event) => {
                state.bytes -= event.len();
                self.changed.notify_all();
                Next::Event(event)
            }
            None => Next::Silence,
        }
    }

    /// Ends it, for both sides.
    pub(crate) fn close(&self) {
        *self.lock() = State {
            is_closed: true,
            ..State::default()
        };
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_secs(60);

    fn event(bytes: usize) -> Arc<[u8]> {
        vec![b'e'; bytes].into()
    }

    #[test]
    fn a_queue_is_bounded_in_bytes_and_takes_one_event_of_any_size() {
        let queue = Queue::default();
        assert_eq!(queue.pop(NOW), Next::Silence);
        assert!(queue.push(&event(WAITING_BYTES_MAX * 2), NOW));
        assert!(!queue.push(&event(1), NOW), "there is no room");
        assert!(
            matches!(queue.pop(NOW), Next::Event(event) if event.len() == WAITING_BYTES_MAX * 2)
        );
        assert!(queue.push(&event(WAITING_BYTES_MAX - 1), NOW));
        assert!(queue.push(&event(1), NOW));
        assert!(!queue.push(&event(1), NOW));
    }

    #[test]
    fn whoever_waits_is_woken_by_room_by_an_event_and_by_the_end() {
        let queue = Queue::default();
        assert!(queue.push(&event(WAITING_BYTES_MAX), NOW));
        std::thread::scope(|scope| {
            let pusher = scope.spawn(|| queue.push(&event(1), LONG));
            assert!(matches!(queue.pop(LONG), Next::Event(_)));
            assert!(pusher.join().unwrap());
            assert!(matches!(queue.pop(LONG), Next::Event(event) if event.len() == 1));
            let popper = scope.spawn(|| queue.pop(LONG));
            queue.close();
            assert_eq!(popper.join().unwrap(), Next::Closed);
        });
        assert!(!queue.push(&event(1), LONG));
    }
}
