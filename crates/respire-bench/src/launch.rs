//! Starts servers, and stops them when they are dropped.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::target::{Client, Login, Socket, Target};

/// How long a server may take to listen, and to stop.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between two checks.
const NAP: Duration = Duration::from_millis(20);
/// The placeholder of the port in a command line.
const PORT: &str = "{port}";

/// How to find out that a server is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It accepts a connection.
    Connect,
    /// It answers `PING`, and not with an error that it is still loading.
    Ping,
}

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    line: String,
    target: Target,
    /// The file with its output, kept while it runs.
    log: PathBuf,
}

impl Server {
    /// Starts `words` on a free port of the loopback address, which replaces `{port}` in them. If
    /// there are `cores`, pins it to them with `taskset`. Waits until it is ready.
    ///
    /// # Errors
    /// [`Error::Program`] if it cannot be started, ends at once, or does not listen within 10
    /// seconds.
    pub fn start(words: &[String], cores: Option<&str>, probe: Probe) -> Result<Self> {
        let line = line(words);
        if !words.iter().any(|word| word.contains(PORT)) {
            return Err(Error::program(line, "the command says nowhere {port}"));
        }
        let port = free_port()?;
        let mut words = words
            .iter()
            .map(|word| word.replace(PORT, &port.to_string()));
        let mut command = match cores {
            Some(cores) => {
                let mut command = Command::new("taskset");
                command.args(["-c", cores]);
                command
            }
            None => Command::new(words.next().unwrap_or_default()),
        };
        let log = format!("respire-bench-{}-{port}.log", std::process::id());
        let log = std::env::temp_dir().join(log);
        let file = || Error::io(format!("log {}", log.display()));
        let printed = File::create(&log).map_err(file())?;
        command.args(words);
        let child = command
            .stdin(Stdio::null())
            .stdout(printed.try_clone().map_err(file())?)
            .stderr(printed)
            .spawn()
            .map_err(|e| {
                let program = command.get_program().to_string_lossy();
                Error::program(&line, format!("{program}: {e}"))
            })?;
        let target = Target::Tcp {
            host: "127.0.0.1".to_owned(),
            port,
        };
        let mut server = Self {
            child,
            line,
            target,
            log,
        };
        server.wait(probe)?;
        Ok(server)
    }

    fn wait(&mut self, probe: Probe) -> Result<()> {
        let start = Instant::now();
        let login = Login::default();
        loop {
            let ready = match probe {
                Probe::Connect => Socket::connect(&self.target).is_ok(),
                Probe::Ping => Client::connect(&self.target, &login)
                    .and_then(|mut client| client.call(&["PING"]))
                    .is_ok_and(|reply| !reply.as_str().unwrap_or_default().starts_with("LOADING")),
            };
            if ready {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                let printed = fs::read_to_string(&self.log).unwrap_or_default();
                let last = printed.lines().last().unwrap_or_default();
                let reason = format!("ended before it was ready: {status}\n{last}");
                return Err(Error::program(&self.line, reason.trim_end()));
            }
            if start.elapsed() > PATIENCE {
                let reason = format!("is not ready after {} s", PATIENCE.as_secs());
                return Err(Error::program(&self.line, reason));
            }
            thread::sleep(NAP);
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The address it listens on.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Its command line, with `{port}` as given.
    pub fn line(&self) -> &str {
        &self.line
    }

    fn terminate(&mut self) {
        #[cfg(unix)]
        {
            use nix::sys::signal::{Signal, kill};
            use nix::unistd::Pid;
            let asked = kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM);
            let start = Instant::now();
            while asked.is_ok() && start.elapsed() < PATIENCE {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    return;
                }
                thread::sleep(NAP);
            }
        }
        // A process that cannot be killed stays; nothing else can be done.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.terminate();
        }
        // The log may be gone already.
        drop(fs::remove_file(&self.log));
    }
}

/// A command line in the form that a shell reads.
pub fn line(words: &[String]) -> String {
    let quote = |word: &String| match shlex::try_quote(word) {
        // Shells accept unquoted braces, although the strict rules quote them.
        Ok(quoted) if !word.contains(PORT) => quoted.into_owned(),
        _ => word.clone(),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The words of a command line, with quotes as in a shell.
///
/// # Errors
/// [`Error::Program`] if a quote is not closed, or the line has no words.
pub fn words(line: &str) -> Result<Vec<String>> {
    match shlex::split(line) {
        Some(words) if !words.is_empty() => Ok(words),
        _ => Err(Error::program(line, "is no command line")),
    }
}

/// The first line that a program prints, such as its version.
pub fn first_line(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}

fn free_port() -> Result<u16> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(Error::io("a free port"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_split_and_joined_as_in_a_shell() {
        let text = "redis-server --port {port} --save ''";
        let split = words(text).unwrap();
        assert_eq!(split[4], "");
        assert_eq!(line(&split), text);
        assert!(words("a 'b").is_err() && words(" ").is_err());
    }

    #[test]
    fn command_without_a_port_is_refused() {
        let refused = Server::start(&words("true").unwrap(), None, Probe::Connect);
        assert!(refused.unwrap_err().to_string().contains("{port}"));
    }

    #[cfg(unix)]
    #[test]
    fn program_that_ends_at_once_is_reported() {
        let refused = Server::start(&words("true {port}").unwrap(), None, Probe::Connect);
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("ended before it was ready"), "{text}");
    }
}
