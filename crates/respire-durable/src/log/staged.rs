//! The queue of batches that wait to be written.

use super::Batch;
use bytes::Bytes;
use std::collections::VecDeque;

/// One batch in the queue; its pieces are in a queue of their own, so that it needs no allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) batch: Batch,
    pub(super) pieces: usize,
    pub(super) bytes: u64,
    pub(super) at_ms: u64,
}

#[derive(Debug, Default)]
pub(super) struct Staged {
    marks: VecDeque<Mark>,
    pieces: VecDeque<Bytes>,
    bytes: u64,
    /// How many marks lie before the cut, if a rotation waits for them to be written.
    cut: Option<usize>,
}

impl Staged {
    pub(super) fn push(
        &mut self,
        batch: Batch,
        pieces: impl IntoIterator<Item = Bytes>,
        at_ms: u64,
    ) {
        let pieces_before = self.pieces.len();
        let bytes_before = self.bytes;
        for piece in pieces {
            if !piece.is_empty() {
                self.bytes += piece.len() as u64;
                self.pieces.push_back(piece);
            }
        }
        self.marks.push_back(Mark {
            batch,
            pieces: self.pieces.len() - pieces_before,
            bytes: self.bytes - bytes_before,
            at_ms,
        });
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the oldest batch was appended.
    pub(super) fn oldest_ms(&self) -> Option<u64> {
        self.marks.front().map(|mark| mark.at_ms)
    }

    /// Whether a batch may be taken.
    pub(super) fn is_ready(&self) -> bool {
        !self.marks.is_empty() && self.cut != Some(0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Batches from now on belong to another file.
    pub(super) fn set_cut(&mut self) {
        self.cut = Some(self.marks.len());
    }

    pub(super) const fn clear_cut(&mut self) {
        self.cut = None;
    }

    /// Whether all batches before the cut were taken.
    pub(super) fn is_drained(&self) -> bool {
        self.cut.is_none_or(|before| before == 0)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next batch, if it may be taken.
    pub(super) fn front(&self) -> Option<&Mark> {
        if self.is_ready() {
            self.marks.front()
        } else {
            None
        }
    }

    /// Moves the pieces of the first batch to `out`.
    pub(super) fn take(&mut self, out: &mut Vec<Bytes>) -> Option<Mark> {
        let mark = self.marks.pop_front()?;
        self.cut = self.cut.map(|before| before.saturating_sub(1));
        self.bytes -= mark.bytes;
        out.extend(self.pieces.drain(..mark.pieces));
        Some(mark)
    }
}
