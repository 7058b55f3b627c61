//! Commands on keys of any type.

mod copy;
mod database;
mod del;
mod dump;
mod exists;
mod expire;
mod key_list;
mod keys;
mod move_key;
mod object;
mod persist;
mod randomkey;
mod rename;
mod restore;
mod scan;
mod sort;
#[cfg(test)]
pub(crate) mod testing;
mod touch;
mod ttl;
mod type_name;

use crate::Ctx;
use crate::family::{Container, Family};
use crate::kv::Row;
use respire_store::EntryRef;

pub(crate) use database::{db_index, int};

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: CONTAINERS,
    restores: &[],
    list_of: None,
};

/// Sorted by name.
static ROWS: &[Row] = &[
    Row::new(&copy::COPY, copy::run),
    Row::new(&del::DEL, del::del),
    Row::new(&dump::DUMP, dump::run),
    Row::new(&exists::EXISTS, exists::run),
    Row::new(&expire::EXPIRE, expire::expire),
    Row::new(&expire::EXPIREAT, expire::expireat),
    Row::new(&ttl::EXPIRETIME, ttl::expiretime),
    Row::new(&keys::KEYS, keys::run),
    Row::new(&move_key::MOVE, move_key::run),
    Row::new(&persist::PERSIST, persist::run),
    Row::new(&expire::PEXPIRE, expire::pexpire),
    Row::new(&expire::PEXPIREAT, expire::pexpireat),
    Row::new(&ttl::PEXPIRETIME, ttl::pexpiretime),
    Row::new(&ttl::PTTL, ttl::pttl),
    Row::new(&randomkey::RANDOMKEY, randomkey::run),
    Row::new(&rename::RENAME, rename::rename),
    Row::new(&rename::RENAMENX, rename::renamenx),
    Row::new(&restore::RESTORE, restore::run),
    Row::new(&scan::SCAN, scan::run),
    Row::new(&sort::SORT, sort::sort).with_keys(sort::keys),
    Row::new(&sort::SORT_RO, sort::sort_ro),
    Row::new(&touch::TOUCH, touch::run),
    Row::new(&ttl::TTL, ttl::ttl),
    Row::new(&type_name::TYPE, type_name::run),
    Row::new(&del::UNLINK, del::del),
];

/// Sorted by name.
static CONTAINERS: &[Container] = &[(object::ROW, object::SUBCOMMANDS)];

/// Reads a key and counts whether it was there, but does not count as a use of it.
fn look<R>(ctx: &mut Ctx<'_>, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
    ctx.view.set_touch(false);
    ctx.read(key, f)
}
