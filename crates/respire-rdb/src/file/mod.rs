//! Snapshot files: what Redis keeps as `dump.rdb`, and as the base of its append-only log.
//!
//! [`Writer`] makes the bytes of a file, and [`Reader`] walks through them. Neither does any I/O.
//!
//! A file consists of a header, items and an end. An item is an opcode with what belongs to it, or a key with its
//! value. The value is what `DUMP` writes, except that its type byte precedes the key.
//!
//! Our files are divided into *chunks*. Before each one stands an AUX field, which Redis ignores:
//!
//! ```text
//! respire-chunk  len=00000004194304;crc=0123456789abcdef;keys=0000012345;seq=0000000000
//! ```
//!
//! It has the chunk's length in bytes, its checksum (0 if there is none), its number of keys, and its number in the
//! file. A chunk begins with SELECTDB and has whole keys, so chunks can be checked and loaded side by side, and a
//! damaged one can be named.

mod chunk;
mod cursor;
mod extent;
mod fault;
mod kind;
mod reader;
mod sum;
mod writer;

pub use chunk::Chunk;
pub use extent::{Extent, skip_value};
pub use fault::{Fault, Place, What};
pub use kind::{Magic, type_name};
pub use reader::{Entry, Event, Header, Reader, Step};
pub use sum::Sum;
pub use writer::{Head, KeyHead, Options, Replication, Writer};

/// The largest version of Redis's files that is read; [`VERSION`](crate::VERSION) is written.
pub const VERSION_READ_MAX: u16 = 12;
/// The version of Valkey's own files, which is read.
pub const VERSION_VALKEY: u16 = 80;
/// Files of this version and newer end with a checksum.
const VERSION_CHECKED_MIN: u16 = 5;

/// The bytes of the header: a magic word and a version, together as long for Redis as for Valkey.
pub const HEADER_BYTES: usize = 9;

/// A string of more bytes is refused, packed or not. Redis's own limit (`proto-max-bulk-len`) is half of it.
pub const STRING_BYTES_MAX: u64 = 1 << 30;

/// What precedes an item.
mod opcode {
    pub(super) const SLOT_INFO: u8 = 244;
    pub(super) const FUNCTION: u8 = 245;
    pub(super) const FUNCTION_EARLY: u8 = 246;
    pub(super) const MODULE_AUX: u8 = 247;
    pub(super) const IDLE: u8 = 248;
    pub(super) const FREQUENCY: u8 = 249;
    pub(super) const AUX: u8 = 250;
    pub(super) const RESIZE_DB: u8 = 251;
    pub(super) const EXPIRY_MS: u8 = 252;
    pub(super) const EXPIRY_S: u8 = 253;
    pub(super) const SELECT_DB: u8 = 254;
    pub(super) const END: u8 = 255;
}

/// The earlier use of a key, for eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Seconds since the last access, under an LRU policy.
    IdleSeconds(u64),
    /// The logarithmic counter of accesses, under an LFU policy.
    Frequency(u8),
}

#[cfg(test)]
mod tests;
