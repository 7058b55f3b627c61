//! The chunks between a list's ends: blocks of up to 128 chunks with their numbers of elements, so that an index is
//! found in few steps, and a snapshot shares whole blocks.

use std::collections::VecDeque;
use std::sync::Arc;

use super::End;
use super::chunk::Chunk;
use crate::types::allocated;

/// The most chunks of a block.
const BLOCK_CHUNKS: usize = 128;

/// Two reference counters.
const ARC_BYTES: usize = 16;

/// Bytes allocated for a chunk besides its elements.
const CHUNK_BYTES: usize = allocated(size_of::<Chunk>() + ARC_BYTES);

/// A sequence of chunks.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    /// No block is empty.
    blocks: VecDeque<Block>,
    /// Bytes allocated for the blocks and all that is in them.
    bytes: usize,
}

#[derive(Debug, Clone, Default)]
struct Block {
    /// The number of elements in all chunks.
    len: usize,
    parts: Arc<Vec<Part>>,
}

#[derive(Debug, Clone)]
struct Part {
    /// The number of elements.
    len: usize,
    chunk: Arc<Chunk>,
}

/// What a chunk counts for.
#[derive(Debug, Clone, Copy)]
struct Size {
    len: usize,
    bytes: usize,
}

/// The place of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    block: usize,
    part: usize,
}

impl Part {
    fn new(chunk: Chunk) -> Part {
        Part {
            len: chunk.count(),
            chunk: Arc::new(chunk),
        }
    }

    fn size(&self) -> Size {
        Size {
            len: self.len,
            bytes: CHUNK_BYTES + self.chunk.heap_bytes(),
        }
    }
}

impl Block {
    /// Bytes allocated for the block without its chunks.
    fn heap_bytes(&self) -> usize {
        allocated(size_of::<Vec<Part>>() + ARC_BYTES)
            + allocated(self.parts.capacity() * size_of::<Part>())
    }
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the number of chunks. O(chunks / 128).
    pub(super) fn chunks(&self) -> usize {
        self.blocks.iter().map(|block| block.parts.len()).sum()
    }

    /// Returns the bytes allocated for it all.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes + allocated(self.blocks.capacity() * size_of::<Block>())
    }

    pub(super) fn get(&self, place: Place) -> Option<&Chunk> {
        let part = self.blocks.get(place.block)?.parts.get(place.part)?;
        Some(&part.chunk)
    }

    /// Returns the place of the first or last chunk.
    pub(super) fn end(&self, end: End) -> Option<Place> {
        let block = match end {
            End::Left => 0,
            End::Right => self.blocks.len().checked_sub(1)?,
        };
        let parts = self.blocks.get(block)?.parts.len();
        let part = match end {
            End::Left => 0,
            End::Right => parts - 1,
        };
        Some(Place { block, part })
    }

    /// Returns the place of the next chunk in the direction away from `end`.
    pub(super) fn next(&self, place: Place, end: End) -> Option<Place> {
        let Place { block, part } = place;
        match end {
            End::Left if part + 1 < self.blocks[block].parts.len() => Some(Place {
                block,
                part: part + 1,
            }),
            End::Left if block + 1 < self.blocks.len() => Some(Place {
                block: block + 1,
                part: 0,
            }),
            End::Left => None,
            End::Right if part > 0 => Some(Place {
                block,
                part: part - 1,
            }),
            End::Right => {
                let block = block.checked_sub(1)?;
                let part = self.blocks[block].parts.len() - 1;
                Some(Place { block, part })
            }
        }
    }

    /// Returns the place of the chunk with the element of this index, and the index in it. O(elements / 87,000), for
    /// small elements, plus up to 128 steps.
    pub(super) fn find(&self, mut index: usize) -> Option<(Place, usize)> {
        for (block, it) in self.blocks.iter().enumerate() {
            if index >= it.len {
                index -= it.len;
                continue;
            }
            for (part, it) in it.parts.iter().enumerate() {
                if index < it.len {
                    return Some((Place { block, part }, index));
                }
                index -= it.len;
            }
        }
        None
    }

    /// Changes a chunk, which keeps an element. If others share it, they keep the old one.
    pub(super) fn edit<R>(&mut self, place: Place, f: impl FnOnce(&mut Chunk) -> R) -> R {
        let (before, after, answer) = self.edit_parts(place.block, |parts| {
            let part = &mut parts[place.part];
            let before = part.size();
            let answer = f(Arc::make_mut(&mut part.chunk));
            part.len = part.chunk.count();
            (before, part.size(), answer)
        });
        self.subtract(place.block, before);
        self.add(place.block, after);
        answer
    }

    /// Adds a chunk at an end.
    pub(super) fn push(&mut self, end: End, mut chunk: Chunk) {
        chunk.settle();
        let part = Part::new(chunk);
        let last = self.end(end).map(|place| place.block);
        let block = match (last, end) {
            (Some(last), _) if self.blocks[last].parts.len() < BLOCK_CHUNKS => last,
            (_, End::Left) => self.add_block(0, Vec::new()),
            (_, End::Right) => self.add_block(self.blocks.len(), Vec::new()),
        };
        self.add(block, part.size());
        self.edit_parts(block, |parts| match end {
            End::Left => parts.insert(0, part),
            End::Right => parts.push(part),
        });
    }

    /// Removes the chunk at an end and returns it. It is copied if others share it.
    pub(super) fn pop(&mut self, end: End) -> Option<Chunk> {
        let place = self.end(end)?;
        Some(Arc::unwrap_or_clone(self.take(place)))
    }

    /// Removes a chunk. Others who share it keep it.
    pub(super) fn remove(&mut self, place: Place) {
        self.take(place);
    }

    fn take(&mut self, place: Place) -> Arc<Chunk> {
        let part = self.edit_parts(place.block, |parts| parts.remove(place.part));
        self.subtract(place.block, part.size());
        if self.blocks[place.block].parts.is_empty()
            && let Some(block) = self.blocks.remove(place.block)
        {
            self.bytes -= block.heap_bytes();
        }
        part.chunk
    }

    /// Adds a chunk after that at `place`.
    pub(super) fn insert_after(&mut self, place: Place, mut chunk: Chunk) {
        chunk.settle();
        let (mut block, mut at) = (place.block, place.part + 1);
        if self.blocks[block].parts.len() >= BLOCK_CHUNKS {
            let half = self.edit_parts(block, |parts| parts.split_off(BLOCK_CHUNKS / 2));
            let moved: usize = half.iter().map(|part| part.len).sum();
            self.blocks[block].len -= moved;
            let next = self.add_block(block + 1, half);
            self.blocks[next].len = moved;
            if at > BLOCK_CHUNKS / 2 {
                (block, at) = (next, at - BLOCK_CHUNKS / 2);
            }
        }
        let part = Part::new(chunk);
        self.add(block, part.size());
        self.edit_parts(block, |parts| parts.insert(at, part));
    }

    /// Adds a block without counting its chunks. Returns its place.
    fn add_block(&mut self, at: usize, parts: Vec<Part>) -> usize {
        let block = Block {
            len: 0,
            parts: Arc::new(parts),
        };
        self.bytes += block.heap_bytes();
        self.blocks.insert(at, block);
        at
    }

    /// Changes the chunks of a block. The caller counts them.
    fn edit_parts<R>(&mut self, block: usize, f: impl FnOnce(&mut Vec<Part>) -> R) -> R {
        let block = &mut self.blocks[block];
        self.bytes -= block.heap_bytes();
        let answer = f(Arc::make_mut(&mut block.parts));
        self.bytes += block.heap_bytes();
        answer
    }

    fn add(&mut self, block: usize, size: Size) {
        self.blocks[block].len += size.len;
        self.bytes += size.bytes;
    }

    fn subtract(&mut self, block: usize, size: Size) {
        self.blocks[block].len -= size.len;
        self.bytes -= size.bytes;
    }
}

#[cfg(test)]
impl Blocks {
    /// Checks the counts; returns the number of elements.
    pub(super) fn check(&self) -> usize {
        let (mut len, mut bytes) = (0, 0);
        for block in &self.blocks {
            assert!((1..=BLOCK_CHUNKS).contains(&block.parts.len()));
            for part in block.parts.iter() {
                assert!(part.len > 0 && part.len == part.chunk.count());
                bytes += part.size().bytes;
            }
            assert_eq!(block.len, block.parts.iter().map(|part| part.len).sum());
            bytes += block.heap_bytes();
            len += block.len;
        }
        assert_eq!(bytes, self.bytes);
        len
    }
}
