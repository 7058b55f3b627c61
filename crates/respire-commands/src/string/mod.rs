//! The commands on strings.

mod append;
mod extended;
mod get;
mod getdel;
mod getex;
mod getrange;
mod incr;
mod incrbyfloat;
mod lcs;
mod mget;
mod mset;
mod set;
mod setrange;
mod strlen;
mod subsequence;
mod value_type;

use crate::family::Family;
use crate::kv::Row;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: value_type::RESTORES,
    list_of: None,
};

/// Sorted by name.
static ROWS: &[Row] = &[
    Row::new(&append::APPEND, append::append),
    Row::new(&incr::DECR, incr::decr),
    Row::new(&incr::DECRBY, incr::decrby),
    Row::new(&get::GET, get::get),
    Row::new(&getdel::GETDEL, getdel::getdel),
    Row::new(&getex::GETEX, getex::getex),
    Row::new(&getrange::GETRANGE, getrange::getrange),
    Row::new(&set::GETSET, set::getset),
    Row::new(&incr::INCR, incr::incr),
    Row::new(&incr::INCRBY, incr::incrby),
    Row::new(&incrbyfloat::INCRBYFLOAT, incrbyfloat::incrbyfloat),
    Row::new(&lcs::LCS, lcs::lcs),
    Row::new(&mget::MGET, mget::mget),
    Row::new(&mset::MSET, mset::mset),
    Row::new(&mset::MSETNX, mset::msetnx),
    Row::new(&set::PSETEX, set::psetex),
    Row::new(&set::SET, set::set),
    Row::new(&set::SETEX, set::setex),
    Row::new(&set::SETNX, set::setnx),
    Row::new(&setrange::SETRANGE, setrange::setrange),
    Row::new(&strlen::STRLEN, strlen::strlen),
    Row::new(&getrange::SUBSTR, getrange::getrange),
];
