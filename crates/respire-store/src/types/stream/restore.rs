//! Builds a stream from blocks that come from outside.

use super::block::Block;
use super::runs::Runs;
use super::{Stream, StreamId, StreamMarks};

/// Blocks of a stream from outside, in order.
///
/// ```
/// use respire_store::{Stream, StreamBlocks, StreamId};
///
/// let mut blocks = StreamBlocks::default();
/// assert!(blocks.add(StreamId { ms: 1, seq: 0 }, b"no listpack".to_vec()).is_none());
/// ```
#[derive(Debug, Default)]
pub struct StreamBlocks {
    blocks: Runs<Block>,
    length: u64,
    /// The last ID of the blocks so far.
    last_id: StreamId,
}

impl StreamBlocks {
    /// Adds a block; `None` if its bytes are damaged, or its entries are not behind those of the blocks before. O(bytes).
    pub fn add(&mut self, master: StreamId, bytes: Vec<u8>) -> Option<()> {
        let mut block = Block::verify(master, bytes)?;
        block.shrink_to_fit();
        let read = block.read(master);
        // Redis keeps blocks without entries in a rare case.
        let Some(last) = read.last() else {
            return Some(());
        };
        let last_id = last.entry.id();
        if self.blocks.len() > 0 && master <= self.last_id {
            return None;
        }
        self.length = self.length.checked_add(read.live)?;
        self.last_id = last_id;
        self.blocks.push(master, block);
        Some(())
    }

    /// Returns the ID of the first entry; the smallest ID if there is none.
    #[must_use]
    pub fn first_id(&self) -> StreamId {
        let first = self.blocks.get(0);
        let first = first.and_then(|(master, block)| block.read(*master).first());
        first.map_or(StreamId::MIN, |found| found.entry.id())
    }

    /// Returns the stream of these entries; `None` if the marks contradict them.
    #[must_use]
    pub fn into_stream(self, marks: StreamMarks) -> Option<Stream> {
        if marks.length != self.length || marks.last_id < self.last_id {
            return None;
        }
        let first_id = self.first_id();
        Some(Stream {
            blocks: self.blocks,
            marks: StreamMarks { first_id, ..marks },
            exists: true,
            ..Stream::default()
        })
    }
}
