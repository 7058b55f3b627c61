//! Cuts one direction of one connection into whole frames, from the copies of its reads or writes.

use crate::secrets::{LIMITS, Secrets};
use crate::torn;
use resp_codec::annotate::Mode;
use resp_codec::binary::{ReplyDecoder, RequestDecoder, decode_plain};
use resp_codec::{CommandDecoder, FrameDecoder, Step};
use respire_net::tap::{Copy, Gap, Why};
use std::collections::VecDeque;
use std::ops::Range;

/// Larger frames are not shown.
pub(crate) const FRAME_BYTES_MAX: usize = 64 << 10;

/// The most bytes of incomplete frames, over all connections. The decoders' state for them takes at
/// most a dozen times that.
pub(crate) const HELD_BYTES_MAX: usize = 2 << 20;

/// The most requests of the binary protocol that may wait for their replies.
const FORMS_MAX: usize = 1 << 16;

/// Bytes that are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) bytes: u64,
    pub(crate) why: Cause,
}

/// Why bytes are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    BeganInTheMiddle,
    TooFast,
    TooLarge,
    /// It is unclear which of the bytes belong to a password.
    Doubtful,
}

impl Cause {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::BeganInTheMiddle => "began in the middle",
            Self::TooFast => "too fast",
            Self::TooLarge => "too large",
            Self::Doubtful => "may hold a password",
        }
    }
}

/// A piece of output of a direction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Whole frames, or one that stays incomplete, without passwords; and the offsets at which
    /// reads or writes ended.
    Shown {
        bytes: Vec<u8>,
        cuts: Vec<u32>,
    },
    Lost(Lost),
}

/// What the directions share while they take a copy.
pub(crate) struct Context<'c> {
    pub(crate) secrets: &'c Secrets,
    /// For each request of the binary protocol that waits for its reply: whether the reply is
    /// tagged.
    pub(crate) forms: &'c mut VecDeque<bool>,
    /// Bytes buffered by all directions.
    pub(crate) held: &'c mut usize,
    pub(crate) pieces: &'c mut Vec<Piece>,
}

/// One direction of a connection: requests or replies.
#[derive(Debug)]
pub(crate) struct Direction {
    is_client: bool,
    is_binary: bool,
    /// Decodes the frame at the start of `held`; `None` between frames.
    decoder: Option<Box<Decoder>>,
    /// The beginning of a frame.
    held: Vec<u8>,
    /// The offsets in `held` at which reads or writes ended.
    cuts: Vec<u32>,
    /// Bytes that are not shown, until a copy begins a frame.
    lost: Option<Lost>,
}

#[derive(Debug)]
enum Decoder {
    Requests(CommandDecoder),
    Replies(FrameDecoder),
    BinaryRequests(RequestDecoder),
    BinaryReplies(ReplyDecoder),
}

/// What the buffered bytes begin with.
enum Decoded {
    /// A frame of this many bytes.
    Whole(usize),
    /// The last frame of this many bytes: nothing after it is decoded.
    Last(usize),
    /// This many bytes that belong to no frame, and then an incomplete frame.
    Short(usize),
    /// Bytes that are no frame.
    Wrong,
}

impl Direction {
    pub(crate) fn new(is_client: bool) -> Self {
        Self {
            is_client,
            is_binary: false,
            decoder: None,
            held: Vec::new(),
            cuts: Vec::new(),
            lost: None,
        }
    }

    pub(crate) fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// Takes a copy and emits the frames that are complete. Returns `true` if no more copies are
    /// wanted until the next frame begins.
    pub(crate) fn take(&mut self, copy: &Copy, cx: &mut Context<'_>) -> bool {
        self.is_binary = copy.is_binary;
        if let Some(gap) = copy.gap {
            self.begin(gap, cx);
        }
        if let Some(lost) = &mut self.lost {
            lost.bytes += copy.bytes.len() as u64;
            return false;
        }
        if *cx.held + copy.bytes.len() > HELD_BYTES_MAX {
            self.lose(Cause::TooFast, cx);
            self.count_lost(copy.bytes.len());
            return true;
        }
        let before = self.held.len();
        self.held.extend_from_slice(&copy.bytes);
        self.cuts.push(self.held.len() as u32);
        *cx.held += copy.bytes.len();
        self.cut(cx);
        *cx.held -= before + copy.bytes.len() - self.held.len();
        self.lost.is_some()
    }

    /// Drops bytes until a copy begins a frame.
    pub(crate) fn lose(&mut self, why: Cause, cx: &mut Context<'_>) {
        *cx.held -= self.held.len();
        self.give_up(why);
    }

    /// Call this at the end of the stream.
    pub(crate) fn end(&mut self, cx: &mut Context<'_>) {
        *cx.held -= self.held.len();
        if let Some(lost) = self.lost.take() {
            cx.pieces
                .extend((lost.bytes > 0).then_some(Piece::Lost(lost)));
        } else if !self.held.is_empty() {
            self.show_torn(0, cx);
        }
        self.forget();
    }

    /// Starts over: the next copy begins a frame.
    fn begin(&mut self, gap: Gap, cx: &mut Context<'_>) {
        *cx.held -= self.held.len();
        let held = self.held.len() as u64;
        let lost = self.lost.take().unwrap_or(Lost {
            bytes: held,
            why: match gap.why {
                Why::BeganInTheMiddle => Cause::BeganInTheMiddle,
                Why::TooFast | Why::Unwanted => Cause::TooFast,
            },
        });
        let bytes = lost.bytes + gap.bytes;
        if bytes > 0 {
            cx.pieces.push(Piece::Lost(Lost { bytes, ..lost }));
        }
        self.forget();
        if self.is_client {
            cx.forms.clear();
        }
    }

    /// Emits the complete frames and keeps the rest.
    fn cut(&mut self, cx: &mut Context<'_>) {
        let (mut from, mut at) = (0, 0);
        let mut hidden = Vec::new();
        while at < self.held.len() {
            let found = self.decode(at, cx, &mut hidden);
            for range in hidden.drain(..) {
                self.held[at..][range].fill(b'*');
            }
            match found {
                Decoded::Whole(len) if len > FRAME_BYTES_MAX => {
                    self.show(from..at, cx.pieces);
                    let (bytes, why) = (len as u64, Cause::TooLarge);
                    cx.pieces.push(Piece::Lost(Lost { bytes, why }));
                    at += len;
                    from = at;
                }
                Decoded::Whole(len) => at += len,
                Decoded::Last(len) => {
                    self.show(from..at + len, cx.pieces);
                    hide(self.held.len() - at - len, cx.pieces);
                    return self.give_up(Cause::Doubtful);
                }
                Decoded::Wrong => {
                    self.show(from..at, cx.pieces);
                    if self.is_client {
                        self.show_torn(at, cx);
                    } else {
                        hide(self.held.len() - at, cx.pieces);
                    }
                    return self.give_up(Cause::Doubtful);
                }
                Decoded::Short(len) => {
                    at += len;
                    break;
                }
            }
        }
        self.show(from..at, cx.pieces);
        let left = self.held.len() - at;
        if left > FRAME_BYTES_MAX || cx.forms.len() > FORMS_MAX {
            self.give_up(Cause::TooLarge);
            self.count_lost(left);
            return;
        }
        self.held.drain(..at);
        self.cuts.retain(|cut| *cut as usize > at);
        self.cuts.iter_mut().for_each(|cut| *cut -= at as u32);
        if self.held.is_empty() {
            self.forget();
        }
    }

    /// Decodes the frame at `at`, and adds the ranges of its passwords to `hidden`.
    fn decode(
        &mut self,
        at: usize,
        cx: &mut Context<'_>,
        hidden: &mut Vec<Range<usize>>,
    ) -> Decoded {
        let kind = (self.is_client, self.is_binary);
        let decoder = self.decoder.get_or_insert_with(|| Decoder::new(kind));
        let bytes = &self.held[at..];
        match &mut **decoder {
            Decoder::Requests(decoder) => requests(decoder, bytes, cx.secrets, hidden),
            Decoder::BinaryRequests(decoder) => match decoder.decode(bytes) {
                Ok(Step::Ready { item, consumed }) => {
                    let form = (item.wire(), false);
                    cx.secrets.in_request(item.args(), form, hidden);
                    cx.forms.push_back(item.is_tagged());
                    Decoded::Whole(consumed)
                }
                Ok(Step::NeedMore { consumed, .. }) => Decoded::Short(consumed),
                Err(_) => Decoded::Wrong,
            },
            Decoder::Replies(decoder) => {
                let found = classify(decoder.decode(bytes));
                if let Decoded::Whole(len) = found {
                    cx.secrets.in_reply(&bytes[..len], Mode::Replies, hidden);
                }
                found
            }
            // A protocol error is always a tagged reply, whatever the request was.
            Decoder::BinaryReplies(decoder) => match cx.forms.front() {
                Some(false) => untagged(bytes, cx, hidden),
                _ => {
                    let found = classify(decoder.decode(bytes));
                    if let Decoded::Whole(len) = found {
                        cx.secrets
                            .in_reply(&bytes[..len], Mode::BinaryReplies, hidden);
                        cx.forms.pop_front();
                    }
                    found
                }
            },
        }
    }

    /// Shows the part of an incomplete frame from `at` on that certainly holds no password.
    fn show_torn(&mut self, at: usize, cx: &mut Context<'_>) {
        let mode = match (self.is_client, self.is_binary) {
            (true, false) => Mode::Requests,
            (true, true) => Mode::BinaryRequests,
            (false, false) => Mode::Replies,
            (false, true) => Mode::BinaryReplies,
        };
        let bytes = &mut self.held[at..];
        let is_plain = mode == Mode::BinaryReplies && cx.forms.front() == Some(&false);
        let most = match mode {
            _ if is_plain && cx.secrets.ends_in_password(bytes) => bytes.len().min(4),
            _ if is_plain => bytes.len(),
            Mode::Requests | Mode::BinaryRequests => torn::request(cx.secrets, bytes, mode),
            Mode::Replies | Mode::BinaryReplies => torn::reply(cx.secrets, bytes, mode),
        };
        // An invalid frame may hold a password where its length should be.
        let most = cx.secrets.before_password(&bytes[..most]);
        self.show(at..at + most, cx.pieces);
        hide(self.held.len() - at - most, cx.pieces);
    }

    fn show(&self, range: Range<usize>, pieces: &mut Vec<Piece>) {
        if range.is_empty() {
            return;
        }
        let within = |cut: &&u32| (range.start + 1..=range.end).contains(&(**cut as usize));
        let cuts = self.cuts.iter().filter(within);
        pieces.push(Piece::Shown {
            cuts: cuts.map(|cut| cut - range.start as u32).collect(),
            bytes: self.held[range].to_vec(),
        });
    }

    fn give_up(&mut self, why: Cause) {
        let bytes = 0;
        self.forget();
        self.lost = Some(Lost { bytes, why });
    }

    fn count_lost(&mut self, bytes: usize) {
        if let Some(lost) = &mut self.lost {
            lost.bytes += bytes as u64;
        }
    }

    /// Drops the decoder and frees the buffers, as between frames.
    fn forget(&mut self) {
        self.decoder = None;
        self.held = Vec::new();
        self.cuts = Vec::new();
    }
}

/// Reports bytes that are hidden because their meaning is unknown.
fn hide(bytes: usize, pieces: &mut Vec<Piece>) {
    let (bytes, why) = (bytes as u64, Cause::Doubtful);
    pieces.extend((bytes > 0).then_some(Piece::Lost(Lost { bytes, why })));
}

impl Decoder {
    fn new((is_client, is_binary): (bool, bool)) -> Box<Self> {
        Box::new(match (is_client, is_binary) {
            (true, false) => Self::Requests(CommandDecoder::new(LIMITS)),
            (true, true) => Self::BinaryRequests(RequestDecoder::new(LIMITS)),
            (false, false) => Self::Replies(FrameDecoder::new(LIMITS)),
            (false, true) => Self::BinaryReplies(ReplyDecoder::new(LIMITS)),
        })
    }
}

fn classify<T>(decoded: Result<Step<T>, resp_codec::Error>) -> Decoded {
    match decoded {
        Ok(Step::Ready { consumed, .. }) => Decoded::Whole(consumed),
        Ok(Step::NeedMore { consumed, .. }) => Decoded::Short(consumed),
        Err(_) => Decoded::Wrong,
    }
}

fn requests(
    decoder: &mut CommandDecoder,
    bytes: &[u8],
    secrets: &Secrets,
    hidden: &mut Vec<Range<usize>>,
) -> Decoded {
    let decoded = decoder.decode(bytes);
    let Ok(Step::Ready { item, consumed }) = decoded else {
        return classify(decoded);
    };
    secrets.in_request(item.args(), (item.wire(), item.is_inline()), hidden);
    // `consumed` includes empty requests before this one.
    let start = consumed - item.wire().len();
    for range in hidden.iter_mut() {
        *range = range.start + start..range.end + start;
    }
    // This is HTTP from a browser: the server closes the connection, and the bytes that follow may
    // be secrets of the browser.
    let is_http = [&b"post"[..], b"host:"]
        .iter()
        .any(|name| item.name().eq_ignore_ascii_case(name));
    if is_http {
        Decoded::Last(consumed)
    } else {
        Decoded::Whole(consumed)
    }
}

/// Decodes an untagged reply of the binary protocol.
fn untagged(bytes: &[u8], cx: &mut Context<'_>, hidden: &mut Vec<Range<usize>>) -> Decoded {
    let decoded = decode_plain(bytes, &LIMITS);
    if let Ok(Step::Ready { item, consumed }) = &decoded {
        if cx.secrets.contains_password(item) {
            hidden.push(consumed - item.len()..*consumed);
        }
        cx.forms.pop_front();
    }
    classify(decoded)
}

#[cfg(test)]
mod tests;
