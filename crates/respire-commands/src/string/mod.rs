//! Commands on strings.

mod append;
mod comparison;
mod delex;

mod get;
mod getdel;
mod getex;
mod getrange;
mod incr;
mod incrbyfloat;
mod lcs;
mod mget;
mod mset;
mod msetex;
mod set;
mod setrange;
mod strlen;
mod subsequence;
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
    KvRow::new(&append::APPEND, append::append),
    KvRow::new(&incr::DECR, incr::decr),
    KvRow::new(&incr::DECRBY, incr::decrby),
    KvRow::new(&delex::DELEX, delex::delex),
    KvRow::new(&delex::DELIFEQ, delex::delifeq),
    KvRow::new(&get::GET, get::get),
    KvRow::new(&getdel::GETDEL, getdel::getdel),
    KvRow::new(&getex::GETEX, getex::getex),
    KvRow::new(&getrange::GETRANGE, getrange::getrange),
    KvRow::new(&set::GETSET, set::getset),
    KvRow::new(&incr::INCR, incr::incr),
    KvRow::new(&incr::INCRBY, incr::incrby),
    KvRow::new(&incrbyfloat::INCRBYFLOAT, incrbyfloat::incrbyfloat),
    KvRow::new(&lcs::LCS, lcs::lcs),
    KvRow::new(&mget::MGET, mget::mget),
    KvRow::new(&mset::MSET, mset::mset),
    KvRow::new(&msetex::MSETEX, msetex::msetex),
    KvRow::new(&mset::MSETNX, mset::msetnx),
    KvRow::new(&set::PSETEX, set::psetex),
    KvRow::new(&set::SET, set::set),
    KvRow::new(&set::SETEX, set::setex),
    KvRow::new(&set::SETNX, set::setnx),
    KvRow::new(&setrange::SETRANGE, setrange::setrange),
    KvRow::new(&strlen::STRLEN, strlen::strlen),
    KvRow::new(&getrange::SUBSTR, getrange::getrange),
];
