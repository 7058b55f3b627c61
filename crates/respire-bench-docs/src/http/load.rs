//! One turn: each caller makes a call, waits for its reply and makes the next, over a limited
//! number of connections.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use respire_bench::error::{Error, Result};
use respire_bench::stats::{Latencies, latencies};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::call::Call;
use super::client::{Client, Failure, Link};
use super::counted::{ByteCounts, Counted};

/// How long a turn may wait for replies after its end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The load of one turn.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) server: SocketAddr,
    pub(super) client: Client,
    pub(super) call: Arc<Call>,
    /// Callers, each with one call at a time. The caller that has waited longest gets the next free
    /// place.
    pub(super) callers: usize,
    pub(super) connections: usize,
    /// Calls at a time on each connection.
    pub(super) depth: usize,
    pub(super) time: Duration,
}

/// The results of a turn.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) calls: u64,
    /// From the first call to the last reply.
    pub(super) elapsed: Duration,
    /// From the moment a caller wants to call, including the wait for a place, to the reply.
    pub(super) latencies: Latencies,
    pub(super) bytes_sent: u64,
    pub(super) bytes_received: u64,
}

/// The callers that wait for a place, since when, and the results of the others.
struct Callers {
    waiting: VecDeque<Instant>,
    end: Instant,
    last_reply: Instant,
    latencies: Latencies,
}

impl Callers {
    /// Moves up to `room` callers to a connection; none after the end.
    fn start_calls(&mut self, room: usize, in_flight: &mut VecDeque<Instant>) -> usize {
        if Instant::now() >= self.end {
            return 0;
        }
        let count = room.min(self.waiting.len());
        in_flight.extend(self.waiting.drain(..count));
        count
    }

    /// Completes the first `count` calls; their callers then want to call again.
    fn complete_calls(&mut self, count: usize, in_flight: &mut VecDeque<Instant>) {
        let now = Instant::now();
        for since in in_flight.drain(..count) {
            let waited = now.duration_since(since).as_nanos() as u64;
            self.latencies.saturating_record(waited);
            self.waiting.push_back(now);
        }
        self.last_reply = now;
    }
}

/// Open connections. Opening them is not part of the measurement.
pub(super) struct Ready {
    links: Vec<Link>,
    load: Load,
    passed: Arc<ByteCounts>,
}

impl Load {
    pub(super) async fn connect(&self) -> Result<Ready> {
        let passed = Arc::new(ByteCounts::default());
        let mut links = Vec::with_capacity(self.connections);
        for _ in 0..self.connections {
            let what = || Error::io(format!("connect to {}", self.server));
            let stream = TcpStream::connect(self.server).await.map_err(what())?;
            stream.set_nodelay(true).map_err(what())?;
            let stream = Counted::new(stream, Arc::clone(&passed));
            let link = Link::new(self.client, stream, Arc::clone(&self.call)).await;
            links.push(link.map_err(|failure| self.complaint(&failure))?);
        }
        Ok(Ready {
            links,
            load: self.clone(),
            passed,
        })
    }

    fn complaint(&self, failure: &Failure) -> Error {
        Error::server(self.server.to_string(), failure.to_string())
    }
}

impl Ready {
    /// Makes calls until the time is over, and waits for the outstanding replies.
    ///
    /// # Errors
    /// [`Error::Server`] for the first wrong reply, and for a server that closes or stops
    /// answering.
    pub(super) async fn run(self) -> Result<Turn> {
        let Self {
            links,
            load,
            passed,
        } = self;
        let before = passed.both();
        let start = Instant::now();
        let callers = Arc::new(Mutex::new(Callers {
            waiting: vec![start; load.callers].into(),
            end: start + load.time,
            last_reply: start,
            latencies: latencies(),
        }));
        let mut tasks = JoinSet::new();
        for link in links {
            tasks.spawn(run_connection(link, load.depth, Arc::clone(&callers)));
        }
        let all = async {
            while let Some(ended) = tasks.join_next().await {
                match ended {
                    Ok(result) => result.map_err(|failure| load.complaint(&failure))?,
                    Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                }
            }
            Ok(())
        };
        match timeout(load.time + PATIENCE, all).await {
            Ok(result) => result?,
            Err(_) => {
                let silence: Failure = format!("no reply for {} s", PATIENCE.as_secs()).into();
                return Err(load.complaint(&silence));
            }
        }
        let after = passed.both();
        let callers = callers.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Turn {
            calls: callers.latencies.len(),
            elapsed: callers.last_reply - start,
            latencies: callers.latencies.clone(),
            bytes_sent: after.0 - before.0,
            bytes_received: after.1 - before.1,
        })
    }
}

/// Runs the calls of one connection.
async fn run_connection(
    mut link: Link,
    depth: usize,
    callers: Arc<Mutex<Callers>>,
) -> std::result::Result<(), Failure> {
    let lock = || callers.lock().unwrap_or_else(PoisonError::into_inner);
    let mut in_flight = VecDeque::with_capacity(depth);
    loop {
        let room = depth - in_flight.len();
        let count = lock().start_calls(room, &mut in_flight);
        if in_flight.is_empty() {
            return Ok(());
        }
        let answered = link.exchange(count).await?;
        if answered > in_flight.len() {
            return Err("a reply that nothing asked for".into());
        }
        lock().complete_calls(answered, &mut in_flight);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::super::call::tests::call;
    use super::*;

    /// A server that answers every read with the same bytes; without bytes it closes at once.
    fn answering(reply: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut room = [0; 4096];
            while let Ok(1..) = stream.read(&mut room) {
                if reply.is_empty() || stream.write_all(reply).is_err() {
                    return;
                }
            }
        });
        address
    }

    fn run(server: SocketAddr, client: Client) -> Result<Turn> {
        let load = Load {
            server,
            client,
            call: Arc::new(call()),
            callers: 3,
            connections: 1,
            depth: 1,
            time: Duration::from_millis(30),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async { load.connect().await?.run().await })
    }

    const TEXT: &str = "12345&?\"678,\n9012345&?\"678,\n9012345&?\"678,\n90";

    #[test]
    fn correct_replies_are_counted_with_their_bytes() {
        const RESP: &[u8] = b"$45\r\n12345&?\"678,\n9012345&?\"678,\n9012345&?\"678,\n90\r\n";
        const HTTP: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 45\r\n\r\n\
            12345&?\"678,\n9012345&?\"678,\n9012345&?\"678,\n90";
        assert_eq!(call().reply(), TEXT);
        for (client, reply) in [
            (Client::Resp, RESP),
            (Client::Get, HTTP),
            (Client::ReplayedGet, HTTP),
        ] {
            let turn = run(answering(reply), client).unwrap();
            assert!(turn.calls > 0, "{client:?}");
            assert_eq!(turn.bytes_received, turn.calls * reply.len() as u64);
            assert_eq!(turn.latencies.len(), turn.calls);
        }
    }

    #[test]
    fn wrong_reply_ends_the_turn_and_is_reported() {
        let wrong_json = b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{\"reply\":\"1\"}";
        let wrong_text = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno";
        let wrong_status = b"HTTP/1.1 500 No\r\ncontent-length: 2\r\n\r\nno";
        let cases: [(Client, &[u8], &str); 7] = [
            (Client::Resp, b"$2\r\nno\r\n", "wrong reply: $2\\r\\nno"),
            (Client::Resp, b"-ERR no\r\n", "wrong reply: -ERR no"),
            (Client::Get, wrong_text, "wrong reply: no"),
            (Client::Get, wrong_status, "wrong reply: no"),
            (Client::Post, wrong_json, "wrong reply: {"),
            (Client::ReplayedGet, wrong_text, "wrong reply: HTTP/1.1 200"),
            (
                Client::ReplayedPost,
                wrong_status,
                "wrong reply: HTTP/1.1 500",
            ),
        ];
        for (client, reply, part) in cases {
            let text = run(answering(reply), client).unwrap_err().to_string();
            assert!(text.contains(part), "{client:?}: {text}");
        }
    }

    #[test]
    fn closed_connection_ends_the_turn() {
        for client in [Client::Resp, Client::Get, Client::ReplayedPost] {
            assert!(run(answering(b""), client).is_err(), "{client:?}");
        }
    }

    #[test]
    fn surplus_reply_is_an_error() {
        let twice = b"$45\r\n12345&?\"678,\n9012345&?\"678,\n9012345&?\"678,\n90\r\n\
                      $45\r\n12345&?\"678,\n9012345&?\"678,\n9012345&?\"678,\n90\r\n";
        let text = run(answering(twice), Client::Resp).unwrap_err().to_string();
        assert!(text.contains("nothing asked for"), "{text}");
    }
}
