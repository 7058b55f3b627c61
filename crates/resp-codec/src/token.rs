//! Scans one header or line at a time: the grammar shared by frames, events and annotations.

use crate::error::{Error, ErrorKind};
use crate::grammar::{Crlf, Length, Line, crlf, examined, integer, length, line_end, load8};
use crate::kind::{Kind, NullForm};
use crate::limits::Limits;

/// The optional parts of the grammar that a decoder accepts.
///
/// ```
/// use resp_codec::{Dialect, FrameDecoder, Limits};
/// let decode = |dialect| FrameDecoder::with_dialect(Limits::CLIENT, dialect).decode(b":+1\r\n").is_ok();
/// assert!(decode(Dialect::SPEC));
/// assert!(!decode(Dialect::CANONICAL));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Whether `:`, `(` and `,` accept forms that the specification allows and no server sends: a
    /// `+` and leading zeros. Lengths are always canonical.
    pub spec_numbers: bool,
    /// Whether streamed strings and aggregates (`$?`, `*?`, `~?`, `%?`) are accepted.
    pub streamed: bool,
}

impl Dialect {
    /// Everything that the specification allows.
    ///
    /// ```
    /// use resp_codec::{Dialect, FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::with_dialect(Limits::CLIENT, Dialect::SPEC);
    /// let frame = decoder.decode(b":+007\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.int(), Some(7));
    /// ```
    pub const SPEC: Self = Self {
        spec_numbers: true,
        streamed: true,
    };
    /// Only the forms that Redis and Valkey send.
    ///
    /// ```
    /// use resp_codec::{Dialect, ErrorKind, FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::with_dialect(Limits::CLIENT, Dialect::CANONICAL);
    /// let error = decoder.decode(b"*?\r\n").unwrap_err();
    /// assert_eq!((error.kind, error.offset), (ErrorKind::InvalidMultibulkLength, 1));
    /// ```
    pub const CANONICAL: Self = Self {
        spec_numbers: false,
        streamed: false,
    };
}

impl Default for Dialect {
    /// [`Dialect::SPEC`].
    fn default() -> Self {
        Self::SPEC
    }
}

/// The rules for tokens: their sizes and forms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) limits: Limits,
    pub(crate) dialect: Dialect,
}

/// A header or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A scalar in one line: the position of its text, which CRLF follows.
    Line { kind: Kind, at: usize, len: usize },
    /// A null that ends at `end`.
    Null { form: NullForm, end: usize },
    /// The header of a payload at `at`, which CRLF follows.
    Blob { kind: Kind, at: usize, len: u32 },
    /// The header of a chunk; length 0 ends the string and has neither payload nor CRLF.
    Chunk { at: usize, len: u32 },
    /// The header of a streamed string.
    Stream { end: usize },
    /// The header of an aggregate: its elements (keys and values counted separately), or `None` if
    /// it is streamed.
    Open {
        kind: Kind,
        elements: Option<u32>,
        end: usize,
    },
    /// The end of a streamed aggregate.
    End { end: usize },
}

type Read = Result<Option<Token>, Error>;

/// Reads the token at `at`; `None` if the buffer ends before it does. Payloads are not examined.
///
/// `scanned` is where an earlier call stopped its search for a line end, or any offset below `at`.
#[inline(always)]
pub(crate) fn token(buf: &[u8], at: usize, scanned: &mut usize, rules: &Rules) -> Read {
    let Some(&tag) = buf.get(at) else {
        return Ok(None);
    };
    match tag {
        b'$' => {
            if let Some((len, end)) = short_length(buf, at) {
                return blob_header(Kind::Bulk, len, at, end, rules);
            }
            blob(Kind::Bulk, buf, at, rules)
        }
        b'*' => open(Kind::Array, buf, at, rules),
        b'%' => open(Kind::Map, buf, at, rules),
        b':' => match integer(buf, at + 1, !rules.dialect.spec_numbers) {
            Length::Whole { end, .. } => Ok(Some(Token::Line {
                kind: Kind::Int,
                at: at + 1,
                len: end - at - 3,
            })),
            Length::Short => Ok(None),
            Length::Bad { at } => Err(Error::new(ErrorKind::InvalidInteger, at)),
        },
        _ => rare(tag, buf, at, scanned, rules),
    }
}

/// Reads the types that are rare, or that cost more than their dispatch.
fn rare(tag: u8, buf: &[u8], at: usize, scanned: &mut usize, rules: &Rules) -> Read {
    match tag {
        b'+' => line(Kind::Simple, buf, at, scanned, rules),
        b'-' => line(Kind::Error, buf, at, scanned, rules),
        b',' => line(Kind::Double, buf, at, scanned, rules),
        b'(' => line(Kind::BigNumber, buf, at, scanned, rules),
        b'_' => ended(buf, at + 1, ErrorKind::InvalidLine, |end| Token::Null {
            form: NullForm::Null,
            end,
        }),
        b'#' => match buf.get(at + 1) {
            Some(b't' | b'f') => ended(buf, at + 2, ErrorKind::InvalidBoolean, |_| Token::Line {
                kind: Kind::Bool,
                at: at + 1,
                len: 1,
            }),
            Some(_) => Err(Error::new(ErrorKind::InvalidBoolean, at + 1)),
            None => Ok(None),
        },
        b'!' => blob(Kind::BlobError, buf, at, rules),
        b'=' => blob(Kind::Verbatim, buf, at, rules),
        b';' if rules.dialect.streamed => chunk(buf, at, rules),
        b'~' => open(Kind::Set, buf, at, rules),
        b'>' => open(Kind::Push, buf, at, rules),
        b'|' => open(Kind::Attribute, buf, at, rules),
        b'.' if rules.dialect.streamed => ended(buf, at + 1, ErrorKind::InvalidLine, |end| {
            Token::End { end }
        }),
        other => Err(Error::new(ErrorKind::UnknownType(other), at)),
    }
}

/// Checks for CRLF at `at`, and returns the token that it completes.
fn ended(buf: &[u8], at: usize, kind: ErrorKind, token: impl FnOnce(usize) -> Token) -> Read {
    match crlf(buf, at) {
        Crlf::Whole => Ok(Some(token(at + 2))),
        Crlf::Short => Ok(None),
        Crlf::Bad { at } => Err(Error::new(kind, at)),
    }
}

/// The length after the type byte at `at` and where its line ends, if it has one or two digits.
///
/// The digits are tested one by one: smarter code lengthens the dependency chain between headers.
#[inline(always)]
pub(crate) fn short_length(buf: &[u8], at: usize) -> Option<(u32, usize)> {
    let word = load8(buf, at)?;
    let (first, second) = ((word >> 8) as u8, (word >> 16) as u8);
    let crlf = |shift: u32| (word >> shift) as u16 == u16::from_le_bytes(*b"\r\n");
    if crlf(16) && first.is_ascii_digit() {
        return Some((u32::from(first) - u32::from(b'0'), at + 4));
    }
    if !crlf(24) || !matches!(first, b'1'..=b'9') || !second.is_ascii_digit() {
        return None;
    }
    // One subtraction for both digits.
    let len = u32::from(first) * 10 + u32::from(second) - u32::from(b'0') * 11;
    Some((len, at + 5))
}

fn blob(kind: Kind, buf: &[u8], at: usize, rules: &Rules) -> Read {
    if kind == Kind::Bulk && rules.dialect.streamed && buf.get(at + 1) == Some(&b'?') {
        return ended(buf, at + 2, ErrorKind::InvalidBulkLength, |end| {
            Token::Stream { end }
        });
    }
    match length(buf, at + 1) {
        Length::Whole { value: -1, end } if kind == Kind::Bulk => Ok(Some(Token::Null {
            form: NullForm::Bulk,
            end,
        })),
        Length::Whole { value, end } => match u32::try_from(value) {
            Ok(len) => blob_header(kind, len, at, end, rules),
            Err(_) => Err(Error::new(ErrorKind::InvalidBulkLength, at + 1)),
        },
        Length::Short => Ok(None),
        Length::Bad { at } => Err(Error::new(ErrorKind::InvalidBulkLength, at)),
    }
}

#[inline]
fn blob_header(kind: Kind, len: u32, at: usize, end: usize, rules: &Rules) -> Read {
    if u64::from(len) > rules.limits.max_bulk {
        return Err(Error::new(ErrorKind::InvalidBulkLength, at + 1));
    }
    if kind == Kind::Verbatim && len < 4 {
        return Err(Error::new(ErrorKind::InvalidVerbatim, at + 1));
    }
    Ok(Some(Token::Blob { kind, at: end, len }))
}

fn chunk(buf: &[u8], at: usize, rules: &Rules) -> Read {
    match length(buf, at + 1) {
        Length::Whole { value, end } => match u32::try_from(value) {
            Ok(len) if u64::from(len) <= rules.limits.max_bulk => {
                Ok(Some(Token::Chunk { at: end, len }))
            }
            _ => Err(Error::new(ErrorKind::InvalidBulkLength, at + 1)),
        },
        Length::Short => Ok(None),
        Length::Bad { at } => Err(Error::new(ErrorKind::InvalidBulkLength, at)),
    }
}

#[inline]
fn open(kind: Kind, buf: &[u8], at: usize, rules: &Rules) -> Read {
    let (value, end) = match short_length(buf, at) {
        Some((value, end)) => (i64::from(value), end),
        None => match long_count(kind, buf, at, rules)? {
            Count::Known { value, end } => (value, end),
            Count::Token(token) => return Ok(token),
        },
    };
    if kind == Kind::Push && value == 0 {
        return Err(Error::new(ErrorKind::InvalidPush, at + 1));
    }
    let elements = u64::try_from(value)
        .ok()
        .and_then(|n| n.checked_mul(if kind.is_paired() { 2 } else { 1 }));
    match elements {
        Some(elements) if elements <= u64::from(rules.limits.max_nodes.min(NODES_MAX)) => {
            Ok(Some(Token::Open {
                kind,
                elements: Some(elements as u32),
                end,
            }))
        }
        Some(_) => Err(Error::new(ErrorKind::TooManyNodes, at + 1)),
        None => Err(Error::new(ErrorKind::InvalidMultibulkLength, at + 1)),
    }
}

/// The most nodes of a frame: less than the count that means "streamed".
pub(crate) const NODES_MAX: u32 = 1 << 29;

enum Count {
    Known { value: i64, end: usize },
    Token(Option<Token>),
}

fn long_count(kind: Kind, buf: &[u8], at: usize, rules: &Rules) -> Result<Count, Error> {
    let streamable = matches!(kind, Kind::Array | Kind::Set | Kind::Map);
    if streamable && rules.dialect.streamed && buf.get(at + 1) == Some(&b'?') {
        return ended(buf, at + 2, ErrorKind::InvalidMultibulkLength, |end| {
            Token::Open {
                kind,
                elements: None,
                end,
            }
        })
        .map(Count::Token);
    }
    match length(buf, at + 1) {
        Length::Whole { value: -1, end } if kind == Kind::Array => {
            Ok(Count::Token(Some(Token::Null {
                form: NullForm::Array,
                end,
            })))
        }
        Length::Whole { value, end } => Ok(Count::Known { value, end }),
        Length::Short => Ok(Count::Token(None)),
        Length::Bad { at } => Err(Error::new(ErrorKind::InvalidMultibulkLength, at)),
    }
}

fn line(kind: Kind, buf: &[u8], at: usize, scanned: &mut usize, rules: &Rules) -> Read {
    let start = at + 1;
    let max = rules.limits.max_inline as usize;
    // Do not search for the line end beyond the longest line.
    let window = &buf[..buf.len().min(start.saturating_add(max).saturating_add(2))];
    match line_end(window, start.max(*scanned)) {
        Line::Whole { end } if end - start <= max => {
            check_text(kind, &buf[start..end], start, rules)?;
            Ok(Some(Token::Line {
                kind,
                at: start,
                len: end - start,
            }))
        }
        Line::Short { from } if from - start <= max => {
            *scanned = from;
            Ok(None)
        }
        // The byte after the longest line may be a CR; then the wrong byte is the one after it.
        Line::Bad { at }
            if at - start <= max || (at - start == max + 1 && buf[at - 1] == b'\r') =>
        {
            Err(Error::new(ErrorKind::InvalidLine, at))
        }
        _ => Err(Error::new(ErrorKind::LineTooBig, start + max)),
    }
}

fn check_text(kind: Kind, text: &[u8], start: usize, rules: &Rules) -> Result<(), Error> {
    let lax = rules.dialect.spec_numbers;
    if matches!(kind, Kind::Double | Kind::BigNumber) {
        examined(text.len());
    }
    let (error, bad) = match kind {
        Kind::Double => (ErrorKind::InvalidDouble, bad_double(text, lax)),
        Kind::BigNumber => (ErrorKind::InvalidBigNumber, bad_big_number(text, lax)),
        _ => return Ok(()),
    };
    bad.map_or(Ok(()), |at| Err(Error::new(error, start + at)))
}

/// Offset of the first byte of `text` that does not match `[+-]?digits`.
pub(crate) fn bad_big_number(text: &[u8], lax: bool) -> Option<usize> {
    let first = sign(text, lax);
    let end = first + digits(&text[first..]);
    let padded = text[first..end].starts_with(b"0") && (end - first > 1 || first > 0);
    if end == first || end < text.len() {
        return Some(end);
    }
    (padded && !lax).then_some(first)
}

/// Offset of the first byte of `text` that does not match a double of the RESP3 specification, or 0
/// if the number is larger than the largest double.
// spec: redis-doc protocol-spec, "Doubles":
// `,[<+|->]<integral>[.<fractional>][<E|e>[sign]<exponent>]`.
fn bad_double(text: &[u8], lax: bool) -> Option<usize> {
    if matches!(text, b"inf" | b"-inf" | b"nan" | b"-nan") {
        return None;
    }
    let first = sign(text, lax);
    let mut end = first + digits(&text[first..]);
    if end == first {
        return Some(end);
    }
    if !lax && end - first > 1 && text[first] == b'0' {
        return Some(first);
    }
    if text.get(end) == Some(&b'.') {
        end += 1 + digits(&text[end + 1..]);
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let from = end + 1 + sign(&text[end + 1..], true);
        let exponent = digits(&text[from..]);
        end = from + exponent;
        if exponent == 0 {
            return Some(end);
        }
    }
    if end < text.len() {
        return Some(end);
    }
    // Without an exponent, only 309 digits or more exceed the largest double.
    let far = text.len() > 308 || text.iter().any(|byte| matches!(byte, b'e' | b'E'));
    (far && crate::number::double(text).is_none_or(f64::is_infinite)).then_some(0)
}

fn sign(text: &[u8], plus: bool) -> usize {
    usize::from(matches!(text.first(), Some(b'-')) || (plus && matches!(text.first(), Some(b'+'))))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}
