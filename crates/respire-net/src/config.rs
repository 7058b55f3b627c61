//! The configuration of a server: its addresses, its threads and its limits.

use crate::Limits;
use crate::tap::Tap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where a server listens and how it drives its connections. The engine decides what it replies.
///
/// ```
/// use respire_net::Config;
///
/// let config = Config { port: 7000, ..Config::default() };
/// assert_eq!(config.hosts, ["127.0.0.1", "-::1"]);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// Addresses or names to listen on. A leading `-` lets the server start without the address if
    /// this machine does not have it.
    pub hosts: Vec<String>,
    /// The TCP port; 0 means no TCP.
    pub port: u16,
    /// The path of a Unix socket to listen on as well.
    pub unix_socket: Option<PathBuf>,
    /// The permissions of that socket, such as `0o700`. By default the process's umask decides.
    pub unix_socket_mode: Option<u32>,
    /// How many connections the system queues until the server accepts them (`tcp-backlog`).
    pub backlog: u32,
    /// After how many idle seconds the system begins to probe a peer (`tcp-keepalive`); 0 means
    /// never.
    pub keepalive_s: u32,
    /// Threads that serve connections, for flavours that let you choose.
    pub threads: usize,
    /// Whether peers from other machines are refused while no password is set.
    pub protected_mode: ProtectedMode,
    /// Limits of turns and waits.
    pub limits: Limits,
    /// Where copies of the traffic go. By default there are no copies.
    pub tap: Tap,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            hosts: vec!["127.0.0.1".to_owned(), "-::1".to_owned()],
            port: 6379,
            unix_socket: None,
            unix_socket_mode: None,
            backlog: 1024,
            keepalive_s: 300,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            protected_mode: ProtectedMode::new(true),
            limits: Limits::DEFAULT,
            tap: Tap::default(),
        }
    }
}

/// Whether peers from other machines are refused while no password is set. Clones share the value,
/// so `CONFIG SET protected-mode` reaches the running server.
#[derive(Clone, Debug)]
pub struct ProtectedMode(Arc<AtomicBool>);

impl ProtectedMode {
    /// A new value, which no other `ProtectedMode` shares.
    #[must_use]
    pub fn new(is_on: bool) -> Self {
        Self(Arc::new(AtomicBool::new(is_on)))
    }

    /// Whether it is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Switches it on or off, for all clones.
    pub fn set(&self, is_on: bool) {
        self.0.store(is_on, Ordering::Relaxed);
    }
}
