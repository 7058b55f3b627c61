//! Commands: their table, how they are run, and the traits of the service and process around them.

mod admit;
pub(crate) mod app;
pub(crate) mod authenticator;
pub(crate) mod calls;
pub(crate) mod commits;
pub(crate) mod cx;
pub(crate) mod engine;
pub(crate) mod exec;
pub(crate) mod extension;
pub(crate) mod host;
pub(crate) mod keeper;
pub(crate) mod keyspace;
mod kill_reply;
pub(crate) mod layer;
pub(crate) mod long_calls;
pub(crate) mod long_work;
mod monitor;
mod replayed;
pub(crate) mod row;
pub(crate) mod run;
mod shape;
pub(crate) mod table;

pub(crate) use admit::admit;
pub(crate) use kill_reply::after_ends;
