//! The resumable decoder of replies.

use alloc::vec::Vec;

use super::short::{Bounds, short_open, short_value};
use super::{Frame, Node, Part};
use crate::error::{Error, ErrorKind};
use crate::grammar::{Crlf, crlf};
use crate::kind::Kind;
use crate::limits::Limits;
use crate::nesting::Nesting;
use crate::step::Step;
use crate::token::{Dialect, Rules, Token, token};

/// Decodes replies and pushes of RESP2 and RESP3, one frame at a time.
///
/// Any split of the input gives the same frames at the same cost; nothing recurses at any depth.
/// The decoder does not allocate once it has decoded its largest frame. After an error it keeps
/// failing until [`FrameDecoder::reset`].
///
/// A [push](Frame::is_push) answers no request, not even `SUBSCRIBE`.
///
/// ```
/// use resp_codec::{FrameDecoder, Kind, Limits, Step};
/// let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// let step = decoder.decode(b"%1\r\n+pi\r\n,3.14\r\n:1\r\n").unwrap();
/// let Step::Ready { item: frame, consumed: 16 } = step else { panic!("a whole map") };
/// assert_eq!(frame.kind(), Kind::Map);
/// let (key, value) = frame.pairs().next().unwrap();
/// assert_eq!((key.str(), value.double()), (Some("pi"), Some(3.14)));
/// ```
#[derive(Clone, Debug)]
pub struct FrameDecoder {
    rules: Rules,
    pub(crate) nodes: Vec<Node>,
    nesting: Nesting,
    progress: Progress,
}

/// How far the current frame is decoded. Offsets count from its first byte.
#[derive(Clone, Copy, Debug)]
struct Progress {
    phase: Phase,
    at: usize,
    /// The current payload, if its header has been read.
    pending: Option<Payload>,
    /// The buffer must have this length before it is worth scanning again.
    need: usize,
    /// The buffer length at which the current token ends, as far as is known.
    goal: usize,
    /// Where the search for a line end stopped.
    scanned: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Start,
    Within,
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct Payload {
    kind: Kind,
    part: Part,
    at: usize,
    len: u32,
}

/// The result of one scan of the buffer.
enum Scan {
    Done(usize),
    /// The buffer must have length `need` before it is worth scanning again, and length `goal` to
    /// complete the token.
    Short {
        need: usize,
        goal: usize,
    },
}

/// Where decoding continues, or the result if it does not.
enum Next {
    At(usize),
    Scan(Scan),
}

impl Progress {
    const START: Self = Self {
        phase: Phase::Start,
        at: 0,
        pending: None,
        need: 1,
        goal: 1,
        scanned: 0,
    };
}

impl FrameDecoder {
    /// A decoder at the start of a connection, for everything that the specification allows. Does
    /// not allocate.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"+OK\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.str(), Some("OK"));
    /// ```
    pub const fn new(limits: Limits) -> Self {
        Self::with_dialect(limits, Dialect::SPEC)
    }

    /// A decoder that accepts only what `dialect` allows.
    ///
    /// ```
    /// use resp_codec::{Dialect, FrameDecoder, Limits};
    /// let mut strict = FrameDecoder::with_dialect(Limits::CLIENT, Dialect::CANONICAL);
    /// assert!(strict.decode(b":007\r\n").is_err());
    /// ```
    pub const fn with_dialect(limits: Limits, dialect: Dialect) -> Self {
        let rules = Rules { limits, dialect };
        Self {
            rules,
            nodes: Vec::new(),
            nesting: Nesting::new(),
            progress: Progress::START,
        }
    }

    /// The limits in force.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// assert_eq!(FrameDecoder::new(Limits::CLIENT).limits().max_depth, 128);
    /// ```
    pub const fn limits(&self) -> &Limits {
        &self.rules.limits
    }

    /// Discards a partial frame or a failure: the next buffer begins with a new frame.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// assert!(decoder.decode(b"?").is_err());
    /// assert!(decoder.decode(b"_\r\n").is_err(), "it stays failed");
    /// decoder.reset();
    /// assert!(decoder.decode(b"_\r\n").is_ok());
    /// ```
    pub const fn reset(&mut self) {
        self.progress = Progress::START;
    }

    /// Frees the memory of a large frame, if the decoder stands between frames.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let large = [&b"*9999\r\n"[..], &b"_\r\n".repeat(9999)].concat();
    /// let _ = decoder.decode(&large).unwrap();
    /// // Do not keep the tape of 10 000 nodes for the rest of the connection.
    /// decoder.shrink();
    /// assert!(decoder.decode(b"_\r\n").unwrap().ready().unwrap().is_null());
    /// ```
    pub fn shrink(&mut self) {
        if self.progress.phase == Phase::Start {
            self.nodes = Vec::new();
            self.nesting = Nesting::new();
        }
    }

    /// Whether the last buffer ended within a frame.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let _ = decoder.decode(b"*1\r\n").unwrap();
    /// assert!(decoder.is_partial(), "the server must not close now");
    /// let _ = decoder.decode(b"*1\r\n_\r\n").unwrap();
    /// assert!(!decoder.is_partial());
    /// ```
    pub fn is_partial(&self) -> bool {
        self.progress.phase == Phase::Within
    }

    /// Decodes the next frame of `buf`, which starts where the last call's `consumed` ended.
    ///
    /// Examines each byte of the framing and of lines once, and no byte of payloads. A call without
    /// enough new bytes costs O(1).
    ///
    /// ```
    /// use resp_codec::{FrameDecoder, Limits, Step};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let (mut input, mut sum) = (&b":1\r\n:2\r\n:3"[..], 0);
    /// while let Step::Ready { item: frame, consumed } = decoder.decode(input)? {
    ///     sum += frame.int().unwrap_or_default();
    ///     input = &input[consumed..];
    /// }
    /// assert_eq!(sum, 3);
    /// // Read more after these bytes, and call again.
    /// assert_eq!(input, b":3");
    /// # Ok::<(), resp_codec::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] with the offset into `buf`. The rest of the stream cannot be trusted: close the
    /// connection.
    #[inline]
    pub fn decode<'s, 'b>(&'s mut self, buf: &'b [u8]) -> Result<Step<Frame<'s, 'b>>, Error> {
        match self.scan(buf) {
            Ok(Scan::Done(end)) => {
                self.progress = Progress::START;
                Ok(Step::Ready {
                    item: Frame::root(&buf[..end], &self.nodes),
                    consumed: end,
                })
            }
            Ok(Scan::Short { need, goal }) => {
                self.progress.need = need;
                self.progress.goal = goal;
                Ok(Step::NeedMore {
                    consumed: 0,
                    hint: goal - buf.len(),
                })
            }
            Err(error) => {
                self.progress.phase = Phase::Failed;
                Err(error)
            }
        }
    }

    /// The last decoded frame, as a view of a copy of its bytes.
    #[cfg(feature = "codec")]
    pub(crate) fn last<'s, 'b>(&'s self, bytes: &'b [u8]) -> Frame<'s, 'b> {
        Frame::root(bytes, &self.nodes)
    }

    fn scan(&mut self, buf: &[u8]) -> Result<Scan, Error> {
        let Progress { need, goal, .. } = self.progress;
        if buf.len() < need {
            return Ok(Scan::Short { need, goal });
        }
        match self.progress.phase {
            Phase::Start => {
                self.nodes.clear();
                self.nesting.clear();
                self.progress.phase = Phase::Within;
            }
            Phase::Within => {}
            Phase::Failed => return Err(Error::new(ErrorKind::Poisoned, 0)),
        }
        let mut at = self.progress.at;
        if let Some(payload) = self.progress.pending {
            match self.payload(buf, payload)? {
                Next::At(next) => at = next,
                Next::Scan(look) => return Ok(look),
            }
            self.progress.pending = None;
        }
        let bounds = Bounds::new(&self.rules.limits);
        loop {
            at = self.short_values(buf, at, bounds);
            if self.nesting.is_complete() {
                match self.close(at) {
                    Next::At(next) => at = next,
                    Next::Scan(look) => return Ok(look),
                }
                continue;
            }
            if at as u64 > bounds.frame_bytes {
                return Err(Error::new(ErrorKind::FrameTooBig, at));
            }
            if let Some((kind, elements, end)) = short_open(buf, at, &self.rules) {
                self.nesting.begin(kind, at, &self.rules.limits)?;
                match self.open(kind, Some(elements), at, end)? {
                    Next::At(next) => at = next,
                    Next::Scan(look) => return Ok(look),
                }
                continue;
            }
            let Some(token) = token(buf, at, &mut self.progress.scanned, &self.rules)? else {
                self.progress.at = at;
                return Ok(Scan::Short {
                    need: buf.len() + 1,
                    goal: buf.len() + 1,
                });
            };
            match self.accept(buf, at, token)? {
                Next::At(next) => at = next,
                Next::Scan(look) => return Ok(look),
            }
        }
    }

    /// Reads the short values at `at` up to the end of the innermost aggregate, and returns where
    /// they end.
    ///
    /// Not inlined, so that the variables of the loop stay in registers.
    #[inline(never)]
    fn short_values(&mut self, buf: &[u8], mut at: usize, bounds: Bounds) -> usize {
        let most = self.nesting.plain_left(&self.rules.limits);
        let mut taken = 0;
        while taken < most {
            let Some(short) = short_value(buf, at, bounds) else {
                break;
            };
            let len = short.len as u32;
            self.nodes
                .push(Node::new(short.kind, Part::Value, short.at, len));
            at = short.end;
            taken += 1;
        }
        self.nesting.take_plain(taken);
        at
    }

    #[inline(always)]
    fn accept(&mut self, buf: &[u8], at: usize, token: Token) -> Result<Next, Error> {
        let limits = &self.rules.limits;
        match token {
            Token::Line {
                kind,
                at: text,
                len,
            } => {
                self.nesting.begin(kind, at, limits)?;
                self.nodes
                    .push(Node::new(kind, Part::Value, text, len as u32));
                Ok(self.finish(text + len + 2))
            }
            Token::Blob {
                kind,
                at: start,
                len,
            } => {
                self.nesting.begin(kind, at, limits)?;
                self.payload(
                    buf,
                    Payload {
                        kind,
                        part: Part::Value,
                        at: start,
                        len,
                    },
                )
            }
            Token::Null { form, end } => {
                self.nesting.begin(Kind::Null, at, limits)?;
                self.nodes.push(Node::null(form, at, end));
                Ok(self.finish(end))
            }
            Token::Open {
                kind,
                elements,
                end,
            } => {
                self.nesting.begin(kind, at, limits)?;
                self.open(kind, elements, at, end)
            }
            other => self.accept_streamed(buf, at, other),
        }
    }

    #[inline]
    fn open(
        &mut self,
        kind: Kind,
        elements: Option<u32>,
        at: usize,
        end: usize,
    ) -> Result<Next, Error> {
        let mark = self.nodes.len() as u32;
        let part = if elements.is_some() {
            Part::Value
        } else {
            Part::Streamed
        };
        self.nodes
            .push(Node::new(kind, part, end, elements.unwrap_or(0)));
        if elements != Some(0) {
            self.nesting
                .open(kind, elements, mark, at, &self.rules.limits)?;
            return Ok(Next::At(end));
        }
        if kind == Kind::Attribute {
            self.nesting.attributed();
            return Ok(Next::At(end));
        }
        Ok(self.finish(end))
    }

    fn accept_streamed(&mut self, buf: &[u8], at: usize, token: Token) -> Result<Next, Error> {
        let limits = &self.rules.limits;
        match token {
            Token::Stream { end } => {
                self.nesting.begin(Kind::Bulk, at, limits)?;
                self.nesting
                    .open_string(self.nodes.len() as u32, at, limits)?;
                self.nodes
                    .push(Node::new(Kind::Bulk, Part::Streamed, end, 0));
                Ok(Next::At(end))
            }
            Token::Chunk { at: start, len } => {
                self.nesting.chunk(at, limits)?;
                if len == 0 {
                    return Ok(self.end(Kind::Bulk, at, start));
                }
                self.payload(
                    buf,
                    Payload {
                        kind: Kind::Bulk,
                        part: Part::Chunk,
                        at: start,
                        len,
                    },
                )
            }
            Token::End { end } => {
                self.nesting.check_end(at)?;
                Ok(self.end(Kind::Array, at, end))
            }
            Token::Line { .. } | Token::Blob { .. } | Token::Null { .. } | Token::Open { .. } => {
                unreachable!("invariant: these tokens are not streamed")
            }
        }
    }

    /// Ends the innermost streamed value with the token at `at..end`.
    fn end(&mut self, kind: Kind, at: usize, end: usize) -> Next {
        self.nodes
            .push(Node::new(kind, Part::End, at, (end - at) as u32));
        self.leave();
        self.finish(end)
    }

    /// Checks that the payload is complete, and adds its node.
    #[inline]
    fn payload(&mut self, buf: &[u8], payload: Payload) -> Result<Next, Error> {
        let Payload {
            kind,
            part,
            at,
            len,
        } = payload;
        // Computed in 64 bits, since a length may be any 32-bit number.
        if at as u64 + u64::from(len) + 2 > self.rules.limits.frame_bytes() {
            return Err(Error::new(ErrorKind::FrameTooBig, at));
        }
        let end = at + len as usize;
        if kind == Kind::Verbatim && buf.get(at + 3).is_some_and(|&byte| byte != b':') {
            return Err(Error::new(ErrorKind::InvalidVerbatim, at + 3));
        }
        match crlf(buf, end) {
            Crlf::Whole => {}
            Crlf::Short => {
                self.progress.pending = Some(payload);
                // The colon of a verbatim string and the CR are checked as soon as they arrive.
                let colon = at + 3;
                let need = match buf.len() {
                    have if kind == Kind::Verbatim && have <= colon => colon + 1,
                    have if have <= end => end + 1,
                    _ => end + 2,
                };
                return Ok(Next::Scan(Scan::Short {
                    need,
                    goal: end + 2,
                }));
            }
            Crlf::Bad { at } => return Err(Error::new(ErrorKind::InvalidBulkLength, at)),
        }
        self.nodes.push(Node::new(kind, part, at, len));
        Ok(if part == Part::Chunk {
            Next::At(end + 2)
        } else {
            self.finish(end + 2)
        })
    }

    /// Completes a value that ends at `end`, and the aggregates around it that end with it.
    #[inline(always)]
    fn finish(&mut self, end: usize) -> Next {
        if self.nesting.finish() {
            self.close(end)
        } else {
            Next::At(end)
        }
    }

    #[inline]
    fn close(&mut self, end: usize) -> Next {
        loop {
            if self.nesting.depth() == 0 {
                return Next::Scan(Scan::Done(end));
            }
            if self.leave() == Kind::Attribute {
                self.nesting.attributed();
                return Next::At(end);
            }
            if !self.nesting.finish() {
                return Next::At(end);
            }
        }
    }

    /// Leaves the innermost aggregate, and stores the number of its nodes.
    #[inline]
    fn leave(&mut self) -> Kind {
        let level = self.nesting.pop();
        let skip = self.nodes.len() as u32 - level.mark;
        self.nodes[level.mark as usize].skip = skip;
        level.kind
    }
}

impl Default for FrameDecoder {
    /// A decoder with [`Limits::CLIENT`].
    fn default() -> Self {
        Self::new(Limits::CLIENT)
    }
}
