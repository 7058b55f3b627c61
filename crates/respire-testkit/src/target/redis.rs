//! A real `redis-server` as a target, the reference of comparisons.

use super::Link;
use crate::reply::Value;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The reference's program: `REDIS_SERVER`, or `redis-server` on the path.
#[must_use]
pub fn redis_binary() -> PathBuf {
    std::env::var_os("REDIS_SERVER").map_or_else(|| "redis-server".into(), PathBuf::from)
}

/// A `redis-server` of our own: empty, on a free port, in its own directory, killed on drop.
#[derive(Debug)]
pub struct RedisServer {
    child: Child,
    address: SocketAddr,
    dir: PathBuf,
}

/// The name of its snapshot file.
const SNAPSHOT: &str = "dump.rdb";

/// How long a server may take to start.
const START_MAX: Duration = Duration::from_secs(20);

impl RedisServer {
    /// Starts a server.
    ///
    /// # Panics
    /// If there is no `redis-server`, or it does not start.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// Starts a server that loads this snapshot file.
    ///
    /// # Panics
    /// Like [`RedisServer::start`]; also if the server does not load the file.
    #[must_use]
    pub fn start_with(snapshot: Option<&[u8]>) -> Self {
        let began = Instant::now();
        while began.elapsed() < START_MAX {
            if let Some(server) = Self::try_start(began, snapshot) {
                return server;
            }
        }
        panic!(
            "{} did not start within {START_MAX:?}",
            redis_binary().display()
        );
    }

    /// One attempt; `None` if the port was taken in the meantime.
    fn try_start(began: Instant, snapshot: Option<&[u8]>) -> Option<Self> {
        let address = free_address();
        let dir = scratch_dir();
        if let Some(bytes) = snapshot {
            fs::write(dir.join(SNAPSHOT), bytes).expect("the scratch directory is writable");
        }
        let log = File::create(dir.join("log")).expect("the scratch directory is writable");
        let spawned = Command::new(redis_binary())
            .args(["--bind", "127.0.0.1", "--port", &address.port().to_string()])
            .args([
                "--save",
                "",
                "--appendonly",
                "no",
                "--enable-debug-command",
                "yes",
            ])
            .args(["--dir", &dir.to_string_lossy()])
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(Stdio::null())
            .spawn();
        let child = spawned.unwrap_or_else(|error| {
            panic!(
                "{}: {error}. The tests compare with a real Redis: install it \
                 (on Debian: apt-get install redis-server), or set REDIS_SERVER to its path",
                redis_binary().display()
            )
        });
        let mut server = Self {
            child,
            address,
            dir,
        };
        while began.elapsed() < START_MAX {
            if TcpStream::connect(address).is_ok() && server.has_loaded() {
                return Some(server);
            }
            if server.child.try_wait().is_ok_and(|status| status.is_some()) {
                let log = fs::read_to_string(server.dir.join("log")).unwrap_or_default();
                assert!(!log.contains("RDB"), "the server refuses the file: {log}");
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// Whether it answers, which it does not while it loads.
    fn has_loaded(&self) -> bool {
        let reply = Link::open(self.address).call(&["PING"]);
        reply == Value::Simple(b"PONG".to_vec())
    }

    /// The snapshot file that `SAVE` wrote last.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        fs::read(self.dir.join(SNAPSHOT)).expect("SAVE has written a file")
    }

    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It holds no data that needs an orderly shutdown, and may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    listener
        .local_addr()
        .expect("a bound listener has an address")
}

fn scratch_dir() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "respire-redis-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let dir = std::env::temp_dir().join(name);
    fs::create_dir_all(&dir).expect("the temporary directory is writable");
    dir
}
