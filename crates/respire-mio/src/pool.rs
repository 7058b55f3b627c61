//! The thread pool that runs the futures of commands.

use futures_executor::{ThreadPool, ThreadPoolBuilder};
use respire_engine::{BoxFuture, Spawn};
use std::sync::OnceLock;

/// A small pool that starts with its first future, so that a server without futures has one thread.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: usize,
    /// `None` when the system refused the threads.
    started: OnceLock<Option<ThreadPool>>,
}

impl Pool {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            started: OnceLock::new(),
        }
    }
}

impl Spawn for Pool {
    fn spawn(&self, task: BoxFuture) {
        let start = || {
            ThreadPoolBuilder::new()
                .pool_size(self.threads)
                .name_prefix("respire-mio-")
                .create()
                .ok()
        };
        // Without threads the task is dropped, and its call then gets an error reply.
        if let Some(pool) = self.started.get_or_init(start) {
            pool.spawn_ok(task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn threads_start_with_the_first_task() {
        let pool = Pool::new(0);
        assert!(pool.started.get().is_none());
        let (sender, receiver) = mpsc::channel();
        pool.spawn(Box::pin(async move {
            sender
                .send(std::thread::current().name().map(str::to_owned))
                .unwrap();
        }));
        let name = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(name.as_deref(), Some("respire-mio-0"));
    }
}
