//! A server in a comparison.

use crate::cli::RoundArgs;
use crate::error::{Error, Result};
use crate::launch::{Probe, Server, words};
use crate::target::{Client, Login, Target};
use crate::workload::Protocol;

/// A server in a comparison.
#[derive(Debug)]
pub struct Contender {
    /// As the result names it.
    pub name: String,
    /// Where it listens.
    pub target: Target,
    /// Its process, if it is to be seen from here.
    pub pid: Option<u32>,
    /// The protocol spoken to it, where that is not the load's.
    pub protocol: Option<Protocol>,
    /// Whether it stores nothing: it is not asked anything but the load, and its values are not checked.
    pub is_floor: bool,
    /// Resident memory in bytes before its first load, once [`Contest`](super::Contest) has looked.
    pub rss_idle: Option<u64>,
    /// Kept while it runs, if it was started here.
    server: Option<Server>,
}

impl Contender {
    /// A server that runs already.
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

    /// A server that is started now.
    ///
    /// # Errors
    /// As [`Server::start`].
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
    /// [`Error::Flag`] if it is neither, or as [`Contender::started`].
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

    /// Finds out its process from `INFO`, if nothing else told and the server is on this machine.
    pub fn find_pid(&mut self, login: &Login) {
        let local = match &self.target {
            Target::Unix(_) => true,
            Target::Tcp { host, .. } => ["127.0.0.1", "localhost", "::1"].contains(&host.as_str()),
        };
        if self.pid.is_none() && !self.is_floor && local {
            // A server without INFO is compared all the same, without its CPU time.
            let told = Client::connect(&self.target, login)
                .and_then(|mut client| client.info("server", "process_id"));
            self.pid = told.ok().flatten().and_then(|pid| pid.parse().ok());
        }
    }

    /// Its command line, if it was started here.
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
    fn name_stands_before_the_address_or_is_the_address() {
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
