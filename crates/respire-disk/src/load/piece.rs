//! Checks a piece of a file, and reads its keys.

use super::cut::{Piece, unreadable};
use super::sink::Filler;
use super::source::Source;
use respire_rdb::file::{Chunk, Event, Fault, Header, Reader, Step, Sum, What};

/// Reads pieces, one after the other.
pub(super) struct PieceReader<'s> {
    source: &'s dyn Source,
    header: Header,
    pub(super) filler: Filler<'s>,
    /// The bytes of a chunk.
    buffer: Vec<u8>,
}

/// A buffer of more bytes is not kept for the next chunk.
const BUFFER_BYTES_MAX: usize = 8 << 20;

impl<'s> PieceReader<'s> {
    pub(super) fn new(source: &'s dyn Source, header: Header, filler: Filler<'s>) -> Self {
        Self {
            source,
            header,
            filler,
            buffer: Vec::new(),
        }
    }

    /// Reads a piece, and puts its keys where they go. Returns where it begins, and its checksum.
    pub(super) fn read(&mut self, piece: Piece) -> Result<(u64, Sum), Fault> {
        match piece {
            Piece::Keys { offset, bytes, db } => {
                self.keys(&bytes, offset, db)?;
                Ok((offset, Sum::of(&bytes)))
            }
            Piece::Chunk { offset, chunk } => {
                let mut bytes = std::mem::take(&mut self.buffer);
                let sum = self.chunk(&mut bytes, offset, chunk);
                if bytes.capacity() <= BUFFER_BYTES_MAX {
                    self.buffer = bytes;
                }
                Ok((offset, sum?))
            }
        }
    }

    fn chunk(&mut self, bytes: &mut Vec<u8>, offset: u64, chunk: Chunk) -> Result<Sum, Fault> {
        let len = usize::try_from(chunk.len).map_err(|_| Fault::at(offset, What::Cut))?;
        bytes.resize(len, 0);
        let read = self.source.read_at(bytes, offset);
        read.map_err(|error| unreadable(offset, &error))?;
        let sum = Sum::of(bytes);
        if chunk.crc != 0 && chunk.crc != sum.crc() {
            let what = What::ChunkChecksum {
                seq: chunk.seq,
                written: chunk.crc,
                computed: sum.crc(),
            };
            return Err(Fault::at(offset, what));
        }
        let before = self.filler.counts.keys;
        self.keys(bytes, offset, None)?;
        if self.filler.counts.keys - before != chunk.keys {
            let what = What::Chunk("a chunk has another number of keys than its field says");
            return Err(Fault::at(offset, what));
        }
        Ok(sum)
    }

    /// Reads keys and what is between them.
    fn keys(&mut self, bytes: &[u8], offset: u64, db: Option<u32>) -> Result<(), Fault> {
        let mut reader = Reader::within(self.header, offset, offset + bytes.len() as u64, db);
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = reader.offset();
            let (event, len) = match reader.step(rest)? {
                Step::Item(event, len) => (event, len),
                Step::More(_) => return Err(Fault::at(at, What::Cut)),
            };
            rest = &rest[len..];
            match event {
                Event::Entry(entry) => self.filler.add(&entry, at, self.header)?,
                Event::SelectDb(_) | Event::ResizeDb { .. } | Event::SlotInfo => (),
                _ => {
                    let what = What::Item(
                        "an item that is neither a key nor about a database is within a chunk",
                    );
                    return Err(Fault::at(at, what));
                }
            }
        }
        self.filler.flush(self.header, bytes, offset)
    }
}
