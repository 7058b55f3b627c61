//! Commands on hashes.

mod access;
mod hdel;
mod hexists;
mod hget;
mod hgetall;
mod hincrby;
mod hincrbyfloat;
mod hlen;
mod hmget;
mod hrandfield;
mod hscan;
mod hset;
mod hsetnx;
mod hstrlen;
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
    KvRow::new(&hget::HGET, hget::hget),
    KvRow::new(&hgetall::HGETALL, hgetall::hgetall),
    KvRow::new(&hincrby::HINCRBY, hincrby::hincrby),
    KvRow::new(&hincrbyfloat::HINCRBYFLOAT, hincrbyfloat::hincrbyfloat),
    KvRow::new(&hgetall::HKEYS, hgetall::hkeys),
    KvRow::new(&hlen::HLEN, hlen::hlen),
    KvRow::new(&hmget::HMGET, hmget::hmget),
    KvRow::new(&hset::HMSET, hset::hmset),
    KvRow::new(&hrandfield::HRANDFIELD, hrandfield::hrandfield),
    KvRow::new(&hscan::HSCAN, hscan::hscan),
    KvRow::new(&hset::HSET, hset::hset),
    KvRow::new(&hsetnx::HSETNX, hsetnx::hsetnx),
    KvRow::new(&hstrlen::HSTRLEN, hstrlen::hstrlen),
    KvRow::new(&hgetall::HVALS, hgetall::hvals),
];
