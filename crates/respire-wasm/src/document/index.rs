//! Splits a document into frames, with the codec's own decoders.

use crate::names::command_number;
use crate::tables::{FrameStatus, NodeKind};
use resp_codec::annotate::{Mode, resync};
use resp_codec::binary::{ReplyDecoder, RequestDecoder};
use resp_codec::{Args, CommandDecoder, Error, FrameDecoder, Limits, Step};
use respire_engine::secret::has_secret;

/// A request that was sent as a line of text.
const INLINE: u8 = 1;
/// A request that contains a password.
const SECRET: u8 = 2;

/// One frame, or a run of empty requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    start: u32,
    end: u32,
    status: FrameStatus,
    about: FrameInfo,
}

/// The properties of a frame besides its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameInfo {
    kind: NodeKind,
    flags: u8,
    /// The number of the command's name + 1; 0 without a command.
    name: u16,
}

impl FrameInfo {
    const fn kind(kind: NodeKind) -> Self {
        Self {
            kind,
            flags: 0,
            name: 0,
        }
    }

    fn request(args: Args<'_>, is_inline: bool) -> Self {
        let name = args.get(0).and_then(command_number);
        let secret = has_secret(args);
        Self {
            kind: NodeKind::Command,
            flags: if is_inline { INLINE } else { 0 } | if secret { SECRET } else { 0 },
            name: name.map_or(0, |number| number + 1),
        }
    }
}

impl Frame {
    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    pub(super) fn end(&self) -> usize {
        self.end as usize
    }

    pub(super) fn status(&self) -> FrameStatus {
        self.status
    }

    pub(super) fn kind(&self) -> NodeKind {
        self.about.kind
    }

    pub(super) fn is_inline(&self) -> bool {
        self.about.flags & INLINE != 0
    }

    pub(super) fn has_secret(&self) -> bool {
        self.about.flags & SECRET != 0
    }

    /// The number of the command's name.
    pub(super) fn name(&self) -> Option<u16> {
        self.about.name.checked_sub(1)
    }

    pub(super) fn is_bad(&self) -> bool {
        self.status == FrameStatus::Bad
    }

    pub(super) fn is_torn(&self) -> bool {
        self.status == FrameStatus::Torn
    }

    /// Whether a change of bytes from `at` on may change where this frame with an error ends: the
    /// search for its end examines one more byte.
    pub(super) fn is_unsettled(&self, at: usize) -> bool {
        self.is_bad() && self.end() + 2 > at
    }

    /// The row of [`super::Document::frames`].
    pub(super) fn row(&self) -> [u32; super::FRAME_WORDS] {
        let FrameInfo { kind, flags, name } = self.about;
        let first = self.status as u32 | (kind as u32) << 8 | u32::from(flags) << 16;
        [first, self.start, self.end, u32::from(name)]
    }
}

/// A decoder of the codec, and how far it has decoded.
#[derive(Debug)]
pub(super) struct Indexer {
    mode: Mode,
    limits: Limits,
    decoder: Decoder,
    /// Where the current frame begins.
    start: usize,
    /// How many bytes the decoder has seen.
    seen: usize,
}

#[derive(Debug)]
pub(super) enum Decoder {
    Requests(CommandDecoder),
    Replies(FrameDecoder),
    BinaryRequests(RequestDecoder),
    BinaryReplies(ReplyDecoder),
}

/// The result of decoding some bytes.
#[derive(Debug)]
pub(super) enum Next {
    /// A frame after `blank` bytes of empty requests.
    Frame {
        blank: usize,
        len: usize,
        about: FrameInfo,
    },
    /// The bytes end within a frame that misses `need` bytes, or after empty requests.
    More { blank: usize, need: usize },
}

impl Decoder {
    pub(super) fn new(mode: Mode, limits: Limits) -> Self {
        match mode {
            Mode::Requests => Self::Requests(CommandDecoder::new(limits)),
            Mode::Replies => Self::Replies(FrameDecoder::new(limits)),
            Mode::BinaryRequests => Self::BinaryRequests(RequestDecoder::new(limits)),
            Mode::BinaryReplies => Self::BinaryReplies(ReplyDecoder::new(limits)),
        }
    }

    /// Decodes the next frame of `bytes`, which start where the last frame ended.
    pub(super) fn next(&mut self, bytes: &[u8]) -> Result<Next, Error> {
        let (consumed, found) = match self {
            Self::Requests(decoder) => match decoder.decode(bytes)? {
                Step::Ready { item, consumed } => {
                    let about = FrameInfo::request(item.args(), item.is_inline());
                    (consumed, Ok((item.wire().len(), about)))
                }
                Step::NeedMore { consumed, hint } => (consumed, Err(hint)),
            },
            Self::Replies(decoder) => match decoder.decode(bytes)? {
                Step::Ready { item, consumed } => (
                    consumed,
                    Ok((consumed, FrameInfo::kind(item.kind().into()))),
                ),
                Step::NeedMore { consumed, hint } => (consumed, Err(hint)),
            },
            Self::BinaryRequests(decoder) => match decoder.decode(bytes)? {
                Step::Ready { item, consumed } => (
                    consumed,
                    Ok((consumed, FrameInfo::request(item.args(), false))),
                ),
                Step::NeedMore { consumed, hint } => (consumed, Err(hint)),
            },
            Self::BinaryReplies(decoder) => match decoder.decode(bytes)? {
                Step::Ready { item, consumed } => (
                    consumed,
                    Ok((consumed, FrameInfo::kind(item.kind().into()))),
                ),
                Step::NeedMore { consumed, hint } => (consumed, Err(hint)),
            },
        };
        Ok(match found {
            Ok((len, about)) => Next::Frame {
                blank: consumed - len,
                len,
                about,
            },
            Err(need) => Next::More {
                blank: consumed,
                need,
            },
        })
    }
}

impl Indexer {
    /// An indexer whose next frame begins at `start`.
    pub(super) fn new(mode: Mode, limits: Limits, start: usize) -> Self {
        Self {
            mode,
            limits,
            decoder: Decoder::new(mode, limits),
            start,
            seen: start,
        }
    }

    /// Decodes about `budget` more bytes, and returns the end of the decoded bytes. A frame that is
    /// incomplete at the end of `bytes` is listed as such; remove it from the list before
    /// continuing.
    pub(super) fn run(&mut self, bytes: &[u8], budget: usize, frames: &mut Vec<Frame>) -> usize {
        let stop = self.seen.saturating_add(budget.max(1)).min(bytes.len());
        while self.start < stop {
            match self.decoder.next(&bytes[self.start..stop]) {
                Ok(Next::Frame { blank, len, about }) => {
                    self.blank(blank, frames);
                    self.push(len, FrameStatus::Whole, about, frames);
                }
                Ok(Next::More { blank, .. }) => {
                    self.blank(blank, frames);
                    if stop == bytes.len() && self.start < stop {
                        let about = FrameInfo::kind(self.kind_at(bytes));
                        let torn = FrameStatus::Torn;
                        frames.push(self.frame(stop - self.start, torn, about));
                    }
                    break;
                }
                Err(error) => {
                    let at = self.start + error.offset;
                    self.blank_before(&bytes[self.start..at], frames);
                    let end = resync(bytes, self.mode, at);
                    let about = FrameInfo::kind(self.kind_at(bytes));
                    self.push(end - self.start, FrameStatus::Bad, about, frames);
                    self.decoder = Decoder::new(self.mode, self.limits);
                }
            }
        }
        self.seen = stop.max(self.start);
        self.seen
    }

    /// Lists the empty requests at the start of `good`, the bytes before an error.
    fn blank_before(&mut self, good: &[u8], frames: &mut Vec<Frame>) {
        if let Ok(Next::More { blank, .. }) = Decoder::new(self.mode, self.limits).next(good) {
            self.blank(blank, frames);
        }
    }

    /// Lists empty requests, merged with those just before them.
    fn blank(&mut self, len: usize, frames: &mut Vec<Frame>) {
        if len == 0 {
            return;
        }
        match frames.last_mut() {
            Some(last) if last.status == FrameStatus::Blank => {
                last.end += len as u32;
                self.start += len;
            }
            _ => {
                let about = FrameInfo::kind(NodeKind::Command);
                self.push(len, FrameStatus::Blank, about, frames);
            }
        }
    }

    fn push(&mut self, len: usize, status: FrameStatus, about: FrameInfo, frames: &mut Vec<Frame>) {
        frames.push(self.frame(len, status, about));
        self.start += len;
    }

    fn frame(&self, len: usize, status: FrameStatus, about: FrameInfo) -> Frame {
        Frame {
            start: self.start as u32,
            end: (self.start + len) as u32,
            status,
            about,
        }
    }

    /// The kind of the current frame according to its first byte.
    fn kind_at(&self, bytes: &[u8]) -> NodeKind {
        match self.mode {
            Mode::Requests | Mode::BinaryRequests => NodeKind::Command,
            Mode::Replies | Mode::BinaryReplies => NodeKind::of_type_byte(bytes[self.start]),
        }
    }
}
