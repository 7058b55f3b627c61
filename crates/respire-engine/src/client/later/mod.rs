//! Deferred replies: the token to send one, and the futures that produce them.

mod call;
mod kill_reply;
mod task;

pub(crate) use call::{Answer, Call};
pub(crate) use kill_reply::{KillReply, PendingKill};
pub(crate) use task::{Answering, LocalTask};
pub use task::{BoxFuture, Spawn};

use crate::{Error, IntoReply, Output};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// A token to answer one request, once, from any thread.
///
/// A command gets it from [`Cx::later`](crate::Cx::later) and returns
/// [`Flow::Pending`](crate::Flow::Pending), or is added with
/// [`Router::deferred`](crate::Router::deferred). [`Later::reply`] encodes the reply in the
/// protocol of the request, and the session sends it in the order of requests.
///
/// If it is dropped without a reply, the client gets an error. A reply is no longer needed once the
/// client disconnects or another answer came first (by [`Later::deadline`] or `CLIENT UNBLOCK`). In
/// that case [`Later::cancelled`] returns `true`, the hook of [`Later::on_cancel`] is called, and
/// [`Later::reply`] returns `false`.
///
/// ```
/// use respire_engine::Router;
/// use std::time::Duration;
///
/// let router = Router::new(()).deferred("SLOW", |_, (), later| {
///     let later = later.deadline(Duration::from_secs(5), "still at it");
///     std::thread::spawn(move || later.reply("done"));
/// });
/// ```
#[derive(Debug)]
#[must_use = "a reply that is dropped is an error to the client"]
pub struct Later {
    call: Arc<Call>,
}

/// The error for a call whose `Later` was dropped.
const DROPPED: Error = Error::fixed("ERR the command gave no reply");

impl Later {
    pub(crate) fn new(call: Arc<Call>) -> Self {
        Self { call }
    }

    /// Sends the reply. Returns `true` if it will be sent, and `false` if it is no longer needed;
    /// in that case it has no effect, and a value that it would have delivered can go to another
    /// client.
    pub fn reply(self, reply: impl IntoReply) -> bool {
        self.call.is_open() && self.call.answer(Answer::new(self.call.proto(), reply))
    }

    /// Sends `reply` once `after` has passed since the request, on the connection's clock, unless
    /// there is an answer by then. A second deadline replaces the first.
    ///
    /// Inside `EXEC`, where no command may wait, it is sent at once.
    pub fn deadline(self, after: Duration, reply: impl IntoReply) -> Self {
        let after_us = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
        let due_us = self.call.began_us().saturating_add(after_us);
        self.call
            .set_fallback(due_us, Answer::new(self.call.proto(), reply));
        self
    }

    /// Whether a reply is no longer needed.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        !self.call.is_open()
    }

    /// Calls `hook` once when a reply is no longer needed, on the thread that notices it; at once
    /// if that is already the case. The hook is not called if [`Later::reply`] comes first.
    ///
    /// It should be short, because it runs within a connection's turn.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        self.call.on_cancel(hook);
    }

    /// The id of the connection that waits.
    #[must_use]
    pub fn client_id(&self) -> u64 {
        self.call.client().id()
    }

    /// Sends this encoded reply once `after` has passed, or when [`Later::send_fallback`] is
    /// called.
    pub(crate) fn prepared(self, after: Duration, output: Output) -> Self {
        let due_us = self
            .call
            .began_us()
            .saturating_add(after.as_micros() as u64);
        let answer = Answer {
            output,
            is_error: false,
            panic: None,
        };
        self.call.set_fallback(due_us, answer);
        self
    }

    /// Sends the reply of the deadline now.
    pub(crate) fn send_fallback(&self) {
        self.call.expire(u64::MAX);
    }

    /// Answers with the error for a command that panicked.
    pub(crate) fn fail(self, panic: Box<dyn Any + Send>) -> bool {
        self.call.answer(Answer::panicked(self.call.proto(), panic))
    }

    /// Wakes a task when a reply is no longer needed; `false` if that is already the case.
    pub(crate) fn watch(&self, task: &std::task::Waker) -> bool {
        self.call.watch(task)
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        if self.call.is_open() {
            self.call.answer(Answer::new(self.call.proto(), DROPPED));
        }
    }
}
