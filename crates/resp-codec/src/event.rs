//! Decodes replies as a stream of events, for proxies and for values larger than memory.

use crate::error::{Error, ErrorKind};
use crate::grammar::{Crlf, crlf};
use crate::kind::{Kind, NullForm};
use crate::limits::Limits;
use crate::nesting::Nesting;
use crate::number;
use crate::step::Step;
use crate::token::{Dialect, Rules, Token, token};

/// An event within a frame.
///
/// A value is an [`Event::Scalar`]; or [`Event::BlobStart`], chunks, [`Event::BlobEnd`]; or
/// [`Event::Open`], its elements, [`Event::Close`]. Attributes are an `Open` and `Close` of
/// [`Kind::Attribute`] before their value.
///
/// ```
/// use resp_codec::{Event, EventDecoder, Kind, Limits, Scalar, Step};
/// let mut decoder = EventDecoder::new(Limits::CLIENT);
/// let (mut input, mut events) = (&b"%1\r\n+k\r\n$2\r\nhi\r\n"[..], Vec::new());
/// while let Step::Ready { item, consumed } = decoder.decode(input).unwrap() {
///     events.push(item);
///     input = &input[consumed..];
/// }
/// assert_eq!(events, [
///     Event::Open { kind: Kind::Map, len: Some(1) },
///     Event::Scalar(Scalar::Simple(b"k")),
///     Event::BlobStart { kind: Kind::Bulk, len: Some(2) },
///     Event::BlobChunk(b"hi"),
///     Event::BlobEnd,
///     Event::Close { kind: Kind::Map },
///     Event::FrameEnd,
/// ]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'b> {
    /// A value that fits one line.
    Scalar(Scalar<'b>),
    /// A bulk string, blob error or verbatim string begins.
    BlobStart {
        /// [`Kind::Bulk`], [`Kind::BlobError`] or [`Kind::Verbatim`].
        kind: Kind,
        /// Its length in bytes; `None` if it is streamed.
        len: Option<u32>,
    },
    /// A piece of the string, not empty, with the bytes of the wire. The first four bytes of a
    /// verbatim string are its format and a colon.
    BlobChunk(&'b [u8]),
    /// The string is complete.
    BlobEnd,
    /// An aggregate begins.
    Open {
        /// Its type.
        kind: Kind,
        /// The number of its elements (of pairs, for a map or an attribute); `None` if it is
        /// streamed.
        len: Option<u32>,
    },
    /// The aggregate of this type is complete.
    Close {
        /// Its type.
        kind: Kind,
    },
    /// The frame is complete. The next event belongs to the next frame.
    FrameEnd,
}

/// A value that fits one line.
///
/// ```
/// # use resp_codec::{Event, EventDecoder, Kind, Limits, Scalar, Step};
/// let mut decoder = EventDecoder::new(Limits::CLIENT);
/// let event = decoder.decode(b",0.5\r\n").unwrap().ready();
/// assert_eq!(event, Some(Event::Scalar(Scalar::Double(0.5))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'b> {
    /// A simple string.
    Simple(&'b [u8]),
    /// A simple error.
    Error(&'b [u8]),
    /// An integer.
    Int(i64),
    /// Null, and how it was written.
    Null(NullForm),
    /// A boolean.
    Bool(bool),
    /// A double.
    Double(f64),
    /// A big number's sign and digits.
    BigNumber(&'b [u8]),
}

/// Decodes replies event by event. Its memory is bounded by the nesting depth alone.
///
/// Each event consumes its bytes, so the buffer need not hold more than one line; payloads are
/// returned as they arrive. [`Limits::max_frame`] does not apply.
///
/// ```
/// use resp_codec::{Event, EventDecoder, Kind, Limits, Scalar, Step};
/// let mut decoder = EventDecoder::new(Limits::CLIENT);
/// let (mut input, mut events) = (&b"*2\r\n:1\r\n$5\r\nhel"[..], Vec::new());
/// while let Step::Ready { item, consumed } = decoder.decode(input).unwrap() {
///     events.push(item);
///     input = &input[consumed..];
/// }
/// assert_eq!(events, [
///     Event::Open { kind: Kind::Array, len: Some(2) },
///     Event::Scalar(Scalar::Int(1)),
///     Event::BlobStart { kind: Kind::Bulk, len: Some(5) },
///     Event::BlobChunk(b"hel"),
/// ]);
/// ```
#[derive(Clone, Debug)]
pub struct EventDecoder {
    rules: Rules,
    nesting: Nesting,
    state: State,
    /// Where the search for a line end stopped.
    scanned: usize,
    total: u64,
}

/// The next part of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Token,
    /// The rest of a payload and its CRLF.
    Payload {
        left: u32,
        kind: Kind,
        /// The payload is a chunk of a streamed string, which continues.
        chunk: bool,
        /// The format of a verbatim string has not been read yet.
        format: bool,
    },
    /// The end of an aggregate without elements.
    CloseEmpty(Kind),
    /// The end of the innermost aggregate, or of the frame.
    Close,
    Failed,
}

/// The result of one scan: an event and its length, a number of bytes to skip, or a number of
/// missing bytes.
enum Scan<'b> {
    Event(Event<'b>, usize),
    Skip(usize),
    Short(usize),
}

impl EventDecoder {
    /// A decoder at the start of a connection, for everything that the specification allows. Does
    /// not allocate.
    ///
    /// ```
    /// # use resp_codec::{Event, EventDecoder, Kind, Limits};
    /// let mut decoder = EventDecoder::new(Limits::CLIENT);
    /// let event = decoder.decode(b"~?\r\n").unwrap().ready();
    /// assert_eq!(event, Some(Event::Open { kind: Kind::Set, len: None }));
    /// ```
    pub const fn new(limits: Limits) -> Self {
        Self::with_dialect(limits, Dialect::SPEC)
    }

    /// A decoder that accepts only what `dialect` allows.
    ///
    /// ```
    /// use resp_codec::{Dialect, EventDecoder, Limits};
    /// let mut strict = EventDecoder::with_dialect(Limits::CLIENT, Dialect::CANONICAL);
    /// assert!(strict.decode(b"~?\r\n").is_err());
    /// ```
    pub const fn with_dialect(limits: Limits, dialect: Dialect) -> Self {
        let rules = Rules { limits, dialect };
        Self {
            rules,
            nesting: Nesting::new(),
            state: State::Token,
            scanned: 0,
            total: 0,
        }
    }

    /// Discards a partial frame or a failure: the next buffer begins with a new frame.
    ///
    /// ```
    /// # use resp_codec::{Event, EventDecoder, Kind, Limits, Scalar, Step};
    /// let mut decoder = EventDecoder::new(Limits::CLIENT);
    /// assert!(decoder.decode(b"?").is_err());
    /// decoder.reset();
    /// assert!(decoder.decode(b"_\r\n").is_ok());
    /// ```
    pub fn reset(&mut self) {
        self.nesting.clear();
        self.state = State::Token;
        self.scanned = 0;
    }

    /// Bytes consumed since the decoder was created, which is the stream offset of the next call's
    /// buffer.
    ///
    /// ```
    /// # use resp_codec::{Event, EventDecoder, Kind, Limits, Scalar, Step};
    /// let mut decoder = EventDecoder::new(Limits::CLIENT);
    /// let consumed = decoder.decode(b"*1\r\n_\r\n").unwrap().consumed();
    /// assert_eq!((consumed, decoder.total()), (4, 4));
    /// ```
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The number of open aggregates.
    ///
    /// ```
    /// # use resp_codec::{Event, EventDecoder, Kind, Limits, Scalar, Step};
    /// let mut decoder = EventDecoder::new(Limits::CLIENT);
    /// let _ = decoder.decode(b"*1\r\n*1\r\n").unwrap();
    /// assert_eq!(decoder.depth(), 1);
    /// ```
    pub fn depth(&self) -> usize {
        self.nesting.depth()
    }

    /// Whether `byte` may be the first byte of the next token.
    pub(crate) fn may_begin(&self, byte: u8) -> bool {
        self.state != State::Token || self.nesting.may_begin(byte)
    }

    /// Decodes the next event of `buf`, which starts where the last call's `consumed` ended.
    ///
    /// ```
    /// use resp_codec::{Event, EventDecoder, Limits, Step};
    /// // A value of 1 GB needs no buffer of 1 GB: its bytes are returned as they arrive.
    /// let limits = Limits { max_bulk: 1 << 30, ..Limits::CLIENT };
    /// let mut decoder = EventDecoder::new(limits);
    /// let consumed = decoder.decode(b"$1000000000\r\n").unwrap().consumed();
    /// assert_eq!(consumed, 13);
    /// let step = decoder.decode(&[b'x'; 4096]).unwrap();
    /// assert!(matches!(step, Step::Ready { item: Event::BlobChunk(_), consumed: 4096 }));
    /// ```
    ///
    /// # Errors
    /// [`Error`] with the offset into `buf`. The rest of the stream cannot be trusted: close the
    /// connection.
    pub fn decode<'b>(&mut self, buf: &'b [u8]) -> Result<Step<Event<'b>>, Error> {
        let mut base = 0;
        loop {
            let rest = &buf[base..];
            let step = match self.scan(rest) {
                Ok(Scan::Skip(skipped)) => {
                    base += skipped;
                    self.scanned = 0;
                    continue;
                }
                Ok(Scan::Event(item, len)) => {
                    self.scanned = 0;
                    Step::Ready {
                        item,
                        consumed: base + len,
                    }
                }
                Ok(Scan::Short(hint)) => Step::NeedMore {
                    consumed: base,
                    hint,
                },
                Err(error) => {
                    self.state = State::Failed;
                    return Err(error.shifted(base));
                }
            };
            self.total += step.consumed() as u64;
            return Ok(step);
        }
    }

    fn scan<'b>(&mut self, buf: &'b [u8]) -> Result<Scan<'b>, Error> {
        match self.state {
            State::Token => match token(buf, 0, &mut self.scanned, &self.rules)? {
                Some(token) => self.accept(buf, token),
                None => Ok(Scan::Short(1)),
            },
            State::Payload {
                left,
                kind,
                chunk,
                format,
            } => self.payload(buf, left, kind, chunk, format),
            State::CloseEmpty(kind) => {
                if kind == Kind::Attribute {
                    self.nesting.attributed();
                    self.state = State::Token;
                } else {
                    self.finish();
                }
                Ok(Scan::Event(Event::Close { kind }, 0))
            }
            State::Close => Ok(Scan::Event(self.close(), 0)),
            State::Failed => Err(Error::new(ErrorKind::Poisoned, 0)),
        }
    }

    fn accept<'b>(&mut self, buf: &'b [u8], token: Token) -> Result<Scan<'b>, Error> {
        let limits = self.rules.limits;
        match token {
            Token::Line { kind, at, len } => {
                self.nesting.begin(kind, 0, &limits)?;
                self.finish();
                let scalar = scalar(kind, &buf[at..at + len]);
                Ok(Scan::Event(Event::Scalar(scalar), at + len + 2))
            }
            Token::Null { form, end } => {
                self.nesting.begin(Kind::Null, 0, &limits)?;
                self.finish();
                Ok(Scan::Event(Event::Scalar(Scalar::Null(form)), end))
            }
            Token::Blob { kind, at, len } => {
                self.nesting.begin(kind, 0, &limits)?;
                let format = kind == Kind::Verbatim;
                self.state = State::Payload {
                    left: len,
                    kind,
                    chunk: false,
                    format,
                };
                Ok(Scan::Event(
                    Event::BlobStart {
                        kind,
                        len: Some(len),
                    },
                    at,
                ))
            }
            Token::Open {
                kind,
                elements,
                end,
            } => {
                self.nesting.begin(kind, 0, &limits)?;
                if elements == Some(0) {
                    self.state = State::CloseEmpty(kind);
                } else {
                    self.nesting.open(kind, elements, 0, 0, &limits)?;
                }
                let len = elements.map(|n| if kind.is_paired() { n / 2 } else { n });
                Ok(Scan::Event(Event::Open { kind, len }, end))
            }
            other => self.accept_streamed(other),
        }
    }

    fn accept_streamed<'b>(&mut self, token: Token) -> Result<Scan<'b>, Error> {
        let limits = self.rules.limits;
        match token {
            Token::Stream { end } => {
                self.nesting.begin(Kind::Bulk, 0, &limits)?;
                self.nesting.open_string(0, 0, &limits)?;
                Ok(Scan::Event(
                    Event::BlobStart {
                        kind: Kind::Bulk,
                        len: None,
                    },
                    end,
                ))
            }
            Token::Chunk { at, len } => {
                self.nesting.chunk(0, &limits)?;
                if len > 0 {
                    let kind = Kind::Bulk;
                    self.state = State::Payload {
                        left: len,
                        kind,
                        chunk: true,
                        format: false,
                    };
                    return Ok(Scan::Skip(at));
                }
                self.nesting.pop();
                self.finish();
                Ok(Scan::Event(Event::BlobEnd, at))
            }
            Token::End { end } => {
                self.nesting.check_end(0)?;
                let kind = self.nesting.pop().kind;
                self.finish();
                Ok(Scan::Event(Event::Close { kind }, end))
            }
            Token::Line { .. } | Token::Blob { .. } | Token::Null { .. } | Token::Open { .. } => {
                unreachable!("invariant: these tokens are not streamed")
            }
        }
    }

    fn payload<'b>(
        &mut self,
        buf: &'b [u8],
        left: u32,
        kind: Kind,
        chunk: bool,
        format: bool,
    ) -> Result<Scan<'b>, Error> {
        if left == 0 {
            return match crlf(buf, 0) {
                Crlf::Whole if chunk => {
                    self.state = State::Token;
                    Ok(Scan::Skip(2))
                }
                Crlf::Whole => {
                    self.finish();
                    Ok(Scan::Event(Event::BlobEnd, 2))
                }
                Crlf::Short => Ok(Scan::Short(2 - buf.len())),
                Crlf::Bad { at } => Err(Error::new(ErrorKind::InvalidBulkLength, at)),
            };
        }
        if format && buf.get(3).is_some_and(|&byte| byte != b':') {
            return Err(Error::new(ErrorKind::InvalidVerbatim, 3));
        }
        let have = buf.len().min(left as usize);
        if have == 0 || (format && have < 4) {
            return Ok(Scan::Short((left as usize - have).saturating_add(2)));
        }
        self.state = State::Payload {
            left: left - have as u32,
            kind,
            chunk,
            format: false,
        };
        Ok(Scan::Event(Event::BlobChunk(&buf[..have]), have))
    }

    /// Completes a value.
    fn finish(&mut self) {
        self.state = if self.nesting.finish() {
            State::Close
        } else {
            State::Token
        };
    }

    fn close(&mut self) -> Event<'static> {
        if self.nesting.depth() == 0 {
            self.nesting.clear();
            self.state = State::Token;
            return Event::FrameEnd;
        }
        let kind = self.nesting.pop().kind;
        if kind == Kind::Attribute {
            self.nesting.attributed();
            self.state = State::Token;
        } else {
            self.finish();
        }
        Event::Close { kind }
    }
}

impl Default for EventDecoder {
    /// A decoder with [`Limits::CLIENT`].
    fn default() -> Self {
        Self::new(Limits::CLIENT)
    }
}

fn scalar(kind: Kind, text: &[u8]) -> Scalar<'_> {
    match kind {
        Kind::Error => Scalar::Error(text),
        Kind::Int => Scalar::Int(number::integer(text).unwrap_or_default()),
        Kind::Bool => Scalar::Bool(text == b"t"),
        Kind::Double => Scalar::Double(number::double(text).unwrap_or_default()),
        Kind::BigNumber => Scalar::BigNumber(text),
        _ => Scalar::Simple(text),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn events(input: &[u8]) -> (Vec<Event<'_>>, Result<usize, Error>) {
        let mut decoder = EventDecoder::new(Limits::CLIENT);
        let (mut events, mut at) = (Vec::new(), 0);
        loop {
            match decoder.decode(&input[at..]) {
                Ok(Step::Ready { item, consumed }) => {
                    events.push(item);
                    at += consumed;
                }
                Ok(Step::NeedMore { consumed, .. }) => {
                    at += consumed;
                    assert_eq!(decoder.total(), at as u64);
                    return (events, Ok(input.len() - at));
                }
                Err(error) => return (events, Err(error.shifted(at))),
            }
        }
    }

    #[test]
    fn events_of_every_frame_shape_come_in_order() {
        let input = b"|1\r\n+a\r\n*0\r\n%?\r\n$?\r\n;2\r\nab\r\n;0\r\n=5\r\ntxt:v\r\n.\r\n_\r\n";
        let (events, end) = events(input);
        assert_eq!(end, Ok(0));
        assert_eq!(
            events,
            [
                Event::Open {
                    kind: Kind::Attribute,
                    len: Some(1)
                },
                Event::Scalar(Scalar::Simple(b"a")),
                Event::Open {
                    kind: Kind::Array,
                    len: Some(0)
                },
                Event::Close { kind: Kind::Array },
                Event::Close {
                    kind: Kind::Attribute
                },
                Event::Open {
                    kind: Kind::Map,
                    len: None
                },
                Event::BlobStart {
                    kind: Kind::Bulk,
                    len: None
                },
                Event::BlobChunk(b"ab"),
                Event::BlobEnd,
                Event::BlobStart {
                    kind: Kind::Verbatim,
                    len: Some(5)
                },
                Event::BlobChunk(b"txt:v"),
                Event::BlobEnd,
                Event::Close { kind: Kind::Map },
                Event::FrameEnd,
                Event::Scalar(Scalar::Null(NullForm::Null)),
                Event::FrameEnd,
            ]
        );
    }

    #[test]
    fn error_offsets_match_the_frame_decoder() {
        for input in [
            &b"+OK\r\n*2\r\n:1\r\n:x\r\n"[..],
            b"*1\r\n>1\r\n",
            b"$3\r\nabcd",
            b"=5\r\ntxtX",
            b"$?\r\n;1\r\na\r\n$1\r\n",
            b"%?\r\n+a\r\n.\r\n",
            b"*1\r\n.\r\n",
            b">1\r\n:1\r\n",
        ] {
            let mut frames = crate::FrameDecoder::new(Limits::CLIENT);
            let mut at = 0;
            let error = loop {
                match frames.decode(&input[at..]) {
                    Ok(step) => at += step.consumed(),
                    Err(error) => break error.shifted(at),
                }
            };
            assert_eq!(events(input).1, Err(error), "{}", input.escape_ascii());
        }
    }

    #[test]
    fn payload_is_returned_as_it_arrives() {
        let mut decoder = EventDecoder::new(Limits::CLIENT);
        assert_eq!(decoder.decode(b"$4\r\n").unwrap().consumed(), 4);
        assert_eq!(
            decoder.decode(b""),
            Ok(Step::NeedMore {
                consumed: 0,
                hint: 6
            })
        );
        let step = decoder.decode(b"abc");
        assert_eq!(
            step,
            Ok(Step::Ready {
                item: Event::BlobChunk(b"abc"),
                consumed: 3
            })
        );
        let step = decoder.decode(b"d\r");
        assert_eq!(
            step,
            Ok(Step::Ready {
                item: Event::BlobChunk(b"d"),
                consumed: 1
            })
        );
        assert_eq!(
            decoder.decode(b"\r"),
            Ok(Step::NeedMore {
                consumed: 0,
                hint: 1
            })
        );
        assert_eq!(
            decoder.decode(b"\r\n"),
            Ok(Step::Ready {
                item: Event::BlobEnd,
                consumed: 2
            })
        );
    }
}
