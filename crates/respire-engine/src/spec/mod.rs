//! The description of a command. Dispatch, `COMMAND`, the documentation, the explorer and the tests
//! use it.

mod args;
mod flags;
mod keys;

pub use args::{Arg, ArgKind};
pub use flags::Flags;
pub use keys::{KeyBegin, KeyFind, KeyFlag, KeySpec};

/// The description of one command. Write it as a `static`, with `..Spec::EMPTY` for the other
/// fields.
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
    /// The name in lower case. A subcommand's includes its container, as in `config|get`.
    pub name: &'static str,
    /// One sentence, as `COMMAND DOCS` shows it.
    pub summary: &'static str,
    /// The Redis version that introduced it, or Respire's for its own commands.
    pub since: &'static str,
    /// The cost, in O-notation and words.
    pub complexity: &'static str,
    /// The family of the command.
    pub group: Group,
    /// The number of arguments, including its name.
    pub arity: Arity,
    /// The flags.
    pub flags: Flags,
    /// ACL categories in addition to those implied by `flags` and `group`, without the `@`.
    pub categories: &'static [&'static str],
    /// The positions of its keys.
    pub keys: &'static [KeySpec],
    /// The argument that names the element of the first key's value that it works on, such as a field; 0 if
    /// there is none. While earlier requests of a pipeline run, the keyspace loads the element
    /// ([`Keyspace::warm`](crate::Keyspace::warm)).
    pub element: u8,
    /// The argument that is the rank of the first element that it reads of the first key's value; 0 if there
    /// is none, or if it has an [`element`](Spec::element). It is looked ahead to in the same way
    /// ([`Keyspace::warm_rank`](crate::Keyspace::warm_rank)).
    pub rank: u8,
    /// A call with at most this many arguments after its name is timed as one of a command with
    /// [`Flags::CONSTANT`]; 0 if calls with few arguments may be as costly as others.
    pub constant_args: u8,
    /// The grammar of its arguments.
    pub args: &'static [Arg],
    /// Hints for clients and proxies, as `COMMAND INFO` lists them.
    pub tips: &'static [&'static str],
    /// Pairs of a version and a change in it.
    pub history: &'static [(&'static str, &'static str)],
    /// Whether `COMMAND DOCS` marks it as a command for the server's own purposes (`syscmd`).
    pub is_internal: bool,
    /// For a deprecated command: the version, and the replacement.
    pub deprecated: Option<(&'static str, &'static str)>,
    /// Examples that are run as tests, one after another on a fresh server.
    pub examples: &'static [Example],
}

impl Spec {
    /// An empty description, to fill in the rest of a literal.
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
        element: 0,
        rank: 0,
        constant_args: 0,
        args: &[],
        tips: &[],
        history: &[],
        is_internal: false,
        deprecated: None,
        examples: &[],
    };

    /// The container and the word of a subcommand; `None` for other commands.
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

/// A request (with the quoting of redis-cli) and the reply of a RESP2 client, byte for byte with
/// `\r
/// ` as line ends, e.g. `("GET k", "$1\r
/// v\r
/// ")`.
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
    /// Hashes.
    Hash,
    /// `HyperLogLogs`, which are strings.
    HyperLogLog,
    /// Sets.
    Set,
    /// Sorted sets.
    SortedSet,
    /// Places, which are sorted sets.
    Geo,
    /// Lists.
    List,
    /// Streams.
    Stream,
    /// The connection itself.
    Connection,
    /// The server itself.
    Server,
    /// Transactions.
    Transactions,
    /// Publish and subscribe.
    PubSub,
    /// Scripts and functions.
    Scripting,
}

impl Group {
    /// The name in `COMMAND DOCS`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::String => "string",
            Self::Bitmap => "bitmap",
            Self::Geo => "geo",
            Self::Hash => "hash",
            Self::HyperLogLog => "hyperloglog",
            Self::Set => "set",
            Self::SortedSet => "sorted-set",
            Self::List => "list",
            Self::Stream => "stream",
            Self::Connection => "connection",
            Self::Server => "server",
            Self::Transactions => "transactions",
            Self::PubSub => "pubsub",
            Self::Scripting => "scripting",
        }
    }
}

/// The number of arguments of a command, including its name, as in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity(i16);

impl Arity {
    /// Exactly `count`, the name included.
    ///
    /// # Panics
    /// If `count` is not positive; in a `static`, that is a compile error.
    #[must_use]
    pub const fn exactly(count: i16) -> Self {
        assert!(count > 0);
        Self(count)
    }

    /// `count` or more, the name included.
    ///
    /// # Panics
    /// If `count` is not positive; in a `static`, that is a compile error.
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

    /// Whether a request may have `count` arguments, including the name.
    #[must_use]
    pub const fn accepts(self, count: usize) -> bool {
        if self.0 >= 0 {
            count == self.0 as usize
        } else {
            count >= self.0.unsigned_abs() as usize
        }
    }
}

/// The separator between the names of a container and its subcommand.
pub(crate) const SEPARATOR: char = '|';

/// Splits the written name of a command: `get`, or `config|get` for a subcommand.
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
    fn arity_counts_arguments_as_redis_does() {
        assert!(Arity::exactly(2).accepts(2));
        assert!(!Arity::exactly(2).accepts(3));
        assert!(Arity::at_least(2).accepts(9));
        assert!(!Arity::at_least(2).accepts(1));
        assert_eq!(Arity::at_least(3).number(), -3);
    }

    #[test]
    fn subcommand_name_includes_its_container() {
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
