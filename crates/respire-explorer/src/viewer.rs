//! Those who look on: a few peers, each with a queue and a thread of its own.

use crate::events::ALIVE;
use crate::queue::{Next, Queue};
use respire_net::http::{Answer, Status};
use respire_net::tap::Bell;
use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How many look on at once.
pub(crate) const VIEWERS_MAX: usize = 4;

/// How long a write may wait for a peer that takes nothing.
const STALL: Duration = Duration::from_secs(5);

/// How often a peer to which nothing is said is looked at, and how many looks pass until it is told
/// that the stream is alive.
const LOOK: Duration = Duration::from_secs(1);
const LOOKS_UNTIL_ALIVE: u32 = 10;

/// Where those who look on come in.
#[derive(Debug)]
pub(crate) struct Lobby {
    viewers: Mutex<Vec<Arc<Queue>>>,
    is_closed: AtomicBool,
    bell: Bell,
}

impl Lobby {
    pub(crate) fn new(bell: Bell) -> Self {
        Self {
            viewers: Mutex::default(),
            is_closed: AtomicBool::new(false),
            bell,
        }
    }

    /// Those who look on now.
    pub(crate) fn viewers(&self) -> MutexGuard<'_, Vec<Arc<Queue>>> {
        self.viewers
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Sends everybody away.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.viewers().iter().for_each(|viewer| viewer.close());
        self.bell.ring();
    }
}

/// One who looks on, for as long as this lives.
struct Visit {
    lobby: Arc<Lobby>,
    queue: Arc<Queue>,
}

impl Visit {
    fn begin(lobby: &Arc<Lobby>) -> Option<Self> {
        let queue = Arc::new(Queue::default());
        {
            let mut viewers = lobby.viewers();
            if viewers.len() >= VIEWERS_MAX || lobby.is_closed() {
                return None;
            }
            viewers.push(Arc::clone(&queue));
        }
        lobby.bell.ring();
        Some(Self {
            lobby: Arc::clone(lobby),
            queue,
        })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.queue.close();
        let is_other = |viewer: &Arc<Queue>| !Arc::ptr_eq(viewer, &self.queue);
        self.lobby.viewers().retain(is_other);
        self.lobby.bell.ring();
    }
}

/// Lets a peer look on, if there is room.
pub(crate) fn answer(lobby: &Arc<Lobby>, headers: &str) -> Answer {
    let Some(visit) = Visit::begin(lobby) else {
        return Answer::Refused(Status::Busy);
    };
    Answer::Stream {
        headers: format!("Content-Type: text/event-stream\r\n{headers}"),
        write: Box::new(move |peer| {
            if let Err(error) = write(&visit.queue, peer) {
                tracing::debug!("explorer: somebody looks on no longer: {error}");
            }
        }),
    }
}

/// Writes what comes until either side ends it.
fn write(queue: &Queue, mut peer: &TcpStream) -> io::Result<()> {
    peer.set_write_timeout(Some(STALL))?;
    peer.set_nodelay(true)?;
    let mut looks = 0;
    loop {
        match queue.pop(LOOK) {
            Next::Event(event) => {
                looks = 0;
                peer.write_all(&event)?;
            }
            Next::Silence if is_gone(peer)? => return Ok(()),
            Next::Silence => {
                looks += 1;
                if looks % LOOKS_UNTIL_ALIVE == 0 {
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
