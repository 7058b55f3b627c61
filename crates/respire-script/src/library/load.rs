//! Loads a library into the state of a thread: compiles it, and runs it once so that it registers
//! its functions.

use super::header::Header;
use super::{FunctionInfo, Library};
use crate::limits::LOAD_LIMIT_MS;
use crate::lua::caller::{Called, Caller, Refusal, Stop};
use crate::lua::{Registered, State};
use crate::{reach, script};
use respire_engine::{ArgList, Error, Host, Output, Proto};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The server, as libraries that are being loaded see it.
pub(crate) struct Loading<'h> {
    host: &'h dyn Host,
    /// When the code has to end, on the host's stopwatch.
    end_ns: u64,
    /// Whether the code's `redis.log` writes. It does once, and not on each thread.
    logs: bool,
}

/// A host that has nothing but a stopwatch, which moves on by a millisecond each time it is read. It bounds
/// code by the number of its instructions, whatever the machine.
#[derive(Default)]
pub(crate) struct Stopwatch(AtomicU64);

impl Host for Stopwatch {
    fn stopwatch_ns(&self) -> u64 {
        self.0.fetch_add(1_000_000, Ordering::Relaxed)
    }
}

impl<'h> Loading<'h> {
    /// Gives the code of libraries so many milliseconds, all together.
    pub(crate) fn new(host: &'h dyn Host, limit_ms: u64, logs: bool) -> Self {
        Self {
            host,
            end_ns: host.stopwatch_ns().saturating_add(limit_ms * 1_000_000),
            logs,
        }
    }
}

impl Caller for Loading<'_> {
    fn call(&mut self, _: ArgList<'_>, _: &mut Output) -> Result<Called, Refusal> {
        let text = b"redis.call/pcall can only be called inside a script invocation";
        Err(Refusal::Error(text.to_vec()))
    }

    fn proto(&self) -> Proto {
        Proto::Resp2
    }

    fn set_proto(&mut self, _: Proto) {}

    fn pause(&mut self) -> Result<(), Stop> {
        if self.host.is_stopping() {
            return Err(Stop::Shutdown);
        }
        match self.host.stopwatch_ns() > self.end_ns {
            true => Err(Stop::LoadTimeout),
            false => Ok(()),
        }
    }

    fn log(&mut self, level: u8, text: &[u8]) {
        if self.logs {
            self.host.log(level, &String::from_utf8_lossy(text));
        }
    }

    fn may_run(&self, _: ArgList<'_>) -> Option<bool> {
        None
    }
}

/// Loads a library that is new. `is_known` says whether there is one of its name that stays.
///
/// # Errors
/// The error for the client.
pub(crate) fn load(
    state: &State,
    text: &[u8],
    loading: &mut Loading<'_>,
    is_known: impl FnOnce(&str) -> bool,
) -> Result<(Arc<Library>, Vec<Registered>), Error> {
    let header = Header::read(text).map_err(|text| Error::new("ERR", text))?;
    if is_known(&header.name) {
        let text = format!("Library '{}' already exists", header.name);
        return Err(Error::new("ERR", text));
    }
    let code = &text[header.code_at..];
    let registered = state.load_library(code, loading).map_err(failed)?;
    if registered.is_empty() {
        return Err(Error::fixed("ERR No functions registered"));
    }
    let widens = !reach::is_declared_in_library(code);
    let is_pure = script::is_pure(code);
    let info = |one: &Registered| FunctionInfo {
        name: one.name.clone(),
        description: one.description.clone(),
        flags: one.flags,
        is_pure,
        widens: AtomicBool::new(widens),
    };
    let functions = registered.iter().map(info).map(Arc::new).collect();
    let library = Library {
        name: header.name,
        code: text.into(),
        code_at: header.code_at,
        functions,
    };
    Ok((Arc::new(library), registered))
}

/// Loads a library again, on another thread than the first.
///
/// # Errors
/// The error for the client.
pub(super) fn load_again(
    state: &State,
    library: &Library,
    host: &dyn Host,
) -> Result<Vec<Registered>, Error> {
    let mut loading = Loading::new(host, LOAD_LIMIT_MS, false);
    let code = &library.code[library.code_at..];
    state.load_library(code, &mut loading).map_err(failed)
}

fn failed(text: Vec<u8>) -> Error {
    Error::owned([b"ERR ", &text[..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host whose stopwatch moves on by 100 ms each time it is read.
    #[derive(Default)]
    struct Slow(AtomicU64);

    impl Host for Slow {
        fn stopwatch_ns(&self) -> u64 {
            self.0.fetch_add(100_000_000, Ordering::Relaxed)
        }
    }

    #[test]
    fn code_that_does_not_end_is_ended() {
        let state = State::new().unwrap();
        let host = Slow::default();
        let mut loading = Loading::new(&host, LOAD_LIMIT_MS, true);
        let text = b"#!lua name=l\nwhile true do end";
        let error = load(&state, text, &mut loading, |_| false).unwrap_err();
        assert_eq!(
            String::from_utf8_lossy(error.text()),
            "ERR Error registering functions: ERR FUNCTION LOAD timeout"
        );
        let reads = host.0.load(Ordering::Relaxed) / 100_000_000;
        assert_eq!(reads, 7, "one at the start, and until it is over");
    }
}
