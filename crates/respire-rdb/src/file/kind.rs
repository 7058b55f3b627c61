//! The types of value in files, and their names.

use core::fmt;

/// The magic word of a file, which decides what the type bytes from 22 on mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Magic {
    /// `REDIS`: of Redis, Respire, and Valkey up to 8.
    #[default]
    Redis,
    /// `VALKEY`: of Valkey from 9 on.
    Valkey,
}

impl fmt::Display for Magic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Redis => "REDIS",
            Self::Valkey => "VALKEY",
        })
    }
}

/// The type bytes that the format gives a meaning.
pub(super) mod code {
    pub(crate) const STRING: u8 = 0;
    pub(crate) const LIST: u8 = 1;
    pub(crate) const SET: u8 = 2;
    pub(crate) const ZSET_TEXT: u8 = 3;
    pub(crate) const HASH: u8 = 4;
    pub(crate) const ZSET: u8 = 5;
    pub(crate) const MODULE_EARLY: u8 = 6;
    pub(crate) const MODULE: u8 = 7;
    pub(crate) const HASH_ZIPMAP: u8 = 9;
    pub(crate) const HASH_ZIPLIST: u8 = 13;
    pub(crate) const LIST_QUICK: u8 = 14;
    pub(crate) const STREAM: u8 = 15;
    pub(crate) const HASH_LISTPACK: u8 = 16;
    pub(crate) const ZSET_LISTPACK: u8 = 17;
    pub(crate) const LIST_QUICK_2: u8 = 18;
    pub(crate) const STREAM_2: u8 = 19;
    pub(crate) const SET_LISTPACK: u8 = 20;
    pub(crate) const STREAM_3: u8 = 21;
    pub(crate) const HASH_TIMED_EARLY: u8 = 22;
    pub(crate) const HASH_TIMED_LISTPACK_EARLY: u8 = 23;
    pub(crate) const HASH_TIMED: u8 = 24;
    pub(crate) const HASH_TIMED_LISTPACK: u8 = 25;
}

const REDIS_NAMES: [&str; 26] = [
    "string",
    "list",
    "set",
    "sorted set with scores as text",
    "hash",
    "sorted set",
    "module value of early Redis 4",
    "module value",
    "unknown type",
    "hash as zipmap",
    "list as ziplist",
    "set as intset",
    "sorted set as ziplist",
    "hash as ziplist",
    "list of ziplists",
    "stream of Redis 5",
    "hash as listpack",
    "sorted set as listpack",
    "list of listpacks",
    "stream of Redis 7.0",
    "set as listpack",
    "stream of Redis 7.2",
    "hash with expiring fields of early Redis 7.4",
    "hash as listpack with expiring fields of early Redis 7.4",
    "hash with expiring fields",
    "hash as listpack with expiring fields",
];

/// The name of a type byte in a file with this magic word.
///
/// ```
/// use respire_rdb::file::{Magic, type_name};
///
/// assert_eq!(type_name(Magic::Redis, 17), "sorted set as listpack");
/// assert_eq!(type_name(Magic::Valkey, 22), "hash with expiring fields of Valkey 9");
/// assert_eq!(type_name(Magic::Redis, 99), "unknown type");
/// ```
#[must_use]
pub fn type_name(magic: Magic, type_byte: u8) -> &'static str {
    match (magic, type_byte) {
        (Magic::Valkey, code::HASH_TIMED_EARLY) => "hash with expiring fields of Valkey 9",
        (Magic::Valkey, code::HASH_TIMED_LISTPACK_EARLY..) => "unknown type",
        (Magic::Redis, 26) => "stream of Redis 8",
        (_, known) => REDIS_NAMES
            .get(usize::from(known))
            .copied()
            .unwrap_or("unknown type"),
    }
}
