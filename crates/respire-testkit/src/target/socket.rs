//! Any server behind a TCP address as a target.

use super::{Received, Target};
use crate::quoting::encode_command;
use crate::reply::{self, Value};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The timeout after which a reply counts as lost.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that sends commands and waits for their replies.
#[derive(Debug)]
pub struct Link {
    stream: TcpStream,
    buffer: Vec<u8>,
    timeout: Duration,
}

impl Link {
    /// Connects to a server.
    ///
    /// # Panics
    /// If no server listens at the address.
    #[must_use]
    pub fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address)
            .unwrap_or_else(|error| panic!("cannot connect to {address}: {error}"));
        let set = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(REPLY_TIMEOUT)));
        set.unwrap_or_else(|error| panic!("cannot set up the socket to {address}: {error}"));
        Self {
            stream,
            buffer: Vec::new(),
            timeout: REPLY_TIMEOUT,
        }
    }

    /// Sends bytes unchanged. A peer that is gone is only noticed when its reply is awaited.
    ///
    /// # Panics
    /// If the system reports any other error.
    pub fn send(&mut self, bytes: &[u8]) {
        match self.stream.write_all(bytes) {
            Ok(()) => {}
            Err(error) if is_gone(error.kind()) => {}
            Err(error) => panic!("cannot send: {error}"),
        }
    }

    /// Waits for one reply.
    ///
    /// # Panics
    /// If no reply comes, or its bytes are malformed.
    pub fn reply(&mut self) -> Value {
        self.reply_or_end().expect("the connection stays open")
    }

    /// Sends a command and waits for its reply.
    ///
    /// # Panics
    /// Like [`Link::reply`].
    pub fn call<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Value {
        self.send(&encode_command(args));
        self.reply()
    }

    /// Sets the time after which a reply counts as lost, ten seconds at first.
    ///
    /// # Panics
    /// If the time is zero.
    pub fn set_timeout(&mut self, timeout: Duration) {
        let set = self.stream.set_read_timeout(Some(timeout));
        set.unwrap_or_else(|error| panic!("cannot set the timeout: {error}"));
        self.timeout = timeout;
    }

    /// Says that no more requests follow, and waits for the end of the connection. Returns the replies that came.
    ///
    /// # Panics
    /// If the end does not come, or a reply is malformed.
    #[must_use]
    pub fn finish(mut self) -> Vec<Value> {
        // A peer that has already closed needs no notice.
        let _ = self.stream.shutdown(Shutdown::Write);
        std::iter::from_fn(|| self.reply_or_end()).collect()
    }

    /// Waits for one reply, or the end of the connection, for which it returns `None`.
    ///
    /// # Panics
    /// If neither comes, or the reply is malformed.
    pub fn reply_or_end(&mut self) -> Option<Value> {
        loop {
            match reply::parse(&self.buffer) {
                Ok(Some((value, len))) => {
                    self.buffer.drain(..len);
                    return Some(value);
                }
                Ok(None) => {}
                Err(_) => panic!("no reply: {}", self.buffer.escape_ascii()),
            }
            let mut bytes = std::mem::take(&mut self.buffer);
            let received = self.receive(&mut bytes);
            self.buffer = bytes;
            match received {
                Received::Bytes => {}
                Received::Closed => return None,
                Received::Nothing => panic!("no reply within {:?}", self.timeout),
            }
        }
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> Received {
        let mut chunk = [0; 16 << 10];
        match self.stream.read(&mut chunk) {
            Ok(0) => Received::Closed,
            Ok(len) => {
                into.extend_from_slice(&chunk[..len]);
                Received::Bytes
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Received::Nothing
            }
            // A read with a timeout ends like this if the process was stopped: check again what has
            // arrived.
            Err(error) if error.kind() == ErrorKind::Interrupted => Received::Bytes,
            Err(error) if is_gone(error.kind()) => Received::Closed,
            Err(error) => panic!("cannot receive: {error}"),
        }
    }
}

fn is_gone(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::NotConnected
    )
}

/// A server that runs for a whole script, and is reset between its cases.
#[derive(Debug)]
pub struct SocketTarget {
    address: SocketAddr,
    tags: &'static [&'static str],
    /// The connection for the reset; opened before any case can set a password.
    admin: Link,
    links: Vec<Link>,
}

/// The commands that restore everything that cases may change.
const RESET_COMMANDS: [&[&str]; 15] = [
    &["CLIENT", "UNPAUSE"],
    &["FLUSHALL"],
    &["FUNCTION", "FLUSH"],
    &["SCRIPT", "FLUSH"],
    &["CONFIG", "SET", "requirepass", ""],
    &["CONFIG", "SET", "maxmemory", "0"],
    &["CONFIG", "SET", "maxmemory-policy", "noeviction"],
    &["CONFIG", "SET", "slowlog-log-slower-than", "10000"],
    &["CONFIG", "SET", "maxmemory-samples", "5"],
    &["CONFIG", "SET", "slowlog-max-len", "128"],
    &["CONFIG", "SET", "latency-monitor-threshold", "0"],
    &["CONFIG", "SET", "notify-keyspace-events", ""],
    &["LATENCY", "RESET"],
    &["CONFIG", "RESETSTAT"],
    &["SLOWLOG", "RESET"],
];

impl SocketTarget {
    /// A target for the server at this address, with the tags of its kind and `socket`.
    #[must_use]
    pub fn new(address: SocketAddr, tags: &'static [&'static str]) -> Self {
        Self {
            address,
            tags,
            admin: Link::open(address),
            links: Vec::new(),
        }
    }
}

impl Target for SocketTarget {
    fn tags(&self) -> &[&'static str] {
        self.tags
    }

    fn reset(&mut self) {
        self.links.clear();
        for command in RESET_COMMANDS {
            self.admin.send(&encode_command(command));
            let reply = self.admin.reply_or_end().unwrap_or_else(|| {
                // The previous case has killed every connection.
                self.admin = Link::open(self.address);
                self.admin.call(command)
            });
            assert!(!reply.is_error(), "{command:?} answered {reply:?}");
        }
    }

    fn connect(&mut self) -> usize {
        self.links.push(Link::open(self.address));
        self.links.len() - 1
    }

    fn send(&mut self, connection: usize, bytes: &[u8]) {
        self.links[connection].send(bytes);
    }

    fn receive(&mut self, connection: usize, into: &mut Vec<u8>) -> Received {
        self.links[connection].receive(into)
    }

    fn half_close(&mut self, connection: usize) {
        // A peer that has already closed needs no notice.
        let _ = self.links[connection].stream.shutdown(Shutdown::Write);
    }

    /// The wall clock cannot be moved, so this waits.
    fn advance(&mut self, by: Duration) {
        std::thread::sleep(by);
    }

    fn unix_ms(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as u64)
    }
}
