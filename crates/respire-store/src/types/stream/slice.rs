//! Entries of a range, which can be read without the stream.

use std::sync::Arc;

use super::StreamId;
use super::block::Block;
use super::entry::StreamEntry;
use crate::packed::listpack::Place;
use crate::visits::visited;

/// Entries of a range. It shares the blocks of its stream, which are copied when they are changed meanwhile, so it can
/// be read without a lock.
#[derive(Debug, Clone, Default)]
pub struct StreamSlice {
    pieces: Vec<Piece>,
    is_reversed: bool,
    len: usize,
}

/// Some entries of a block.
#[derive(Debug, Clone)]
struct Piece {
    master: StreamId,
    block: Arc<Block>,
    /// The places of the first entry and behind the last one; `None` are those of the block.
    from: Option<Place>,
    to: Option<Place>,
    /// The number of entries to take.
    count: usize,
}

/// Which entries of a stream are read.
///
/// ```
/// use respire_store::{StreamId, StreamRange};
///
/// let first_ten = StreamRange { count: 10, ..StreamRange::default() };
/// assert_eq!(first_ten.to, StreamId::MAX);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamRange {
    /// The smallest ID.
    pub from: StreamId,
    /// The largest ID.
    pub to: StreamId,
    /// The largest number of entries.
    pub count: usize,
    /// Whether the entries are read from the last to the first.
    pub is_reversed: bool,
}

impl Default for StreamRange {
    /// All entries, from the first to the last.
    fn default() -> Self {
        StreamRange {
            from: StreamId::MIN,
            to: StreamId::MAX,
            count: usize::MAX,
            is_reversed: false,
        }
    }
}

impl StreamSlice {
    /// Takes the entries of a range from blocks in the order of the range.
    pub(super) fn new<'b>(
        blocks: impl Iterator<Item = &'b (StreamId, Arc<Block>)>,
        range: &StreamRange,
    ) -> StreamSlice {
        let mut slice = StreamSlice {
            is_reversed: range.is_reversed,
            ..StreamSlice::default()
        };
        for (master, block) in blocks {
            visited(1);
            // Blocks between the ends of the range are taken as a whole.
            let (from, before) = match range.from {
                from if from <= *master => (None, 0),
                from => {
                    let (place, before) = block.read(*master).position(from);
                    (Some(place), before)
                }
            };
            let (to, until) = match range.to.next() {
                None => (None, block.live()),
                Some(after) => {
                    let (place, until) = block.read(*master).position(after);
                    (Some(place), until)
                }
            };
            let left = range.count - slice.len;
            let count = usize::try_from(until.saturating_sub(before)).unwrap_or(usize::MAX);
            let count = count.min(left);
            if count > 0 {
                slice.len += count;
                slice.pieces.push(Piece {
                    master: *master,
                    block: Arc::clone(block),
                    from,
                    to,
                    count,
                });
            }
            if slice.len == range.count {
                break;
            }
        }
        slice
    }

    /// Takes one entry of a block, between these places.
    pub(super) fn one(master: StreamId, block: &Arc<Block>, (from, to): (Place, Place)) -> Self {
        let piece = Piece {
            master,
            block: Arc::clone(block),
            from: Some(from),
            to: Some(to),
            count: 1,
        };
        StreamSlice {
            pieces: vec![piece],
            is_reversed: false,
            len: 1,
        }
    }

    /// Adds the entries of a slice that are read after those of this one. O(parts).
    pub fn append(&mut self, after: StreamSlice) {
        debug_assert_eq!(self.is_reversed, after.is_reversed);
        self.len += after.len;
        self.pieces.extend(after.pieces);
    }

    /// Returns the number of entries. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no entries. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of parts, each of at most as many entries as a block has.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.pieces.len()
    }

    /// Returns about how many bytes the entries have. O(parts).
    #[must_use]
    pub fn bytes(&self) -> usize {
        let bytes = |piece: &Piece| piece.block.as_bytes().len();
        self.pieces.iter().map(bytes).sum()
    }

    /// Calls `f` with the entries of a part, in order. O(its block).
    pub fn for_part(&self, part: usize, f: &mut dyn FnMut(StreamEntry<'_>)) {
        let Some(piece) = self.pieces.get(part) else {
            return;
        };
        visited(piece.count);
        let block = piece.block.read(piece.master);
        let from = piece.from.unwrap_or_else(|| block.start());
        let to = piece.to.unwrap_or_else(|| block.end());
        if self.is_reversed {
            let found = block.between_reversed(from, to);
            found.take(piece.count).for_each(|found| f(found.entry));
        } else {
            let found = block.between(from, to);
            found.take(piece.count).for_each(|found| f(found.entry));
        }
    }

    /// Calls `f` with every entry, in order. O(entries).
    pub fn for_each(&self, f: &mut dyn FnMut(StreamEntry<'_>)) {
        (0..self.parts()).for_each(|part| self.for_part(part, f));
    }
}
