//! The resumable decoder of binary replies: tagged values and plain replies.

use alloc::vec::Vec;

use super::load4;
use crate::error::{Error, ErrorKind};
use crate::frame::{Frame, Node, Part};
use crate::kind::{Kind, NullForm};
use crate::limits::Limits;
use crate::nesting::Nesting;
use crate::step::Step;

/// Reads the reply to `GET`, `SET` or `DELETE` at the start of `buf`: a payload, empty if there is
/// no value.
///
/// O(1), so it may be called again from the start after every read.
///
/// # Errors
/// [`ErrorKind::InvalidBulkLength`] above `limits.max_bulk`.
///
/// ```
/// use resp_codec::{Limits, Step, binary};
/// let step = binary::decode_plain(b"\x05\0\0\0world", &Limits::CLIENT);
/// assert_eq!(step, Ok(Step::Ready { item: &b"world"[..], consumed: 9 }));
/// ```
pub fn decode_plain<'b>(buf: &'b [u8], limits: &Limits) -> Result<Step<&'b [u8]>, Error> {
    let Some((len, rest)) = buf.split_first_chunk() else {
        return Ok(Step::NeedMore {
            consumed: 0,
            hint: 4 - buf.len(),
        });
    };
    let len = u32::from_le_bytes(*len);
    if u64::from(len) > limits.max_bulk {
        return Err(Error::new(ErrorKind::InvalidBulkLength, 0));
    }
    let len = len as usize;
    Ok(match rest.get(..len) {
        Some(item) => Step::Ready {
            item,
            consumed: 4 + len,
        },
        None => Step::NeedMore {
            consumed: 0,
            hint: len - rest.len(),
        },
    })
}

/// Decodes tagged values, the replies to `CALL`, into the same [`Frame`]s as RESP.
///
/// The contract is that of [`FrameDecoder`](crate::FrameDecoder).
///
/// ```
/// use resp_codec::{Encoder, Limits, Proto, binary::ReplyDecoder};
/// let mut wire = Vec::new();
/// let mut encoder = Encoder::new(&mut wire, Proto::Binary);
/// encoder.array(2);
/// encoder.int(-1);
/// encoder.bulk("x");
/// let mut decoder = ReplyDecoder::new(Limits::CLIENT);
/// let frame = decoder.decode(&wire).unwrap().ready().unwrap();
/// assert_eq!(frame.children().next().unwrap().int(), Some(-1));
/// ```
#[derive(Clone, Debug)]
pub struct ReplyDecoder {
    limits: Limits,
    nodes: Vec<Node>,
    nesting: Nesting,
    progress: Progress,
}

/// How far the current value is decoded. Offsets count from its first tag.
#[derive(Clone, Copy, Debug)]
struct Progress {
    started: bool,
    failed: bool,
    at: usize,
    need: usize,
}

impl Progress {
    const START: Self = Self {
        started: false,
        failed: false,
        at: 0,
        need: 1,
    };
}

/// The item at a tag.
enum Item {
    /// A scalar: the position of its bytes.
    Scalar { kind: Kind, at: usize, len: u32 },
    Open {
        kind: Kind,
        elements: u32,
        end: usize,
    },
    /// The buffer is too short: it must have this length.
    Short(usize),
}

impl ReplyDecoder {
    /// A decoder at the start of a connection. Does not allocate.
    ///
    /// ```
    /// use resp_codec::{Limits, binary};
    /// let mut decoder = binary::ReplyDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"#\x01").unwrap().ready().unwrap();
    /// assert_eq!(frame.bool(), Some(true));
    /// ```
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            nodes: Vec::new(),
            nesting: Nesting::new(),
            progress: Progress::START,
        }
    }

    /// Discards a partial value or a failure.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// let mut decoder = binary::ReplyDecoder::new(Limits::CLIENT);
    /// assert!(decoder.decode(b"?").is_err());
    /// assert!(decoder.decode(b"_").is_err(), "it stays failed");
    /// decoder.reset();
    /// assert!(decoder.decode(b"_").is_ok());
    /// ```
    pub const fn reset(&mut self) {
        self.progress = Progress::START;
    }

    /// The tape of the current value, as far as it is decoded.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A copy that continues from the same position. The values that it decodes lack the earlier
    /// ones, except the open aggregates.
    pub(crate) fn resumed(&self) -> Self {
        let mut nesting = self.nesting.clone();
        let mut nodes = Vec::with_capacity(nesting.depth());
        for level in nesting.levels() {
            let node = self.nodes[level.mark as usize];
            level.mark = nodes.len() as u32;
            nodes.push(node);
        }
        Self {
            limits: self.limits,
            nodes,
            nesting,
            progress: self.progress,
        }
    }

    /// Decodes the next value of `buf`, which starts where the last call's `consumed` ended.
    ///
    /// ```
    /// use resp_codec::{Limits, Step, binary};
    /// let mut decoder = binary::ReplyDecoder::new(Limits::CLIENT);
    /// assert!(matches!(decoder.decode(b"$\x02\0\0\0h"), Ok(Step::NeedMore { consumed: 0, hint: 1 })));
    /// let step = decoder.decode(b"$\x02\0\0\0hi_").unwrap();
    /// assert_eq!(step.consumed(), 7);
    /// assert_eq!(step.ready().unwrap().str(), Some("hi"));
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownTag`] and the errors of [`FrameDecoder`](crate::FrameDecoder), with the
    /// offset into `buf`.
    pub fn decode<'s, 'b>(&'s mut self, buf: &'b [u8]) -> Result<Step<Frame<'s, 'b>>, Error> {
        match self.advance(buf) {
            Ok(true) => {
                let consumed = self.progress.at;
                self.progress = Progress::START;
                let item = Frame::binary_root(&buf[..consumed], &self.nodes);
                Ok(Step::Ready { item, consumed })
            }
            Ok(false) => Ok(Step::NeedMore {
                consumed: 0,
                hint: self.progress.need - buf.len(),
            }),
            Err(error) => {
                self.progress.failed = true;
                Err(error)
            }
        }
    }

    /// Returns whether the value is complete.
    fn advance(&mut self, buf: &[u8]) -> Result<bool, Error> {
        if self.progress.failed {
            return Err(Error::new(ErrorKind::Poisoned, 0));
        }
        if !self.progress.started {
            self.nodes.clear();
            self.nesting.clear();
            self.progress.started = true;
        }
        while buf.len() >= self.progress.need {
            let at = self.progress.at;
            match self.item(buf, at)? {
                Item::Short(need) => self.progress.need = need,
                Item::Scalar {
                    kind,
                    at: start,
                    len,
                } => {
                    self.nesting.begin(kind, at, &self.limits)?;
                    self.nodes.push(match kind {
                        Kind::Null => Node::null(NullForm::Null, at, start),
                        _ => Node::new(kind, Part::Value, start, len),
                    });
                    self.progress.at = start + len as usize;
                    self.progress.need = self.progress.at + 1;
                    if self.nesting.finish() && self.close() {
                        return Ok(true);
                    }
                }
                Item::Open {
                    kind,
                    elements,
                    end,
                } => {
                    self.progress.at = end;
                    self.progress.need = end + 1;
                    if self.open(kind, elements, at, end)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn open(&mut self, kind: Kind, elements: u32, at: usize, end: usize) -> Result<bool, Error> {
        self.nesting.begin(kind, at, &self.limits)?;
        let mark = self.nodes.len() as u32;
        self.nodes.push(Node::new(kind, Part::Value, end, elements));
        match (elements, kind) {
            (1.., _) => self
                .nesting
                .open(kind, Some(elements), mark, at, &self.limits)?,
            (0, Kind::Attribute) => self.nesting.attributed(),
            (0, _) => return Ok(self.nesting.finish() && self.close()),
        }
        Ok(false)
    }

    /// Completes the innermost aggregate, and those around it that end with it. Returns whether the
    /// whole value is complete.
    fn close(&mut self) -> bool {
        loop {
            if self.nesting.depth() == 0 {
                return true;
            }
            let level = self.nesting.pop();
            self.nodes[level.mark as usize].skip = self.nodes.len() as u32 - level.mark;
            if level.kind == Kind::Attribute {
                self.nesting.attributed();
                return false;
            }
            if !self.nesting.finish() {
                return false;
            }
        }
    }

    fn item(&self, buf: &[u8], at: usize) -> Result<Item, Error> {
        let tag = buf[at];
        let kind = match tag {
            b'_' => {
                return Ok(Item::Scalar {
                    kind: Kind::Null,
                    at: at + 1,
                    len: 0,
                });
            }
            b'#' => return self.fixed(buf, Kind::Bool, at, 1),
            b':' => return self.fixed(buf, Kind::Int, at, 8),
            b',' => return self.fixed(buf, Kind::Double, at, 8),
            b'*' => return self.count(buf, Kind::Array, at),
            b'~' => return self.count(buf, Kind::Set, at),
            b'>' => return self.count(buf, Kind::Push, at),
            b'%' => return self.count(buf, Kind::Map, at),
            b'|' => return self.count(buf, Kind::Attribute, at),
            b'+' => Kind::Simple,
            b'-' => Kind::Error,
            b'$' => Kind::Bulk,
            b'!' => Kind::BlobError,
            b'(' => Kind::BigNumber,
            b'=' => Kind::Verbatim,
            _ => return Err(Error::new(ErrorKind::UnknownTag(tag), at)),
        };
        let Some(len) = load4(buf, at + 1) else {
            return Ok(Item::Short(at + 5));
        };
        if u64::from(len) > self.limits.max_bulk {
            return Err(Error::new(ErrorKind::InvalidBulkLength, at + 1));
        }
        if kind == Kind::Verbatim && len < 3 {
            return Err(Error::new(ErrorKind::InvalidVerbatim, at + 1));
        }
        let start = at + 5;
        self.whole(buf, kind, start, len)
    }

    fn fixed(&self, buf: &[u8], kind: Kind, at: usize, len: u32) -> Result<Item, Error> {
        let item = self.whole(buf, kind, at + 1, len)?;
        match (kind, &item) {
            (Kind::Bool, Item::Scalar { .. }) if buf[at + 1] > 1 => {
                Err(Error::new(ErrorKind::InvalidBoolean, at + 1))
            }
            _ => Ok(item),
        }
    }

    /// Checks that `len` bytes at `at` fit into the frame and are in the buffer.
    fn whole(&self, buf: &[u8], kind: Kind, at: usize, len: u32) -> Result<Item, Error> {
        // Computed in 64 bits, since a length may be any 32-bit number.
        if at as u64 + u64::from(len) > self.limits.frame_bytes() {
            return Err(Error::new(ErrorKind::FrameTooBig, at));
        }
        let end = at + len as usize;
        if buf.len() < end {
            return Ok(Item::Short(end));
        }
        if kind == Kind::BigNumber
            && let Some(bad) = crate::token::bad_big_number(&buf[at..end], true)
        {
            return Err(Error::new(ErrorKind::InvalidBigNumber, at + bad));
        }
        Ok(Item::Scalar { kind, at, len })
    }

    fn count(&self, buf: &[u8], kind: Kind, at: usize) -> Result<Item, Error> {
        let Some(count) = load4(buf, at + 1) else {
            return Ok(Item::Short(at + 5));
        };
        if kind == Kind::Push && count == 0 {
            return Err(Error::new(ErrorKind::InvalidPush, at + 1));
        }
        let elements = u64::from(count) * if kind.is_paired() { 2 } else { 1 };
        if elements > u64::from(self.limits.max_nodes.min(crate::token::NODES_MAX)) {
            return Err(Error::new(ErrorKind::TooManyNodes, at + 1));
        }
        if at as u64 + 5 > self.limits.frame_bytes() {
            return Err(Error::new(ErrorKind::FrameTooBig, at));
        }
        Ok(Item::Open {
            kind,
            elements: elements as u32,
            end: at + 5,
        })
    }
}
