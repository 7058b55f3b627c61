//! Runs the real `respire-server` binary beside a chore.

use crate::machine::{command, reap};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A `respire-server` on a free port, killed on drop.
pub(crate) struct Server {
    child: Child,
    port: u16,
}

/// The longest time it may take to listen.
const START_MAX: Duration = Duration::from_secs(20);

impl Server {
    /// Starts the binary in this flavour.
    pub(crate) fn start(binary: &Path, flavour: &str) -> Result<Self, String> {
        let port = free_port()?;
        let spawned = command(binary)
            .args([
                "--port",
                &port.to_string(),
                "--flavour",
                flavour,
                "--log-level",
                "warning",
            ])
            .stdout(Stdio::null())
            .spawn();
        let child = spawned.map_err(|error| format!("cannot run {}: {error}", binary.display()))?;
        let mut server = Self { child, port };
        let began = Instant::now();
        while began.elapsed() < START_MAX {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Ok(server);
            }
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(format!("{} ended with {status}", binary.display()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!(
            "{} does not listen after {START_MAX:?}",
            binary.display()
        ))
    }

    /// The port on which it listens on loopback.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, and holds no data that needs an orderly shutdown.
        let _ = self.child.kill();
        let _ = reap(&mut self.child);
    }
}

fn free_port() -> Result<u16, String> {
    let bound =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    bound
        .map(|address| address.port())
        .map_err(|error| format!("no free port: {error}"))
}
