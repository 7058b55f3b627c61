//! Lua 5.1, and what scripts see of Redis in it.

mod api;
mod binding;
mod callable;
pub(crate) mod caller;
mod compiler;
mod exchange;
mod failure;
mod heap;
pub(crate) mod lib;
mod library;
mod raw;
mod state;
mod text;

pub(crate) use callable::Callable;
pub(crate) use failure::Failure;
pub(crate) use library::{Registered, WRONG_NAME, is_name};
pub(crate) use raw::{Inputs, Returned, Visit};
pub(crate) use state::State;

/// The version of Redis that scripts see, as a text and as a number.
const SERVER_VERSION: (&str, i64) = ("7.0.15", 0x07_000f);
