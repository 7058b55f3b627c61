//! Runs the commands of a log, which has no client.

use super::dispatch::{Form, Missing, PreparedRequest, find};
use super::window::Window;
use super::{Core, codec_limits};
use crate::client::ClientShared;
use crate::command::keyspace::KeysConn;
use crate::redis::replay_queue;
use crate::{App, Client, Cx, Engine, Flags, Keyspace, Limits, NoWake, Now, Output, Peer};
use resp_codec::{CommandDecoder, Step};
use std::fmt;
use std::sync::Arc;

/// Runs the commands of a log, such as Redis's append-only file ([`Engine::connect_to_replay`]).
///
/// Commands run as they would for a client, with these differences: nothing expires by itself
/// ([`Now::replaying`]); nothing is refused because of a password, a pause, or memory; no layer, no
/// statistics and no slow log learn of them; and no command waits. `SELECT`, `MULTI` and `EXEC` work.
///
/// ```
/// use respire_engine::{Engine, Now, Options, Router};
/// use std::time::Duration;
///
/// let now = Now::new(Duration::ZERO, Duration::from_secs(1_700_000_000));
/// let engine = Engine::new(Router::new(()), Options::default(), now);
/// let mut replay = engine.connect_to_replay(now);
/// let log = b"*1\r\n$5\r\nMULTI\r\n*1\r\n$4\r\nEXEC\r\n#TS:1\r\n*1\r\n$4\r\nNOPE\r\n";
/// assert_eq!(replay.feed(log, 0, now), Ok(29), "up to the line");
/// let error = replay.feed(&log[36..], 36, now).unwrap_err();
/// assert_eq!((error.command.as_str(), error.offset), ("NOPE", 36));
/// ```
pub struct Replay<A: App> {
    engine: Arc<Engine<A>>,
    core: Core<A>,
    decoder: CommandDecoder,
    out: Output,
    /// Where the open transaction begins.
    multi_at: u64,
}

/// Why a command of a log did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// The command's name as it was written; empty if there is no complete command.
    pub command: String,
    /// What is wrong with it: the reply that a client would get, or a mistake in its form.
    pub message: String,
    /// Where the command begins in the log; in a transaction, where its `EXEC` begins.
    pub offset: u64,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: ", self.offset)?;
        if !self.command.is_empty() {
            write!(f, "'{}': ", self.command.escape_debug())?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReplayError {}

/// The name of a command, and why it did not run.
pub(crate) type Failed = (String, String);

impl<A: App> Replay<A> {
    /// Runs the commands at the front of `bytes`, which lie at `offset` of the log. Returns the length
    /// of those that ran. It ends before a command that is incomplete, and before a byte that begins
    /// none (`*` does). Pass the rest again, followed by more; skip what is no command.
    ///
    /// Passing many commands at once, such as 64 KiB or more, lets the keyspace load their keys ahead.
    ///
    /// # Errors
    /// The first command that is unknown, replies with an error, or is not of the protocol. Nothing
    /// behind it ran, and the replay is of no further use.
    pub fn feed(&mut self, bytes: &[u8], offset: u64, now: Now) -> Result<usize, ReplayError> {
        let mut used = 0;
        let fed = self.run(bytes, offset, now.replaying(), &mut used);
        let app = self.engine.app();
        app.turn_ended(&mut self.core.conn);
        A::Keys::turn_ended(app, &mut self.core.keys);
        match fed {
            Ok(()) => Ok(used),
            Err((command, message)) => Err(ReplayError {
                command,
                message,
                offset: offset + used as u64,
            }),
        }
    }

    /// Where the transaction begins that was begun and not ended. Its commands have not run.
    #[must_use]
    pub fn open_transaction(&self) -> Option<u64> {
        let is_open = self.core.client.transaction.is_open();
        is_open.then_some(self.multi_at)
    }

    fn run(&mut self, bytes: &[u8], offset: u64, now: Now, used: &mut usize) -> Result<(), Failed> {
        loop {
            if !self.decoder.is_partial() {
                self.run_ahead(bytes, offset, now, used)?;
            }
            if bytes.get(*used) != Some(&b'*') {
                return Ok(());
            }
            match self.decoder.decode(&bytes[*used..]) {
                Ok(Step::Ready { item, consumed }) if !item.is_inline() => {
                    let form = Form::Name(item.name_upper8());
                    let prepared = PreparedRequest::new(item.args(), form);
                    let (core, at) = (&mut self.core, offset + *used as u64);
                    core.replay(&self.engine, now, &prepared, &mut self.out)?;
                    self.multi_at = core.multi_at(at, self.multi_at);
                    *used += consumed;
                }
                Ok(Step::Ready { .. }) => return Err(malformed("expected '*'")),
                Ok(Step::NeedMore { consumed, .. }) => {
                    *used += consumed;
                    return Ok(());
                }
                Err(error) => return Err(malformed(&error.to_string())),
            }
        }
    }

    /// Runs complete commands, and looks ahead to those after them.
    fn run_ahead(
        &mut self,
        bytes: &[u8],
        offset: u64,
        now: Now,
        used: &mut usize,
    ) -> Result<(), Failed> {
        let is_far = A::Keys::is_far(self.engine.app());
        let mut window = Window::new(bytes, *used, is_far, self.core.client.db());
        while window.advance(&self.engine, &mut self.decoder) {
            let (prepared, end) = window.current();
            let (core, at) = (&mut self.core, offset + *used as u64);
            core.replay(&self.engine, now, &prepared, &mut self.out)?;
            self.multi_at = core.multi_at(at, self.multi_at);
            *used = end;
        }
        Ok(())
    }
}

impl<A: App> Core<A> {
    /// Where the open transaction begins, after the command at `at` ran.
    fn multi_at(&self, at: u64, before: u64) -> u64 {
        let is_new = self.client.transaction.queued().is_empty();
        if is_new { at } else { before }
    }

    /// Runs or queues one command of a log.
    #[inline]
    fn replay(
        &mut self,
        engine: &Engine<A>,
        now: Now,
        prepared: &PreparedRequest<'_, A>,
        out: &mut Output,
    ) -> Result<(), Failed> {
        let request = prepared.args;
        let found = match (prepared.at, prepared.form) {
            (Some(at), _) => (at, 1),
            (None, Form::Name(word)) => find(engine, word, request).map_err(|missing| {
                let (Missing::Command(error)
                | Missing::Subcommand(error)
                | Missing::Arguments(_, error)) = missing;
                (name(&request[0]), name(error.text()))
            })?,
            (None, Form::Operation(_)) => return Err(malformed("not a command by name")),
        };
        let spec = engine.table.entry(found.0).spec();
        let flags = spec.flags;
        if flags.has(Flags::ADMIN) && !flags.any(Flags::WRITE.with(Flags::MAY_WRITE)) {
            return Err((name(&request[0]), "not a command of a log".to_owned()));
        }
        let transaction = &mut self.client.transaction;
        if transaction.is_open() && !flags.has(Flags::IMMEDIATE) {
            transaction.queue(found, flags, (request, None), &UNLIMITED);
            return Ok(());
        }
        let Self { client, conn, keys } = self;
        let mut cx = Cx {
            engine,
            conn,
            keys,
            client,
            now,
            request: &request,
            hint: prepared.hint.map(|hint| A::Keys::shorten(hint)),
            section: None,
        };
        if flags.has(Flags::EXEC) {
            return replay_queue(&mut cx, out);
        }
        let ran = engine.run_replayed(found, &mut cx, request, out);
        ran.map_err(|message| (name(&request[0]), message))
    }
}

/// A transaction of a log may be as long as its writer made it.
const UNLIMITED: Limits = Limits {
    queued_commands_max: usize::MAX,
    queued_bytes_max: usize::MAX,
    ..Limits::DEFAULT
};

fn malformed(message: &str) -> Failed {
    (String::new(), message.to_owned())
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl<A: App> fmt::Debug for Replay<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("open_transaction", &self.open_transaction())
            .finish_non_exhaustive()
    }
}

impl<A: App> Engine<A> {
    /// Opens a session that runs the commands of a log. It is no client: `CLIENT LIST` does not show it.
    #[must_use]
    pub fn connect_to_replay(self: &Arc<Self>, now: Now) -> Replay<A> {
        let shared = ClientShared::new(0, Peer::default(), now, Box::new(NoWake));
        Replay {
            core: Core {
                client: Client::new(Arc::new(shared), true),
                conn: A::Conn::default(),
                keys: KeysConn::<A>::default(),
            },
            decoder: CommandDecoder::new(codec_limits(self, false)),
            engine: Arc::clone(self),
            out: Output::new(),
            multi_at: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::testing::Server;
    use std::time::Duration;

    fn now() -> Now {
        Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
    }

    /// These lines as commands of a log.
    fn log(lines: &str) -> Vec<u8> {
        let mut log = Vec::new();
        for line in lines.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            log.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
            for word in words {
                log.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
            }
        }
        log
    }

    #[test]
    fn commands_of_a_log_change_what_clients_read() {
        let server = Server::new();
        let mut replay = server.engine.connect_to_replay(now());
        let log = log("SELECT 1\nSET a 1\nMULTI\nSET b 2\nSELECT 2\nSET c 3\nEXEC\nSET d 4");
        assert_eq!(replay.feed(&log, 0, now()), Ok(log.len()));
        let mut line = server.connect();
        let asked = line.ask("SELECT 1\nGET a\nGET b\nSELECT 2\nGET c\nGET d");
        assert_eq!(asked, "+OK|$1|1|$1|2|+OK|$1|3|$1|4|");
        assert!(!line.ask("INFO commandstats").contains("cmdstat_set"));
        assert!(server.engine.clients().len() == 1 && server.process.take_reports().is_empty());
    }

    #[test]
    fn log_may_be_fed_in_pieces_of_any_size() {
        let log = log("SELECT 1\nMULTI\nSET a 1\nSET b 2\nEXEC\nSET c 3\nCOPY c d");
        for size in 1..log.len() {
            let server = Server::new();
            let mut replay = server.engine.connect_to_replay(now());
            let (mut used, mut end) = (0, 0);
            while end < log.len() {
                end = (end + size).min(log.len());
                let offset = used as u64;
                used += replay
                    .feed(&log[used..end], offset, now())
                    .expect("it is right");
            }
            assert_eq!(used, log.len());
            let asked = server.connect().ask("SELECT 1\nGET a\nGET b\nGET c");
            assert_eq!(asked, "+OK|$1|1|$1|2|$1|3|", "{size}");
        }
    }

    #[test]
    fn commands_that_fail_are_named_with_their_place() {
        let cases = [
            ("SET a 1 2", "SET", "ERR syntax error"),
            (
                "NOPE x",
                "NOPE",
                "ERR unknown command 'NOPE', with args beginning with: 'x' ",
            ),
            (
                "GET",
                "GET",
                "ERR wrong number of arguments for 'get' command",
            ),
            ("SELECT 99", "SELECT", "ERR DB index is out of range"),
            ("EXEC", "EXEC", "ERR EXEC without MULTI"),
            ("CONFIG SET timeout 1", "CONFIG", "not a command of a log"),
            ("PANIC", "PANIC", "ERR internal error"),
        ];
        for (line, command, message) in cases {
            let mut replay = Server::new().engine.connect_to_replay(now());
            let before = log("SET a 1");
            let all = [&before[..], &log(line), &log("SET b 1")].concat();
            let error = ReplayError {
                command: command.to_owned(),
                message: message.to_owned(),
                offset: 1000 + before.len() as u64,
            };
            assert_eq!(replay.feed(&all, 1000, now()), Err(error));
        }
    }

    #[test]
    fn failure_in_a_transaction_names_its_command() {
        let server = Server::new();
        let mut replay = server.engine.connect_to_replay(now());
        let (before, exec) = (log("MULTI\nSET a 1\nSET b 1 2"), log("EXEC"));
        let error = replay.feed(&[&before[..], &exec].concat(), 0, now());
        let error = error.expect_err("it has a syntax error");
        assert_eq!(
            error.to_string(),
            format!("at byte {}: 'SET': ERR syntax error", before.len())
        );
    }

    #[test]
    fn open_transaction_is_not_run_and_its_place_is_known() {
        let server = Server::new();
        let mut replay = server.engine.connect_to_replay(now());
        let before = log("SET a 1");
        let all = [&before[..], &log("MULTI\nSET a 2")].concat();
        assert_eq!(replay.feed(&all, 50, now()), Ok(all.len()));
        assert_eq!(replay.open_transaction(), Some(50 + before.len() as u64));
        assert_eq!(server.connect().ask("GET a"), "$1|1|");
        assert_eq!(replay.feed(&log("EXEC"), 999, now()), Ok(14));
        assert_eq!(replay.open_transaction(), None);
        assert_eq!(server.connect().ask("GET a"), "$1|2|");
    }

    #[test]
    fn replay_ends_before_what_is_no_command() {
        let mut replay = Server::new().engine.connect_to_replay(now());
        let first = log("SET a 1");
        for line in ["#TS:1\r\n", "PING\r\n", "\0\0\0"] {
            let all = [&first[..], line.as_bytes()].concat();
            assert_eq!(replay.feed(&all, 0, now()), Ok(first.len()));
            assert_eq!(replay.feed(line.as_bytes(), 0, now()), Ok(0));
        }
        assert!(replay.feed(b"*1\r\n:4\r\n", 0, now()).is_err());
    }

    #[test]
    fn full_memory_does_not_refuse_commands_of_a_log() {
        let server = Server::new();
        server
            .engine
            .app()
            .is_full
            .store(true, std::sync::atomic::Ordering::Relaxed);
        let mut replay = server.engine.connect_to_replay(now());
        let log = log("SET a 1\nMULTI\nSET b 1\nEXEC");
        assert_eq!(replay.feed(&log, 0, now()), Ok(log.len()));
    }
}
