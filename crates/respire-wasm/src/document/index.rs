//! Cutting a document into frames, with the codec's own decoders.

use crate::names::command_number;
use crate::tables::{FrameStatus, NodeKind};
use resp_codec::annotate::{Mode, resync};
use resp_codec::binary::{ReplyDecoder, RequestDecoder};
use resp_codec::{Args, CommandDecoder, Error, FrameDecoder, Limits, Step};
use respire_engine::secret::has_secret;

/// A request that came as a line of text.
const INLINE: u8 = 1;
/// A request that carries a password.
const SECRET: u8 = 2;

/// One frame, or a run of empty requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    start: u32,
    end: u32,
    status: FrameStatus,
    about: About,
}

/// What is kept of a frame besides its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct About {
    kind: NodeKind,
    flags: u8,
    /// The number of the command's name + 1; 0 for none.
    name: u16,
}

impl About {
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

    /// Whether bytes that change at `at` or behind may change where this bad run ends: the search
    /// for its end looks one byte ahead.
    pub(super) fn is_unsettled(&self, at: usize) -> bool {
        self.is_bad() && self.end() + 2 > at
    }

    /// The words of [`super::Document::frames`].
    pub(super) fn row(&self) -> [u32; super::FRAME_WORDS] {
        let About { kind, flags, name } = self.about;
        let first = self.status as u32 | (kind as u32) << 8 | u32::from(flags) << 16;
        [first, self.start, self.end, u32::from(name)]
    }
}

/// A decoder of the codec, and how far it has come.
#[derive(Debug)]
pub(super) struct Indexer {
    mode: Mode,
    limits: Limits,
    decoder: Decoder,
    /// Where the frame at hand begins.
    start: usize,
    /// How far the decoder has looked.
    seen: usize,
}

#[derive(Debug)]
pub(super) enum Decoder {
    Requests(CommandDecoder),
    Replies(FrameDecoder),
    BinaryRequests(RequestDecoder),
    BinaryReplies(ReplyDecoder),
}

/// What a decoder made of the bytes it was given.
#[derive(Debug)]
pub(super) enum Next {
    /// A frame behind so many bytes of empty requests.
    Frame {
        blank: usize,
        len: usize,
        about: About,
    },
    /// The bytes end within a frame that lacks so many, or behind empty requests.
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
                    let about = About::request(item.args(), item.is_inline());
                    (consumed, Ok((item.wire().len(), about)))
                }
                Step::NeedMore { consumed, hint } => (consumed, Err(hint)),
            },
            Self::Replies(decoder) => match decoder.decode(bytes)? {
                Step::Ready { item, consumed } => {
                    (consumed, Ok((consumed, About::kind(item.kind().into()))))
                }
                Step::NeedMore { consumed, hint } => (consumed, Err(hint)),
            },
            Self::BinaryRequests(decoder) => match decoder.decode(bytes)? {
                Step::Ready { item, consumed } => {
                    (consumed, Ok((consumed, About::request(item.args(), false))))
                }
                Step::NeedMore { consumed, hint } => (consumed, Err(hint)),
            },
            Self::BinaryReplies(decoder) => match decoder.decode(bytes)? {
                Step::Ready { item, consumed } => {
                    (consumed, Ok((consumed, About::kind(item.kind().into()))))
                }
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

    /// Goes on for about `budget` bytes, and returns how far it has come. A frame that is torn at
    /// the end of `bytes` is listed as such; it has to be taken off the list before going on.
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
                        let about = About::kind(self.kind_at(bytes));
                        let torn = FrameStatus::Torn;
                        frames.push(self.frame(stop - self.start, torn, about));
                    }
                    break;
                }
                Err(error) => {
                    let at = self.start + error.offset;
                    self.blank_before(&bytes[self.start..at], frames);
                    let end = resync(bytes, self.mode, at);
                    let about = About::kind(self.kind_at(bytes));
                    self.push(end - self.start, FrameStatus::Bad, about, frames);
                    self.decoder = Decoder::new(self.mode, self.limits);
                }
            }
        }
        self.seen = stop.max(self.start);
        self.seen
    }

    /// Lists the empty requests at the start of `good`, which ends in an error.
    fn blank_before(&mut self, good: &[u8], frames: &mut Vec<Frame>) {
        if let Ok(Next::More { blank, .. }) = Decoder::new(self.mode, self.limits).next(good) {
            self.blank(blank, frames);
        }
    }

    /// Lists empty requests, with those just before them.
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
                let about = About::kind(NodeKind::Command);
                self.push(len, FrameStatus::Blank, about, frames);
            }
        }
    }

    fn push(&mut self, len: usize, status: FrameStatus, about: About, frames: &mut Vec<Frame>) {
        frames.push(self.frame(len, status, about));
        self.start += len;
    }

    fn frame(&self, len: usize, status: FrameStatus, about: About) -> Frame {
        Frame {
            start: self.start as u32,
            end: (self.start + len) as u32,
            status,
            about,
        }
    }

    /// What the first byte of the frame at hand says it is.
    fn kind_at(&self, bytes: &[u8]) -> NodeKind {
        match self.mode {
            Mode::Requests | Mode::BinaryRequests => NodeKind::Command,
            Mode::Replies | Mode::BinaryReplies => NodeKind::of_type_byte(bytes[self.start]),
        }
    }
}
