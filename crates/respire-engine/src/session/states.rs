//! The states of a session, the events that change them, and the steps that it asks of its driver.
//!
//! [`transitions.txt`](transitions.txt) lists all transitions; a test compares it with the code.

use super::Ahead;
use crate::{App, Output};

/// An event that a driver passes to a session ([`Session::serve`](super::Session::serve)). A byte
/// slice converts into one.
#[derive(Debug)]
pub enum SessionEvent<'b, A: App> {
    /// These bytes arrived.
    Bytes(&'b [u8]),
    /// These bytes arrived, and their first request is decoded
    /// ([`Session::look_ahead`](super::Session::look_ahead)).
    Ahead(Ahead<'b, A>),
    /// Bytes were read into [`Session::input_room`](super::Session::input_room).
    Room,
    /// Nothing arrived, but there may be more to answer: the output of a [`SessionStep::Flush`] is
    /// written, the time of [`Session::next_timeout`](super::Session::next_timeout) has come, or
    /// the connection's [`Wake`](crate::Wake) handle was called.
    Turn,
    /// The peer will send no more. Earlier input is still answered.
    End,
    /// The server stops. Earlier input is still answered, then the session closes.
    Stop,
}

impl<'b, A: App> From<&'b [u8]> for SessionEvent<'b, A> {
    fn from(bytes: &'b [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'b, A: App, const N: usize> From<&'b [u8; N]> for SessionEvent<'b, A> {
    fn from(bytes: &'b [u8; N]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'b, A: App> From<&'b Vec<u8>> for SessionEvent<'b, A> {
    fn from(bytes: &'b Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// The state of a session. All transitions are in `turn.rs` and `pending.rs`.
#[derive(Debug)]
pub(super) enum State {
    /// It answers requests as they come.
    Serving,
    /// `CLIENT PAUSE` holds the next request back until this time, or until the pause ends earlier.
    Paused { until_us: u64 },
    /// A finished reply is sent at this time; the requests after it wait.
    Waiting { until_us: u64, reply: Box<Output> },
    /// The reply to the last request comes later; the requests after it wait.
    Pending,
    /// It closes once the pending calls are answered; it takes no more requests.
    Ending(CloseReason),
    /// It is closed.
    Done(CloseReason),
}

/// The next step for a driver. It is not `non_exhaustive`: a new step must not compile until
/// every driver handles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum SessionStep {
    /// All input is answered as far as possible.
    NeedInput,
    /// More can be answered once the output is written.
    Flush,
    /// The connection closes once the output is written.
    Close(CloseReason),
}

/// Why a connection ends, and on whose initiative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// The peer sent `QUIT`.
    Quit,
    /// The peer closed its side, and all its requests are answered.
    Eof,
    /// The peer broke the protocol; it got an error reply.
    Protocol(resp_codec::Error),
    /// The peer speaks HTTP: a browser may have been tricked into connecting.
    CrossProtocol,
    /// A binary operation failed in a way that its reply cannot express.
    Unanswerable,
    /// Another connection closed it with `CLIENT KILL`.
    Killed,
    /// The peer was too slow to read the messages it subscribed to, and too many were waiting.
    Overrun,
    /// Nothing arrived for longer than `timeout`.
    Idle,
    /// The server stops.
    ShuttingDown,
}

impl CloseReason {
    /// A few words for a log line.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Quit => "quit",
            Self::Eof => "closed by peer",
            Self::Protocol(_) => "protocol error",
            Self::CrossProtocol => "HTTP request on a RESP port",
            Self::Unanswerable => "binary operation failed",
            Self::Killed => "killed by CLIENT KILL",
            Self::Overrun => "too slow for the messages it subscribed to",
            Self::Idle => "idle for too long",
            Self::ShuttingDown => "server stops",
        }
    }
}

#[cfg(test)]
mod tests;
