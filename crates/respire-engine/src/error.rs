//! What a command answers when it cannot do its work.

use std::borrow::Cow;
use std::fmt;

/// An error reply: a code word and a text, as in `ERR syntax error`.
///
/// The text is what a client sees after the `-`; CR and LF in it cannot split the reply, because
/// the encoder turns them into blanks.
///
/// ```
/// use respire_engine::Error;
///
/// const FULL: Error = Error::fixed("QUEUEFULL try again later");
/// assert_eq!(FULL.text(), "QUEUEFULL try again later");
/// assert_eq!(FULL.code(), "QUEUEFULL");
/// assert_eq!(Error::owned(format!("ERR no such queue '{}'", "q")).code(), "ERR");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    text: Cow<'static, str>,
}

impl Error {
    /// An error with a text known at compile time: a code word, a blank, and what went wrong.
    #[must_use]
    pub const fn fixed(text: &'static str) -> Self {
        Self {
            text: Cow::Borrowed(text),
        }
    }

    /// An error whose text was made for this reply; the same form as [`Error::fixed`].
    #[must_use]
    pub fn owned(text: String) -> Self {
        Self {
            text: Cow::Owned(text),
        }
    }

    /// The whole text, code word first.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first word, by which clients and `INFO errorstats` tell errors apart.
    #[must_use]
    pub fn code(&self) -> &str {
        self.text.split(' ').next().unwrap_or("")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// The texts that any service may need, word for word as Redis has them.
pub mod text {
    use super::Error;

    /// `ERR syntax error`.
    pub const SYNTAX: Error = Error::fixed("ERR syntax error");
    /// An argument that should have been an integer in range.
    pub const NOT_AN_INTEGER: Error = Error::fixed("ERR value is not an integer or out of range");
    /// A value of another type than the command works on.
    pub const WRONG_TYPE: Error =
        Error::fixed("WRONGTYPE Operation against a key holding the wrong kind of value");
    /// A database number outside the configured range.
    pub const DB_INDEX: Error = Error::fixed("ERR DB index is out of range");

    /// The reply to a name that no row has, with the start of its arguments, as Redis words it.
    #[must_use]
    pub fn unknown_command<'a>(name: &[u8], args: impl Iterator<Item = &'a [u8]>) -> Error {
        const ARGUMENT_BYTES_MAX: usize = 128;
        let mut shown = String::new();
        for arg in args {
            if shown.len() >= ARGUMENT_BYTES_MAX {
                break;
            }
            let room = ARGUMENT_BYTES_MAX - shown.len();
            shown.push('\'');
            shown.push_str(&String::from_utf8_lossy(&arg[..arg.len().min(room)]));
            shown.push_str("' ");
        }
        let name = String::from_utf8_lossy(&name[..name.len().min(ARGUMENT_BYTES_MAX)]);
        Error::owned(format!(
            "ERR unknown command '{name}', with args beginning with: {shown}"
        ))
    }

    /// The reply to a wrong number of arguments; `name` is `get` or `config|get`.
    #[must_use]
    pub fn wrong_arity(name: &str) -> Error {
        Error::owned(format!(
            "ERR wrong number of arguments for '{name}' command"
        ))
    }

    /// The reply to a subcommand that `container` does not have.
    #[must_use]
    pub fn unknown_subcommand(container: &str, subcommand: &[u8]) -> Error {
        const SUBCOMMAND_BYTES_MAX: usize = 128;
        let shown =
            String::from_utf8_lossy(&subcommand[..subcommand.len().min(SUBCOMMAND_BYTES_MAX)]);
        let container = container.to_ascii_uppercase();
        Error::owned(format!(
            "ERR unknown subcommand '{shown}'. Try {container} HELP."
        ))
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
            "ERR unknown command 'foo', with args beginning with: 'a' 'b' "
        );
    }

    #[test]
    fn unknown_subcommand_names_the_help_of_its_container() {
        let error = text::unknown_subcommand("config", b"nope");
        assert_eq!(
            error.text(),
            "ERR unknown subcommand 'nope'. Try CONFIG HELP."
        );
    }
}
