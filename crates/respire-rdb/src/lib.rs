#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod file;
mod lzf;
mod payload;
mod reader;
mod ziplist;
mod zipmap;

pub use payload::Payload;
pub use reader::{Reader, Text};
pub use ziplist::Ziplist;
pub use zipmap::Zipmap;

use crc::{CRC_64_REDIS, Crc, Table};

/// The format version of Redis 7.0: it is written, and newer ones are refused.
pub const VERSION: u16 = 10;

const VERSION_BYTES: usize = 2;
const CRC_BYTES: usize = 8;

/// The two high bits of a length, which tell the form of the rest.
const LEN_6_BITS: u8 = 0;
const LEN_14_BITS: u8 = 1;
const LEN_ENCODED: u8 = 3;
/// First bytes of a length that is stored in the bytes after it.
const LEN_32_BITS: u8 = 0x80;
const LEN_64_BITS: u8 = 0x81;

/// First bytes of a string that is stored as an integer or packed.
const STRING_INT8: u8 = 0xC0;
const STRING_INT16: u8 = 0xC1;
const STRING_INT32: u8 = 0xC2;
const STRING_LZF: u8 = 0xC3;

/// The number of lookup tables of the checksum, 2 KiB each. A web page has to download them.
const CRC_TABLES: usize = if cfg!(target_family = "wasm") { 1 } else { 16 };

static CRC: Crc<u64, Table<CRC_TABLES>> = Crc::<u64, Table<CRC_TABLES>>::new(&CRC_64_REDIS);

/// The checksum of bytes, as payloads end with it. O(length).
///
/// ```
/// assert_eq!(respire_rdb::checksum(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
/// ```
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    CRC.checksum(bytes)
}

/// The bytes of a payload before its footer. `None` if the payload's version is newer than
/// [`VERSION`], its checksum is wrong, or it is too short to be one. O(length).
///
/// ```
/// assert_eq!(respire_rdb::open(b"\x00\x03cwl\n\x00sW{~a/+4"), Some(&b"\x00\x03cwl"[..]));
/// assert_eq!(respire_rdb::open(b"\x00\x03cwl\n\x00sW{~a/+5"), None);
/// ```
#[must_use]
pub fn open(payload: &[u8]) -> Option<&[u8]> {
    let (checked, crc) = payload.split_last_chunk::<CRC_BYTES>()?;
    let (body, version) = checked.split_last_chunk::<VERSION_BYTES>()?;
    let is_right =
        u16::from_le_bytes(*version) <= VERSION && checksum(checked) == u64::from_le_bytes(*crc);
    is_right.then_some(body)
}
