//! What can be wrong with a file, and where.

use super::kind::{Magic, type_name};
use super::{VERSION_READ_MAX, VERSION_VALKEY};
use core::fmt;

/// What is wrong with a file, where, and in which key. Its text does not change between versions of this crate
/// without need.
///
/// ```
/// use respire_rdb::file::{Fault, What};
///
/// let fault = Fault::at(9, What::Opcode(243));
/// assert_eq!(fault.to_string(), "at byte 9: opcode 243 is unknown");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place in the file, in bytes from its start: where the item begins in which something is wrong.
    pub offset: u64,
    /// The key in whose entry something is wrong.
    pub key: Option<Place>,
    /// What is wrong.
    pub what: What,
}

/// A key in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of its database.
    pub db: u32,
    /// The key.
    pub key: Vec<u8>,
    /// The file's magic word.
    pub magic: Magic,
    /// The type byte of its value.
    pub type_byte: u8,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// It begins with neither `REDIS` nor `VALKEY` and a number.
    Header,
    /// Its version is not known.
    Version(Magic, u16),
    /// It ends before the item is complete.
    Cut,
    /// A length begins with this byte, which means none.
    Length(u8),
    /// A string of this many bytes is longer than any may be.
    Long(u64),
    /// An opcode is not known.
    Opcode(u8),
    /// The type of a value is not known, or cannot be skipped.
    Type,
    /// The value belongs to the module's type of this name.
    Module(String),
    /// The data beside the keys belongs to the module's type of this name.
    ModuleAux(String),
    /// The bytes of a value are not a value of its type.
    Value,
    /// Something else is wrong with an item.
    Item(&'static str),
    /// Neither SELECTDB nor a chunk precedes a key.
    NoDatabase,
    /// There is no such database.
    Database(u32),
    /// The key is in the file already.
    Twice,
    /// A chunk has this checksum, but another one was written before it.
    ChunkChecksum {
        /// The number of the chunk.
        seq: u64,
        /// The checksum that the file has.
        written: u64,
        /// The checksum of its bytes.
        computed: u64,
    },
    /// The field before a chunk and the chunk differ in something.
    Chunk(&'static str),
    /// The checksum at the end is not that of the bytes before it.
    Checksum {
        /// The checksum that the file has.
        written: u64,
        /// The checksum of its bytes.
        computed: u64,
    },
    /// There are this many bytes behind the end.
    Behind(u64),
    /// A library of functions was refused, for this reason.
    Library(String),
    /// The file could not be read, for this reason.
    Read(String),
}

impl Fault {
    /// A fault that concerns no key.
    #[must_use]
    pub fn at(offset: u64, what: What) -> Self {
        Self {
            offset,
            key: None,
            what,
        }
    }
}

/// The most bytes of a key in a text.
const KEY_BYTES_MAX: usize = 256;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: ", self.offset)?;
        if let Some(place) = &self.key {
            write!(f, "{place}: ")?;
        }
        self.what.fmt(f)
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.key.get(..KEY_BYTES_MAX).unwrap_or(&self.key);
        let rest = if shown.len() < self.key.len() {
            "…"
        } else {
            ""
        };
        let name = type_name(self.magic, self.type_byte);
        let (db, key, type_byte) = (self.db, shown.escape_ascii(), self.type_byte);
        write!(
            f,
            "key \"{key}{rest}\" of database {db}, {name} (type {type_byte})"
        )
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str(
                "the file is not a snapshot: it does not begin with REDIS and a version",
            ),
            Self::Version(magic, version) => write!(
                f,
                "version {version} of {magic} files is not known: REDIS files up to {VERSION_READ_MAX} and VALKEY \
                 files of {VERSION_VALKEY} are read"
            ),
            Self::Cut => f.write_str("the file ends within this item, or a length in it is wrong"),
            Self::Length(first) => write!(f, "no length begins with byte {first}"),
            Self::Long(len) => write!(f, "a string of {len} bytes is too long"),
            Self::Opcode(code) => write!(f, "opcode {code} is unknown"),
            Self::Type => f.write_str("values of this type cannot be read"),
            Self::Module(name) => write!(
                f,
                "the value is of the module type {name}, and there are no modules"
            ),
            Self::ModuleAux(name) => write!(
                f,
                "data of the module type {name}, and there are no modules"
            ),
            Self::Value => f.write_str("the value is malformed"),
            Self::Item(what) => f.write_str(what),
            Self::NoDatabase => f.write_str("no database was selected before this key"),
            Self::Database(db) => write!(f, "there is no database {db}"),
            Self::Twice => f.write_str("the key is in the file twice"),
            Self::ChunkChecksum {
                seq,
                written,
                computed,
            } => write!(
                f,
                "chunk {seq} has checksum {computed:016x}, not {written:016x} as written before it"
            ),
            Self::Chunk(what) => f.write_str(what),
            Self::Checksum { written, computed } => {
                write!(
                    f,
                    "the file has checksum {computed:016x}, not {written:016x} as written at its end"
                )
            }
            Self::Behind(bytes) => write!(f, "there are {bytes} bytes behind the end"),
            Self::Library(why) => write!(f, "a library of functions was refused: {why}"),
            Self::Read(why) => write!(f, "the file cannot be read: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_place_key_and_type() {
        let fault = Fault {
            offset: 1_234,
            key: Some(Place {
                db: 3,
                key: b"a\n\xff".to_vec(),
                magic: Magic::Redis,
                type_byte: 16,
            }),
            what: What::Value,
        };
        assert_eq!(
            fault.to_string(),
            "at byte 1234: key \"a\\n\\xff\" of database 3, hash as listpack (type 16): the value is malformed"
        );
        let long = Place {
            db: 0,
            key: vec![b'k'; 1_000],
            magic: Magic::Valkey,
            type_byte: 22,
        };
        let text = long.to_string();
        assert!(
            text.contains("kkk…\" of database 0, hash with expiring fields of Valkey 9 (type 22)")
        );
        assert!(text.len() < 400);
    }
}
