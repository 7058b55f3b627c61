//! Commands on hashes.

mod access;
mod fields;
mod hdel;
mod hexists;
mod hexpire;
mod hget;
mod hgetall;
mod hgetdel;
mod hgetex;
mod hincrby;
mod hincrbyfloat;
mod hlen;
mod hmget;
mod hpersist;
mod hrandfield;
mod hscan;
mod hset;
mod hsetex;
mod hsetnx;
mod hstrlen;
mod httl;
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
    KvRow::new(&hdel::HDEL, hdel::hdel),
    KvRow::new(&hexists::HEXISTS, hexists::hexists),
    KvRow::new(&hexpire::HEXPIRE, hexpire::hexpire),
    KvRow::new(&hexpire::HEXPIREAT, hexpire::hexpireat),
    KvRow::new(&httl::HEXPIRETIME, httl::hexpiretime),
    KvRow::new(&hget::HGET, hget::hget),
    KvRow::new(&hgetall::HGETALL, hgetall::hgetall),
    KvRow::new(&hgetdel::HGETDEL, hgetdel::hgetdel),
    KvRow::new(&hgetex::HGETEX, hgetex::hgetex),
    KvRow::new(&hincrby::HINCRBY, hincrby::hincrby),
    KvRow::new(&hincrbyfloat::HINCRBYFLOAT, hincrbyfloat::hincrbyfloat),
    KvRow::new(&hgetall::HKEYS, hgetall::hkeys),
    KvRow::new(&hlen::HLEN, hlen::hlen),
    KvRow::new(&hmget::HMGET, hmget::hmget),
    KvRow::new(&hset::HMSET, hset::hmset),
    KvRow::new(&hpersist::HPERSIST, hpersist::hpersist),
    KvRow::new(&hexpire::HPEXPIRE, hexpire::hpexpire),
    KvRow::new(&hexpire::HPEXPIREAT, hexpire::hpexpireat),
    KvRow::new(&httl::HPEXPIRETIME, httl::hpexpiretime),
    KvRow::new(&httl::HPTTL, httl::hpttl),
    KvRow::new(&hrandfield::HRANDFIELD, hrandfield::hrandfield),
    KvRow::new(&hscan::HSCAN, hscan::hscan),
    KvRow::new(&hset::HSET, hset::hset),
    KvRow::new(&hsetex::HSETEX, hsetex::hsetex),
    KvRow::new(&hsetnx::HSETNX, hsetnx::hsetnx),
    KvRow::new(&hstrlen::HSTRLEN, hstrlen::hstrlen),
    KvRow::new(&httl::HTTL, httl::httl),
    KvRow::new(&hgetall::HVALS, hgetall::hvals),
];

#[cfg(test)]
mod tests;
