//! Makes the bytes of a file.

use super::chunk::{Chunk, MARK_BYTES};
use super::sum::Sum;
use super::{Usage, opcode};
use crate::VERSION;
use crate::payload::{Form, Payload};
use std::collections::VecDeque;

/// How a file is written.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether strings are packed (`rdbcompression`); they are by default.
    pub compression: bool,
    /// Whether the file and its chunks have checksums (`rdbchecksum`); they have by default.
    pub checksum: bool,
    /// Bytes of a chunk, of which only a single key may take more; 4 MiB by default.
    pub chunk_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compression: true,
            checksum: true,
            chunk_bytes: 4 << 20,
        }
    }
}

/// What stands before the keys of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head<'a> {
    /// The version of Redis whose behaviour the writer has, such as `7.0.15`.
    pub redis_version: &'a str,
    /// When the file is written, in unix seconds.
    pub created_s: u64,
    /// Bytes of memory that the keys use.
    pub used_memory: u64,
    /// Whether the file is the base of an append-only log. Its expired keys are then kept when it is loaded.
    pub is_aof_base: bool,
    /// The place in the stream of a primary's changes.
    pub replication: Option<Replication<'a>>,
    /// The databases that have keys: their numbers, numbers of keys and numbers of keys with an expiry. They are
    /// hints, by which tables get their size before keys are loaded.
    pub databases: &'a [(u32, u64, u64)],
    /// The sources of the libraries of functions.
    pub libraries: &'a [&'a [u8]],
}

/// A place in the stream of a primary's changes.
#[derive(Clone, Copy, Debug)]
pub struct Replication<'a> {
    /// The stream's id, 40 hexadecimal digits.
    pub id: &'a str,
    /// The bytes of the stream up to the place.
    pub offset: u64,
    /// The database that the stream has selected at the place.
    pub db: u32,
}

/// A key, for [`Writer::entry`].
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHead<'a> {
    /// The number of its database.
    pub db: u32,
    /// The key.
    pub key: &'a [u8],
    /// When it expires, in unix milliseconds; `None` is never.
    pub expires_at: Option<u64>,
    /// Its earlier use, which Redis writes if the policy of eviction looks at it.
    pub usage: Option<Usage>,
}

/// Makes the bytes of a file of version 10, which Redis 7.0 and newer load. It does no I/O: the caller takes the bytes
/// that are complete, and writes them in that order.
///
/// ```
/// use respire_rdb::file::{Head, KeyHead, Options, Writer};
///
/// let mut writer = Writer::new(Options::default());
/// writer.begin(&Head { redis_version: "7.0.15", ..Head::default() });
/// let key = KeyHead { db: 0, key: b"greeting", ..KeyHead::default() };
/// writer.entry(key, |payload| {
///     payload.begin(0, 5);
///     payload.string(b"hello");
/// });
/// let mut file = Vec::new();
/// while let Some(bytes) = writer.take_chunk() {
///     file.extend(bytes);
/// }
/// file.extend(writer.finish());
/// assert!(file.starts_with(b"REDIS0010"));
/// ```
#[derive(Debug)]
pub struct Writer {
    options: Options,
    /// Room for the field before the chunk, and the chunk; empty if it has no keys yet.
    chunk: Payload,
    /// Keys of the chunk.
    keys: u64,
    /// The database that the chunk has selected.
    db: Option<u32>,
    /// Number of chunks before this one.
    seq: u64,
    /// The checksum of what is ready or was taken.
    sum: Sum,
    ready: VecDeque<Vec<u8>>,
}

impl Writer {
    /// Begins a file.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            chunk: Payload::of_bytes(Vec::new(), form(options)),
            keys: 0,
            db: None,
            seq: 0,
            sum: Sum::default(),
            ready: VecDeque::new(),
        }
    }

    /// Writes the header, and what stands before the keys. It comes first, and once. The libraries may be large.
    pub fn begin(&mut self, head: &Head<'_>) {
        debug_assert!(self.sum.is_empty(), "the header is written once");
        let mut out = Payload::of_bytes(Vec::new(), form(self.options));
        out.raw(format!("REDIS{VERSION:04}").as_bytes());
        let mut aux = |name: &str, text: &str| {
            out.byte(opcode::AUX);
            out.string(name.as_bytes());
            out.string(text.as_bytes());
        };
        aux("redis-ver", head.redis_version);
        aux("redis-bits", "64");
        aux("ctime", &head.created_s.to_string());
        aux("used-mem", &head.used_memory.to_string());
        if let Some(Replication { id, offset, db }) = head.replication {
            aux("repl-stream-db", &db.to_string());
            aux("repl-id", id);
            aux("repl-offset", &offset.to_string());
        }
        aux("aof-base", if head.is_aof_base { "1" } else { "0" });
        for library in head.libraries {
            out.byte(opcode::FUNCTION);
            out.string(library);
        }
        for (db, keys, expires) in head.databases {
            out.byte(opcode::SELECT_DB);
            out.count(u64::from(*db));
            out.byte(opcode::RESIZE_DB);
            out.count(*keys);
            out.count(*expires);
        }
        self.push(out.bytes);
    }

    /// Writes a key, which must not have been written before. `value` adds its type byte and its value, with
    /// [`Payload::begin`] first.
    pub fn entry(&mut self, head: KeyHead<'_>, value: impl FnOnce(&mut Payload)) {
        self.open();
        let before = self.chunk.bytes.len();
        self.select(head.db);
        let from = self.chunk.bytes.len();
        let out = &mut self.chunk;
        if let Some(at) = head.expires_at {
            out.byte(opcode::EXPIRY_MS);
            out.number(at);
        }
        match head.usage {
            Some(Usage::IdleSeconds(idle)) => {
                out.byte(opcode::IDLE);
                out.count(idle);
            }
            Some(Usage::Frequency(counter)) => {
                out.byte(opcode::FREQUENCY);
                out.byte(counter);
            }
            None => (),
        }
        let type_at = out.bytes.len();
        out.byte(0);
        out.string(head.key);
        out.set_type_at(type_at);
        value(out);
        if self.is_full() && self.keys > 0 {
            // The key that filled the chunk begins the next one, so that only a single key makes a chunk too long.
            let key = self.chunk.bytes.split_off(from);
            self.chunk.bytes.truncate(before);
            self.close();
            self.open();
            self.select(head.db);
            self.chunk.raw(&key);
        }
        self.keys += 1;
        if self.is_full() {
            self.close();
        }
    }

    /// Takes the next bytes of the file that are complete: the header, or a chunk. `None` if there are none yet.
    pub fn take_chunk(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    /// The rest of the file: what was not taken yet, the last chunk, and the end.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if self.keys > 0 {
            self.close();
        }
        self.push(vec![opcode::END]);
        let checksum = if self.options.checksum {
            self.sum.crc()
        } else {
            0
        };
        let mut rest: Vec<u8> = self.ready.into_iter().flatten().collect();
        rest.extend_from_slice(&checksum.to_le_bytes());
        rest
    }

    /// Makes room for the field before a chunk, if there is none.
    fn open(&mut self) {
        if self.chunk.bytes.is_empty() {
            self.chunk.bytes.resize(MARK_BYTES, 0);
            self.db = None;
        }
    }

    fn select(&mut self, db: u32) {
        if self.db != Some(db) {
            self.chunk.byte(opcode::SELECT_DB);
            self.chunk.count(u64::from(db));
            self.db = Some(db);
        }
    }

    fn is_full(&self) -> bool {
        self.chunk.bytes.len() - MARK_BYTES > self.options.chunk_bytes
    }

    /// Completes a chunk.
    fn close(&mut self) {
        let room = self.chunk.bytes.len();
        let next = Payload::of_bytes(Vec::with_capacity(room), form(self.options));
        let mut bytes = std::mem::replace(&mut self.chunk, next).bytes;
        let len = (bytes.len() - MARK_BYTES) as u64;
        let sum = match self.options.checksum {
            true => Sum::of(&bytes[MARK_BYTES..]),
            false => Sum::default(),
        };
        let mark = Chunk {
            len,
            crc: sum.crc(),
            keys: self.keys,
            seq: self.seq,
        };
        let mark = mark.mark();
        self.sum = self.sum.then(Sum::of(&mark)).then(sum);
        bytes[..MARK_BYTES].copy_from_slice(&mark);
        self.ready.push_back(bytes);
        self.keys = 0;
        self.seq += 1;
    }

    /// Adds bytes that are complete.
    fn push(&mut self, bytes: Vec<u8>) {
        if self.options.checksum {
            self.sum = self.sum.then(Sum::of(&bytes));
        }
        self.ready.push_back(bytes);
    }
}

fn form(options: Options) -> Form {
    Form {
        is_unpacked: !options.compression,
        is_fixed: true,
        type_at: None,
    }
}
