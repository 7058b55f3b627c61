//! Cuts a file into pieces.

use super::source::{Source, Window};
use super::{Follow, LONG_CHUNK, Options, Report};
use respire_rdb::file::{Chunk, Event, Fault, Header, Reader, Step, Sum, What};
use respire_store::Store;
use std::io;

/// A piece of a file: whole keys, which one thread reads.
pub(super) enum Piece {
    /// A chunk, which is not read yet.
    Chunk {
        /// Where it begins.
        offset: u64,
        chunk: Chunk,
    },
    /// Some keys, and SELECTDB between them.
    Keys {
        /// Where they begin.
        offset: u64,
        bytes: Vec<u8>,
        /// The database of the first key.
        db: Option<u32>,
    },
}

/// A piece of keys has about this many bytes, or a single key.
const PIECE_BYTES: usize = 1 << 20;

/// Chunks of more bytes have a single key. Ours have 4 MiB.
const CHUNK_BYTES_MAX: u64 = 64 << 20;

/// The least bytes that a key takes in a file, on average over many.
const KEY_BYTES_MIN: u64 = 5;

/// Bytes of the checksum at the end.
const CHECKSUM_BYTES: u64 = 8;

/// The checksums of the parts of a file: where each begins, and its sum.
pub(super) type Sums = Vec<(u64, Sum)>;

/// Walks through a file and hands out its pieces.
pub(super) struct Cutter<'f> {
    window: Window<'f>,
    reader: Reader,
    options: Options,
    /// The store whose tables get their size; `None` if the file is only examined.
    store: Option<&'f Store>,
    pub(super) follow: &'f mut dyn Follow,
    pub(super) report: Report,
    /// Of all that is not in a piece.
    pub(super) sums: Sums,
    /// Bytes of the file that keys for which there is no room yet may take.
    unreserved: u64,
    /// A chunk that follows the piece before it.
    queued: Option<Piece>,
    /// The checksum at the end, once it is reached.
    pub(super) end: Option<Option<u64>>,
    pub(super) total: u64,
}

/// An item that is not a key, without its bytes.
enum Item {
    Other,
    Resize { db: u32, keys: u64 },
    Chunk(Chunk),
    End(Option<u64>),
}

impl<'f> Cutter<'f> {
    pub(super) fn new(
        source: &'f dyn Source,
        store: Option<&'f Store>,
        options: Options,
        follow: &'f mut dyn Follow,
    ) -> Result<Self, Fault> {
        let total = source.bytes().map_err(|error| unreadable(0, &error))?;
        Ok(Self {
            window: Window::new(source, total),
            reader: Reader::new(total),
            options,
            store,
            follow,
            report: Report::default(),
            sums: Vec::new(),
            unreserved: total,
            queued: None,
            end: None,
            total,
        })
    }

    /// The header, once the first piece was cut.
    pub(super) fn header(&self) -> Option<Header> {
        self.reader.header()
    }

    /// Cuts off the next piece; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, Fault> {
        if let Some(piece) = self.queued.take() {
            return Ok(Some(piece));
        }
        let (from, db) = (self.window.offset(), self.reader.db());
        let mut from_now = (from, db);
        while self.end.is_none() {
            let (before, db) = from_now;
            let at = self.window.offset();
            let has_keys = at > before;
            let (is_key, len, item) = match self.reader.step(self.window.bytes())? {
                // A window may have to move, which forgets what is before it.
                Step::More(_) if has_keys => break,
                Step::More(least) => {
                    let grown = self.window.grow(least);
                    grown.map_err(|error| unreadable(at, &error))?;
                    continue;
                }
                Step::Item(Event::Entry(_), len) => (true, len, Item::Other),
                Step::Item(Event::SelectDb(_), len) => (has_keys, len, Item::Other),
                Step::Item(event, len) => {
                    let item = note(&event, at, &mut self.report, self.follow)?;
                    (false, len, item)
                }
            };
            if is_key {
                self.window.advance(len);
                if self.window.bytes_from(before).len() >= PIECE_BYTES {
                    break;
                }
                continue;
            }
            let piece = has_keys.then(|| self.keys_from(before, db));
            self.pass(len, &item)?;
            if let Item::Chunk(chunk) = item {
                self.queued = Some(self.chunk(chunk)?);
            }
            if piece.is_some() {
                return Ok(piece);
            }
            if self.queued.is_some() {
                return Ok(self.queued.take());
            }
            from_now = (self.window.offset(), self.reader.db());
        }
        let (before, db) = from_now;
        Ok((self.window.offset() > before).then(|| self.keys_from(before, db)))
    }

    fn keys_from(&self, offset: u64, db: Option<u32>) -> Piece {
        Piece::Keys {
            offset,
            bytes: self.window.bytes_from(offset).to_vec(),
            db,
        }
    }

    /// Goes past an item that is in no piece.
    fn pass(&mut self, len: usize, item: &Item) -> Result<(), Fault> {
        let offset = self.window.offset();
        match *item {
            Item::Resize { db, keys } => self.reserve(db, keys),
            Item::End(checksum) => {
                let end = self.reader.offset();
                if end < self.total && !self.options.may_go_on {
                    return Err(Fault::at(end, What::Behind(self.total - end)));
                }
                self.end = Some(checksum);
                self.report.has_checksum = checksum.is_some();
                self.report.end = end;
            }
            Item::Other | Item::Chunk(_) => (),
        }
        // The checksum at the end is not part of what it is computed from, which ends with the opcode.
        let summed = if self.end.is_some() { 1 } else { len };
        let sum = Sum::of(&self.window.bytes()[..summed]);
        self.sums.push((offset, sum));
        self.window.advance(len);
        Ok(())
    }

    /// Goes past a chunk, whose field was the last item.
    fn chunk(&mut self, chunk: Chunk) -> Result<Piece, Fault> {
        let offset = self.window.offset();
        if chunk.seq != self.report.chunks {
            let what = What::Chunk("a chunk is not the one that follows");
            return Err(Fault::at(offset, what));
        }
        if chunk.len > CHUNK_BYTES_MAX && chunk.keys != 1 {
            return Err(Fault::at(offset, LONG_CHUNK));
        }
        self.report.chunks += 1;
        self.reader.skip_chunk(chunk.len)?;
        self.window.jump(self.reader.offset());
        Ok(Piece::Chunk { offset, chunk })
    }

    /// Makes room for the keys of a database, but not for more than the file can have.
    fn reserve(&mut self, db: u32, keys: u64) {
        let keys = keys.min(self.unreserved / KEY_BYTES_MIN);
        self.unreserved -= keys * KEY_BYTES_MIN;
        if let Some(store) = self.store
            && db < store.databases()
            && let Ok(keys @ 1..) = usize::try_from(keys)
        {
            store.reserve(db, keys);
        }
    }

    /// The checksum of what it is computed from in the file.
    pub(super) fn checked_bytes(&self) -> u64 {
        let has_room = self
            .report
            .header
            .is_some_and(|header| header.has_checksum());
        self.report.end - if has_room { CHECKSUM_BYTES } else { 0 }
    }
}

/// Notes an item that is neither a key nor SELECTDB.
fn note(
    event: &Event<'_>,
    offset: u64,
    report: &mut Report,
    follow: &mut dyn Follow,
) -> Result<Item, Fault> {
    match event {
        Event::Header(header) => report.header = Some(*header),
        Event::Aux { name, text } => report.note(name, text),
        Event::Library(code) => {
            report.libraries += 1;
            let taken = follow.library(code);
            taken.map_err(|why| Fault::at(offset, What::Library(why)))?;
        }
        Event::ResizeDb { db, keys, .. } => {
            return Ok(Item::Resize {
                db: *db,
                keys: *keys,
            });
        }
        Event::Chunk(chunk) => return Ok(Item::Chunk(*chunk)),
        Event::End { checksum } => return Ok(Item::End(*checksum)),
        Event::SelectDb(_) | Event::SlotInfo | Event::Entry(_) => (),
    }
    Ok(Item::Other)
}

/// The fault of a file that could not be read at this place.
pub(super) fn unreadable(offset: u64, error: &io::Error) -> Fault {
    Fault::at(offset, What::Read(error.to_string()))
}
