//! Commands about the server as a whole.

mod dbsize;
mod debug;
mod flush;
mod lastsave;
mod memory;
mod swapdb;

use crate::family::{Container, Family};
use crate::kv::Row;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: CONTAINERS,
    restores: &[],
    list_of: None,
};

/// Sorted by name.
static ROWS: &[Row] = &[
    Row::new(&dbsize::DBSIZE, dbsize::run),
    Row::new(&debug::DEBUG, debug::run),
    Row::new(&flush::FLUSHALL, flush::flushall),
    Row::new(&flush::FLUSHDB, flush::flushdb),
    Row::new(&lastsave::LASTSAVE, lastsave::run),
    Row::new(&swapdb::SWAPDB, swapdb::run),
];

/// Sorted by name.
static CONTAINERS: &[Container] = &[(memory::ROW, memory::SUBCOMMANDS)];
