//! The resumable decoder of binary requests.

use alloc::vec::Vec;
use core::fmt;

use super::{CALL, DELETE, GET, SET, load4};
use crate::args::{Args, Span};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::step::{PendingBulk, Step};

/// The commands that the operations translate to: `GET key`, `GETDEL key`, `SET key value GET`.
const WORDS: &[u8] = b"GETDELSETGET";
const WORD_GET: Span = Span::in_scratch(0, 3);
const WORD_GETDEL: Span = Span::in_scratch(0, 6);
const WORD_SET: Span = Span::in_scratch(6, 3);

/// Decodes requests of the binary protocol.
///
/// The contract is that of [`CommandDecoder`](crate::CommandDecoder): any split costs the same, a
/// failure stays until [`RequestDecoder::reset`], and every length is checked before memory is
/// reserved.
///
/// ```
/// use resp_codec::{Limits, Step, binary};
/// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
/// let step = decoder.decode(b"\x01\x05\0\0\0hello\x01").unwrap();
/// let Step::Ready { item, consumed: 10 } = step else { panic!("whole") };
/// assert_eq!((item.op(), item.key()), (binary::GET, Some(&b"hello"[..])));
/// // The same request as a command.
/// assert_eq!(item.args().iter().collect::<Vec<_>>(), [&b"GET"[..], b"hello"]);
/// ```
#[derive(Debug)]
pub struct RequestDecoder {
    limits: Limits,
    /// The complete arguments so far, the command's name first.
    spans: Vec<Span>,
    progress: Progress,
}

/// How far the current request is decoded. Offsets count from its operation byte.
#[derive(Clone, Copy, Debug)]
struct Progress {
    op: Option<u8>,
    at: usize,
    /// The number of arguments still to decode; `None` until `CALL`'s count is read.
    left: Option<u32>,
    /// Length of the payload at `at`, if it has been read.
    len: Option<u32>,
    /// Buffer length at the last call.
    seen: usize,
    failed: bool,
}

impl Progress {
    const START: Self = Self {
        op: None,
        at: 0,
        left: None,
        len: None,
        seen: 0,
        failed: false,
    };
}

/// One request, borrowed from the read buffer.
///
/// ```
/// use resp_codec::{Limits, binary};
/// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
/// let request = decoder.decode(b"\x03\x01\0\0\0k\x01\0\0\0v").unwrap().ready().unwrap();
/// assert_eq!((request.key(), request.value()), (Some(&b"k"[..]), Some(&b"v"[..])));
/// let words: Vec<_> = request.args().iter().collect();
/// assert_eq!(words, [&b"SET"[..], b"k", b"v", b"GET"]);
/// ```
#[derive(Clone, Copy)]
pub struct Request<'s, 'b> {
    op: u8,
    buf: &'b [u8],
    spans: &'s [Span],
}

impl<'s, 'b> Request<'s, 'b> {
    /// Rebuilds a request from the results of [`Request::op`], [`Request::wire`] and
    /// [`Request::spans`], for callers that decode several requests before they handle the first.
    /// Access to an argument whose span is not within `wire` panics.
    ///
    /// ```
    /// use resp_codec::{Limits, binary};
    /// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let request = decoder.decode(b"\x01\x01\0\0\0k").unwrap().ready().unwrap();
    /// let spans = request.spans().to_vec();
    /// let again = binary::Request::new(request.op(), request.wire(), &spans);
    /// assert_eq!(again.key(), Some(&b"k"[..]));
    /// ```
    pub const fn new(op: u8, wire: &'b [u8], spans: &'s [Span]) -> Self {
        Self {
            op,
            buf: wire,
            spans,
        }
    }

    /// The positions of the arguments in the bytes of the request.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// # let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let request = decoder.decode(b"\x01\x01\0\0\0k").unwrap().ready().unwrap();
    /// let key = request.spans()[1];
    /// assert_eq!((key.at(), key.len()), (5, 1));
    /// ```
    pub const fn spans(&self) -> &'s [Span] {
        self.spans
    }

    /// The operation: [`GET`], [`DELETE`], [`SET`] or [`CALL`].
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// # let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let request = decoder.decode(b"\x01\x01\0\0\0k").unwrap().ready().unwrap();
    /// assert_eq!(request.op(), binary::GET);
    /// ```
    pub const fn op(&self) -> u8 {
        self.op
    }

    /// The command that this request translates to, its name first: the arguments of `CALL` as they
    /// are, and `GET key`, `GETDEL key`, `SET key value GET` for the other operations. A server
    /// needs no other command table.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// # let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let request = decoder.decode(b"\x03\x01\0\0\0k\x01\0\0\0v").unwrap().ready().unwrap();
    /// let words: Vec<_> = request.args().iter().collect();
    /// assert_eq!(words, [&b"SET"[..], b"k", b"v", b"GET"]);
    /// ```
    pub const fn args<'a>(&self) -> Args<'a>
    where
        's: 'a,
        'b: 'a,
    {
        Args::new(self.buf, WORDS, self.spans)
    }

    /// The key of `GET`, `DELETE` and `SET`.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// # let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let request = decoder.decode(b"\x01\x01\0\0\0k").unwrap().ready().unwrap();
    /// assert_eq!(request.key(), Some(&b"k"[..]));
    /// ```
    pub fn key(&self) -> Option<&[u8]> {
        if self.op == CALL {
            None
        } else {
            self.view().get(1)
        }
    }

    /// The value of `SET`.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// # let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let request = decoder.decode(b"\x03\x01\0\0\0k\x01\0\0\0v").unwrap().ready().unwrap();
    /// assert_eq!(request.value(), Some(&b"v"[..]));
    /// ```
    pub fn value(&self) -> Option<&[u8]> {
        if self.op == SET {
            self.view().get(2)
        } else {
            None
        }
    }

    /// Whether the reply is a tagged value ([`Proto::Binary`](crate::Proto::Binary)) rather than
    /// plain ([`Proto::BinaryPlain`](crate::Proto::BinaryPlain)).
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// # let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let request = decoder.decode(b"\x10\x01\0\0\0\x04\0\0\0PING").unwrap().ready().unwrap();
    /// assert!(request.is_tagged());
    /// ```
    pub const fn is_tagged(&self) -> bool {
        self.op == CALL
    }

    /// The bytes of this request exactly as they were sent.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// # let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let request = decoder.decode(b"\x01\x01\0\0\0k\x02").unwrap().ready().unwrap();
    /// assert_eq!(request.wire(), b"\x01\x01\0\0\0k");
    /// ```
    pub const fn wire(&self) -> &'b [u8] {
        self.buf
    }

    const fn view(&self) -> Args<'_> {
        Args::new(self.buf, WORDS, self.spans)
    }
}

impl fmt::Debug for Request<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("op", &self.op)
            .field("args", &self.view())
            .finish()
    }
}

impl RequestDecoder {
    /// A decoder at the start of a connection. Does not allocate.
    ///
    /// ```
    /// use resp_codec::{Limits, binary};
    /// let decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// assert_eq!(decoder.allocated(), 0);
    /// ```
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            spans: Vec::new(),
            progress: Progress::START,
        }
    }

    /// The limits in force.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// let decoder = binary::RequestDecoder::new(Limits::UNAUTHENTICATED);
    /// assert_eq!(decoder.limits().max_args, 10);
    /// ```
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Changes the limits, for example after `AUTH`. They apply from the next length on.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// let mut decoder = binary::RequestDecoder::new(Limits::UNAUTHENTICATED);
    /// decoder.set_limits(Limits::SERVER);
    /// assert_eq!(decoder.limits(), &Limits::SERVER);
    /// ```
    pub const fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Discards a partial request or a failure.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// assert!(decoder.decode(b"\xff").is_err());
    /// decoder.reset();
    /// assert!(decoder.decode(b"\x01\x01\0\0\0k").is_ok());
    /// ```
    pub const fn reset(&mut self) {
        self.progress = Progress::START;
    }

    /// Frees the memory of a large request, if the decoder stands between requests.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let _ = decoder.decode(b"\x01\x01\0\0\0k").unwrap();
    /// assert!(decoder.allocated() > 0);
    /// decoder.shrink();
    /// assert_eq!(decoder.allocated(), 0);
    /// ```
    pub fn shrink(&mut self) {
        if self.progress.op.is_none() {
            self.spans = Vec::new();
        }
    }

    /// Heap bytes held for arguments, for a server that accounts for its connections.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// assert_eq!(decoder.allocated(), 0);
    /// let _ = decoder.decode(b"\x03\x01\0\0\0k\x01\0\0\0v").unwrap();
    /// assert!(decoder.allocated() >= 3 * size_of::<resp_codec::Span>());
    /// ```
    pub const fn allocated(&self) -> usize {
        self.spans.capacity() * size_of::<Span>()
    }

    /// The operation of the partial request, if there is one, so that an error reply can have its
    /// form.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let _ = decoder.decode(b"\x03\x01\0").unwrap();
    /// assert_eq!(decoder.pending_op(), Some(binary::SET));
    /// ```
    pub const fn pending_op(&self) -> Option<u8> {
        self.progress.op
    }

    /// A copy that continues from the same position. The request that it decodes lacks the earlier
    /// arguments.
    pub(crate) const fn resumed(&self) -> Self {
        Self {
            limits: self.limits,
            spans: Vec::new(),
            progress: self.progress,
        }
    }

    /// The payload in which the last buffer ended, so that the next read can be sized to end with
    /// it. No bytes follow the payload.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// let _ = decoder.decode(b"\x03\x01\0\0\0k\xe8\x03\0\0ab").unwrap();
    /// let bulk = decoder.pending_bulk().unwrap();
    /// assert_eq!((bulk.arg, bulk.start, bulk.have, bulk.need), (2, 10, 2, 1000));
    /// ```
    pub fn pending_bulk(&self) -> Option<PendingBulk> {
        let Progress { at, seen, len, .. } = self.progress;
        let need = len? as usize;
        Some(PendingBulk {
            arg: self.spans.len(),
            start: at,
            have: seen.saturating_sub(at).min(need),
            need,
        })
    }

    /// Decodes the next request of `buf`, which starts where the last call's `consumed` ended.
    ///
    /// ```
    /// # use resp_codec::{Limits, binary};
    /// use resp_codec::Step;
    /// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
    /// assert!(matches!(decoder.decode(b"\x01\x01\0\0\0"), Ok(Step::NeedMore { consumed: 0, hint: 1 })));
    /// let step = decoder.decode(b"\x01\x01\0\0\0k\x02").unwrap();
    /// assert_eq!(step.consumed(), 6);
    /// assert_eq!(step.ready().unwrap().key(), Some(&b"k"[..]));
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownOp`], a length beyond the limits, or [`ErrorKind::Poisoned`]; with the offset into `buf`.
    pub fn decode<'s, 'b>(&'s mut self, buf: &'b [u8]) -> Result<Step<Request<'s, 'b>>, Error> {
        match self.advance(buf) {
            Ok(Ok(op)) => {
                let consumed = self.progress.at;
                self.progress = Progress::START;
                let item = Request {
                    op,
                    buf: &buf[..consumed],
                    spans: &self.spans,
                };
                Ok(Step::Ready { item, consumed })
            }
            Ok(Err(need)) => {
                self.progress.seen = buf.len();
                Ok(Step::NeedMore {
                    consumed: 0,
                    hint: need - buf.len(),
                })
            }
            Err(error) => {
                self.progress.failed = true;
                Err(error)
            }
        }
    }

    /// The operation of a complete request, or the buffer length needed to continue.
    fn advance(&mut self, buf: &[u8]) -> Result<Result<u8, usize>, Error> {
        if self.progress.failed {
            return Err(Error::new(ErrorKind::Poisoned, 0));
        }
        let Some(&op) = buf.first() else {
            return Ok(Err(1));
        };
        if self.progress.op.is_none() {
            self.begin(op)?;
        }
        let left = match self.progress.left {
            Some(left) => left,
            None => match self.count(buf)? {
                Some(left) => left,
                None => return Ok(Err(5)),
            },
        };
        for left in (0..left).rev() {
            if let Some(need) = self.argument(buf)? {
                return Ok(Err(need));
            }
            self.progress.left = Some(left);
        }
        if op == SET {
            self.spans.push(WORD_GET);
        }
        Ok(Ok(op))
    }

    fn begin(&mut self, op: u8) -> Result<(), Error> {
        let (word, left) = match op {
            GET => (Some(WORD_GET), Some(1)),
            DELETE => (Some(WORD_GETDEL), Some(1)),
            SET => (Some(WORD_SET), Some(2)),
            CALL => (None, None),
            _ => return Err(Error::new(ErrorKind::UnknownOp(op), 0)),
        };
        self.spans.clear();
        self.spans.extend(word);
        self.progress = Progress {
            op: Some(op),
            at: 1,
            left,
            ..Progress::START
        };
        Ok(())
    }

    /// Reads `CALL`'s argument count, if the buffer holds all of it. A call has at least a name.
    fn count(&mut self, buf: &[u8]) -> Result<Option<u32>, Error> {
        let at = self.progress.at;
        let Some(count) = load4(buf, at) else {
            return Ok(None);
        };
        match count {
            0 => Err(Error::new(ErrorKind::InvalidMultibulkLength, at)),
            _ if count <= self.limits.max_args => {
                self.progress.at = at + 4;
                self.progress.left = Some(count);
                Ok(Some(count))
            }
            _ if self.limits.unauthenticated => {
                Err(Error::new(ErrorKind::UnauthenticatedMultibulkLength, at))
            }
            _ => Err(Error::new(ErrorKind::InvalidMultibulkLength, at)),
        }
    }

    /// Reads one argument, or returns the buffer length that it needs.
    fn argument(&mut self, buf: &[u8]) -> Result<Option<usize>, Error> {
        let at = self.progress.at;
        let len = match self.progress.len {
            Some(len) => len,
            None => match load4(buf, at) {
                Some(len) => self.admit(at, len)?,
                None => return Ok(Some(at + 4)),
            },
        };
        let start = self.progress.at;
        let end = start + len as usize;
        if buf.len() < end {
            return Ok(Some(end));
        }
        self.spans.push(Span::new(start as u32, len));
        self.progress.at = end;
        self.progress.len = None;
        Ok(None)
    }

    /// Checks a length against the limits, and moves on to its payload.
    fn admit(&mut self, at: usize, len: u32) -> Result<u32, Error> {
        if u64::from(len) > self.limits.max_bulk {
            let early = self.limits.unauthenticated && u64::from(len) <= Limits::SERVER.max_bulk;
            let kind = if early {
                ErrorKind::UnauthenticatedBulkLength
            } else {
                ErrorKind::InvalidBulkLength
            };
            return Err(Error::new(kind, at));
        }
        if at as u64 + 4 + u64::from(len) > self.limits.frame_bytes() {
            return Err(Error::new(ErrorKind::FrameTooBig, at));
        }
        self.progress.at = at + 4;
        self.progress.len = Some(len);
        Ok(len)
    }
}
