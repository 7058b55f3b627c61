//! Commands on sets.

mod combine;
mod members;
mod picked;
mod read;
mod sadd;
mod sdiff;
mod sinter;
mod sintercard;
mod sismember;
mod smembers;
mod smove;
mod spop;
mod srandmember;
mod sscan;
mod store;
mod sunion;
mod value_type;

use crate::family::Family;
use crate::kv::KvRow;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: value_type::RESTORES,
    list_of: None,
};

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&sadd::SADD, sadd::sadd),
    KvRow::new(&sismember::SCARD, sismember::scard),
    KvRow::new(&sdiff::SDIFF, sdiff::sdiff),
    KvRow::new(&sdiff::SDIFFSTORE, sdiff::sdiffstore),
    KvRow::new(&sinter::SINTER, sinter::sinter),
    KvRow::new(&sintercard::SINTERCARD, sintercard::sintercard),
    KvRow::new(&sinter::SINTERSTORE, sinter::sinterstore),
    KvRow::new(&sismember::SISMEMBER, sismember::sismember),
    KvRow::new(&smembers::SMEMBERS, smembers::smembers),
    KvRow::new(&sismember::SMISMEMBER, sismember::smismember),
    KvRow::new(&smove::SMOVE, smove::smove),
    KvRow::new(&spop::SPOP, spop::spop),
    KvRow::new(&srandmember::SRANDMEMBER, srandmember::srandmember),
    KvRow::new(&sadd::SREM, sadd::srem),
    KvRow::new(&sscan::SSCAN, sscan::sscan),
    KvRow::new(&sunion::SUNION, sunion::sunion),
    KvRow::new(&sunion::SUNIONSTORE, sunion::sunionstore),
];
