//! Finds entries by their IDs, one after another.

use std::sync::Arc;

use super::block::{Block, BlockRef};
use super::runs::Runs;
use super::slice::StreamSlice;
use super::{StreamId, StreamRef};
use crate::packed::listpack::Place;

/// The block of the last ID.
struct Current<'e> {
    /// The ID of the next block.
    until: Option<StreamId>,
    master: StreamId,
    block: &'e Arc<Block>,
    read: BlockRef<'e>,
    /// The place of the first entry that is not before the last ID.
    place: Place,
    last: StreamId,
}

impl<'e> StreamRef<'e> {
    /// Returns the entry of each ID, or nothing if there is none. O(block), and O(log n) to find it; O(entries between
    /// them) for an ID that is in the block of the ID before, and behind it.
    ///
    /// ```
    /// use respire_store::{Kind, Stream, StreamId};
    ///
    /// let mut stream = Stream::default();
    /// let id = |ms| StreamId { ms, seq: 0 };
    /// stream.add(id(1), [(&b"n"[..], &b"1"[..])].into_iter(), &Stream::LIMITS);
    /// let found = stream.read().entries([id(1), id(2)].into_iter());
    /// assert_eq!(found.map(|entry| entry.len()).collect::<Vec<_>>(), [1, 0]);
    /// ```
    pub fn entries(self, ids: impl Iterator<Item = StreamId>) -> impl Iterator<Item = StreamSlice> {
        let blocks = &self.0.blocks;
        let mut current: Option<Current<'e>> = None;
        ids.map(move |id| {
            let covers = |it: &Current<'_>| id > it.last && it.until.is_none_or(|until| id < until);
            if !current.as_ref().is_some_and(covers) {
                current = Current::of(blocks, id);
            }
            current.as_mut().map(|it| it.find(id)).unwrap_or_default()
        })
    }
}

impl<'e> Current<'e> {
    fn of(blocks: &'e Runs<Block>, id: StreamId) -> Option<Current<'e>> {
        let at = blocks.find(id);
        let (master, block) = blocks.get(at)?;
        let read = block.read(*master);
        Some(Current {
            until: blocks.get(at + 1).map(|(next, _)| *next),
            master: *master,
            block,
            read,
            place: read.position(id).0,
            last: id,
        })
    }

    fn find(&mut self, id: StreamId) -> StreamSlice {
        let read = self.read;
        let mut behind = read.between(self.place, read.end());
        let found = behind.find(|found| found.entry.id() >= id);
        self.last = id;
        self.place = found.map_or(read.end(), |found| found.place);
        match found {
            Some(found) if found.entry.id() == id => {
                let place = (found.place, read.after(&found));
                StreamSlice::one(self.master, self.block, place)
            }
            _ => StreamSlice::default(),
        }
    }
}
