//! Serves the viewers of the live view: a few peers, each with a queue and a thread of its own.

use crate::events::ALIVE;
use crate::queue::{Next, Queue};
use respire_net::http::{Answer, Status};
use respire_net::tap::Bell;
use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The most viewers at a time.
pub(crate) const VIEWERS_MAX: usize = 4;

/// How long a write may wait for a peer that reads nothing.
const STALL: Duration = Duration::from_secs(5);

/// How often an idle viewer's connection is checked, and after how many checks a comment is sent to
/// keep the stream alive.
const CHECK: Duration = Duration::from_secs(1);
const CHECKS_UNTIL_ALIVE: u32 = 10;

/// The viewers, and the way to wake the explorer's thread.
#[derive(Debug)]
pub(crate) struct Registry {
    viewers: Mutex<Vec<Arc<Queue>>>,
    is_closed: AtomicBool,
    bell: Bell,
}

impl Registry {
    pub(crate) fn new(bell: Bell) -> Self {
        Self {
            viewers: Mutex::default(),
            is_closed: AtomicBool::new(false),
            bell,
        }
    }

    /// The current viewers.
    pub(crate) fn viewers(&self) -> MutexGuard<'_, Vec<Arc<Queue>>> {
        self.viewers
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Disconnects all viewers.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.viewers().iter().for_each(|viewer| viewer.close());
        self.bell.ring();
    }
}

/// A viewer's entry in the registry; removed when this is dropped.
struct Registration {
    registry: Arc<Registry>,
    queue: Arc<Queue>,
}

impl Registration {
    fn begin(registry: &Arc<Registry>) -> Option<Self> {
        let queue = Arc::new(Queue::default());
        {
            let mut viewers = registry.viewers();
            if viewers.len() >= VIEWERS_MAX || registry.is_closed() {
                return None;
            }
            viewers.push(Arc::clone(&queue));
        }
        registry.bell.ring();
        Some(Self {
            registry: Arc::clone(registry),
            queue,
        })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.queue.close();
        let is_other = |viewer: &Arc<Queue>| !Arc::ptr_eq(viewer, &self.queue);
        self.registry.viewers().retain(is_other);
        self.registry.bell.ring();
    }
}

/// Starts a viewer's stream if the limit allows.
pub(crate) fn answer(registry: &Arc<Registry>, headers: &str) -> Answer {
    let Some(registration) = Registration::begin(registry) else {
        return Answer::Refused(Status::Busy);
    };
    Answer::Stream {
        headers: format!("Content-Type: text/event-stream\r\n{headers}"),
        write: Box::new(move |peer| {
            if let Err(error) = write(&registration.queue, peer) {
                tracing::debug!("explorer: a viewer left: {error}");
            }
        }),
    }
}

/// Writes events until either side ends the stream.
fn write(queue: &Queue, mut peer: &TcpStream) -> io::Result<()> {
    peer.set_write_timeout(Some(STALL))?;
    peer.set_nodelay(true)?;
    let mut checks = 0;
    loop {
        match queue.pop(CHECK) {
            Next::Event(event) => {
                checks = 0;
                peer.write_all(&event)?;
            }
            Next::TimedOut if is_gone(peer)? => return Ok(()),
            Next::TimedOut => {
                checks += 1;
                if checks % CHECKS_UNTIL_ALIVE == 0 {
                    peer.write_all(ALIVE)?;
                }
            }
            Next::Closed => return Ok(()),
        }
    }
}

fn is_gone(peer: &TcpStream) -> io::Result<bool> {
    peer.set_nonblocking(true)?;
    let peeked = peer.peek(&mut [0]);
    peer.set_nonblocking(false)?;
    match peeked {
        Ok(bytes) => Ok(bytes == 0),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
