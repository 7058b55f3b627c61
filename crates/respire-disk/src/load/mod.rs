//! Loads snapshot files into a store, and judges them.
//!
//! A file is cut into pieces, each of which is checked, read and inserted by one of several threads. A file of ours
//! says where its chunks are; in another one the threads take turns in finding where keys end. Never more than some
//! pieces of a file are in memory, unless a single value is larger.
//!
//! A chunk is checked before anything of it is read. The checksum of the whole file is known at its end: what was
//! loaded must not be used before [`load`] returns.

// Floor: the threads
mod run;

// Floor: pieces of a file
mod cut;
mod piece;

// Floor: what pieces become
mod sink;

// Floor: files
mod source;

pub use run::{examine, load};
pub use source::Source;

use respire_rdb::file::{Header, What};

/// How a file is loaded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The time, in unix milliseconds.
    pub now_ms: u64,
    /// Whether keys that have expired are left out. They are in a `dump.rdb` that a primary loads; in the base of a log
    /// they are kept, as commands behind it may refer to them.
    pub drops_expired: bool,
    /// Whether bytes may follow the end of the file, as in an old log that begins with a snapshot.
    pub may_go_on: bool,
    /// Number of threads; 0 is one for each core.
    pub threads: usize,
}

/// How far a file is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file that are done.
    pub bytes: u64,
    /// Bytes of the file.
    pub total: u64,
    /// Keys that were loaded.
    pub keys: u64,
}

/// What a file has beside keys, and how far it is loaded. Called by one thread at a time, but by several.
pub trait Follow: Send {
    /// Takes the source of a library of functions. The checksum of the file is not known yet.
    ///
    /// # Errors
    /// If the library cannot be used, with the reason; the file is then refused.
    fn library(&mut self, code: &[u8]) -> Result<(), String> {
        let _ = code;
        Ok(())
    }

    /// Called after each piece, which has at most some megabytes unless a single key is larger.
    fn progress(&mut self, progress: Progress) {
        let _ = progress;
    }
}

/// Ignores libraries and progress.
impl Follow for () {}

/// What was found in a file that is right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The magic word and the version.
    pub header: Option<Header>,
    /// The version of the server that wrote the file (AUX field `redis-ver`).
    pub written_by: Option<String>,
    /// When the file was written, in unix seconds (`ctime`).
    pub created_s: Option<u64>,
    /// Whether the file is the base of a log (`aof-base`).
    pub is_aof_base: bool,
    /// The place in the stream of a primary's changes.
    pub replication: Replication,
    /// Keys in the file, with those that were left out.
    pub keys: u64,
    /// Keys with an expiry.
    pub expiring_keys: u64,
    /// Keys that were left out because they have expired.
    pub expired_keys: u64,
    /// Keys that were left out because their value has no elements, which some versions of Redis wrote by mistake.
    pub empty_keys: u64,
    /// Libraries of functions.
    pub libraries: u64,
    /// Chunks; 0 if the file is not one of ours.
    pub chunks: u64,
    /// Whether the file has a checksum.
    pub has_checksum: bool,
    /// The place behind the end.
    pub end: u64,
}

/// A place in the stream of a primary's changes, from the AUX fields `repl-id`, `repl-offset` and `repl-stream-db`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replication {
    /// The stream's id.
    pub id: Option<String>,
    /// The bytes of the stream up to the place.
    pub offset: Option<u64>,
    /// The database that the stream has selected there.
    pub db: Option<u32>,
}

impl Report {
    /// Notes an AUX field.
    fn note(&mut self, name: &[u8], text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        match name {
            b"redis-ver" | b"valkey-ver" => self.written_by = Some(text.into_owned()),
            b"ctime" => self.created_s = text.parse().ok(),
            b"aof-base" | b"aof-preamble" => self.is_aof_base = text == "1",
            b"repl-id" => self.replication.id = Some(text.into_owned()),
            b"repl-offset" => self.replication.offset = text.parse().ok(),
            b"repl-stream-db" => self.replication.db = text.parse().ok(),
            _ => (),
        }
    }
}

/// What is wrong with a chunk that is longer than any that has more than one key.
const LONG_CHUNK: What = What::Chunk("a chunk of more than one key is too long");

#[cfg(test)]
mod tests;
