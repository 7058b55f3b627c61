//! A command's arguments on their way out of Lua, and its reply on its way back.

use super::caller::{CALLER, Called, Refusal};
use super::lib::number::write_general;
use resp_codec::Span;
use respire_engine::{ArgList, Output};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The arguments of a command, and the room for its reply. Both are used again for each call.
#[derive(Default)]
pub(super) struct Exchange {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    reply: Output,
    outcome: Outcome,
}

/// How the latest call ended.
#[derive(Debug, Default)]
pub(super) enum Outcome {
    /// No script runs.
    #[default]
    Outside,
    /// A text for the script: its arguments are wrong.
    Wrong(&'static str),
    /// The command was not called.
    Refused(Refusal),
    /// There is a reply.
    Called(Called),
}

/// What a script gets for a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// The bytes of a reply, which stay where they are until the next call.
    Reply(*const u8, usize),
    /// An error, for [`take`].
    Convert,
}

/// Room above this is given back after a call.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// As many digits as a double needs to be read back.
const DIGITS: usize = 17;

const NO_ARGUMENT: &str = "Please specify at least one argument for this redis lib call";
const WRONG_ARGUMENT: &str = "Lua redis lib command arguments must be strings or integers";

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::default();
}

/// Calls a command. `fill` copies its arguments; it returns `false` if one of them is neither a string
/// nor a number.
pub(super) fn call(fill: impl FnOnce(&mut Exchange) -> bool) -> Next {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.clear();
        exchange.outcome = if !fill(exchange) {
            Outcome::Wrong(WRONG_ARGUMENT)
        } else if exchange.spans.is_empty() {
            Outcome::Wrong(NO_ARGUMENT)
        } else {
            exchange.call()
        };
        exchange.next()
    })
}

/// Gives `convert` the outcome of the latest call and the bytes of its reply.
pub(super) fn take<R>(convert: impl FnOnce(Outcome, &[u8]) -> R) -> R {
    EXCHANGE.with_borrow_mut(|exchange| {
        let outcome = std::mem::take(&mut exchange.outcome);
        if exchange.reply.is_contiguous() {
            convert(outcome, exchange.reply.first())
        } else {
            convert(outcome, &exchange.reply.take())
        }
    })
}

/// Gives `ask` the arguments that `fill` copies.
pub(super) fn ask<R>(
    fill: impl FnOnce(&mut Exchange) -> bool,
    ask: impl FnOnce(ArgList<'_>) -> R,
) -> Result<R, &'static str> {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.clear();
        if !fill(exchange) {
            return Err(WRONG_ARGUMENT);
        }
        if exchange.spans.is_empty() {
            return Err(NO_ARGUMENT);
        }
        Ok(ask(ArgList::new(&exchange.bytes, &[], &exchange.spans)))
    })
}

impl Exchange {
    /// Adds an argument.
    pub(super) fn push(&mut self, arg: &[u8]) {
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(arg);
        self.spans.push(Span::new(at, arg.len() as u32));
    }

    /// Adds a number as an argument, with all its digits.
    pub(super) fn push_number(&mut self, number: f64) {
        let at = self.bytes.len();
        if number == number.trunc() && number.abs() < 1e15 && number != 0.0 {
            let mut digits = itoa::Buffer::new();
            let text = digits.format(number as i64);
            self.bytes.extend_from_slice(text.as_bytes());
        } else {
            write_general(&mut self.bytes, number, DIGITS);
        }
        let len = (self.bytes.len() - at) as u32;
        self.spans.push(Span::new(at as u32, len));
    }

    /// Empties it for the next call.
    fn clear(&mut self) {
        self.spans.clear();
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes = Vec::new();
        }
        if self.reply.capacity() > KEPT_BYTES_MAX || !self.reply.is_contiguous() {
            self.reply = Output::new();
        } else {
            let len = self.reply.len();
            self.reply.advance(len);
        }
    }

    fn call(&mut self) -> Outcome {
        if !CALLER.is_set() {
            return Outcome::Outside;
        }
        let args = ArgList::new(&self.bytes, &[], &self.spans);
        let reply = &mut self.reply;
        // A panic must not pass through Lua.
        let called = catch_unwind(AssertUnwindSafe(|| {
            CALLER.with(|caller| caller.call(args, reply))
        }));
        match called {
            Ok(Ok(called)) => Outcome::Called(called),
            Ok(Err(refusal)) => Outcome::Refused(refusal),
            Err(_) => Outcome::Refused(Refusal::Error(b"internal error".to_vec())),
        }
    }

    fn next(&mut self) -> Next {
        let Outcome::Called(called) = &self.outcome else {
            return Next::Convert;
        };
        if !self.reply.is_contiguous() {
            self.bytes = self.reply.take();
            return Next::Reply(self.bytes.as_ptr(), self.bytes.len());
        }
        let bytes = self.reply.first();
        // An error that lies in a reply is none of the command.
        if called.is_error && matches!(bytes.first(), Some(b'-' | b'!')) {
            return Next::Convert;
        }
        Next::Reply(bytes.as_ptr(), bytes.len())
    }
}
