//! Servers over a directory that outlives them, of ours and of Redis, and what is asked of them.

use crate::command;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use redis::{Connection, FromRedisValue, RedisResult, Value};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for something that must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::yield_now();
    }
}

/// A directory for the data of servers, which start with the same flags.
pub(crate) struct Place {
    directory: tempfile::TempDir,
    flags: Vec<String>,
}

impl Place {
    pub(crate) fn new(flags: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("data")).unwrap();
        let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        Self { directory, flags }
    }

    /// The directory of the data.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A file in the directory of the data.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    /// A file in the directory of the append-only file.
    pub(crate) fn log_file(&self, name: &str) -> PathBuf {
        self.data().join("appendonlydir").join(name)
    }

    /// The names and bytes of all files.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.data()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    files.insert(path, bytes);
                }
            }
        }
        files
    }

    pub(crate) fn start(&self) -> Running {
        self.start_with(&[])
    }

    /// Starts a server with more flags.
    pub(crate) fn start_with(&self, flags: &[&str]) -> Running {
        let began = Running::begin(self.command(flags), self.directory.path());
        began.unwrap_or_else(|(code, log)| panic!("it ended with {code:?}: {log}"))
    }

    /// Starts a server that must end by itself. Returns its exit code and its log.
    #[track_caller]
    pub(crate) fn refused(&self, flags: &[&str]) -> (Option<i32>, String) {
        match Running::begin(self.command(flags), self.directory.path()) {
            Err(ended) => ended,
            Ok(server) => panic!("it started: {}", server.log()),
        }
    }

    /// Starts Redis.
    pub(crate) fn redis(&self, flags: &[&str]) -> Running {
        let program = std::env::var_os("REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
        let mut command = Command::new(program);
        command.args(["--port", "0", "--enable-debug-command", "yes"]);
        command.args(["--dir", self.data().to_str().unwrap()]);
        command.args(flags);
        let began = Running::begin(command, self.directory.path());
        began.unwrap_or_else(|(code, log)| panic!("Redis ended with {code:?}: {log}"))
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = command();
        command.args(["--port", "0", "--dir"]).arg(self.data());
        command.args(&self.flags).args(flags);
        command
    }
}

/// A server that runs; it is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    socket: PathBuf,
    log: PathBuf,
}

impl Running {
    /// Starts a server, and waits until it has loaded its data. Returns its exit code and its log if it ends before.
    fn begin(mut command: Command, folder: &Path) -> Result<Self, (Option<i32>, String)> {
        let socket = tempfile::Builder::new().tempfile_in(folder).unwrap();
        let socket = socket.path().with_extension("s");
        let log = socket.with_extension("log");
        let file = File::create(&log).unwrap();
        let child = command
            .arg("--unixsocket")
            .arg(&socket)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn();
        let mut server = Self {
            child: child.unwrap(),
            socket,
            log,
        };
        let mut ended = None;
        until("the server loads its data", || {
            ended = server.child.try_wait().unwrap();
            ended.is_some() || server.has_loaded()
        });
        match ended {
            Some(status) => Err((status.code(), server.log())),
            None => Ok(server),
        }
    }

    fn has_loaded(&self) -> bool {
        let asked = self.try_client().and_then(|mut client| {
            let pong: String = redis::cmd("PING").query(&mut client)?;
            Ok(pong)
        });
        asked.is_ok_and(|pong| pong == "PONG")
    }

    pub(crate) fn try_client(&self) -> RedisResult<Connection> {
        let url = format!("unix://{}", self.socket.display());
        let client = redis::Client::open(url)?.get_connection()?;
        client.set_read_timeout(Some(PATIENCE))?;
        Ok(client)
    }

    pub(crate) fn client(&self) -> Connection {
        self.try_client().unwrap()
    }

    /// Asks with words between spaces, on a connection of its own.
    #[track_caller]
    pub(crate) fn ask<T: FromRedisValue>(&self, line: &str) -> T {
        ask(&mut self.client(), line)
    }

    /// Asks for something that is refused. Returns the error.
    #[track_caller]
    pub(crate) fn error(&self, line: &str) -> String {
        let asked = words(line).query::<Value>(&mut self.client());
        asked.unwrap_err().to_string()
    }

    /// A field of `INFO persistence`.
    #[track_caller]
    pub(crate) fn info(&self, field: &str) -> String {
        let info: String = self.ask("INFO all");
        let start = format!("{field}:");
        let line = info.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("no {field} in {info}"))
            .trim()
            .to_owned()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap())
    }

    /// Sends a signal and waits for the end. Returns the exit code and the log.
    pub(crate) fn end(self, signal: Signal) -> (Option<i32>, String) {
        kill(self.pid(), signal).unwrap();
        self.wait()
    }

    /// Waits for its end. Returns the exit code and the log.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        (code, self.log())
    }

    /// Kills it, and waits until it is gone.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Stops it in an orderly way.
    #[track_caller]
    pub(crate) fn stop(self) {
        let (code, log) = self.end(Signal::SIGTERM);
        assert_eq!(code, Some(0), "{log}");
    }

    /// What clients can see of the data.
    pub(crate) fn shown(&self) -> Shown {
        let mut client = self.client();
        let mut asked = Vec::new();
        for line in [
            "DEBUG DIGEST",
            #[cfg(feature = "scripts")]
            "FUNCTION LIST WITHCODE",
            "XINFO GROUPS stream",
            "XPENDING stream readers",
            "PEXPIRETIME late",
            "PEXPIRETIME hash",
            "DBSIZE",
            "SELECT 9",
            "DBSIZE",
            "GET other",
        ] {
            let reply: Value = ask(&mut client, line);
            asked.push(format!("{line}: {reply:?}"));
        }
        Shown(asked)
    }
}

/// What clients can see of a server's data.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown(Vec<String>);

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn words(line: &str) -> redis::Cmd {
    let mut command = redis::Cmd::new();
    for word in line.split(' ') {
        command.arg(word);
    }
    command
}

/// Asks with words between spaces.
#[track_caller]
pub(crate) fn ask<T: FromRedisValue>(client: &mut Connection, line: &str) -> T {
    let asked = words(line).query(client);
    asked.unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Changes of all types of values, in several databases.
const CHANGES: &[&str] = &[
    "SET string value",
    "SET number 12345",
    "APPEND string -and-more",
    "SETRANGE string 20 far",
    "SETBIT bits 12345 1",
    "SET late value PX 86400000",
    "SET gone value EXAT 1",
    "EXISTS gone",
    "HSET hash a 1 b 2 c 3",
    "HINCRBYFLOAT hash a 0.5",
    "HDEL hash b",
    "PEXPIREAT hash 4102444800123",
    "RPUSH list a b c d e",
    "LPOP list",
    "LSET list 1 changed",
    "SADD numbers 3 1 2",
    "SADD set x y z",
    "SMOVE set numbers x",
    "ZADD zset 1.5 a -inf b 3 c",
    "ZINCRBY zset 2 a",
    "XADD stream 1-1 field value",
    "XADD stream 2-1 field value other more",
    "XADD stream 3-1 field value",
    "XGROUP CREATE stream readers 0",
    "XREADGROUP GROUP readers one COUNT 2 STREAMS stream >",
    "XACK stream readers 1-1",
    "XDEL stream 3-1",
    "PFADD estimate a b c",
    "GEOADD places 13.361389 38.115556 Palermo",
    "MULTI",
    "SET in-a-transaction 1",
    "RPUSH list in-a-transaction",
    "EXEC",
    "SELECT 9",
    "SET other database",
    "SET moved there",
    "MOVE moved 3",
    "SELECT 1",
    "SET swapped key",
    "SWAPDB 1 2",
    "SELECT 5",
    "SET flushed key",
    "FLUSHDB",
    "RENAME nothing else",
];

/// Fills an empty server with all types of values, in several databases.
pub(crate) fn fill(server: &Running) {
    let mut client = server.client();
    for line in CHANGES {
        let reply = words(line).query::<Value>(&mut client);
        assert_eq!(reply.is_err(), line.starts_with("RENAME"), "{line}");
    }
    ask::<Value>(&mut client, "SELECT 0");
    let padding = "padding".repeat(30);
    redis::cmd("SET")
        .arg("padded")
        .arg(&padding)
        .exec(&mut client)
        .unwrap();
    #[cfg(feature = "scripts")]
    run_scripts(&mut client, &padding);
    for n in 0..300 {
        let line = format!("HSET large-hash field{n} {n}");
        let _: Value = ask(&mut client, &line);
        let line = format!("ZADD large-zset {n} member{n}");
        let _: Value = ask(&mut client, &line);
    }
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    redis::cmd("SET")
        .arg(&bytes[..256])
        .arg(&bytes)
        .exec(&mut client)
        .unwrap();
    pop_while_blocked(server);
}

/// Changes keys by a script, and loads a library of functions.
#[cfg(feature = "scripts")]
fn run_scripts(client: &mut Connection, padding: &str) {
    let script = "for n = 1, 500 do redis.call('RPUSH', KEYS[1], n, ARGV[1]) end return 1";
    let mut command = redis::cmd("EVAL");
    command.arg(script).arg(1).arg("by-script").arg(padding);
    let done: u32 = command.query(client).unwrap();
    assert_eq!(done, 1);
    let library = "#!lua name=lib\nredis.register_function('one', function() return 1 end)";
    let mut command = redis::cmd("FUNCTION");
    let loaded: String = command.arg("LOAD").arg(library).query(client).unwrap();
    assert_eq!(loaded, "lib");
}

/// Pops from a list for which a client waited.
fn pop_while_blocked(server: &Running) {
    thread::scope(|scope| {
        let waits = scope.spawn(|| server.ask::<Vec<String>>("BLPOP queue 0"));
        until("a client waits", || server.info("blocked_clients") == "1");
        server.ask::<u32>("RPUSH queue first second third");
        assert_eq!(waits.join().unwrap(), ["queue", "first"]);
    });
}
