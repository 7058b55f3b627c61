//! Replies on their way through a script, for fuzzers.

use crate::lua::caller::{Called, Caller, Refusal, Stop};
use crate::lua::{Callable, Failure, Inputs, State, Visit};
use mlua::{Lua, Result, Value};
use respire_engine::{ArgList, Output, Proto, Reply};

/// A state with a script that returns the reply of a command, whatever that is.
pub struct Replies {
    state: State,
    script: Callable,
    pauses_max: u32,
}

impl Replies {
    /// A reply is ended that takes more than `pauses_max` times 1,000 elements.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(pauses_max: u32) -> Result<Self> {
        let state = State::new()?;
        state.limit_memory(64 << 20);
        let script = state.script(b"return redis.pcall('any')");
        let script = script.map_err(|text| mlua::Error::runtime(String::from_utf8_lossy(&text)))?;
        Ok(Self {
            state,
            script,
            pauses_max,
        })
    }

    /// What a script returns to a client whose command answers it `reply`. `has_error`: an error is
    /// somewhere in it.
    ///
    /// # Errors
    /// The text of the error for the client.
    pub fn pass(
        &self,
        reply: &[u8],
        proto: Proto,
        has_error: bool,
    ) -> std::result::Result<Vec<u8>, Vec<u8>> {
        let echo = Echo::new((reply, has_error), proto, self.pauses_max);
        self.run(&self.script, echo)
    }

    /// The reply of a script that returns the value that `make` makes.
    ///
    /// # Errors
    /// The text of the error for the client.
    ///
    /// # Panics
    /// If a part of a reply is written before an error.
    pub fn write(
        &self,
        proto: Proto,
        make: impl FnOnce(&Lua) -> Result<Value>,
    ) -> std::result::Result<Vec<u8>, Vec<u8>> {
        let echo = Echo::new((b"", false), proto, self.pauses_max);
        match self.state.returning(make) {
            Ok(function) => self.run(&function, echo),
            Err(_) => Err(Failure::out_of_memory().message("")),
        }
    }

    fn run(
        &self,
        function: &Callable,
        mut echo: Echo<'_>,
    ) -> std::result::Result<Vec<u8>, Vec<u8>> {
        let mut out = Output::new();
        let mut reply = Reply::new(&mut out, echo.proto);
        let visit = Visit {
            function,
            inputs: Inputs::Globals,
            keys: &[],
            args: ArgList::new(b"", b"", &[]),
            reply: Some(&mut reply),
        };
        let ran = self.state.run(visit, &mut echo);
        self.state.tidy_up(true);
        assert!(ran.is_ok() || out.is_empty(), "a part of a reply");
        let reply = ran.map(|_| out.take());
        reply.map_err(|failure| failure.message(""))
    }
}

/// A server whose commands all answer the same.
struct Echo<'r> {
    reply: &'r [u8],
    proto: Proto,
    called: Called,
    pauses_left: u32,
}

impl<'r> Echo<'r> {
    fn new((reply, is_error): (&'r [u8], bool), proto: Proto, pauses_left: u32) -> Self {
        Self {
            reply,
            proto,
            called: Called { is_error },
            pauses_left,
        }
    }
}

impl Caller for Echo<'_> {
    fn call(&mut self, _: ArgList<'_>, out: &mut Output) -> std::result::Result<Called, Refusal> {
        Reply::new(out, self.proto).raw(self.reply);
        Ok(self.called)
    }

    fn proto(&self) -> Proto {
        self.proto
    }

    fn set_proto(&mut self, _: Proto) {}

    fn pause(&mut self) -> std::result::Result<(), Stop> {
        self.pauses_left = self.pauses_left.checked_sub(1).ok_or(Stop::TimeLimit)?;
        Ok(())
    }

    fn log(&mut self, _: u8, _: &[u8]) {}

    fn may_run(&self, _: ArgList<'_>) -> Option<bool> {
        None
    }
}

#[cfg(test)]
mod tests;
