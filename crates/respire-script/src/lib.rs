#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod cache;
mod commands;
mod flags;
#[doc(hidden)]
pub mod fuzzed;
mod lua;
mod reach;
mod run;
mod running;
mod script;
mod scripts;
mod thread;

pub use commands::add_to;
