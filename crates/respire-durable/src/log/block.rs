//! One block: some batches and the annotations around them, on their way to the file.

use super::operation::{FileId, Operation};
use super::staged::Staged;
use super::{PIECES_MAX, Settings};
use crate::checksum::{self, Line, Sum};
use bytes::{Bytes, BytesMut};
use std::sync::Arc;

/// An increment that the log writes.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) id: FileId,
    pub(super) name: Arc<str>,
    /// Bytes of whole blocks.
    pub(super) len: u64,
    /// Bytes that were synced.
    pub(super) synced: u64,
    /// Bytes that were synced together with the checksum lines that cover them: what a judgement
    /// takes for durable.
    pub(super) durable_to: u64,
    /// The end of the last line that says that all before it is durable.
    pub(super) declared_at: u64,
    /// The database that the file's commands have selected.
    pub(super) db: Option<u32>,
    /// The ticket of the last unit in whole blocks.
    pub(super) written_ticket: u64,
    /// The ticket of the last unit that was synced.
    pub(super) synced_ticket: u64,
    /// The replication offset behind the last unit.
    pub(super) offset: u64,
    /// When the oldest unit was appended that is written and not synced.
    pub(super) unsynced_since_ms: Option<u64>,
    /// Bytes that no checksum line covers: where they begin, and their CRC-32.
    pub(super) uncovered: Option<(u64, u32)>,
    /// The time of the last annotation of time, in unix seconds.
    pub(super) time_s: u64,
    /// Whether the manifest on disk lists it.
    pub(super) listed: bool,
}

impl Current {
    pub(super) fn new(seq: u64, name: &str, ticket: u64) -> Self {
        Self {
            id: FileId(seq),
            name: name.into(),
            len: 0,
            synced: 0,
            durable_to: 0,
            declared_at: 0,
            db: None,
            written_ticket: ticket,
            synced_ticket: ticket,
            offset: 0,
            unsynced_since_ms: None,
            uncovered: None,
            time_s: 0,
            listed: false,
        }
    }

    /// Whether a checksum line covers all of it. Without checksums that is of no matter.
    pub(super) const fn is_covered(&self, has_checksums: bool) -> bool {
        !has_checksums || self.uncovered.is_none()
    }

    pub(super) const fn is_synced(&self) -> bool {
        self.synced == self.len
    }

    /// Whether the last checksum line says that all before it is durable.
    pub(super) const fn declares_all(&self) -> bool {
        self.len == 0 || self.declared_at == self.len
    }
}

/// A block that is being written.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) file: FileId,
    /// Where it begins.
    pub(super) offset: u64,
    pieces: Vec<Bytes>,
    pub(super) len: u64,
    /// Bytes of it that were taken, and where the next byte is: piece and place in the piece.
    pub(super) written: u64,
    piece: usize,
    within: usize,
    /// What is true of the file once the block is written.
    pub(super) last_ticket: u64,
    pub(super) db: Option<u32>,
    pub(super) replication_offset: u64,
    pub(super) oldest_ms: u64,
    /// Whether it says that all before it is durable.
    pub(super) declares_all: bool,
    pub(super) time_s: u64,
}

/// What all blocks of a log have in common.
pub(super) struct Form<'a> {
    pub(super) settings: &'a Settings,
    pub(super) replication_id: Option<[u8; checksum::ID_BYTES]>,
    pub(super) now_ms: u64,
}

impl Form<'_> {
    /// Takes batches up to the bound. O(bytes), for the checksum; no byte of a batch is copied.
    pub(super) fn block(&self, file: &Current, staged: &mut Staged) -> Block {
        let bytes_max = self.settings.write_bytes_max as u64;
        let mut block = Block::empty(file, self.now_ms);
        block.oldest_ms = staged.oldest_ms().unwrap_or(self.now_ms);
        self.head(file, staged, &mut block);
        let mut taken = 0;
        while let Some(mark) = staged.front() {
            let (batch, bytes) = (mark.batch, mark.bytes);
            if taken > 0 && taken + bytes > bytes_max {
                break;
            }
            if bytes > 0 {
                if block.db != Some(batch.db_at_start) {
                    let is_marked = self.settings.checksum && block.pieces.is_empty();
                    block.push(select(batch.db_at_start, is_marked));
                }
                block.db = Some(batch.db_at_end);
            }
            staged.take(&mut block.pieces);
            block.len += bytes;
            block.last_ticket = batch.last;
            block.replication_offset = batch.offset;
            taken += bytes;
        }
        if self.settings.checksum && block.len > 0 {
            self.seal(file, &mut block);
        }
        block
    }

    /// A block of nothing but a checksum line, which says that all before it is durable.
    pub(super) fn closing(&self, file: &Current) -> Block {
        let mut block = Block::empty(file, self.now_ms);
        self.seal(file, &mut block);
        block
    }

    /// What stands before the first batch: the name of a new file, the time.
    fn head(&self, file: &Current, staged: &Staged, block: &mut Block) {
        if staged.bytes() == 0 {
            return;
        }
        let mut head = Vec::new();
        if file.len == 0 && self.settings.checksum {
            checksum::write_file(&mut head, file.id.0);
        }
        let now_s = self.now_ms / 1000;
        if self.settings.timestamps && now_s > file.time_s {
            checksum::write_time(&mut head, now_s);
            block.time_s = now_s;
        }
        block.push(head.into());
    }

    fn seal(&self, file: &Current, block: &mut Block) {
        let start = file.uncovered.map_or(block.offset, |(from, _)| from);
        let mut sum = Sum::new(file.id.0, start);
        if let Some((from, crc)) = file.uncovered {
            sum.skip(crc, file.len - from);
        }
        for piece in &block.pieces {
            sum.update(piece);
        }
        let line = Line {
            seq: block.last_ticket,
            offset: block.replication_offset,
            id: self.replication_id,
            at: start,
            len: block.offset - start + block.len,
            durable: file.durable_to,
            crc: 0,
        };
        let mut text = Vec::with_capacity(160);
        checksum::write(&mut text, &line, sum);
        block.declares_all = block.len == 0 && file.durable_to == file.len;
        block.push(text.into());
    }
}

impl Block {
    const fn empty(file: &Current, now_ms: u64) -> Self {
        Self {
            file: file.id,
            offset: file.len,
            pieces: Vec::new(),
            len: 0,
            written: 0,
            piece: 0,
            within: 0,
            last_ticket: file.written_ticket,
            db: file.db,
            replication_offset: file.offset,
            oldest_ms: now_ms,
            declares_all: false,
            time_s: file.time_s,
        }
    }

    fn push(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.len += piece.len() as u64;
            self.pieces.push(piece);
        }
    }

    /// The operation that writes the next part, at most `bytes_max` bytes.
    pub(super) fn write(&self, bytes_max: usize) -> Operation {
        let mut pieces = Vec::new();
        let mut room = bytes_max.max(1);
        let mut within = self.within;
        for piece in self.pieces[self.piece..].iter().take(PIECES_MAX) {
            if room == 0 {
                break;
            }
            let end = piece.len().min(within + room);
            room -= end - within;
            pieces.push(piece.slice(within..end));
            within = 0;
        }
        Operation::Write {
            file: self.file,
            offset: self.offset + self.written,
            len: bytes_max.max(1) - room,
            pieces,
        }
    }

    /// Some bytes were written.
    pub(super) fn advance(&mut self, bytes: usize) {
        let mut left = bytes.min(usize::try_from(self.len - self.written).unwrap_or(usize::MAX));
        self.written += left as u64;
        while left > 0 {
            let rest = self.pieces[self.piece].len() - self.within;
            if left < rest {
                self.within += left;
                return;
            }
            left -= rest;
            self.within = 0;
            self.piece += 1;
        }
    }

    /// All of it is to be written again.
    pub(super) const fn rewind(&mut self) {
        self.written = 0;
        self.piece = 0;
        self.within = 0;
    }

    pub(super) const fn is_written(&self) -> bool {
        self.written == self.len
    }
}

/// The command that selects a database. Behind a checksum line an annotation stands before it.
fn select(db: u32, is_marked: bool) -> Bytes {
    let mut out = BytesMut::new();
    if is_marked {
        out.extend_from_slice(checksum::DATABASE);
    }
    let db = db.to_string();
    let select = format!("*2\r\n$6\r\nSELECT\r\n${}\r\n{db}\r\n", db.len());
    out.extend_from_slice(select.as_bytes());
    out.freeze()
}
