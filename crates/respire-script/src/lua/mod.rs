//! Lua 5.1 as scripts see it.

mod lib;
