//! Checks a script or a library without running it: what the compiler says, and mistakes that would
//! show only when a line runs.

mod bytecode;
mod calls;
mod compiled;
mod globals;
mod names;
mod rules;

use crate::words::Words;
use respire_engine::{App, Engine};
use std::fmt;

/// A mistake in a script.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Finding {
    /// The line, from 1.
    pub line: u32,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, on one line.
    pub text: String,
}

/// How bad a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The script is refused, or fails when it comes to this line.
    Error,
    /// It works, but not everywhere, or not as it is probably meant.
    Warning,
}

impl Finding {
    fn error(line: u32, text: impl Into<String>) -> Self {
        Self {
            line,
            severity: Severity::Error,
            // It quotes the script.
            text: text.into().replace(['\r', '\n'], " "),
        }
    }

    fn warning(line: u32, text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(line, text)
        }
    }
}

/// `3: error: this server has no command 'GTE'`. With the name of the file and a colon before it,
/// editors find the line.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{}: {severity}: {}", self.line, self.text)
    }
}

/// Checks a script for `EVAL` or, if its first line has a name (`#!lua name=mylib`), a library for
/// `FUNCTION LOAD`, against the commands of a server. Returns what it found, in the order of lines.
///
/// The script is compiled as the server does it, and the code of a library also runs once. Then these
/// are found:
///
/// - globals that do not exist, or are assigned;
/// - calls of `redis.call` and `redis.pcall` of commands that do not exist, that scripts may not call,
///   that get a wrong number of arguments, or that write although the flag `no-writes` is set;
/// - keys that are not passed by `KEYS`: these are warnings.
///
/// Only what the text shows is judged: the command of `redis.call(ARGV[1])` is not known, and neither
/// is a key that a function returned. It takes a new Lua state, and time in proportion to the text.
///
/// ```
/// use respire_engine::Router;
/// use respire_script::{add_to, check};
///
/// let router = add_to(Router::new(()));
/// let engine = router.client().engine().clone();
/// let script = b"local name = ARGV[1]\nreturn redis.call('ECO', nam)";
/// let found: Vec<String> = check(&engine, script).iter().map(ToString::to_string).collect();
/// assert_eq!(
///     found,
///     ["2: error: global 'nam' does not exist", "2: error: this server has no command 'ECO'"]
/// );
/// ```
#[must_use]
pub fn check<A: App>(engine: &Engine<A>, text: &[u8]) -> Vec<Finding> {
    let compiled = match compiled::compile(text) {
        Ok(compiled) => compiled,
        Err(finding) => return vec![finding],
    };
    let mut found = globals::check(&compiled);
    let words = match compiled.is_library {
        true => Words::of_library(compiled.code),
        false => Words::of_script(compiled.code),
    };
    for call in calls::find(words) {
        rules::check(
            engine.commands(),
            &call,
            compiled.no_writes,
            &mut |line, at| {
                found.push(Finding {
                    line: line_of(compiled.code, at),
                    ..line
                });
            },
        );
    }
    found.sort();
    found.dedup();
    found
}

/// The line of a place in a text.
fn line_of(text: &[u8], at: usize) -> u32 {
    let before = &text[..at.min(text.len())];
    memchr::memchr_iter(b'\n', before).count() as u32 + 1
}

#[cfg(test)]
mod tests;
