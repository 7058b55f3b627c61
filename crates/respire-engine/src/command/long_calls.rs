//! Calls that take long, such as endless scripts: what other connections get meanwhile.
//!
//! A command that has run for a millisecond or so says that it is a long call. From then on it
//! lets the driver serve other connections ([`Relief`]), and requests that would wait for its keys
//! are held back instead of holding up their threads. After `busy-reply-threshold` they are
//! answered with `BUSY`.

use crate::client::pause::Pause;
use crate::{Error, Host, Now};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Serves other connections while a command holds up a thread of the driver.
pub trait Relief: Send + Sync + 'static {
    /// Called about once a millisecond, on the thread of the long call. It returns soon.
    fn relieve(&self);

    /// Runs `wait` once, on this thread; it may take long. The keyspace calls this when a thread has
    /// to sleep until a key is free.
    fn block(&self, wait: &mut dyn FnMut()) {
        wait();
    }
}

/// The long calls that run now.
#[derive(Default)]
pub(crate) struct LongCalls {
    running: Mutex<Vec<Running>>,
    relief: OnceLock<Arc<dyn Relief>>,
}

/// One long call.
struct Running {
    id: u64,
    thread: ThreadId,
    /// When the call was noticed, on the host's stopwatch.
    began_ns: u64,
    busy: Error,
}

/// The shortest and the longest time until a request that is held back is tried again.
const RETRIES_US: (u64, u64) = (1_000, 20_000);

/// Long calls as another request sees them.
pub(crate) struct Overview {
    /// How long the oldest of them has run.
    pub(crate) age: Duration,
    /// The error that requests get once they no longer wait for it.
    pub(crate) busy: Error,
    /// Whether one of them runs on this thread, so that waiting for it would never end.
    pub(crate) is_beneath: bool,
}

impl Overview {
    /// When a request that is held back is tried again, in monotonic microseconds.
    pub(crate) fn retry_us(&self, now: Now) -> u64 {
        let (least, most) = RETRIES_US;
        let wait_us = (self.age.as_micros() as u64 / 8).clamp(least, most);
        now.after(Duration::from_micros(wait_us)).monotonic_us()
    }
}

impl LongCalls {
    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_relief(&self, relief: Arc<dyn Relief>) {
        // A server sets it once, when it starts; a second server of the same engine keeps the
        // first one's.
        let _ = self.relief.set(relief);
    }

    pub(crate) fn len(&self) -> usize {
        self.running().len()
    }

    /// The long calls that run now, if any.
    #[cold]
    pub(crate) fn overview(&self, host: &dyn Host) -> Option<Overview> {
        let running = self.running();
        let oldest = running.iter().min_by_key(|call| call.began_ns)?;
        let me = thread::current().id();
        let age_ns = host.stopwatch_ns().saturating_sub(oldest.began_ns);
        Some(Overview {
            age: Duration::from_nanos(age_ns),
            busy: oldest.busy.clone(),
            is_beneath: running.iter().any(|call| call.thread == me),
        })
    }

    pub(crate) fn begin<'e>(
        &'e self,
        pause: &'e Pause,
        began_ns: u64,
        busy: Error,
    ) -> LongCall<'e> {
        let mut running = self.running();
        let id = running.iter().map(|call| call.id + 1).max().unwrap_or(0);
        running.push(Running {
            id,
            thread: thread::current().id(),
            began_ns,
            busy,
        });
        pause.long_call_began();
        LongCall {
            calls: self,
            pause,
            id,
        }
    }
}

impl fmt::Debug for LongCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LongCalls")
            .field("running", &self.running().len())
            .finish_non_exhaustive()
    }
}

/// A call that takes long. It ends when this is dropped.
#[must_use = "the call counts as ended when this is dropped"]
pub struct LongCall<'e> {
    calls: &'e LongCalls,
    pause: &'e Pause,
    id: u64,
}

impl LongCall<'_> {
    /// Lets the driver serve other connections for a moment. Call it about once a millisecond,
    /// outside of any access to keys.
    pub fn relieve(&self) {
        if let Some(relief) = self.calls.relief.get() {
            relief.relieve();
        }
    }
}

impl Drop for LongCall<'_> {
    fn drop(&mut self) {
        self.calls.running().retain(|call| call.id != self.id);
        self.pause.long_call_ended();
    }
}

impl fmt::Debug for LongCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LongCall").field(&self.id).finish()
    }
}
