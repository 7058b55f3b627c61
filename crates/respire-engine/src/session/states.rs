//! The states of a session, the events that move it from one to another, and what it asks of its driver.
//!
//! The table of them all is [`transitions.txt`](transitions.txt), which a test holds against the code.

use super::Ahead;
use crate::{App, Output};

/// What a driver tells a session ([`Session::serve`](super::Session::serve)). Bytes are one as they are.
#[derive(Debug)]
pub enum SessionEvent<'b, A: App> {
    /// These bytes arrived.
    Bytes(&'b [u8]),
    /// Bytes arrived, and were looked ahead to ([`Session::look_ahead`](super::Session::look_ahead)).
    Ahead(Ahead<'b, A>),
    /// Bytes were read to [`Session::input_room`](super::Session::input_room).
    Room,
    /// Nothing arrived, but there may be more to answer: the output of a [`SessionStep::Flush`] is written, the time
    /// of [`Session::next_timeout`](super::Session::next_timeout) has come, or the connection's
    /// [`Wake`](crate::Wake) rang.
    Turn,
    /// The peer will send no more. What arrived before is still answered.
    End,
    /// The server stops: what arrived is still answered, then the session closes.
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

/// What a session is doing. All changes stand in `turn.rs`.
#[derive(Debug)]
pub(super) enum State {
    /// Answering requests as they come.
    Serving,
    /// `CLIENT PAUSE` holds the next request back until this time, unless it ends sooner.
    Paused { until_us: u64 },
    /// A reply is made and due at this time; requests behind it wait.
    Waiting { until_us: u64, reply: Box<Output> },
    /// The reply to the last request comes later; requests behind it wait.
    Pending,
    /// Nothing more is answered once the pending calls are.
    Ending(CloseReason),
    /// Nothing more is answered.
    Done(CloseReason),
}

/// What a driver has to do next. Not `non_exhaustive`, on purpose: a new step must not compile
/// until every driver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum SessionStep {
    /// Everything that can be answered is.
    NeedInput,
    /// More can be answered once the output is written.
    Flush,
    /// The connection ends once the output is written.
    Close(CloseReason),
}

/// Why a connection ends, and whose doing that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// The peer said `QUIT`.
    Quit,
    /// The peer closed its side, and everything it asked is answered.
    Eof,
    /// The peer broke the protocol; it has been told how.
    Protocol(resp_codec::Error),
    /// The peer speaks HTTP: a browser may have been tricked into talking to us.
    CrossProtocol,
    /// A binary operation failed in a way that its reply cannot express.
    Unanswerable,
    /// Another connection asked for it with `CLIENT KILL`.
    Killed,
    /// The peer did not take the messages it subscribed to, and they became too many.
    Overrun,
    /// Nothing was heard for longer than `timeout`.
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
