//! The server in the page: the engine with all commands and an empty store, virtual connections,
//! and a clock that only the page moves.

use crate::engine::new_engine;
use respire_commands::Kv;
use respire_engine::driver::{Session, SessionEvent, SessionStep};
use respire_engine::{Engine, Now, Output, Peer, Proto, Wake};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most bytes of replies that a connection may leave untaken. Its last reply may exceed this
/// limit.
const OUTPUT_BYTES_MAX: usize = 64 << 20;

/// The most turns of the expiry sweep in one move of the clock: enough for a million expired keys.
const TICKS_MAX: u32 = 100_000;

/// The monotonic time at the start: not 0, so that nothing is older than the clock.
const START: Duration = Duration::from_secs(1);

/// An engine and the connections to it.
///
/// ```
/// use respire_wasm::Server;
/// let mut server = Server::new(1_700_000_000_000);
/// let conn = server.connect().unwrap();
/// server.feed(conn, b"SET k v EX 60\r\n").unwrap();
/// server.advance(60_000);
/// server.feed(conn, b"GET k\r\n").unwrap();
/// assert_eq!(server.take_output(conn).unwrap(), b"+OK\r\n$-1\r\n");
/// ```
pub struct Server {
    engine: Arc<Engine<Kv>>,
    now: Now,
    connections: BTreeMap<u32, Connection>,
}

struct Connection {
    session: Session<Kv>,
    wake_state: Arc<WakeState>,
    out: Output,
    replies: Vec<u8>,
    closed: Option<&'static str>,
    wire: u32,
}

/// Set when a connection has output without having sent a request.
#[derive(Debug, Default)]
struct WakeState(AtomicBool);

struct WakeHandle(Arc<WakeState>);

impl Wake for WakeHandle {
    fn wake(&self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// The result of an input or a move of the clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The reason why the connection that sent the input is closed, if it is.
    pub closed: Option<String>,
    /// The connections with output to take, in ascending order.
    pub ready: Vec<u32>,
}

impl Server {
    /// An empty server at this time, in milliseconds since 1970.
    #[must_use]
    pub fn new(unix_ms: u64) -> Self {
        Self::with_password(unix_ms, None)
    }

    /// An empty server whose connections must authenticate with this password.
    #[must_use]
    pub fn with_password(unix_ms: u64, password: Option<&[u8]>) -> Self {
        let now = Now::new(START, Duration::from_millis(unix_ms));
        Self {
            engine: new_engine(now, password),
            now,
            connections: BTreeMap::new(),
        }
    }

    /// Opens a connection; its number is its `CLIENT ID`.
    ///
    /// # Errors
    /// If `maxclients` connections are open.
    pub fn connect(&mut self) -> Result<u32, String> {
        let wake_state = Arc::new(WakeState::default());
        let peer = Peer {
            address: "page:0".into(),
            local_address: "page:6379".into(),
            descriptor: -1,
            is_unix: false,
        };
        let wake_handle = Box::new(WakeHandle(Arc::clone(&wake_state)));
        let session = self.engine.connect(peer, wake_handle, self.now);
        let session = session.ok_or("max number of clients reached")?;
        let id = u32::try_from(session.client().id()).map_err(|_| "too many connections")?;
        let connection = Connection {
            session,
            wake_state,
            out: Output::new(),
            replies: Vec::new(),
            closed: None,
            wire: 0,
        };
        self.connections.insert(id, connection);
        Ok(id)
    }

    /// Closes a connection from the client's side. Its subscriptions and watches end.
    pub fn close(&mut self, conn: u32) {
        self.connections.remove(&conn);
    }

    /// Passes bytes to a connection, and computes the replies on all connections.
    ///
    /// # Errors
    /// If there is no such connection, or its replies are not being taken.
    pub fn feed(&mut self, conn: u32, bytes: &[u8]) -> Result<Progress, String> {
        let now = self.now;
        let connection = self.connection(conn)?;
        if connection.replies.len() > OUTPUT_BYTES_MAX {
            return Err("take the output first".to_owned());
        }
        connection.serve(bytes, now);
        self.settle();
        Ok(self.progress(Some(conn)))
    }

    /// Takes the output of a connection.
    ///
    /// # Errors
    /// If there is no such connection.
    pub fn take_output(&mut self, conn: u32) -> Result<Vec<u8>, String> {
        Ok(std::mem::take(&mut self.connection(conn)?.replies))
    }

    /// Advances the clock, frees expired keys, and sends the replies that are due.
    pub fn advance(&mut self, ms: u64) -> Progress {
        self.now = self.now.after(Duration::from_millis(ms));
        for _ in 0..TICKS_MAX {
            if self.engine.tick(self.now) > SWEEP_GOES_ON {
                break;
            }
        }
        for connection in self.connections.values_mut() {
            connection.poll(self.now);
        }
        self.settle();
        self.progress(None)
    }

    /// The time, in milliseconds since 1970.
    #[must_use]
    pub fn unix_ms(&self) -> u64 {
        self.now.unix_ms()
    }

    /// The protocol of a connection's replies, by number: 0 RESP2, 1 RESP3, 2 binary.
    ///
    /// # Errors
    /// If there is no such connection.
    pub fn wire(&mut self, conn: u32) -> Result<u32, String> {
        Ok(self.connection(conn)?.wire)
    }

    fn connection(&mut self, conn: u32) -> Result<&mut Connection, String> {
        let found = self.connections.get_mut(&conn);
        found.ok_or_else(|| format!("there is no connection {conn}"))
    }

    /// Polls the woken connections until none is left: a command may send to, kill or unblock
    /// others.
    fn settle(&mut self) {
        let mut is_moving = true;
        while is_moving {
            is_moving = false;
            for connection in self.connections.values_mut() {
                if connection.wake_state.0.swap(false, Ordering::Relaxed) {
                    connection.poll(self.now);
                    is_moving = true;
                }
            }
        }
    }

    fn progress(&self, conn: Option<u32>) -> Progress {
        let closed = conn.and_then(|conn| self.connections.get(&conn)?.closed);
        let ready = self.connections.iter();
        Progress {
            closed: closed.map(str::to_owned),
            ready: ready
                .filter(|(_, connection)| !connection.replies.is_empty())
                .map(|(&id, _)| id)
                .collect(),
        }
    }
}

/// A tick that asks for the next one within this time has not swept everything.
const SWEEP_GOES_ON: Duration = Duration::from_millis(20);

impl Connection {
    fn serve(&mut self, bytes: &[u8], now: Now) {
        if self.closed.is_none() {
            let step = self.session.serve(bytes, now, &mut self.out);
            self.follow(step, now);
        }
    }

    fn poll(&mut self, now: Now) {
        if self.closed.is_none() {
            let step = self.session.serve(SessionEvent::Turn, now, &mut self.out);
            self.follow(step, now);
        }
    }

    fn follow(&mut self, mut step: SessionStep, now: Now) {
        self.replies.append(&mut self.out.take());
        while step == SessionStep::Flush {
            step = self.session.serve(SessionEvent::Turn, now, &mut self.out);
            self.replies.append(&mut self.out.take());
        }
        self.wire = match self.session.client().proto() {
            _ if self.session.is_binary() => 2,
            Proto::Resp3 => 1,
            _ => 0,
        };
        if let SessionStep::Close(reason) = step {
            self.closed = Some(reason.text());
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("now", &self.now)
            .field("connections", &self.connections.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START_MS: u64 = 1_700_000_000_000;

    fn output(server: &mut Server, conn: u32) -> String {
        let bytes = server.take_output(conn).expect("a connection");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn message_arrives_on_the_other_connection() {
        let mut server = Server::new(START_MS);
        let (one, two) = (server.connect().unwrap(), server.connect().unwrap());
        server.feed(one, b"SUBSCRIBE news\r\n").unwrap();
        assert_eq!(
            output(&mut server, one),
            "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"
        );
        let progress = server.feed(two, b"PUBLISH news hi\r\n").unwrap();
        assert_eq!(progress.ready, [one, two]);
        assert_eq!(output(&mut server, two), ":1\r\n");
        assert_eq!(
            output(&mut server, one),
            "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n"
        );
    }

    #[test]
    fn subscriber_gets_events_of_written_and_expired_keys() {
        let mut server = Server::new(START_MS);
        let (one, two) = (server.connect().unwrap(), server.connect().unwrap());
        server.feed(one, b"SUBSCRIBE __keyspace@0__:k\r\n").unwrap();
        output(&mut server, one);
        server
            .feed(two, b"CONFIG SET notify-keyspace-events KA\r\n")
            .unwrap();
        server.feed(two, b"SET k v PX 10\r\n").unwrap();
        server.advance(11);
        let events = output(&mut server, one);
        let events: Vec<&str> = events.split("\r\n").skip(6).step_by(7).collect();
        assert_eq!(events, ["set", "expire", "expired"]);
    }

    #[test]
    fn expired_keys_are_swept_when_the_clock_moves() {
        let mut server = Server::new(START_MS);
        let conn = server.connect().unwrap();
        for n in 0..5000 {
            let request = format!("SET k{n} v PX 1000\r\n");
            server.feed(conn, request.as_bytes()).unwrap();
        }
        server.take_output(conn).unwrap();
        server.advance(1001);
        assert_eq!(server.unix_ms(), START_MS + 1001);
        server.feed(conn, b"DBSIZE\r\n").unwrap();
        assert_eq!(output(&mut server, conn), ":0\r\n");
    }

    #[test]
    fn pause_ends_when_its_time_is_over() {
        let mut server = Server::new(START_MS);
        let (one, two) = (server.connect().unwrap(), server.connect().unwrap());
        server.feed(one, b"CLIENT PAUSE 500\r\n").unwrap();
        output(&mut server, one);
        assert!(server.feed(two, b"GET k\r\n").unwrap().ready.is_empty());
        assert_eq!(server.advance(501).ready, [two]);
    }

    #[test]
    fn protocol_error_is_answered_and_closes() {
        let mut server = Server::new(START_MS);
        let conn = server.connect().unwrap();
        let progress = server.feed(conn, b"*1\r\n+PING\r\n").unwrap();
        assert_eq!(progress.closed.as_deref(), Some("protocol error"));
        assert!(
            output(&mut server, conn).starts_with("-ERR Protocol error: expected '$', got '+'")
        );
        assert!(server.feed(conn, b"PING\r\n").unwrap().closed.is_some());
        server.close(conn);
        assert!(server.feed(conn, b"PING\r\n").is_err());
    }

    #[test]
    fn wire_follows_hello_and_the_first_byte() {
        let mut server = Server::new(START_MS);
        let (one, two) = (server.connect().unwrap(), server.connect().unwrap());
        server.feed(one, b"HELLO 3\r\n").unwrap();
        server.feed(two, b"\x01\x01\0\0\0k").unwrap();
        assert_eq!((server.wire(one), server.wire(two)), (Ok(1), Ok(2)));
    }
}
