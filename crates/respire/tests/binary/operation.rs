//! Tests of the configuration file and of signals, as an operator uses them.

use crate::{Server, refused};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

impl Server {
    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// The log up to a line that contains `text`.
    fn log_until(&mut self, text: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(text) {
            let read = self.log.read_line(&mut seen).unwrap();
            assert_ne!(read, 0, "it ended: {seen}");
        }
        seen
    }
}

fn in_flavour(command: &mut Command, flavour: respire::serve::Flavour) {
    command.args(["--flavour", flavour.name()]);
}

#[test]
fn sighup_reloads_the_file_and_keeps_the_data_in_both_flavours() {
    for flavour in respire::serve::Flavour::ALL {
        let conf = |directory: &Path| directory.join("respire.conf");
        let mut server = Server::start(|command, directory| {
            std::fs::write(conf(directory), "timeout 60\nbuffer 16kb\n").unwrap();
            command.arg(conf(directory));
            in_flavour(command, *flavour);
        });
        assert_eq!(server.ask("SET k v\r\n", "\r\n"), "+OK\r\n");

        let path = conf(server.directory.path());
        std::fs::write(&path, "timeout 70\nbuffer 32kb\nrequirepass hunter2\n").unwrap();
        server.signal(Signal::SIGHUP);
        let log = server.log_until("reloaded the configuration: 2 settings changed");
        assert!(log.contains("changed 'timeout' from '60' to '70'"), "{log}");
        let fixed = "'buffer' is '16384'; the file's '32768' needs a restart";
        assert!(log.contains(fixed), "{log}");
        assert!(log.contains("changed 'requirepass'\n") && !log.contains("hunter2"));

        std::fs::write(&path, "timeout 80\nprot 1\ntimeout many\n").unwrap();
        server.signal(Signal::SIGHUP);
        let log = server.log_until("nothing was changed");
        for mistake in ["respire.conf:2: unknown setting", "respire.conf:3: "] {
            assert!(log.contains(mistake), "{log}");
        }
        let asked = server.ask(
            "AUTH hunter2\r\nCONFIG GET timeout\r\nGET k\r\n",
            "$1\r\nv\r\n",
        );
        assert!(asked.contains("\r\n70\r\n"), "{asked}");
        assert_eq!(server.stop(Signal::SIGTERM).0, Some(0));
    }
}

#[test]
fn sighup_without_a_file_changes_nothing() {
    let mut server = Server::start(|_, _| {});
    server.signal(Signal::SIGHUP);
    server.log_until("there is no configuration file, so nothing to reload");
    assert_eq!(server.ask("PING\r\n", "\r\n"), "+PONG\r\n");
}

#[cfg(target_os = "linux")]
#[test]
fn closed_pipe_or_log_does_not_stop_the_server() {
    let mut server = Server::start(|_, _| {});
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = 1 << (Signal::SIGPIPE as u64 - 1);
    assert!(ignored.is_some_and(|mask| mask & bit != 0), "{status}");

    // The reader of the log is gone: further log lines go nowhere.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(writer);
    server.log = std::io::BufReader::new(std::process::ChildStderr::from(
        std::os::fd::OwnedFd::from(reader),
    ));
    server.signal(Signal::SIGHUP);
    for _ in 0..3 {
        let reply = server.ask("*1\r\n$x\r\n", "\r\n");
        assert!(reply.starts_with("-ERR Protocol error"), "{reply}");
    }
    assert_eq!(server.ask("PING\r\n", "\r\n"), "+PONG\r\n");
    assert_eq!(server.stop(Signal::SIGTERM).0, Some(0));
}

#[test]
fn all_mistakes_in_the_file_are_reported_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("redis.conf");
    std::fs::write(&path, "prot 7000\nport\nrename-command KEYS \"\"\n").unwrap();
    let (code, text) = refused(&[path.to_str().unwrap()]);
    assert_eq!(code, Some(2));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].ends_with("the configuration has 3 mistakes:"));
    assert!(lines[1].ends_with("redis.conf:1: unknown setting 'prot'; did you mean 'port'?"));
    assert!(lines[2].ends_with("redis.conf:2: 'port' has no value"));
}

#[test]
fn debian_redis_conf_starts_the_server_with_flags_after_it() {
    let debian = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/bin/respire-server/file/debian.conf"
    );
    let mut server = Server::start(|command, _| {
        command.arg(debian);
    });
    assert!(server.beginning.contains("configured by "));
    server.log_until("a restart begins with none");
    let shown = server.ask("CONFIG GET tcp-backlog port\r\n", "\r\n0\r\n");
    assert!(shown.contains("\r\n511\r\n"), "{shown}");
}

#[test]
fn standard_input_can_be_the_file() {
    let conf = tempfile::tempdir().unwrap();
    let path = conf.path().join("in");
    std::fs::write(&path, "timeout 77\n").unwrap();
    let mut server = Server::start(|command, _| {
        command.arg("-").stdin(std::fs::File::open(&path).unwrap());
    });
    let shown = server.ask("CONFIG GET timeout\r\n", "77\r\n");
    assert!(shown.contains("timeout"), "{shown}");
    server.signal(Signal::SIGHUP);
    server.log_until("nothing to reload");
}

#[cfg(target_os = "linux")]
#[test]
fn empty_server_reports_no_fragmentation() {
    for flavour in respire::serve::Flavour::ALL {
        let server = Server::start(|command, _| in_flavour(command, *flavour));
        let info = server.ask("INFO memory\r\nPING\r\n", "+PONG\r\n");
        let ratio = info
            .lines()
            .find_map(|line| line.strip_prefix("mem_fragmentation_ratio:"))
            .and_then(|ratio| ratio.parse::<f64>().ok());
        // Threads and buffers start after the store. Dashboards alarm at 1.5 for large servers.
        assert!(
            ratio.is_some_and(|ratio| (0.5..4.0).contains(&ratio)),
            "{info}"
        );
    }
}

#[test]
fn wrong_passwords_and_unknown_commands_are_logged_in_both_flavours() {
    for flavour in respire::serve::Flavour::ALL {
        let server = Server::start(|command, _| {
            command.args(["--requirepass", "hunter2", "--shutdown-timeout", "0"]);
            in_flavour(command, *flavour);
        });
        let wanted = "AUTH hunter2\r\nJSON.GET a b\r\njson.get a b\r\nFT.SEARCH a b\r\nPING\r\n";
        server.ask(wanted, "+PONG\r\n");
        // Only a few of them are answered before the next request, which is on another connection.
        let mut guesses = UnixStream::connect(server.socket()).unwrap();
        guesses
            .write_all(&b"AUTH hunter3\r\n".repeat(10_000))
            .unwrap();
        let mut first = [0; 5];
        guesses.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"-WRON");
        let info = server.ask("AUTH hunter2\r\nINFO stats\r\nPING\r\n", "+PONG\r\n");
        let denied = info
            .lines()
            .find_map(|line| line.strip_prefix("acl_access_denied_auth:"))
            .and_then(|count| count.parse::<u32>().ok());
        assert!(
            denied.is_some_and(|count| (1..100).contains(&count)),
            "{info}"
        );
        let (_, log, _) = server.stop(Signal::SIGTERM);
        assert!(!log.contains("hunter"), "{log}");
        let count = |text: &str| log.matches(text).count();
        assert_eq!(count("asked for the command 'json.get'"), 1, "{log}");
        assert_eq!(count("asked for the command 'ft.search'"), 1, "{log}");
        assert_eq!(count("wrong password"), 1, "{log}");
    }
}
