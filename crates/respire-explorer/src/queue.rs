//! The queue of events for one viewer, bounded in bytes.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// The most bytes in a queue; an empty queue takes an event of any size.
pub(crate) const WAITING_BYTES_MAX: usize = 1 << 20;

/// Events for one viewer, bounded in bytes.
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

/// The result of a wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Event(Arc<[u8]>),
    /// No event within the time.
    TimedOut,
    /// The queue is closed.
    Closed,
}

impl Queue {
    /// Adds an event once there is room; `false` if there is none within `patience`, or the queue
    /// is closed.
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

    /// Takes the oldest event; waits for one at most `patience`.
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
            None => Next::TimedOut,
        }
    }

    /// Closes the queue for both sides.
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
    fn queue_is_bounded_in_bytes_and_takes_one_event_of_any_size() {
        let queue = Queue::default();
        assert_eq!(queue.pop(NOW), Next::TimedOut);
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
    fn waiting_threads_wake_for_room_for_events_and_at_the_end() {
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
