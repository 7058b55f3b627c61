//! Commands on streams and their consumer groups.

mod access;
mod batches;
mod consumer;
mod entries;
mod ids;
mod pending;
mod reading;
mod references;
mod trim_options;
mod trimming;
mod value_type;
mod xack;
mod xackdel;
mod xadd;
mod xautoclaim;
mod xclaim;
mod xdel;
mod xdelex;
mod xgroup;
mod xinfo;
mod xinfo_full;
mod xlen;
mod xpending;
mod xrange;
mod xread;
mod xread_request;
mod xread_wait;
mod xreadgroup;
mod xsetid;
mod xtrim;

use crate::family::{Container, Family};
use crate::kv::KvRow;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: CONTAINERS,
    restores: value_type::RESTORES,
    list_of: None,
};

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&xack::XACK, xack::xack),
    KvRow::new(&xackdel::XACKDEL, xackdel::xackdel),
    KvRow::new(&xadd::XADD, xadd::xadd),
    KvRow::new(&xautoclaim::XAUTOCLAIM, xautoclaim::xautoclaim),
    KvRow::new(&xclaim::XCLAIM, xclaim::xclaim),
    KvRow::new(&xdel::XDEL, xdel::xdel),
    KvRow::new(&xdelex::XDELEX, xdelex::xdelex),
    KvRow::new(&xlen::XLEN, xlen::xlen),
    KvRow::new(&xpending::XPENDING, xpending::xpending),
    KvRow::new(&xrange::XRANGE, xrange::xrange),
    KvRow::new(&xread::XREAD, xread::xread)
        .with_keys(xread_request::keys)
        .with_wait(xread_wait::wait_to_read),
    KvRow::new(&xreadgroup::XREADGROUP, xreadgroup::xreadgroup)
        .with_keys(xread_request::keys)
        .with_wait(xread_wait::wait_to_read_as_group),
    KvRow::new(&xrange::XREVRANGE, xrange::xrevrange),
    KvRow::new(&xsetid::XSETID, xsetid::xsetid),
    KvRow::new(&xtrim::XTRIM, xtrim::xtrim),
];

/// Sorted by name.
static CONTAINERS: &[Container] = &[
    (xgroup::ROW, xgroup::SUBCOMMANDS),
    (xinfo::ROW, xinfo::SUBCOMMANDS),
];
