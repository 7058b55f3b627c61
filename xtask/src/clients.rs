//! Installs real clients into the target directory and runs them against both flavours of the
//! binary.
//!
//! Each client is a small program in `crates/respire-testkit/clients`. It takes the port and the
//! protocol version, and exits with 0 or prints a message.

use crate::cargo::{cargo, target_dir};
use crate::machine::{command, root, run, run_quietly};
use crate::server::Server;
use crate::tally::Tally;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FLAVOURS: [&str; 2] = ["tokio", "mio"];

/// A client: its name, its protocols, and how it is installed and run.
struct Client {
    name: &'static str,
    protocols: &'static [&'static str],
    install: fn(&Places) -> Result<(), String>,
    /// The command, to which the port and the protocol are appended.
    run: fn(&Places) -> Command,
}

const CLIENTS: &[Client] = &[
    Client {
        name: "redis-cli",
        protocols: &["2", "3"],
        install: nothing,
        run: |at| script(at, "redis-cli/session.sh"),
    },
    Client {
        name: "redis-benchmark",
        protocols: &["2", "3"],
        install: nothing,
        run: |at| script(at, "redis-benchmark/load.sh"),
    },
    Client {
        name: "redis-py",
        protocols: &["2", "3"],
        install: python,
        run: run_python,
    },
    Client {
        name: "node-redis",
        protocols: &["2", "3"],
        install: node,
        run: |at| run_node(at, "node-redis.js"),
    },
    Client {
        name: "ioredis",
        protocols: &["2"],
        install: node,
        run: |at| run_node(at, "ioredis.js"),
    },
    Client {
        name: "go-redis",
        protocols: &["2", "3"],
        install: go,
        run: run_go,
    },
    Client {
        name: "redis-rs",
        protocols: &["2", "3"],
        install: nothing,
        run: run_rust,
    },
];

/// The directories and files in use.
struct Places {
    sources: PathBuf,
    target: PathBuf,
}

fn places() -> Result<Places, String> {
    Ok(Places {
        sources: root().join("crates/respire-testkit/clients"),
        target: target_dir()?,
    })
}

/// Installs the clients that have to be downloaded.
pub(crate) fn fetch() -> Result<(), String> {
    let at = places()?;
    [python, node, go]
        .iter()
        .try_for_each(|install| install(&at))
}

/// Builds the server and the Rust client, with the same features as the tests.
pub(crate) fn build() -> Result<(), String> {
    let build = ["build", "--workspace", "--bin", "respire-server"];
    run(cargo().args(build).args(["--example", "redis-rs"]))
}

/// Copies the server that was just built to a place where no other build replaces it while clients
/// use it.
pub(crate) fn keep_server() -> Result<PathBuf, String> {
    let target = target_dir()?;
    let (built, kept) = (target.join("debug/respire-server"), target.join("clients"));
    let cannot = |error| format!("{}: {error}", built.display());
    fs::create_dir_all(&kept).map_err(cannot)?;
    let kept = kept.join("respire-server");
    // Written to another name first: a running program cannot be overwritten.
    let new = kept.with_extension("new");
    fs::copy(&built, &new).map_err(cannot)?;
    fs::rename(&new, &kept).map_err(cannot)?;
    Ok(kept)
}

/// Installs every missing client, and runs it against both flavours of this server in each of its
/// protocols.
pub(crate) fn check(server: &Path, tally: &mut Tally) {
    let at = match places() {
        Ok(at) => at,
        Err(problem) => return tally.check("real clients", Err(problem)),
    };
    for client in CLIENTS {
        if let Err(problem) = (client.install)(&at) {
            tally.check(client.name, Err(problem));
            continue;
        }
        for flavour in FLAVOURS {
            for protocol in client.protocols {
                let name = format!("{} against {flavour} in RESP{protocol}", client.name);
                tally.check(&name, session(client, &at, server, flavour, protocol));
            }
        }
    }
}

fn session(
    client: &Client,
    at: &Places,
    binary: &Path,
    flavour: &str,
    protocol: &str,
) -> Result<(), String> {
    let mut server = Server::start(binary, flavour)?;
    run_quietly((client.run)(at).args([&server.port().to_string(), protocol]))?;
    if server.is_alive() {
        Ok(())
    } else {
        Err("the server ended during the session".to_owned())
    }
}

fn nothing(_: &Places) -> Result<(), String> {
    Ok(())
}

fn script(at: &Places, name: &str) -> Command {
    let mut bash = command("bash");
    bash.arg(at.sources.join(name));
    bash
}

fn python(at: &Places) -> Result<(), String> {
    let venv = at.target.join("clients/python");
    let wanted = at.sources.join("python/requirements.txt");
    once(&venv, &[&wanted], || {
        run(command("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&venv))?;
        let mut pip = command(venv.join("bin/pip"));
        run(pip
            .args(["install", "-q", "--disable-pip-version-check", "-r"])
            .arg(&wanted))
    })
}

fn run_python(at: &Places) -> Command {
    let mut python = command(at.target.join("clients/python/bin/python"));
    python.arg(at.sources.join("python/session.py"));
    python
}

fn node(at: &Places) -> Result<(), String> {
    let dir = at.target.join("clients/node");
    let wanted =
        ["package.json", "package-lock.json"].map(|name| at.sources.join("node").join(name));
    once(&dir, &[&wanted[0], &wanted[1]], || {
        for file in &wanted {
            let to = dir.join(file.file_name().unwrap_or_default());
            fs::copy(file, to).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        run(command("npm")
            .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(&dir))
    })
}

fn run_node(at: &Places, program: &str) -> Command {
    let mut node = command("node");
    node.arg(at.sources.join("node").join(program));
    node.env("NODE_PATH", at.target.join("clients/node/node_modules"));
    node
}

fn go(at: &Places) -> Result<(), String> {
    let mut build = command("go");
    build
        .args(["build", "-buildvcs=false", "-o"])
        .arg(at.target.join("clients/go/session"))
        .arg(".");
    build.current_dir(at.sources.join("go"));
    run(build
        .env("GOMODCACHE", at.target.join("clients/go/mod"))
        .env("GOFLAGS", "-modcacherw"))
}

fn run_go(at: &Places) -> Command {
    command(at.target.join("clients/go/session"))
}

fn run_rust(at: &Places) -> Command {
    command(at.target.join("debug/examples/redis-rs"))
}

/// Runs `install` unless that was already done for the same contents of `wanted`.
fn once(
    dir: &Path,
    wanted: &[&Path],
    install: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let mut contents = String::new();
    for file in wanted {
        let text =
            fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        contents.push_str(&text);
    }
    let stamp = dir.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == contents) {
        return Ok(());
    }
    fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    install()?;
    fs::write(&stamp, contents).map_err(|error| format!("{}: {error}", stamp.display()))
}
