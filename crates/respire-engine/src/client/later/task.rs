//! Futures that answer a call, and how they are run.

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

/// Runs futures until they complete, or drops them. Any `Fn(BoxFuture)` implements it. So a closure
/// can run them on a Tokio runtime even under a server of another flavour: `move |task| {
/// handle.spawn(task); }`.
///
/// Without a spawner, the session of the connection polls the future in its own turns.
pub trait Spawn: Send + Sync + 'static {
    /// Starts `task`. If it is dropped, its call is answered with an error.
    fn spawn(&self, task: BoxFuture);
}

impl<F: Fn(BoxFuture) + Send + Sync + 'static> Spawn for F {
    fn spawn(&self, task: BoxFuture) {
        self(task);
    }
}

/// A future whose output is the reply. Its contents are dropped as soon as the reply is no longer
/// needed.
pub(crate) struct Answering<F> {
    /// `None` once it is finished.
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
    /// Contains panics: the thread that drops it runs other tasks too.
    fn drop(&mut self) {
        discard(self.run.take());
    }
}

/// A future that the session polls.
pub(crate) struct LocalTask {
    future: BoxFuture,
    waker: Arc<TaskWaker>,
}

struct TaskWaker {
    client: Arc<ClientShared>,
    is_woken: AtomicBool,
}

impl Wake for TaskWaker {
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
            waker: Arc::new(TaskWaker { client, is_woken }),
        }
    }

    /// Whether it was woken.
    pub(crate) fn is_woken(&self) -> bool {
        self.waker.is_woken.load(Ordering::Acquire)
    }

    /// Polls it if it was woken.
    pub(crate) fn run(&mut self) {
        if self.is_woken() {
            self.waker.is_woken.store(false, Ordering::Release);
            let waker = Waker::from(Arc::clone(&self.waker));
            // The call that it answers records its end.
            let _ = self.future.as_mut().poll(&mut Context::from_waker(&waker));
        }
    }
}

impl fmt::Debug for LocalTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalTask")
            .field("is_woken", &self.is_woken())
            .finish_non_exhaustive()
    }
}
