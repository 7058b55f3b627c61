//! Commands on the server as a whole.

mod dbsize;
mod debug;
mod flush;
mod lastsave;
mod memory;
mod swapdb;

use crate::family::{Container, Family};
use crate::kv::KvRow;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: CONTAINERS,
    restores: &[],
    list_of: None,
};

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&dbsize::DBSIZE, dbsize::run),
    KvRow::new(&debug::DEBUG, debug::run),
    KvRow::new(&flush::FLUSHALL, flush::flushall),
    KvRow::new(&flush::FLUSHDB, flush::flushdb),
    KvRow::new(&lastsave::LASTSAVE, lastsave::run),
    KvRow::new(&swapdb::SWAPDB, swapdb::run),
];

/// Sorted by name.
static CONTAINERS: &[Container] = &[(memory::ROW, memory::SUBCOMMANDS)];
