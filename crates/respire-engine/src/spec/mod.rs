//! What is known about a command besides how it runs: the row that feeds dispatch, `COMMAND`, the
//! documents, the explorer and the tests.

mod args;
mod flags;
mod keys;

pub use args::{Arg, ArgKind};
pub use flags::Flags;
pub use keys::{KeyBegin, KeyFind, KeyFlag, KeySpec};

/// One command's description. Write it as a `static` with `..Spec::EMPTY` for what does not apply.
///
/// ```
/// use respire_engine::{Arity, Flags, Group, KeySpec, Spec};
///
/// static TAKE: Spec = Spec {
///     name: "limit.take",
///     summary: "Takes tokens from a bucket.",
///     group: Group::Generic,
///     arity: Arity::at_least(3),
///     flags: Flags::WRITE.with(Flags::FAST),
///     keys: &[KeySpec::at(1).update()],
///     ..Spec::EMPTY
/// };
/// assert!(TAKE.arity.accepts(4));
/// assert!(!TAKE.arity.accepts(2));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Lower case; a subcommand is named with its container, as in `config|get`.
    pub name: &'static str,
    /// One sentence, as `COMMAND DOCS` shows it.
    pub summary: &'static str,
    /// The Redis version that introduced it, or Respire's for its own.
    pub since: &'static str,
    /// Its cost, in O-notation and words.
    pub complexity: &'static str,
    /// The family it belongs to.
    pub group: Group,
    /// How many arguments it takes, its own name included.
    pub arity: Arity,
    /// How it behaves.
    pub flags: Flags,
    /// ACL categories beyond those that follow from `flags` and `group`; without the `@`.
    pub categories: &'static [&'static str],
    /// Where its keys stand.
    pub keys: &'static [KeySpec],
    /// The grammar of its arguments.
    pub args: &'static [Arg],
    /// Hints for clients and proxies, as `COMMAND INFO` lists them.
    pub tips: &'static [&'static str],
    /// What changed when: (version, change).
    pub history: &'static [(&'static str, &'static str)],
    /// What to use instead, for a deprecated command: (since, replacement).
    pub deprecated: Option<(&'static str, &'static str)>,
    /// Examples that are run as tests, one after another on a fresh server.
    pub examples: &'static [Example],
}

impl Spec {
    /// The description of nothing, to fill up a literal from.
    pub const EMPTY: Self = Self {
        name: "",
        summary: "",
        since: "1.0.0",
        complexity: "O(1)",
        group: Group::Generic,
        arity: Arity::exactly(1),
        flags: Flags::NONE,
        categories: &[],
        keys: &[],
        args: &[],
        tips: &[],
        history: &[],
        deprecated: None,
        examples: &[],
    };

    /// The container and the subcommand's own word, of a subcommand.
    #[must_use]
    pub fn subcommand(&self) -> Option<(&'static str, &'static str)> {
        self.name.split_once(SEPARATOR)
    }

    /// Whether it declares the [same cost for every call](Flags::CONSTANT).
    #[must_use]
    pub const fn is_constant(&self) -> bool {
        self.flags.has(Flags::CONSTANT)
    }
}

/// What is sent (in the quoting of redis-cli) and what a RESP2 client gets for it, byte for byte
/// with `\r\n` written out, e.g. `("GET k", "$1\r\nv\r\n")`.
pub type Example = (&'static str, &'static str);

/// The family of a command: the `group` of `COMMAND DOCS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Keys of any type.
    Generic,
    /// Strings.
    String,
    /// Bits of strings.
    Bitmap,
    /// The connection itself.
    Connection,
    /// The server itself.
    Server,
    /// Transactions.
    Transactions,
    /// Publish and subscribe.
    PubSub,
}

impl Group {
    /// The name `COMMAND DOCS` gives.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::String => "string",
            Self::Bitmap => "bitmap",
            Self::Connection => "connection",
            Self::Server => "server",
            Self::Transactions => "transactions",
            Self::PubSub => "pubsub",
        }
    }
}

/// How many arguments a command takes, counted with its name, as Redis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity(i16);

impl Arity {
    /// Exactly `count`, the name included.
    ///
    /// # Panics
    /// When `count` is not positive; in a `static`, that is an error of the compiler.
    #[must_use]
    pub const fn exactly(count: i16) -> Self {
        assert!(count > 0);
        Self(count)
    }

    /// `count` or more, the name included.
    ///
    /// # Panics
    /// When `count` is not positive; in a `static`, that is an error of the compiler.
    #[must_use]
    pub const fn at_least(count: i16) -> Self {
        assert!(count > 0);
        Self(-count)
    }

    /// Redis's number: positive when exact, negative when a minimum.
    #[must_use]
    pub const fn number(self) -> i64 {
        self.0 as i64
    }

    /// Whether a request of `count` arguments, the name included, may run.
    #[must_use]
    pub const fn accepts(self, count: usize) -> bool {
        if self.0 >= 0 {
            count == self.0 as usize
        } else {
            count >= self.0.unsigned_abs() as usize
        }
    }
}

/// What stands between the name of a container and that of its subcommand.
pub(crate) const SEPARATOR: char = '|';

/// The name of a command as people write it: `get`, or `config|get` for a subcommand, taken apart.
pub(crate) fn name_parts(name: &[u8]) -> (&[u8], Option<&[u8]>) {
    match name.iter().position(|byte| *byte == SEPARATOR as u8) {
        Some(at) => (&name[..at], Some(&name[at + 1..])),
        None => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arity_accepts_as_redis_counts() {
        assert!(Arity::exactly(2).accepts(2));
        assert!(!Arity::exactly(2).accepts(3));
        assert!(Arity::at_least(2).accepts(9));
        assert!(!Arity::at_least(2).accepts(1));
        assert_eq!(Arity::at_least(3).number(), -3);
    }

    #[test]
    fn subcommand_is_named_with_its_container() {
        let spec = |name| Spec {
            name,
            ..Spec::EMPTY
        };
        assert_eq!(spec("config|get").subcommand(), Some(("config", "get")));
        assert_eq!(spec("get").subcommand(), None);
        assert_eq!(
            name_parts(b"config|get"),
            (&b"config"[..], Some(&b"get"[..]))
        );
        assert_eq!(name_parts(b"get"), (&b"get"[..], None));
    }
}
