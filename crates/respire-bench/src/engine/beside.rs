//! Commands that run beside a load, so that the load shows how long they make others wait.
//!
//! They have a connection of their own, which a thread of the load serves between its own replies: at most one
//! read at a time, whose bytes are dropped without being parsed. So even a reply of millions of elements delays the
//! load's own replies by some microseconds only. A `PING` behind each command marks the end of its reply.

use std::io;
use std::time::Duration;

use mio::{Registry, Token};
use resp_codec::command;

use super::Stream;
use crate::error::{Error, Result};
use crate::stats::BesideReport;
use crate::target::{Client, Login, Socket, Target};
use crate::workload::Protocol;

/// The token of the connection.
pub(super) const TOKEN: Token = Token(usize::MAX);

/// In an argument, this becomes the number of times that the commands have run before.
const ROUND: &str = "{n}";

/// The text of the `PING` that marks the end of a reply. No value should end with it.
const MARK: &str = "respire-bench-9b1f6d0c-end";

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Bytes of an error reply that are shown.
const ERROR_BYTES_MAX: usize = 200;

/// Commands that run one after another, again and again, while a load runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The words of each command. `{n}` becomes the number of times that all of them have run before, from 0 on.
    pub commands: Vec<Vec<String>>,
    /// How long to wait before each command.
    pub pause: Duration,
}

impl Beside {
    /// # Errors
    /// [`Error::Flag`] without commands, or if one has no words.
    pub(super) fn check(&self) -> Result<()> {
        if self.commands.is_empty() || self.commands.iter().any(Vec::is_empty) {
            return Err(Error::flag("--beside", "want a command"));
        }
        Ok(())
    }

    /// Opens the connection. With the binary protocol, it speaks RESP2.
    pub(super) fn connect(target: &Target, login: &Login) -> Result<Socket> {
        let mut login = login.clone();
        if login.protocol == Protocol::Binary {
            login.protocol = Protocol::Resp2;
        }
        Client::connect(target, &login)?.into_socket()
    }
}

/// What the connection does.
enum State {
    /// The next command is sent at this time.
    Pause { until_ns: u64 },
    /// A reply is read.
    Reply { began_ns: u64, reply: Reply },
}

/// A reply as far as it was read.
#[derive(Default)]
struct Reply {
    bytes: u64,
    /// Its first bytes.
    start: Vec<u8>,
    /// Its last bytes.
    tail: Vec<u8>,
}

/// The commands of one load.
pub(super) struct Runs<'a> {
    beside: &'a Beside,
    stream: Stream,
    unsent: Vec<u8>,
    room: Vec<u8>,
    state: State,
    /// Whether there may be something to read.
    is_readable: bool,
    /// Commands sent.
    sent: usize,
    total_ns: u64,
    report: BesideReport,
}

impl<'a> Runs<'a> {
    pub(super) fn new(beside: &'a Beside, socket: Socket) -> io::Result<Self> {
        Ok(Self {
            beside,
            stream: Stream::try_from(socket)?,
            unsent: Vec::new(),
            room: vec![0; READ_BYTES],
            state: State::Pause {
                until_ns: beside.pause.as_nanos() as u64,
            },
            is_readable: false,
            sent: 0,
            total_ns: 0,
            report: BesideReport::default(),
        })
    }

    pub(super) fn register(&mut self, registry: &Registry) -> io::Result<()> {
        self.stream.register(registry, TOKEN)?;
        self.stream.watch_writable(registry, TOKEN)
    }

    /// Whether no reply is outstanding.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::Pause { .. })
    }

    /// How long there is nothing to do unless an event comes.
    pub(super) fn nap(&self, now_ns: u64) -> Duration {
        match self.state {
            State::Pause { until_ns } => Duration::from_nanos(until_ns.saturating_sub(now_ns)),
            State::Reply { .. } if self.is_readable => Duration::ZERO,
            State::Reply { .. } => Duration::MAX,
        }
    }

    /// Says that the connection is readable or writable.
    pub(super) fn on_event(&mut self) {
        self.is_readable = true;
    }

    /// Sends the next command if it is due and `is_open`, or reads once.
    pub(super) fn turn(&mut self, now_ns: u64, is_open: bool) -> io::Result<()> {
        match &mut self.state {
            State::Pause { until_ns } => {
                if is_open && now_ns >= *until_ns {
                    self.next_command();
                    self.state = State::Reply {
                        began_ns: now_ns,
                        reply: Reply::default(),
                    };
                    self.flush()?;
                }
            }
            State::Reply { began_ns, reply } => {
                if !self.is_readable {
                    return Ok(());
                }
                match self.stream.read_some(&mut self.room)? {
                    None => {
                        self.is_readable = false;
                        return self.flush();
                    }
                    Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Some(count) => reply.add(&self.room[..count]),
                }
                if reply.is_whole() {
                    let took_ns = now_ns.saturating_sub(*began_ns);
                    let reply = std::mem::take(reply);
                    self.note(took_ns, &reply);
                    let until_ns = now_ns + self.beside.pause.as_nanos() as u64;
                    self.state = State::Pause { until_ns };
                }
            }
        }
        Ok(())
    }

    pub(super) fn into_report(mut self) -> BesideReport {
        self.report.avg_ms = self.total_ns as f64 / 1e6 / self.report.commands.max(1) as f64;
        self.report
    }

    fn next_command(&mut self) {
        let commands = &self.beside.commands;
        let round = (self.sent / commands.len()).to_string();
        let words = commands[self.sent % commands.len()].iter();
        let words: Vec<String> = words.map(|word| word.replace(ROUND, &round)).collect();
        command(&mut self.unsent, &words);
        command(&mut self.unsent, &["PING", MARK]);
        self.sent += 1;
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.stream.write_some(&self.unsent)?;
        self.unsent.drain(..written);
        Ok(())
    }

    fn note(&mut self, took_ns: u64, reply: &Reply) {
        let report = &mut self.report;
        self.total_ns += took_ns;
        report.commands += 1;
        report.reply_bytes += reply.bytes - end().len() as u64;
        report.max_ms = report.max_ms.max(took_ns as f64 / 1e6);
        if let Some(error) = reply.error() {
            report.errors += 1;
            report.first_error.get_or_insert(error);
        }
    }
}

/// The reply to the `PING`.
fn end() -> String {
    format!("${}\r\n{MARK}\r\n", MARK.len())
}

impl Reply {
    fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let wanted = ERROR_BYTES_MAX - self.start.len();
        self.start.extend(piece.iter().take(wanted));
        let len = end().len();
        self.tail.extend(&piece[piece.len().saturating_sub(len)..]);
        self.tail.drain(..self.tail.len().saturating_sub(len));
    }

    fn is_whole(&self) -> bool {
        self.tail == end().as_bytes()
    }

    /// The text of an error reply.
    fn error(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.start);
        let line = text.strip_prefix('-')?.lines().next()?;
        Some(line.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_ends_with_the_mark_however_it_is_cut() {
        let whole = format!("-ERR no\r\n{}", end());
        for size in 1..=whole.len() {
            let mut reply = Reply::default();
            for piece in whole.as_bytes().chunks(size) {
                assert!(!reply.is_whole());
                reply.add(piece);
            }
            assert!(reply.is_whole());
            assert_eq!(reply.bytes, whole.len() as u64);
            assert_eq!(reply.error().as_deref(), Some("ERR no"));
        }
        let mut reply = Reply::default();
        reply.add(b":1\r\n");
        assert_eq!((reply.is_whole(), reply.error()), (false, None));
    }
}
