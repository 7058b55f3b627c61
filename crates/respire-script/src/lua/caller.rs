//! What a script can ask of the server that runs it.

use respire_engine::{ArgList, Output, Proto};
use scoped_tls_hkt::scoped_thread_local;

/// The server, as a running script sees it.
pub(crate) trait Caller {
    /// Calls a command. Its reply is appended to `out`, in the script's protocol.
    ///
    /// # Errors
    /// If the script must not call the command, or must end.
    fn call(&mut self, request: ArgList<'_>, out: &mut Output) -> Result<Called, Refusal>;

    /// The protocol in which the script gets replies.
    fn proto(&self) -> Proto;

    /// Changes the protocol.
    fn set_proto(&mut self, proto: Proto);

    /// Called about every 10,000 instructions: lets the server do other things.
    ///
    /// # Errors
    /// Why the script must end now.
    fn pause(&mut self) -> Result<(), Stop>;

    /// Writes a line to the server's log, at a level from 0 (debug) to 3 (warning).
    fn log(&mut self, level: u8, text: &[u8]);

    /// Whether the connection may run a request; `None` if there is no such command.
    fn may_run(&self, request: ArgList<'_>) -> Option<bool>;
}

/// A command was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    /// Whether its reply is an error.
    pub(crate) is_error: bool,
}

/// Why a command was not called.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The text of the error that the script gets, without a `-`.
    Error(Vec<u8>),
    /// The script must end.
    Stop(Stop),
}

/// Why a script must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// `SCRIPT KILL` or `FUNCTION KILL`.
    Killed,
    /// It has run for longer than `script-time-limit`.
    TimeLimit,
    /// It is a library, and has run for too long while it was loaded.
    LoadTimeout,
    /// The server stops.
    Shutdown,
    /// It uses a key that it has not declared, and its section cannot be widened.
    Undeclared,
}

scoped_thread_local!(
    /// The caller of the script that runs on this thread.
    pub(super) static mut CALLER: for<'a> &'a mut (dyn Caller + 'a)
);
