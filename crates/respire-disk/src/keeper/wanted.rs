//! What the keeper is asked for.

use respire_engine::Error;
use std::mem;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Takes the outcome of work that a client waits for.
pub(crate) type Answer = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// Something that the keeper is asked for.
pub(crate) enum Request {
    /// A snapshot, for which a client waits.
    Save(Answer),
    /// A look at the settings, and at what has begun.
    Look,
    /// The end.
    Stop,
}

/// The requests that the keeper has not taken.
#[derive(Default)]
pub(crate) struct Wanted {
    requests: Mutex<Vec<Request>>,
    bell: Condvar,
}

impl Wanted {
    pub(crate) fn add(&self, request: Request) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request);
        drop(requests);
        self.bell.notify_one();
    }

    /// Rests for this time, or until something is requested.
    pub(crate) fn rest(&self, time: Duration) {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        // A request that came before is no reason to hurry: it waits for the work that is in progress.
        drop(self.bell.wait_timeout(requests, time));
    }

    /// Waits for requests, for this time at most, and takes them. Returns `None` when the end was requested.
    pub(crate) fn wait(&self, patience: Duration) -> Option<Vec<Request>> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .bell
            .wait_timeout_while(requests, patience, |requests| requests.is_empty());
        let requests = mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner).0);
        let is_over = requests
            .iter()
            .any(|request| matches!(request, Request::Stop));
        (!is_over).then_some(requests)
    }
}
