//! Formats an error as text: a snippet of the buffer, a caret, and the violated rule.

use core::fmt;

use super::diagnose::Diagnosis;
use crate::error::{Error, ErrorKind};

/// The number of bytes shown on each side of an error.
const AROUND: usize = 24;

/// An error with the bytes around it, a caret, and the violated rule. Displays as a few short lines
/// for any input.
///
/// ```
/// use resp_codec::{Error, ErrorKind};
/// let error = Error { kind: ErrorKind::InvalidBoolean, offset: 1 };
/// let text = error.render(b"#T\r\n").to_string();
/// assert_eq!(text.lines().nth(1), Some("  #T\\r\\n"));
/// assert_eq!(text.lines().nth(2), Some("   ^"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rendered<'b> {
    error: Error,
    buf: &'b [u8],
}

impl Error {
    /// Renders the error with the bytes around it. `buf` is the buffer of the failed call.
    ///
    /// ```
    /// use resp_codec::{CommandDecoder, Limits};
    /// let input = b"*1\r\n$4\r\nPINGPONG\r\n";
    /// let error = CommandDecoder::new(Limits::SERVER).decode(input).unwrap_err();
    /// assert_eq!(error.render(input).to_string(), concat!(
    ///     "Protocol error: invalid bulk length at byte 12\n",
    ///     "  *1\\r\\n$4\\r\\nPINGPONG\\r\\n\n",
    ///     "                  ^\n",
    ///     "  A length is 0, or digits that begin with no 0, and CRLF; the payload has exactly that many bytes, and CRLF.",
    /// ));
    /// ```
    pub const fn render<'b>(&self, buf: &'b [u8]) -> Rendered<'b> {
        Rendered { error: *self, buf }
    }
}

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.error.offset.min(self.buf.len());
        let start = at.saturating_sub(AROUND);
        let end = at.saturating_add(AROUND).min(self.buf.len());
        let (before, after) = (&self.buf[start..at], &self.buf[at..end]);
        let lead = if start > 0 { "…" } else { "" };
        let trail = if end < self.buf.len() { "…" } else { "" };
        let indent = before
            .iter()
            .map(|&byte| byte.escape_ascii().len())
            .sum::<usize>();
        let indent = indent + usize::from(start > 0);
        writeln!(f, "{}", self.error)?;
        writeln!(
            f,
            "  {lead}{}{}{trail}",
            before.escape_ascii(),
            after.escape_ascii()
        )?;
        writeln!(f, "  {:indent$}^", "")?;
        write!(f, "  {}", self.error.kind.help())
    }
}

impl fmt::Display for Diagnosis<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.render(self.buf).fmt(f)?;
        if !self.expected.is_empty() {
            write!(f, "\n  Expected {}.", self.expected)?;
        }
        for fix in &self.fixes {
            write!(f, "\n  Perhaps {}.", fix.why)?;
        }
        Ok(())
    }
}

impl ErrorKind {
    /// The violated rule, in one or two sentences.
    ///
    /// ```
    /// use resp_codec::ErrorKind;
    /// assert_eq!(ErrorKind::InvalidBoolean.help(), "A boolean is #t or #f.");
    /// ```
    pub const fn help(self) -> &'static str {
        match self {
            ErrorKind::InvalidMultibulkLength => {
                "A count is 0, or digits that begin with no 0, within the limit, and CRLF."
            }
            ErrorKind::InvalidBulkLength => {
                "A length is 0, or digits that begin with no 0, and CRLF; the payload has exactly that many bytes, and CRLF."
            }
            ErrorKind::UnauthenticatedMultibulkLength | ErrorKind::UnauthenticatedBulkLength => {
                "Before AUTH a request has few and short arguments."
            }
            ErrorKind::ExpectedBulk(_) => {
                "Every argument of a request is a bulk string: $, a length, CRLF."
            }
            ErrorKind::InlineTooBig | ErrorKind::LineTooBig => {
                "The line is longer than the limit allows."
            }
            ErrorKind::UnbalancedQuotes => {
                "A quote is closed, and a blank or the line's end follows it."
            }
            ErrorKind::FrameTooBig => "The whole is longer than the limit allows.",
            ErrorKind::UnknownType(_) => {
                "A reply begins with one of + - : $ * _ # , ( ! = % ~ | >."
            }
            ErrorKind::InvalidLine => "A line ends with CRLF, and has neither CR nor LF within.",
            ErrorKind::InvalidInteger => "An integer is decimal and fits 64 bits.",
            ErrorKind::InvalidDouble => {
                "A double is like 1, -1.5 or 1e-9, or it is inf, -inf or nan."
            }
            ErrorKind::InvalidBigNumber => "A big number is decimal digits, perhaps behind a sign.",
            ErrorKind::InvalidBoolean => "A boolean is #t or #f.",
            ErrorKind::InvalidVerbatim => {
                "A verbatim string begins with three bytes of format and a colon."
            }
            ErrorKind::InvalidPush => {
                "A push has elements, and the first is a string that names it."
            }
            ErrorKind::NestedPush => "A push stands between replies, never within one.",
            ErrorKind::ExpectedChunk => {
                "A streamed string is chunks, each ; and a length, up to ;0."
            }
            ErrorKind::StrayChunk => "A chunk stands only within a streamed string.",
            ErrorKind::StrayEnd => {
                "The end . stands only within a streamed aggregate, behind a whole value."
            }
            ErrorKind::OddMap => "A map has a value for every key.",
            ErrorKind::TooDeep => "The nesting is deeper than the limit allows.",
            ErrorKind::TooManyNodes => "There are more values than the limit allows.",
            ErrorKind::UnknownTag(_) => {
                "A binary value begins with one of _ # : , + - $ ! ( = * ~ > % |."
            }
            ErrorKind::UnknownOp(_) => "A binary request begins with 01, 02, 03 or 10.",
            ErrorKind::Poisoned => {
                "Nothing can be read behind an error until the decoder is reset."
            }
        }
    }
}
