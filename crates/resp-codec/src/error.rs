//! Decoding errors: what is wrong, at which byte, and Redis's error reply.

use core::fmt;

use crate::Sink;

/// A decoding error: its kind, and the offset of the wrong byte in the buffer of the failed call.
///
/// ```
/// use resp_codec::{CommandDecoder, ErrorKind, Limits};
/// let error = CommandDecoder::new(Limits::SERVER).decode(b"*1\r\n:5\r\n").unwrap_err();
/// assert_eq!(error.kind, ErrorKind::ExpectedBulk(b':'));
/// assert_eq!(error.offset, 4);
/// assert_eq!(error.to_string(), "Protocol error: expected '$', got ':' at byte 4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Offset of the wrong byte; for a number out of range, of its first byte.
    pub offset: usize,
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// The same error, relative to a buffer that starts `base` bytes earlier.
    pub(crate) const fn shifted(self, base: usize) -> Self {
        Self {
            kind: self.kind,
            offset: self.offset + base,
        }
    }
}

/// What is wrong with the bytes.
///
/// ```
/// use resp_codec::{ErrorKind, FrameDecoder, Limits};
/// let kind = |input| FrameDecoder::new(Limits::CLIENT).decode(input).unwrap_err().kind;
/// assert_eq!(kind(&b"?\r\n"[..]), ErrorKind::UnknownType(b'?'));
/// assert_eq!(kind(b"*1\r\n>1\r\n+a\r\n"), ErrorKind::NestedPush);
/// assert_eq!(kind(b"*999999999\r\n"), ErrorKind::TooManyNodes);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A request's argument count is malformed or above
    /// [`Limits::max_args`](crate::Limits::max_args).
    InvalidMultibulkLength,
    /// A request's bulk length is malformed or above [`Limits::max_bulk`](crate::Limits::max_bulk),
    /// or no CRLF follows the payload.
    InvalidBulkLength,
    /// Too many arguments for a client that has not authenticated.
    UnauthenticatedMultibulkLength,
    /// Too long a payload for a client that has not authenticated.
    UnauthenticatedBulkLength,
    /// A request's element begins with this byte instead of `$`.
    ExpectedBulk(u8),
    /// An inline request longer than [`Limits::max_inline`](crate::Limits::max_inline).
    InlineTooBig,
    /// An inline request with a quote that is not closed, or not followed by a blank.
    UnbalancedQuotes,
    /// A request or reply longer than [`Limits::max_frame`](crate::Limits::max_frame).
    FrameTooBig,
    /// A reply that begins with this byte, which is not a type byte.
    UnknownType(u8),
    /// A lone CR or LF within a line, or bytes between a value and its CRLF.
    InvalidLine,
    /// A line longer than [`Limits::max_inline`](crate::Limits::max_inline).
    LineTooBig,
    /// `:` without a decimal 64-bit number.
    InvalidInteger,
    /// `,` without a number, `inf`, `-inf` or `nan`, or with one beyond the largest double.
    InvalidDouble,
    /// `(` without decimal digits.
    InvalidBigNumber,
    /// `#` with anything other than `t` or `f`.
    InvalidBoolean,
    /// A verbatim string without a three-byte format and a colon.
    InvalidVerbatim,
    /// A push without elements, or whose first element is not a string.
    InvalidPush,
    /// A push within another value.
    NestedPush,
    /// Anything other than a chunk within a streamed string.
    ExpectedChunk,
    /// A chunk outside a streamed string.
    StrayChunk,
    /// `.` outside a streamed aggregate, or after an attribute whose value is missing.
    StrayEnd,
    /// A streamed map that ends after a key.
    OddMap,
    /// Nesting deeper than [`Limits::max_depth`](crate::Limits::max_depth).
    TooDeep,
    /// More values than [`Limits::max_nodes`](crate::Limits::max_nodes), even if they are only
    /// announced.
    TooManyNodes,
    /// A binary value whose tag is this byte, which is not a type byte.
    UnknownTag(u8),
    /// A binary request that begins with this byte, which is not an operation.
    UnknownOp(u8),
    /// The decoder has failed before and has not been reset.
    Poisoned,
}

impl ErrorKind {
    /// Redis's text, without `-ERR Protocol error: ` and without the byte of
    /// [`ErrorKind::ExpectedBulk`].
    const fn text(self) -> &'static str {
        match self {
            ErrorKind::InvalidMultibulkLength => "invalid multibulk length",
            ErrorKind::InvalidBulkLength => "invalid bulk length",
            ErrorKind::UnauthenticatedMultibulkLength => "unauthenticated multibulk length",
            ErrorKind::UnauthenticatedBulkLength => "unauthenticated bulk length",
            ErrorKind::ExpectedBulk(_) => "expected '$', got '",
            ErrorKind::InlineTooBig => "too big inline request",
            ErrorKind::UnbalancedQuotes => "unbalanced quotes in request",
            ErrorKind::FrameTooBig => "too big request",
            ErrorKind::UnknownType(_) => "unknown reply type",
            ErrorKind::InvalidLine => "invalid line end",
            ErrorKind::LineTooBig => "too big line",
            ErrorKind::InvalidInteger => "invalid integer",
            ErrorKind::InvalidDouble => "invalid double",
            ErrorKind::InvalidBigNumber => "invalid big number",
            ErrorKind::InvalidBoolean => "invalid boolean",
            ErrorKind::InvalidVerbatim => "invalid verbatim string",
            ErrorKind::InvalidPush => "invalid push",
            ErrorKind::NestedPush => "push within another value",
            ErrorKind::ExpectedChunk => "expected a chunk of a streamed string",
            ErrorKind::StrayChunk => "chunk outside a streamed string",
            ErrorKind::StrayEnd => "end outside a streamed aggregate",
            ErrorKind::OddMap => "streamed map ends behind a key",
            ErrorKind::TooDeep => "too deep nesting",
            ErrorKind::TooManyNodes => "too many values",
            ErrorKind::UnknownTag(_) => "unknown binary tag",
            ErrorKind::UnknownOp(_) => "unknown binary operation",
            ErrorKind::Poisoned => "input after a protocol error",
        }
    }

    /// Writes the reply that Redis sends before it closes the connection, including CRLF.
    ///
    /// A byte that would split the line (CR or LF, in [`ErrorKind::ExpectedBulk`]) becomes a blank.
    ///
    /// ```
    /// use resp_codec::ErrorKind;
    /// let mut out = Vec::new();
    /// ErrorKind::ExpectedBulk(b'+').reply(&mut out);
    /// assert_eq!(out, b"-ERR Protocol error: expected '$', got '+'\r\n");
    /// ```
    pub fn reply(self, out: &mut impl Sink) {
        out.put(b"-");
        self.message(out);
        out.put(b"\r\n");
    }

    /// Writes the text of [`ErrorKind::reply`] without `-` and CRLF, as
    /// [`Encoder::error`](crate::Encoder::error) expects it.
    ///
    /// ```
    /// use resp_codec::ErrorKind;
    /// let mut out = Vec::new();
    /// ErrorKind::InvalidBulkLength.message(&mut out);
    /// assert_eq!(out, b"ERR Protocol error: invalid bulk length");
    /// ```
    pub fn message(self, out: &mut impl Sink) {
        out.put(b"ERR Protocol error: ");
        out.put(self.text().as_bytes());
        if let ErrorKind::ExpectedBulk(byte) = self {
            out.put(&[
                if matches!(byte, b'\r' | b'\n') {
                    b' '
                } else {
                    byte
                },
                b'\'',
            ]);
        }
    }

    /// Whether the input exceeds a limit instead of violating the grammar, as far as the kind
    /// tells.
    ///
    /// ```
    /// assert!(resp_codec::ErrorKind::InlineTooBig.is_limit());
    /// ```
    pub const fn is_limit(self) -> bool {
        matches!(
            self,
            ErrorKind::UnauthenticatedMultibulkLength
                | ErrorKind::UnauthenticatedBulkLength
                | ErrorKind::InlineTooBig
                | ErrorKind::FrameTooBig
                | ErrorKind::LineTooBig
                | ErrorKind::TooDeep
                | ErrorKind::TooManyNodes
        )
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protocol error: ")?;
        f.write_str(self.text())?;
        match self {
            ErrorKind::ExpectedBulk(byte) => write!(f, "{}'", byte.escape_ascii()),
            ErrorKind::UnknownType(byte)
            | ErrorKind::UnknownTag(byte)
            | ErrorKind::UnknownOp(byte) => {
                write!(f, " 0x{byte:02x}")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl core::error::Error for Error {}
