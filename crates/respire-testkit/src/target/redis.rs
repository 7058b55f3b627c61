//! A real `redis-server` as a target, the reference of comparisons.

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

/// How long a server may take to start.
const START_MAX: Duration = Duration::from_secs(20);

impl RedisServer {
    /// Starts a server.
    ///
    /// # Panics
    /// If there is no `redis-server`, or it does not start.
    #[must_use]
    pub fn start() -> Self {
        let began = Instant::now();
        while began.elapsed() < START_MAX {
            if let Some(server) = Self::try_start(began) {
                return server;
            }
        }
        panic!(
            "{} did not start within {START_MAX:?}",
            redis_binary().display()
        );
    }

    /// One attempt; `None` if the port was taken in the meantime.
    fn try_start(began: Instant) -> Option<Self> {
        let address = free_address();
        let dir = scratch_dir();
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
            if TcpStream::connect(address).is_ok() {
                return Some(server);
            }
            if server.child.try_wait().is_ok_and(|status| status.is_some()) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
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
