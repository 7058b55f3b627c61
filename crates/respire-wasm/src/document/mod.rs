//! A document: bytes, and the frames decoded from them.
//!
//! The codec's decoders process the bytes once and leave an index of frames, a few words per frame.
//! When the page shows a frame, the codec decodes that frame again. So a document of any size costs
//! little beyond its bytes.

mod checkpoints;
mod explain;
mod filter;
mod index;
mod path;
mod reads;
mod state;
mod text;
mod tree;

#[cfg(test)]
mod tests;

pub use explain::{DocError, FixInfo, Verdict};
pub use reads::READ_WORDS;
pub use state::{OpenValue, State};
pub use tree::{MARK_WORDS, NODE_WORDS};

use crate::guess_mode;
use crate::mode::{limits_of, mode_number, mode_of};
use crate::msgpack::{MsgPack, msgpack};
use crate::tables::FrameStatus;
use checkpoints::Checkpoints;
use index::{Frame, Indexer};
use resp_codec::Limits;
use resp_codec::annotate::Mode;
use std::cell::RefCell;
use tree::Tree;

/// The number of words in a row of [`Document::frames`].
pub const FRAME_WORDS: usize = 4;

/// Bytes, and the frames decoded from them.
///
/// ```
/// use respire_wasm::Document;
/// let mut document = Document::new(4, 0).unwrap();
/// document.set_bytes(b"*1\r\n$4\r\nPING\r\n".to_vec()).unwrap();
/// while document.parse(1 << 20) < document.len() {}
/// assert_eq!(document.frame_count(), 1);
/// assert_eq!(document.path(8), "cmd[0].arg[0].payload");
/// ```
#[derive(Debug)]
pub struct Document {
    bytes: Vec<u8>,
    /// The requested mode; `None` to guess it.
    wanted: Option<Mode>,
    mode: Mode,
    preset: u32,
    limits: Limits,
    indexer: Indexer,
    frames: Vec<Frame>,
    errors: usize,
    /// The tree of the frame used last.
    tree: RefCell<Option<(usize, Tree)>>,
    /// The checkpoints of the frame whose state was requested last.
    checkpoints: RefCell<Option<Checkpoints>>,
}

impl Document {
    /// An empty document of this mode (4: to be guessed) under these limits.
    ///
    /// # Errors
    /// If there is no such mode or preset.
    pub fn new(mode: u32, preset: u32) -> Result<Self, String> {
        let (wanted, limits) = (mode_of(mode)?, limits_of(preset)?);
        let mode = wanted.unwrap_or(Mode::Requests);
        Ok(Self {
            bytes: Vec::new(),
            wanted,
            mode,
            preset,
            limits,
            indexer: Indexer::new(mode, limits, 0),
            frames: Vec::new(),
            errors: 0,
            tree: RefCell::new(None),
            checkpoints: RefCell::new(None),
        })
    }

    /// Replaces all bytes, without decoding them yet.
    ///
    /// # Errors
    /// If there are 2 GiB or more, which is too much for the offsets.
    pub fn set_bytes(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        check_len(bytes.len())?;
        self.bytes = bytes;
        self.mode = self.wanted.unwrap_or_else(|| guess_mode(&self.bytes));
        self.forget(0);
        Ok(())
    }

    /// Appends bytes, as a socket does. Decoding continues where it stopped.
    ///
    /// # Errors
    /// If there would be 2 GiB or more.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), String> {
        check_len(self.bytes.len().saturating_add(bytes.len()))?;
        if self.bytes.is_empty() {
            return self.set_bytes(bytes.to_vec());
        }
        let end = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        // A frame with an error that ended at the end of the bytes may now extend further.
        let from = self.settled_before(self.frames.len(), end);
        if from < self.frames.len() {
            self.forget(self.frames[from].start());
        }
        Ok(())
    }

    /// Replaces `len` bytes at `at` by `with`, and returns where decoding must continue: the start
    /// of the changed frame. Everything before it stays decoded.
    ///
    /// # Errors
    /// If there are no such bytes, or there would be 2 GiB or more.
    pub fn replace(&mut self, at: usize, len: usize, with: &[u8]) -> Result<usize, String> {
        let end = at.checked_add(len).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or("the document is shorter than that")?;
        check_len((self.bytes.len() - len).saturating_add(with.len()))?;
        self.bytes.splice(at..end, with.iter().copied());
        let touched = self.frames.partition_point(|frame| frame.end() < at);
        let from = self.settled_before(touched, at);
        if let Some(frame) = self.frames.get(from) {
            self.forget(frame.start());
        } else {
            self.clear_caches();
        }
        Ok(self.decoded())
    }

    /// The bytes from `from` up to `to`, or up to the end.
    #[must_use]
    pub fn bytes(&self, from: usize, to: usize) -> &[u8] {
        let to = to.min(self.bytes.len());
        &self.bytes[from.min(to)..to]
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The current mode.
    #[must_use]
    pub fn mode(&self) -> u32 {
        mode_number(self.mode)
    }

    /// The current limits.
    #[must_use]
    pub fn limits(&self) -> u32 {
        self.preset
    }

    /// Decodes the bytes again in this mode, from the start.
    ///
    /// # Errors
    /// If there is no such mode.
    pub fn set_mode(&mut self, mode: u32) -> Result<(), String> {
        self.wanted = mode_of(mode)?;
        self.mode = self.wanted.unwrap_or_else(|| guess_mode(&self.bytes));
        self.forget(0);
        Ok(())
    }

    /// Decodes the bytes again under these limits, from the start.
    ///
    /// # Errors
    /// If there is no such preset.
    pub fn set_limits(&mut self, preset: u32) -> Result<(), String> {
        self.limits = limits_of(preset)?;
        self.preset = preset;
        self.forget(0);
        Ok(())
    }

    /// Decodes about `budget` more bytes, and returns the number of decoded bytes:
    /// [`Document::len`] if decoding is complete. To cancel, stop calling.
    pub fn parse(&mut self, budget: usize) -> usize {
        self.clear_caches();
        // Decoding continues within that frame, and lists it again if it is still incomplete.
        self.frames.pop_if(|last| last.is_torn());
        let before = self.frames.len();
        let decoded = self.indexer.run(&self.bytes, budget, &mut self.frames);
        self.errors += count_bad(&self.frames[before..]);
        decoded
    }

    /// The number of decoded frames, which cover the decoded bytes without gaps.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// The number of frames with errors.
    #[must_use]
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// The frames of this range, [`FRAME_WORDS`] words each: status, kind and flags; start; end;
    /// the number of the command's name + 1.
    #[must_use]
    pub fn frames(&self, from: usize, to: usize) -> Vec<u32> {
        let to = to.min(self.frames.len());
        let frames = &self.frames[from.min(to)..to];
        frames.iter().flat_map(Frame::row).collect()
    }

    /// The number of the frame that holds this byte; after the end, of the last frame.
    #[must_use]
    pub fn frame_at(&self, offset: usize) -> usize {
        let after = self.frames.partition_point(|frame| frame.end() <= offset);
        after.min(self.frames.len().saturating_sub(1))
    }

    /// The current mode, as a type of the codec.
    pub(crate) fn mode_in_force(&self) -> Mode {
        self.mode
    }

    /// The bytes of a complete frame.
    pub(crate) fn whole(&self, index: usize) -> Result<&[u8], String> {
        let frame = self.frame(index)?;
        if frame.status() != FrameStatus::Whole {
            return Err("the frame is not whole".to_owned());
        }
        Ok(&self.bytes[frame.start()..frame.end()])
    }

    /// The bytes from `from` up to `to`, read as MessagePack.
    #[must_use]
    pub fn msgpack(&self, from: usize, to: usize) -> MsgPack {
        msgpack(self.bytes(from, to), from)
    }

    /// The number of decoded bytes.
    fn decoded(&self) -> usize {
        self.frames.last().map_or(0, Frame::end)
    }

    /// The number of frames before `index` that do not change if bytes from `at` on do. The search
    /// for the end of a frame with an error examines one more byte; the incomplete frame after it
    /// may begin there.
    fn settled_before(&self, index: usize, at: usize) -> usize {
        let mut index = index;
        while let Some(frame) = index.checked_sub(1).map(|last| &self.frames[last])
            && (frame.is_unsettled(at) || (frame.is_torn() && frame.end() - frame.start() < 2))
        {
            index -= 1;
        }
        index
    }

    /// Drops the frames from the one that begins at `start` on.
    fn forget(&mut self, start: usize) {
        self.clear_caches();
        let keep = self.frames.partition_point(|frame| frame.end() <= start);
        self.errors -= count_bad(&self.frames[keep..]);
        self.frames.truncate(keep);
        self.indexer = Indexer::new(self.mode, self.limits, self.decoded());
    }

    /// Drops the cached tree and checkpoints.
    fn clear_caches(&mut self) {
        self.tree.take();
        self.checkpoints.take();
    }

    /// The frame with this number.
    fn frame(&self, index: usize) -> Result<&Frame, String> {
        let found = self.frames.get(index);
        found.ok_or_else(|| format!("there is no frame {index}"))
    }

    /// Calls `look` with a frame's tree, which is built unless it is the cached one.
    fn with_tree<T>(&self, index: usize, look: impl FnOnce(&Tree) -> T) -> Result<T, String> {
        let frame = self.frame(index)?;
        let mut cached = self.tree.borrow_mut();
        let tree = match &mut *cached {
            Some((number, tree)) if *number == index => tree,
            other => {
                let tree = Tree::new(&self.bytes, frame, self.mode, &self.limits);
                &mut other.insert((index, tree)).1
            }
        };
        Ok(look(tree))
    }
}

fn count_bad(frames: &[Frame]) -> usize {
    frames.iter().filter(|frame| frame.is_bad()).count()
}

/// Checks that spans and the codec's offsets fit 31 bits.
fn check_len(len: usize) -> Result<(), String> {
    if len > i32::MAX as usize {
        return Err("a document ends below 2 GiB".to_owned());
    }
    Ok(())
}
