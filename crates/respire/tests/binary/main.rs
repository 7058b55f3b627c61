//! Tests of the binary as a user runs it: flags, file, log, signals and exit codes.

#![expect(
    clippy::unwrap_used,
    reason = "what fails in the harness fails the test"
)]

mod check;
mod check_script;
mod data;
mod durability;
mod exchange;
mod killed;
mod operation;
mod recovery;
mod trouble;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_respire-server"));
    command.env_remove("RESPIRE_PASSWORD").stdin(Stdio::null());
    command
}

/// Runs it with flags that prevent its start.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command().args(arguments).output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// A server on a Unix socket of its own, so that no tests share a port.
struct Server {
    child: Child,
    log: BufReader<ChildStderr>,
    /// The log until it listened.
    beginning: String,
    directory: tempfile::TempDir,
}

impl Server {
    fn start(prepare: impl FnOnce(&mut Command, &Path)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = command();
        command
            .args(["--port", "0", "--unixsocket"])
            .arg(directory.path().join("s"));
        prepare(&mut command, directory.path());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut beginning = String::new();
        while !beginning.contains("listens on") {
            let read = log.read_line(&mut beginning).unwrap();
            assert_ne!(read, 0, "it did not start: {beginning}");
        }
        Self {
            child,
            log,
            beginning,
            directory,
        }
    }

    fn socket(&self) -> PathBuf {
        self.directory.path().join("s")
    }

    /// Sends requests and reads until the replies end with `end`.
    #[track_caller]
    fn ask(&self, requests: &str, end: &str) -> String {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(requests.as_bytes()).unwrap();
        let (mut stream, mut reply) = (BufReader::new(stream), Vec::new());
        while !reply.ends_with(end.as_bytes()) {
            let mut byte = [0];
            // Continue after an interrupted read, which happens if the process was stopped during a
            // read with a time limit.
            if let Err(error) = stream.read_exact(&mut byte) {
                panic!("{error} after {:?}", String::from_utf8_lossy(&reply));
            }
            reply.push(byte[0]);
        }
        String::from_utf8(reply).unwrap()
    }

    /// Sends a signal and waits for the end; returns the exit code and the whole log.
    fn stop(mut self, signal: Signal) -> (Option<i32>, String, PathBuf) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
        let code = self.child.wait().unwrap().code();
        let mut log = std::mem::take(&mut self.beginning);
        self.log.read_to_string(&mut log).unwrap();
        (code, log, self.socket())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn signals_stop_the_server_cleanly_in_both_flavours() {
    for flavour in respire::serve::Flavour::ALL {
        for signal in [Signal::SIGTERM, Signal::SIGINT] {
            let server = Server::start(|command, _| {
                command.args(["--flavour", flavour.name()]);
            });
            let what = format!("({}, ", flavour.name());
            assert!(server.beginning.contains(&what), "{}", server.beginning);
            assert_eq!(server.ask("PING\r\n", "\r\n"), "+PONG\r\n");
            let (code, log, socket) = server.stop(signal);
            assert_eq!(code, Some(0), "{log}");
            assert!(
                log.contains(signal.as_str()) && log.contains("1 connections served"),
                "{log}"
            );
            assert!(!socket.exists(), "the socket's file is removed");
        }
    }
}

#[test]
fn taken_port_exits_with_code_1_and_a_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, text) = refused(&["--host", "127.0.0.1", "--port", &port]);
    assert_eq!(code, Some(1));
    assert_eq!(
        text,
        format!(
            "respire-server: cannot listen on 127.0.0.1:{port}: already in use; choose another \
             with --port, or stop what listens there\n"
        )
    );
}

#[test]
fn open_address_without_a_password_exits_with_code_1() {
    let (code, text) = refused(&["--host", "0.0.0.0"]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("--requirepass") && text.contains("--protected-mode no"),
        "{text}"
    );
}

#[test]
fn capacity_above_the_machines_memory_exits_with_code_2() {
    let (code, log) = refused(&["--port", "0", "--capacity", "99999999999999"]);
    assert_eq!(code, Some(2), "{log}");
    assert!(
        log.contains("--capacity 99999999999999 takes at least"),
        "{log}"
    );
}

#[test]
fn wrong_flags_and_files_exit_with_code_2() {
    let (code, text) = refused(&["--prot", "1"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("unexpected argument '--prot'"), "{text}");

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("respire.conf");
    for (line, why) in [
        (
            "maxclients many",
            "invalid value 'many' for '--maxclients <COUNT>'",
        ),
        ("nonsense 1", "unknown setting 'nonsense'"),
        (
            "slowlog-max-len -1",
            "invalid value '-1' for 'slowlog-max-len'",
        ),
    ] {
        std::fs::write(&path, format!("# ours\nport 0\n{line}\n")).unwrap();
        let socket = directory.path().join("s");
        let (code, text) = refused(&[
            "--config",
            path.to_str().unwrap(),
            "--unixsocket",
            socket.to_str().unwrap(),
        ]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(&format!("respire.conf:3: {why}")), "{text}");
    }
}

#[test]
fn help_names_every_flag_with_its_default() {
    let output = command().arg("--help").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).unwrap();
    for flag in [
        "host",
        "port",
        "unixsocket",
        "flavour",
        "threads",
        "shards",
        "capacity",
        "buffer",
        "maxclients",
        "databases",
        "requirepass",
        "log-level",
        "protected-mode",
        "maxmemory",
        "maxmemory-policy",
        "timeout",
        "config",
    ] {
        let at = help.find(&format!("--{flag} <")).expect(flag);
        let entry = &help[at..];
        let end = entry[2..].find(" --").map_or(entry.len(), |end| end + 2);
        assert!(
            entry[..end].contains("[default:"),
            "--{flag}: {}",
            &entry[..end]
        );
    }
}

#[test]
fn password_from_the_environment_is_required_and_not_logged() {
    let server = Server::start(|command, _| {
        command
            .env("RESPIRE_PASSWORD", "hunter2")
            .args(["--log-level", "debug"]);
    });
    assert_eq!(
        server.ask("GET a\r\n", "\r\n"),
        "-NOAUTH Authentication required.\r\n"
    );
    assert!(
        server
            .ask("AUTH wrong\r\n", "\r\n")
            .starts_with("-WRONGPASS ")
    );
    assert_eq!(
        server.ask("AUTH hunter2\r\nGET a\r\n", "$-1\r\n"),
        "+OK\r\n$-1\r\n"
    );
    let (_, log, _) = server.stop(Signal::SIGTERM);
    assert!(!log.contains("hunter2"), "{log}");
}

#[test]
fn rewritten_file_starts_a_server_with_the_same_settings() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("respire.conf");
    std::fs::write(&path, "# ours\nloglevel notice\nmaxmemory 100mb\n").unwrap();
    let with_file = |command: &mut Command, _: &Path| {
        command
            .arg("--config")
            .arg(&path)
            .args(["--buffer", "16kb"]);
    };
    let first = Server::start(with_file);
    let set = "CONFIG SET timeout 77 slowlog-max-len 5 loglevel verbose\r\nCONFIG REWRITE\r\n";
    assert_eq!(first.ask(set, "+OK\r\n+OK\r\n"), "+OK\r\n+OK\r\n");
    let get = "CONFIG GET timeout slowlog-max-len loglevel maxmemory buffer\r\nPING\r\n";
    let before = first.ask(get, "+PONG\r\n");
    drop(first);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with("# ours\nloglevel verbose\nmaxmemory 100mb\n"),
        "{text}"
    );

    let second = Server::start(with_file);
    assert_eq!(second.ask(get, "+PONG\r\n"), before);
}

#[test]
fn config_get_shows_the_values_of_flags() {
    let server = Server::start(|command, _| {
        command.args([
            "--databases",
            "4",
            "--maxclients",
            "50",
            "--maxmemory-policy",
            "allkeys-lru",
        ]);
        command.args(["--shards", "8", "--capacity", "1000", "--tcp-backlog", "7"]);
    });
    for (name, value) in [
        ("databases", "4"),
        ("maxclients", "50"),
        ("maxmemory-policy", "allkeys-lru"),
        ("shards", "8"),
        ("capacity", "1000"),
        ("tcp-backlog", "7"),
        ("port", "0"),
        ("bind", "127.0.0.1 -::1"),
    ] {
        let line = format!("\r\n{value}\r\n");
        let reply = server.ask(&format!("CONFIG GET {name}\r\n"), &line);
        assert!(reply.contains(name), "{reply}");
    }
}

#[cfg(feature = "metrics")]
#[test]
fn metrics_are_served_at_the_flags_address() {
    for flavour in respire::serve::Flavour::ALL {
        let server = Server::start(|command, _| {
            command.args(["--metrics", "0", "--flavour", flavour.name()]);
        });
        assert_eq!(server.ask("PING\r\n", "\r\n"), "+PONG\r\n");
        let (_, url) = server.beginning.split_once("metrics on ").unwrap();
        let url = url.split_whitespace().next().unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        let text = ureq::get(url).call().unwrap().body_mut().read_to_string();
        let threads = format!("\nrespire_threads{{flavour=\"{}\"}} ", flavour.name());
        for sample in ["\nrespire_commands_total{command=\"ping\"} 1.0\n", &threads] {
            assert!(text.as_ref().unwrap().contains(sample), "{text:?}");
        }
        let reply = server.ask("CONFIG GET metrics\r\n", "127.0.0.1:0\r\n");
        assert!(reply.contains("metrics"), "{reply}");
    }
}

#[cfg(feature = "metrics")]
#[test]
fn invalid_metrics_address_exits_with_an_error() {
    let (code, text) = refused(&["--metrics", "here"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("expected an address with a port"), "{text}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let directory = tempfile::tempdir().unwrap();
    let (code, text) = refused(&[
        "--port",
        "0",
        "--unixsocket",
        directory.path().join("s").to_str().unwrap(),
        "--metrics",
        &port,
    ]);
    assert_eq!(code, Some(1), "{text}");
}

#[test]
fn protocol_errors_are_logged_at_a_limited_rate() {
    let server = Server::start(|_, _| {});
    for _ in 0..50 {
        let reply = server.ask("*1\r\n$x\r\n", "\r\n");
        assert!(reply.starts_with("-ERR Protocol error"), "{reply}");
    }
    let (_, log, socket) = server.stop(Signal::SIGTERM);
    let lines: Vec<_> = log
        .lines()
        .filter(|line| line.contains("Protocol error"))
        .collect();
    assert_eq!(lines.len(), 10, "{log}");
    let peer = format!("{}:0", socket.display());
    assert!(
        lines[0].contains("WARN") && lines[0].contains(&peer),
        "{log}"
    );
}

/// Whether the page existed when the binary was built; if not, the binary explains how to build it.
#[cfg(feature = "explorer")]
fn has_page() -> bool {
    let (code, text) = refused(&["--port", "0", "--explorer", "0.0.0.0:0", "--explorer-tap"]);
    assert_eq!(code, Some(2), "{text}");
    let has_page = text.contains("needs a loopback address");
    assert!(
        has_page || text.contains("'cargo xtask web' builds the page"),
        "{text}"
    );
    has_page
}

#[cfg(feature = "explorer")]
#[test]
fn tap_without_an_explorer_exits_with_code_2() {
    let (code, text) = refused(&["--port", "0", "--explorer-tap"]);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("--explorer-tap shows the traffic in the page of --explorer"),
        "{text}"
    );
}

#[cfg(feature = "explorer")]
#[test]
fn explorer_shows_the_traffic_until_the_binary_ends() {
    if !has_page() {
        let (code, text) = refused(&["--port", "0", "--explorer", "0"]);
        assert_eq!(code, Some(2));
        assert!(text.contains("built without the page"), "{text}");
        return;
    }
    for flavour in respire::serve::Flavour::ALL {
        let server = Server::start(|command, _| {
            let flags = [
                "--explorer",
                "0",
                "--explorer-tap",
                "--requirepass",
                "hunter2",
            ];
            command.args(flags).args(["--flavour", flavour.name()]);
        });
        let (_, address) = server.beginning.split_once("on http://").unwrap();
        let (address, _) = address.split_once('/').unwrap();
        let mut viewer = std::net::TcpStream::connect(address).unwrap();
        viewer
            .write_all(b"GET /tap HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        let mut viewer = BufReader::new(viewer);
        let mut seen = String::new();
        while !seen.contains("event: hello") {
            assert_ne!(viewer.read_line(&mut seen).unwrap(), 0, "{seen}");
        }
        server.ask("AUTH hunter2\r\nECHO hunter2\r\n", "hunter2\r\n");
        // "AUTH *******\r\nECHO *******\r\n", and "+OK\r\n$7\r\n*******\r\n".
        let (request, reply) = (
            "QVVUSCAqKioqKioqDQpFQ0hPICoqKioqKioNCg==",
            "K09LDQokNw0KKioqKioqKg0K",
        );
        while !seen.contains(request) || !seen.contains(reply) {
            assert_ne!(viewer.read_line(&mut seen).unwrap(), 0, "{seen}");
        }
        let (code, log, _) = server.stop(Signal::SIGTERM);
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("with the traffic of all clients"), "{log}");
        viewer.read_to_string(&mut seen).unwrap();
    }
}
