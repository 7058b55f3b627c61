//! A server in a comparison.

use crate::cli::RoundArgs;
use crate::error::{Error, Result};
use crate::launch::{Probe, Server, words};
use crate::target::{Client, Login, Target};
use crate::workload::Protocol;

/// A server in a comparison.
#[derive(Debug)]
pub struct Contender {
    /// Its name in the result.
    pub name: String,
    /// The address it listens on.
    pub target: Target,
    /// Its process, if it runs on this machine.
    pub pid: Option<u32>,
    /// The protocol it speaks, if not the load's.
    pub protocol: Option<Protocol>,
    /// Whether it is the null server: it gets only the load, and its values are not checked.
    pub is_floor: bool,
    /// Resident memory in bytes before its first load, once [`Contest`](super::Contest) has
    /// measured it.
    pub rss_idle: Option<u64>,
    /// The process, if this program started it. Dropping it ends the server.
    server: Option<Server>,
}

impl Contender {
    /// A server that is already running.
    pub fn running(name: &str, target: Target) -> Self {
        Self {
            name: name.to_owned(),
            target,
            pid: None,
            protocol: None,
            is_floor: false,
            rss_idle: None,
            server: None,
        }
    }

    /// Starts a server.
    ///
    /// # Errors
    /// The errors of [`Server::start`].
    pub fn started(
        name: &str,
        words: &[String],
        cores: Option<&str>,
        probe: Probe,
    ) -> Result<Self> {
        let server = Server::start(words, cores, probe)?;
        Ok(Self {
            name: name.to_owned(),
            target: server.target().clone(),
            pid: Some(server.pid()),
            protocol: None,
            is_floor: probe == Probe::Connect,
            rss_idle: None,
            server: Some(server),
        })
    }

    /// `[NAME=]ADDRESS` or `[NAME=]exec:COMMAND`. `pids` are `NAME=PID`.
    ///
    /// # Errors
    /// [`Error::Flag`] if it is neither, or the errors of [`Contender::started`].
    pub fn parse(text: &str, rounds: &RoundArgs, pids: &[String]) -> Result<Self> {
        let (name, server) = match text.split_once('=') {
            Some((name, server)) if !name.contains([':', ' ', '/']) => (Some(name), server),
            _ => (None, text),
        };
        let mut contender = match server.strip_prefix("exec:") {
            Some(line) => {
                let words = words(line)?;
                let program = words[0].rsplit('/').next().unwrap_or_default();
                let cores = rounds.server_cpu.as_deref();
                Self::started(name.unwrap_or(program), &words, cores, Probe::Ping)?
            }
            None => {
                let target = server
                    .parse()
                    .map_err(|reason: String| Error::flag("SERVER", reason))?;
                Self::running(name.unwrap_or(server), target)
            }
        };
        for pid in pids {
            if let Some((name, pid)) = pid.split_once('=')
                && name == contender.name
            {
                let reason = format!("{pid:?} is no process");
                contender.pid = Some(pid.parse().map_err(|_| Error::flag("--pid", reason))?);
            }
        }
        Ok(contender)
    }

    /// Finds its process from `INFO`, if it is not known and the server is on this machine.
    pub fn find_pid(&mut self, login: &Login) {
        let local = match &self.target {
            Target::Unix(_) => true,
            Target::Tcp { host, .. } => ["127.0.0.1", "localhost", "::1"].contains(&host.as_str()),
        };
        if self.pid.is_none() && !self.is_floor && local {
            // A server without INFO is compared without its CPU time.
            let told = Client::connect(&self.target, login)
                .and_then(|mut client| client.info("server", "process_id"));
            self.pid = told.ok().flatten().and_then(|pid| pid.parse().ok());
        }
    }

    /// Its command line, if this program started it.
    pub fn line(&self) -> Option<&str> {
        self.server.as_ref().map(Server::line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, pids: &[&str]) -> Result<Contender> {
        let rounds = RoundArgs {
            rounds: 1,
            server_cpu: None,
            load_cpu: Vec::new(),
        };
        let pids: Vec<String> = pids.iter().map(|&pid| pid.to_owned()).collect();
        Contender::parse(text, &rounds, &pids)
    }

    #[test]
    fn name_precedes_the_address_or_is_the_address() {
        let named = parse("one=127.0.0.1:7", &["one=12", "two=13"]).unwrap();
        assert_eq!((&*named.name, named.pid), ("one", Some(12)));
        assert_eq!(parse("localhost:7", &[]).unwrap().name, "localhost:7");
        let unix = parse("unix:/tmp/a=b.sock", &[]).unwrap();
        assert_eq!(unix.target, Target::Unix("/tmp/a=b.sock".into()));
    }

    #[test]
    fn bad_address_and_bad_pid_are_refused() {
        assert!(parse("nowhere", &[]).is_err());
        let text = parse("a=h:1", &["a=x"]).unwrap_err().to_string();
        assert!(text.starts_with("--pid: "), "{text}");
    }
}
