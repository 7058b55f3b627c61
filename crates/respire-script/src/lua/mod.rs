//! Lua 5.1 as scripts see it.

pub(crate) mod lib;
