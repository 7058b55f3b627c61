//! Replies that come later than their command's return: the token for one, and what makes them.

mod call;
mod farewell;
mod task;

pub(crate) use call::{Answer, Call};
pub(crate) use farewell::{Farewell, Parting};
pub(crate) use task::{Answering, LocalTask};
pub use task::{BoxFuture, Spawn};

use crate::{Error, IntoReply, Output};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The right to answer one request, once, from any thread.
///
/// A command gets it from [`Cx::later`](crate::Cx::later) and returns
/// [`Flow::Pending`](crate::Flow::Pending), or is added with
/// [`Router::deferred`](crate::Router::deferred). The reply is encoded where
/// [`Later::reply`] is called, in the protocol of the request, and sent in the order of requests.
///
/// Dropped without a reply, it answers with an error. When the client goes away, or somebody else
/// answered in its place (the time of [`Later::deadline`], `CLIENT UNBLOCK`), a reply is not wanted
/// any more: [`Later::cancelled`] tells, [`Later::on_cancel`] calls, and [`Later::reply`] returns
/// `false`.
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

/// What a client is told whose call was dropped.
const DROPPED: Error = Error::fixed("ERR the command gave no reply");

impl Later {
    pub(crate) fn new(call: Arc<Call>) -> Self {
        Self { call }
    }

    /// Answers. `true` if the reply is on its way, `false` if it was not wanted any more: then
    /// nothing has happened, and what it would have carried can go to somebody else.
    pub fn reply(self, reply: impl IntoReply) -> bool {
        self.call.is_open() && self.call.answer(Answer::new(self.call.proto(), reply))
    }

    /// Has `reply` sent when `after` has passed since the request, on the clock of the connection,
    /// unless there is an answer by then. A second deadline takes the place of the first.
    ///
    /// Inside `EXEC`, where nothing may wait, it is sent at once.
    pub fn deadline(self, after: Duration, reply: impl IntoReply) -> Self {
        let after_us = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
        let due_us = self.call.began_us().saturating_add(after_us);
        self.call
            .set_fallback(due_us, Answer::new(self.call.proto(), reply));
        self
    }

    /// Whether a reply is not wanted any more.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        !self.call.is_open()
    }

    /// Has `hook` called once when a reply is not wanted any more, on the thread that finds out; at
    /// once if that is so already. It is not called when [`Later::reply`] came first.
    ///
    /// It should be short: it runs in the turn of a connection.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        self.call.on_cancel(hook);
    }

    /// The number of the connection that waits.
    #[must_use]
    pub fn client_id(&self) -> u64 {
        self.call.client().id()
    }

    /// Has this reply, which is encoded already, sent when `after` has passed, or by
    /// [`Later::hasten`].
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
    pub(crate) fn hasten(&self) {
        self.call.expire(u64::MAX);
    }

    /// Answers that the command panicked.
    pub(crate) fn fail(self, panic: Box<dyn Any + Send>) -> bool {
        self.call.answer(Answer::panicked(self.call.proto(), panic))
    }

    /// Has a task woken when a reply is not wanted any more; `false` if that is so already.
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
