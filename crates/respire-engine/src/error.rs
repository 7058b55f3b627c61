//! Error replies: their type, and the texts that several commands share.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// An error reply: a code word and a text, as in `ERR syntax error`.
///
/// A client sees the text after the `-`. It is bytes, because it may quote a request. CR and LF in
/// it cannot split the reply, because the encoder replaces them with blanks. The first word is
/// always in upper case: clients distinguish errors by it.
///
/// It has no blanket conversions, so a handler can use `?` without naming its error type. Implement
/// `From` for your own error type to convert it.
///
/// ```
/// use respire_engine::Error;
///
/// const FULL: Error = Error::fixed("QUEUEFULL try again later");
/// assert_eq!(FULL.text(), b"QUEUEFULL try again later");
/// assert_eq!(FULL.code(), "QUEUEFULL");
/// let limited = Error::new("LIMITED", format_args!("retry-ms={}", 250));
/// assert_eq!(limited.text(), b"LIMITED retry-ms=250");
/// let absent = Error::quoting("ERR no such queue '", b"q\xff", "'");
/// assert_eq!(absent.text(), b"ERR no such queue 'q\xff'");
/// // A text without a code gets `ERR`.
/// assert_eq!(Error::owned("no such queue").text(), b"ERR no such queue");
/// let parsed: Result<u8, Error> = "x".parse().map_err(Error::from_error);
/// assert_eq!(parsed.unwrap_err().text(), b"ERR invalid digit found in string");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    text: Cow<'static, [u8]>,
}

impl Error {
    /// An error with a text known at compile time: a code word, a blank, and a description.
    ///
    /// # Panics
    /// If the first word is not a code: an upper-case letter, then upper-case letters, digits and
    /// underscores. In a `const`, that is a compile error.
    #[must_use]
    pub const fn fixed(text: &'static str) -> Self {
        assert!(
            has_code(text.as_bytes()),
            "an error begins with a word in upper case, as in `ERR no such queue`"
        );
        Self {
            text: Cow::Borrowed(text.as_bytes()),
        }
    }

    /// An error with a code and a text. A code that is not an upper-case word is converted into
    /// one.
    #[must_use]
    pub fn new(code: &str, text: impl fmt::Display) -> Self {
        let mut whole: String = code
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '_'
                }
            })
            .collect();
        whole.make_ascii_uppercase();
        // Writing to a string fails only if the text's `Display` fails.
        let _ = write!(whole, " {text}");
        Self::owned(whole)
    }

    /// `ERR` and the text of another error, for `map_err`.
    #[must_use]
    pub fn from_error(error: impl std::error::Error) -> Self {
        Self::new("ERR", error)
    }

    /// An error with a text made at run time, in the form of [`Error::fixed`]. A text that does not
    /// start with a code gets `ERR`.
    #[must_use]
    pub fn owned(text: impl Into<Vec<u8>>) -> Self {
        let mut text = text.into();
        if !has_code(&text) {
            text.splice(..0, *b"ERR ");
        }
        Self {
            text: Cow::Owned(text),
        }
    }

    /// An error that quotes a part of the request between two texts. The quote ends at its first
    /// NUL, as in Redis.
    #[must_use]
    pub fn quoting(before: &str, quoted: &[u8], after: &str) -> Self {
        let quoted = shown(quoted, quoted.len());
        Self::owned([before.as_bytes(), quoted, after.as_bytes()].concat())
    }

    /// The whole text, code word first.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The first word, by which clients and `INFO errorstats` distinguish errors; empty if it is
    /// not UTF-8.
    #[must_use]
    pub fn code(&self) -> &str {
        let word = self.text.split(|byte| *byte == b' ').next();
        str::from_utf8(word.unwrap_or_default()).unwrap_or_default()
    }
}

/// Whether a text starts with a word in upper case.
const fn has_code(text: &[u8]) -> bool {
    let mut at = 0;
    while at < text.len() && text[at] != b' ' {
        let is_letter = text[at].is_ascii_uppercase();
        let is_other = at > 0 && (text[at].is_ascii_digit() || text[at] == b'_');
        if !is_letter && !is_other {
            return false;
        }
        at += 1;
    }
    at > 0
}

const QUOTED_BYTES_MAX: usize = 128;

/// The part of a request that Redis quotes: its texts end at a NUL.
fn shown(quoted: &[u8], bytes_max: usize) -> &[u8] {
    let end = quoted.iter().take(bytes_max).position(|byte| *byte == 0);
    &quoted[..end.unwrap_or(quoted.len().min(bytes_max))]
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text))
    }
}

impl std::error::Error for Error {}

/// Error texts that any service may need, identical to Redis's.
pub mod text {
    use super::{Error, QUOTED_BYTES_MAX, shown};

    /// `ERR syntax error`.
    pub const SYNTAX: Error = Error::fixed("ERR syntax error");
    /// An argument that should have been an integer in range.
    pub const NOT_AN_INTEGER: Error = Error::fixed("ERR value is not an integer or out of range");
    /// The reply to a panic of a command, which is a defect of the service.
    pub const INTERNAL: Error = Error::fixed("ERR internal error");
    /// The value has a type that the command does not support.
    pub const WRONG_TYPE: Error =
        Error::fixed("WRONGTYPE Operation against a key holding the wrong kind of value");
    /// A database number outside the configured range.
    pub const DB_INDEX: Error = Error::fixed("ERR DB index is out of range");

    /// The reply to an unknown command, with the start of its arguments, as in Redis.
    #[must_use]
    pub fn unknown_command<'a>(name: &[u8], args: impl Iterator<Item = &'a [u8]>) -> Error {
        let mut arguments = Vec::new();
        for arg in args {
            let Some(room) = QUOTED_BYTES_MAX.checked_sub(arguments.len() + 1) else {
                break;
            };
            arguments.push(b'\'');
            arguments.extend_from_slice(shown(arg, room + 1));
            arguments.extend_from_slice(b"' ");
        }
        let mut text = b"ERR unknown command '".to_vec();
        text.extend_from_slice(shown(name, QUOTED_BYTES_MAX));
        text.extend_from_slice(b"', with args beginning with: ");
        text.extend_from_slice(&arguments);
        Error::owned(text)
    }

    /// The reply to a wrong number of arguments; `name` is `get` or `config|get`.
    #[must_use]
    pub fn wrong_arity(name: &str) -> Error {
        Error::owned(format!(
            "ERR wrong number of arguments for '{name}' command"
        ))
    }

    /// The part of a subcommand that Redis quotes: 128 bytes.
    #[must_use]
    pub fn shortened(subcommand: &[u8]) -> &[u8] {
        &subcommand[..subcommand.len().min(QUOTED_BYTES_MAX)]
    }

    /// The reply to a subcommand that `container` does not have.
    #[must_use]
    pub fn unknown_subcommand(container: &str, subcommand: &[u8]) -> Error {
        let container = container.to_ascii_uppercase();
        let after = format!("'. Try {container} HELP.");
        Error::quoting("ERR unknown subcommand '", shortened(subcommand), &after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_command_quotes_the_first_arguments() {
        let args: [&[u8]; 2] = [b"a", b"b"];
        let error = text::unknown_command(b"foo", args.into_iter());
        assert_eq!(
            error.text(),
            b"ERR unknown command 'foo', with args beginning with: 'a' 'b' "
        );
    }

    #[test]
    fn unknown_subcommand_names_the_help_of_its_container() {
        let error = text::unknown_subcommand("config", b"nope");
        assert_eq!(
            error.text(),
            b"ERR unknown subcommand 'nope'. Try CONFIG HELP."
        );
    }

    #[test]
    fn quote_keeps_its_bytes_and_ends_at_a_nul() {
        let args: [&[u8]; 2] = [b"\xff\xfe", b"a\0b"];
        let error = text::unknown_command(b"f\0o", args.into_iter());
        assert_eq!(
            error.text(),
            b"ERR unknown command 'f', with args beginning with: '\xff\xfe' 'a' "
        );
    }

    #[test]
    fn every_error_starts_with_a_code() {
        let text = |error: Error| String::from_utf8_lossy(error.text()).into_owned();
        assert_eq!(text(Error::owned("no queue")), "ERR no queue");
        assert_eq!(text(Error::owned("NOQUEUE")), "NOQUEUE");
        assert_eq!(text(Error::owned("V2_FULL of jobs")), "V2_FULL of jobs");
        assert_eq!(text(Error::owned("Full of jobs")), "ERR Full of jobs");
        assert_eq!(text(Error::owned("")), "ERR ");
        assert_eq!(text(Error::owned(" X")), "ERR  X");
        assert_eq!(text(Error::new("no queue", "x")), "NO_QUEUE x");
        assert_eq!(text(Error::new("", "x")), "ERR  x");
        assert!(std::panic::catch_unwind(|| Error::fixed("no queue")).is_err());
    }

    #[test]
    fn quote_is_bounded() {
        let long = [b'x'; 1000];
        let error = text::unknown_command(&long, [&long[..], &long[..]].into_iter());
        assert!(error.text().len() < 350, "{} bytes", error.text().len());
    }
}
