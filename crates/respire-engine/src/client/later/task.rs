//! Futures that answer a call, and who runs them.

use super::Later;
use crate::IntoReply;
use crate::client::ClientShared;
use crate::reply::stream::discard;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// A future that answers a call of [`Router::future`](crate::Router::future).
pub type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs futures to their end, or drops them. Any `Fn(BoxFuture)` is one, so that a Tokio runtime is
/// lent to a server of another flavour with a closure: `move |task| { handle.spawn(task); }`.
///
/// Where there is none, a future is polled by the session of its connection, whenever that is
/// polled.
pub trait Spawn: Send + Sync + 'static {
    /// Starts `task`. One that is dropped answers its call with an error.
    fn spawn(&self, task: BoxFuture);
}

impl<F: Fn(BoxFuture) + Send + Sync + 'static> Spawn for F {
    fn spawn(&self, task: BoxFuture) {
        self(task);
    }
}

/// A future whose output is the reply. It is dropped as soon as that is not wanted any more.
pub(crate) struct Answering<F> {
    /// Both are gone when it is over.
    run: Option<(Pin<Box<F>>, Later)>,
}

impl<F> Answering<F> {
    pub(crate) fn new(future: F, later: Later) -> Self {
        Self {
            run: Some((Box::pin(future), later)),
        }
    }
}

impl<F: Future<Output: IntoReply>> Future for Answering<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some((future, later)) = &mut self.run else {
            return Poll::Ready(());
        };
        if later.watch(cx.waker()) {
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
            let ended = match polled {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(reply)) => Ok(reply),
                Err(panic) => Err(panic),
            };
            if let Some((future, later)) = self.run.take() {
                match ended {
                    Ok(reply) => later.reply(reply),
                    Err(panic) => later.fail(panic),
                };
                discard(future);
            }
        }
        discard(self.run.take());
        Poll::Ready(())
    }
}

impl<F> Drop for Answering<F> {
    /// The thread that drops it runs others as well.
    fn drop(&mut self) {
        discard(self.run.take());
    }
}

/// A future that the session itself polls.
pub(crate) struct LocalTask {
    future: BoxFuture,
    bell: Arc<TaskBell>,
}

struct TaskBell {
    client: Arc<ClientShared>,
    is_woken: AtomicBool,
}

impl Wake for TaskBell {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.client.wake();
    }
}

impl LocalTask {
    pub(crate) fn new(future: BoxFuture, client: Arc<ClientShared>) -> Self {
        let is_woken = AtomicBool::new(true);
        Self {
            future,
            bell: Arc::new(TaskBell { client, is_woken }),
        }
    }

    /// Whether it asked to be polled.
    pub(crate) fn is_woken(&self) -> bool {
        self.bell.is_woken.load(Ordering::Acquire)
    }

    /// Polls it if it asked for that.
    pub(crate) fn run(&mut self) {
        if self.is_woken() {
            self.bell.is_woken.store(false, Ordering::Release);
            let waker = Waker::from(Arc::clone(&self.bell));
            // Its end is seen by the call that it answers.
            let _ = self.future.as_mut().poll(&mut Context::from_waker(&waker));
        }
    }
}

impl fmt::Debug for LocalTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalTask")
            .field("is_rung", &self.is_woken())
            .finish_non_exhaustive()
    }
}
