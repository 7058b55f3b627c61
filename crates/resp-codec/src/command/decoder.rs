//! The resumable decoder of requests.

use alloc::vec::Vec;

use super::progress::{Cursor, Phase, Progress, Scan};
use super::{Command, fused, inline};
use crate::args::Span;
use crate::error::{Error, ErrorKind};
use crate::grammar::{Crlf, Length, crlf, examined, find, length};
use crate::limits::Limits;
use crate::step::{PendingBulk, Step};

/// Decodes requests: arrays of bulk strings, and inline commands.
///
/// It accepts and refuses requests as Redis does, with the same error texts. It is stricter where
/// Redis does not check: both bytes of every CRLF are verified, NUL is an ordinary byte of an
/// inline request and not a digit, and a line of blanks is an empty request. Empty requests (`*0`,
/// `*-1`, a blank line) are consumed silently.
///
/// Any split of the input gives the same requests at the same cost. The decoder does not allocate
/// once it has decoded its largest request. After an error it keeps failing until
/// [`CommandDecoder::reset`].
///
/// ```
/// use resp_codec::{CommandDecoder, Limits, Step};
/// let mut decoder = CommandDecoder::new(Limits::SERVER);
/// // A read ended within the payload: 3 bytes of it and CRLF are missing.
/// assert_eq!(decoder.decode(b"*1\r\n$4\r\nP").unwrap().ready().map(|_| ()), None);
/// let step = decoder.decode(b"*1\r\n$4\r\nPING\r\n*1\r\n").unwrap();
/// let Step::Ready { item, consumed } = step else { unreachable!() };
/// assert_eq!((item.name(), consumed), (&b"PING"[..], 14));
/// ```
#[derive(Debug)]
pub struct CommandDecoder {
    limits: Limits,
    /// Slots for arguments; the first `progress.filled` belong to the current request.
    spans: Vec<Span>,
    /// Unescaped inline arguments.
    scratch: Vec<u8>,
    progress: Progress,
}

impl CommandDecoder {
    /// A decoder at the start of a connection. Does not allocate.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// let decoder = CommandDecoder::new(Limits::SERVER);
    /// assert_eq!(decoder.allocated(), 0);
    /// ```
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            spans: Vec::new(),
            scratch: Vec::new(),
            progress: Progress::START,
        }
    }

    /// The limits in force.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// let decoder = CommandDecoder::new(Limits::UNAUTHENTICATED);
    /// assert_eq!(decoder.limits().max_args, 10);
    /// ```
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Changes the limits, for example after `AUTH`. They apply from the next length or line on.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// let mut decoder = CommandDecoder::new(Limits::UNAUTHENTICATED);
    /// assert!(decoder.decode(b"*11\r\n").is_err());
    /// decoder.reset();
    /// decoder.set_limits(Limits::SERVER);
    /// assert!(decoder.decode(b"*11\r\n").is_ok());
    /// ```
    pub const fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Discards a partial request or a failure: the next buffer begins with a new request.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// assert!(decoder.decode(b"*x").is_err());
    /// assert!(decoder.decode(b"PING\r\n").is_err(), "it stays failed");
    /// decoder.reset();
    /// assert!(decoder.decode(b"PING\r\n").is_ok());
    /// ```
    pub const fn reset(&mut self) {
        self.progress = Progress::START;
    }

    /// Frees the memory of a large request, if the decoder stands between requests.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let _ = decoder.decode(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n").unwrap();
    /// assert!(decoder.allocated() > 0);
    /// decoder.shrink();
    /// assert_eq!(decoder.allocated(), 0);
    /// ```
    pub fn shrink(&mut self) {
        if self.progress.phase == Phase::Start {
            self.spans = Vec::new();
            self.scratch = Vec::new();
        }
    }

    /// Heap bytes held for arguments, for a server that accounts for its connections.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let _ = decoder.decode(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n").unwrap();
    /// assert!(decoder.allocated() >= 2 * size_of::<resp_codec::Span>());
    /// ```
    pub const fn allocated(&self) -> usize {
        self.spans.capacity() * size_of::<Span>() + self.scratch.capacity()
    }

    /// Whether the last buffer ended within a request.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let _ = decoder.decode(b"*1\r\n$4\r\nPI").unwrap();
    /// assert!(decoder.is_partial(), "the peer must not close now");
    /// let _ = decoder.decode(b"*1\r\n$4\r\nPING\r\n").unwrap();
    /// assert!(!decoder.is_partial());
    /// ```
    pub fn is_partial(&self) -> bool {
        matches!(self.progress.phase, Phase::Multibulk | Phase::Inline)
    }

    /// The payload in which the last buffer ended, so that the next read can be sized to end with
    /// it.
    ///
    /// ```
    /// use resp_codec::{CommandDecoder, Limits};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let _ = decoder.decode(b"*2\r\n$3\r\nGET\r\n$1000\r\nab").unwrap();
    /// let bulk = decoder.pending_bulk().unwrap();
    /// assert_eq!((bulk.arg, bulk.start, bulk.have, bulk.need), (1, 20, 2, 1000));
    /// ```
    pub fn pending_bulk(&self) -> Option<PendingBulk> {
        let Progress {
            phase: Phase::Multibulk,
            bulk: Some(len),
            at,
            filled,
            seen,
            ..
        } = self.progress
        else {
            return None;
        };
        let need = len as usize;
        Some(PendingBulk {
            arg: filled,
            start: at,
            have: seen.saturating_sub(at).min(need),
            need,
        })
    }

    /// A decoder at the same position, without the earlier arguments: to try which bytes may
    /// follow.
    pub(crate) const fn resumed(&self) -> Self {
        let mut copy = Self::new(self.limits);
        copy.progress = Progress {
            filled: 0,
            ..self.progress
        };
        copy
    }

    /// Decodes the next request of `buf`, which starts where the last call's `consumed` ended.
    ///
    /// Examines each byte of the framing once, and no byte of payloads. A call without enough new
    /// bytes costs O(1).
    ///
    /// ```
    /// use resp_codec::{CommandDecoder, Limits, Step};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let (mut input, mut names) = (&b"PING\r\n*1\r\n$4\r\nTIME\r\n*1\r\n$4"[..], Vec::new());
    /// loop {
    ///     match decoder.decode(input)? {
    ///         Step::Ready { item, consumed } => {
    ///             names.push(item.name().to_vec());
    ///             input = &input[consumed..];
    ///         }
    ///         // Read more after the rest of the input, and call again.
    ///         Step::NeedMore { consumed, .. } => break input = &input[consumed..],
    ///     }
    /// }
    /// assert_eq!(names, [b"PING", b"TIME"]);
    /// assert_eq!(input, b"*1\r\n$4");
    /// # Ok::<(), resp_codec::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] with the offset into `buf`. Send [`ErrorKind::reply`], then close the connection.
    #[inline]
    pub fn decode<'s, 'b>(&'s mut self, buf: &'b [u8]) -> Result<Step<Command<'s, 'b>>, Error> {
        let mut base = 0;
        loop {
            let rest = &buf[base..];
            match self.scan(rest) {
                Ok(Scan::Done { end, filled }) => {
                    // After a request in one piece, reset only the lengths that the last incomplete
                    // buffer set.
                    let phase = self.progress.phase;
                    if phase == Phase::Start {
                        self.progress.need = Progress::START.need;
                        self.progress.goal = Progress::START.goal;
                    } else {
                        self.progress = Progress::START;
                    }
                    let item = Command {
                        buf: &rest[..end],
                        scratch: &self.scratch,
                        spans: &self.spans[..filled],
                        inline: phase == Phase::Inline,
                    };
                    return Ok(Step::Ready {
                        item,
                        consumed: base + end,
                    });
                }
                Ok(Scan::Empty(end)) => {
                    self.progress = Progress::START;
                    base += end;
                }
                Ok(Scan::Short { need, goal }) => {
                    self.progress.need = need;
                    self.progress.goal = goal;
                    self.progress.seen = rest.len();
                    return Ok(Step::NeedMore {
                        consumed: base,
                        hint: goal - rest.len(),
                    });
                }
                Err(error) => {
                    self.progress.phase = Phase::Failed;
                    return Err(error.shifted(base));
                }
            }
        }
    }

    #[inline]
    fn scan(&mut self, buf: &[u8]) -> Result<Scan, Error> {
        if self.progress.phase == Phase::Start
            && let Some((args, bulk)) = fused::head(buf)
            && args as u32 <= self.limits.max_args
            && bulk as u64 <= self.limits.max_bulk
        {
            let cursor = self.fused(
                buf,
                Cursor {
                    at: 8,
                    len: bulk,
                    left: args as u32,
                    filled: 0,
                },
            );
            if let Some(scan) = self.last(buf, cursor) {
                return Ok(scan);
            }
            self.keep(cursor);
            return self.multibulk(buf);
        }
        self.scan_slowly(buf)
    }

    /// Handles every case but the start of a short request in one piece.
    #[inline(never)]
    fn scan_slowly(&mut self, buf: &[u8]) -> Result<Scan, Error> {
        let Progress { need, goal, .. } = self.progress;
        if buf.len() < need {
            return Ok(Scan::Short { need, goal });
        }
        match self.progress.phase {
            Phase::Start if buf[0] == b'*' => self.count(buf),
            Phase::Start | Phase::Inline => self.inline(buf),
            Phase::Multibulk => self.multibulk(buf),
            Phase::Failed => Err(Error::new(ErrorKind::Poisoned, 0)),
        }
    }

    /// Reads `*n CRLF`.
    fn count(&mut self, buf: &[u8]) -> Result<Scan, Error> {
        let (value, end) = match length(buf, 1) {
            Length::Whole { value, end } => (value, end),
            Length::Short => return Ok(Scan::next(buf.len())),
            Length::Bad { at } => return Err(Error::new(ErrorKind::InvalidMultibulkLength, at)),
        };
        if value <= 0 {
            return Ok(Scan::Empty(end));
        }
        match u32::try_from(value) {
            Ok(left) if left <= self.limits.max_args => {
                self.progress = Progress {
                    phase: Phase::Multibulk,
                    at: end,
                    left,
                    ..Progress::START
                };
                self.multibulk(buf)
            }
            _ if self.limits.unauthenticated && value <= i64::from(i32::MAX) => {
                Err(Error::new(ErrorKind::UnauthenticatedMultibulkLength, 1))
            }
            _ => Err(Error::new(ErrorKind::InvalidMultibulkLength, 1)),
        }
    }

    /// Reads arguments from the position of `progress` to the last one, or to the end of the
    /// buffer.
    #[inline(never)]
    fn multibulk(&mut self, buf: &[u8]) -> Result<Scan, Error> {
        loop {
            if let Progress {
                bulk: Some(len),
                at,
                left,
                filled,
                ..
            } = self.progress
            {
                let cursor = self.fused(
                    buf,
                    Cursor {
                        at,
                        len: len as usize,
                        left,
                        filled,
                    },
                );
                self.keep(cursor);
                if let Some(scan) = self.payload(buf)? {
                    return Ok(scan);
                }
            }
            if let Some(scan) = self.header(buf)? {
                return Ok(scan);
            }
        }
    }

    /// Reads the arguments that suit the fast path. It requires that lengths of two digits are
    /// within the limits.
    #[inline(always)]
    fn fused(&mut self, buf: &[u8], cursor: Cursor) -> Cursor {
        if self.limits.max_bulk < 99 {
            return cursor;
        }
        fused::take(self.within_frame(buf), &mut self.spans, cursor)
    }

    /// Reads the last argument, if it is complete and at the cursor.
    #[inline(always)]
    fn last(&mut self, buf: &[u8], cursor: Cursor) -> Option<Scan> {
        let Cursor {
            at,
            len,
            left: 1,
            filled,
        } = cursor
        else {
            return None;
        };
        let end = at + len;
        let line_end = self.within_frame(buf).get(end..)?.first_chunk()?;
        let slot = self.spans.get_mut(filled).filter(|_| line_end == b"\r\n")?;
        *slot = Span::new(at as u32, len as u32);
        Some(Scan::Done {
            end: end + 2,
            filled: filled + 1,
        })
    }

    /// The part of `buf` that a request may occupy. A request that reaches the limit is left to the
    /// slow path, which reports the error.
    #[inline(always)]
    fn within_frame<'b>(&self, buf: &'b [u8]) -> &'b [u8] {
        &buf[..buf.len().min(self.limits.frame_bytes() as usize)]
    }

    /// Stores where the fast path stopped, in front of a payload.
    #[inline(always)]
    fn keep(&mut self, cursor: Cursor) {
        let Cursor {
            at,
            len,
            left,
            filled,
        } = cursor;
        let bulk = Some(len as u32);
        self.progress = Progress {
            phase: Phase::Multibulk,
            at,
            bulk,
            left,
            filled,
            ..Progress::START
        };
    }

    /// Reads the end of the payload at `progress.at`. `None`: continue with the next header.
    #[inline]
    fn payload(&mut self, buf: &[u8]) -> Result<Option<Scan>, Error> {
        let Progress { at, filled, .. } = self.progress;
        let len = self.progress.bulk.unwrap_or(0);
        let end = at + len as usize;
        if end as u64 + 2 > self.limits.frame_bytes() {
            return Err(Error::new(ErrorKind::FrameTooBig, at));
        }
        match crlf(buf, end) {
            Crlf::Whole => {}
            Crlf::Short => {
                // The CR is checked as soon as it arrives.
                let need = end + if buf.len() <= end { 1 } else { 2 };
                return Ok(Some(Scan::Short {
                    need,
                    goal: end + 2,
                }));
            }
            Crlf::Bad { at } => return Err(Error::new(ErrorKind::InvalidBulkLength, at)),
        }
        put_span(&mut self.spans, filled, Span::new(at as u32, len));
        self.progress.at = end + 2;
        self.progress.bulk = None;
        self.progress.filled += 1;
        self.progress.left -= 1;
        let done = Scan::Done {
            end: end + 2,
            filled: filled + 1,
        };
        Ok((self.progress.left == 0).then_some(done))
    }

    /// Reads `$n CRLF`. `None`: continue with the payload.
    #[inline]
    fn header(&mut self, buf: &[u8]) -> Result<Option<Scan>, Error> {
        let at = self.progress.at;
        match buf.get(at) {
            Some(b'$') => {}
            Some(&other) => return Err(Error::new(ErrorKind::ExpectedBulk(other), at)),
            None => return Ok(Some(Scan::next(at))),
        }
        let (value, end) = match length(buf, at + 1) {
            Length::Whole { value, end } => (value, end),
            Length::Short => return Ok(Some(Scan::next(buf.len()))),
            Length::Bad { at } => return Err(Error::new(ErrorKind::InvalidBulkLength, at)),
        };
        match u64::try_from(value) {
            Ok(len) if len <= self.limits.max_bulk => {
                // Refuse a payload that no frame can hold here, so that its length fits 32 bits
                // from now on.
                if end as u64 + len + 2 > self.limits.frame_bytes() {
                    return Err(Error::new(ErrorKind::FrameTooBig, end));
                }
                self.progress.at = end;
                self.progress.bulk = Some(len as u32);
                Ok(None)
            }
            Ok(len) if self.limits.unauthenticated && len <= Limits::SERVER.max_bulk => {
                Err(Error::new(ErrorKind::UnauthenticatedBulkLength, at + 1))
            }
            _ => Err(Error::new(ErrorKind::InvalidBulkLength, at + 1)),
        }
    }

    /// Reads a line and splits it at blanks. Each byte is searched for the line end once, however
    /// the input is split.
    #[cold]
    fn inline(&mut self, buf: &[u8]) -> Result<Scan, Error> {
        self.progress.phase = Phase::Inline;
        let limit = self.limits.max_inline as usize;
        let from = self.progress.at;
        let window = &buf[..buf.len().min(limit.saturating_add(1))];
        let Some(end) = window.get(from..).and_then(|rest| find(rest, b'\n')) else {
            if buf.len() > limit {
                return Err(Error::new(ErrorKind::InlineTooBig, limit));
            }
            self.progress.at = buf.len();
            return Ok(Scan::next(buf.len()));
        };
        let line = &buf[..from + end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.scratch.clear();
        examined(line.len());
        let filled = inline::split(line, &mut self.spans, &mut self.scratch, &mut |_, _, _| {})
            .map_err(|at| Error::new(ErrorKind::UnbalancedQuotes, at))?;
        let end = from + end + 1;
        Ok(if filled == 0 {
            Scan::Empty(end)
        } else {
            Scan::Done { end, filled }
        })
    }
}

impl Default for CommandDecoder {
    /// A decoder with [`Limits::SERVER`].
    fn default() -> Self {
        Self::new(Limits::SERVER)
    }
}

/// Writes slot `index`, and adds slots as arguments arrive: an announced count reserves no memory.
#[inline]
pub(super) fn put_span(spans: &mut Vec<Span>, index: usize, span: Span) {
    if index == spans.len() {
        grow(spans);
    }
    spans[index] = span;
}

#[cold]
fn grow(spans: &mut Vec<Span>) {
    spans.resize((spans.len() * 2).max(16), Span::default());
}
