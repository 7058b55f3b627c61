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
use crate::kv::KvRow;
use respire_store::EntryRef;

pub(crate) use database::{db_index, int};

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: CONTAINERS,
    restores: &[],
    list_of: None,
};

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&copy::COPY, copy::run),
    KvRow::new(&del::DEL, del::del),
    KvRow::new(&dump::DUMP, dump::run),
    KvRow::new(&exists::EXISTS, exists::run),
    KvRow::new(&expire::EXPIRE, expire::expire),
    KvRow::new(&expire::EXPIREAT, expire::expireat),
    KvRow::new(&ttl::EXPIRETIME, ttl::expiretime),
    KvRow::new(&keys::KEYS, keys::run),
    KvRow::new(&move_key::MOVE, move_key::run),
    KvRow::new(&persist::PERSIST, persist::run),
    KvRow::new(&expire::PEXPIRE, expire::pexpire),
    KvRow::new(&expire::PEXPIREAT, expire::pexpireat),
    KvRow::new(&ttl::PEXPIRETIME, ttl::pexpiretime),
    KvRow::new(&ttl::PTTL, ttl::pttl),
    KvRow::new(&randomkey::RANDOMKEY, randomkey::run),
    KvRow::new(&rename::RENAME, rename::rename),
    KvRow::new(&rename::RENAMENX, rename::renamenx),
    KvRow::new(&restore::RESTORE, restore::run),
    KvRow::new(&scan::SCAN, scan::run),
    KvRow::new(&sort::SORT, sort::sort).with_keys(sort::keys),
    KvRow::new(&sort::SORT_RO, sort::sort_ro),
    KvRow::new(&touch::TOUCH, touch::run),
    KvRow::new(&ttl::TTL, ttl::ttl),
    KvRow::new(&type_name::TYPE, type_name::run),
    KvRow::new(&del::UNLINK, del::del),
];

/// Sorted by name.
static CONTAINERS: &[Container] = &[(object::ROW, object::SUBCOMMANDS)];

/// Reads a key and counts the hit or miss, without counting it as a use of the key.
fn read_untouched<R>(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    f: impl FnOnce(Option<EntryRef<'_>>) -> R,
) -> R {
    ctx.view.set_touch(false);
    ctx.read(key, f)
}
