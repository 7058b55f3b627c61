#![doc = include_str!("../README.md")]

// Floor: what fuzzers call
#[doc(hidden)]
pub mod fuzzed;

// Floor: the libraries, for those who keep them
mod libraries;

// Floor: the commands, and checks of scripts
mod check;
mod commands;

// Floor: one run of a script, and what each thread keeps
mod run;
mod thread;

// Floor: what all connections share
mod scripts;

// Floor: the known and the running scripts
mod cache;
mod library;
mod running;

// Floor: one script
mod script;

// Floor: the keys that a script uses
mod reach;

// Floor: Lua
mod lua;

// Floor: the words of a script
mod words;

// Floor: what a script says of itself
mod flags;

// Floor: bounds
mod limits;

pub use check::{Finding, Severity, check};
pub use commands::add_to;
pub use libraries::Libraries;
pub use library::LibraryObserver;
pub use limits::{LIMITS, LimitRow};
