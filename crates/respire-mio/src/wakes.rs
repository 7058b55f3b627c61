//! Wakes connections of the reactor from any thread.

use mio::{Token, Waker};
use respire_engine::Wake;
use std::sync::{Arc, Mutex, PoisonError};

/// The connections that were woken, and the reactor's own waker.
#[derive(Debug)]
pub(crate) struct Wakes {
    woken: Mutex<Vec<Token>>,
    waker: Waker,
}

impl Wakes {
    pub(crate) fn new(waker: Waker) -> Arc<Self> {
        Arc::new(Self {
            woken: Mutex::default(),
            waker,
        })
    }

    /// Wakes the reactor itself.
    pub(crate) fn wake_reactor(&self) {
        // It fails only if the system has no memory for a counter that exists already.
        let _ = self.waker.wake();
    }

    /// The connections woken since the last call.
    pub(crate) fn take(&self) -> Vec<Token> {
        std::mem::take(&mut *self.woken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes a connection.
    pub(crate) fn push(&self, token: Token) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        let was_empty = woken.is_empty();
        woken.push(token);
        drop(woken);
        if was_empty {
            self.wake_reactor();
        }
    }
}

/// The wake handle of one connection, which the engine holds.
#[derive(Debug)]
pub(crate) struct WakeHandle {
    pub(crate) wakes: Arc<Wakes>,
    pub(crate) token: Token,
}

impl Wake for WakeHandle {
    fn wake(&self) {
        self.wakes.push(self.token);
    }

    fn drops_killed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll};
    use std::time::Duration;

    #[test]
    fn wakes_are_collected_and_wake_the_reactor() {
        let mut poll = Poll::new().unwrap();
        let wakes = Wakes::new(Waker::new(poll.registry(), Token(9)).unwrap());
        for token in [Token(3), Token(5)] {
            WakeHandle {
                wakes: Arc::clone(&wakes),
                token,
            }
            .wake();
        }
        let mut events = Events::with_capacity(4);
        poll.poll(&mut events, Some(Duration::from_secs(10)))
            .unwrap();
        assert!(events.iter().any(|event| event.token() == Token(9)));
        assert_eq!(wakes.take(), [Token(3), Token(5)]);
        assert!(wakes.take().is_empty());
    }
}
