//! Waking a connection of the reactor from any thread.

use mio::{Token, Waker};
use respire_engine::Wake;
use std::sync::{Arc, Mutex, PoisonError};

/// The connections that somebody rang for, and the way to wake the reactor.
#[derive(Debug)]
pub(crate) struct Wakes {
    rung: Mutex<Vec<Token>>,
    waker: Waker,
}

impl Wakes {
    pub(crate) fn new(waker: Waker) -> Arc<Self> {
        Arc::new(Self {
            rung: Mutex::default(),
            waker,
        })
    }

    /// Wakes the reactor itself.
    pub(crate) fn wake_reactor(&self) {
        // It fails only when the system is out of memory for a counter that exists already.
        let _ = self.waker.wake();
    }

    /// Who was rung for since the last call.
    pub(crate) fn take(&self) -> Vec<Token> {
        std::mem::take(&mut *self.rung.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ring(&self, token: Token) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let was_empty = rung.is_empty();
        rung.push(token);
        drop(rung);
        if was_empty {
            self.wake_reactor();
        }
    }
}

/// One connection's end, which the engine holds.
#[derive(Debug)]
pub(crate) struct Rope {
    pub(crate) wakes: Arc<Wakes>,
    pub(crate) token: Token,
}

impl Wake for Rope {
    fn wake(&self) {
        self.wakes.ring(self.token);
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
    fn rings_are_collected_and_wake_the_reactor() {
        let mut poll = Poll::new().unwrap();
        let wakes = Wakes::new(Waker::new(poll.registry(), Token(9)).unwrap());
        for token in [Token(3), Token(5)] {
            Rope {
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
