//! What is known about a command besides how it runs: the row that feeds dispatch, `COMMAND`, the
//! documents, the explorer and the tests.

use std::ops::BitOr;

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

/// How a command behaves: the flags of `COMMAND INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u32);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// May change the data.
    pub const WRITE: Self = Self(1);
    /// Never changes the data.
    pub const READONLY: Self = Self(1 << 1);
    /// Refused when memory is used up.
    pub const DENYOOM: Self = Self(1 << 2);
    /// For whoever runs the server.
    pub const ADMIN: Self = Self(1 << 3);
    /// About publish and subscribe.
    pub const PUBSUB: Self = Self(1 << 4);
    /// Not from scripts.
    pub const NOSCRIPT: Self = Self(1 << 5);
    /// May wait.
    pub const BLOCKING: Self = Self(1 << 6);
    /// Allowed while loading.
    pub const LOADING: Self = Self(1 << 7);
    /// Allowed on stale data.
    pub const STALE: Self = Self(1 << 8);
    /// Not shown to monitors.
    pub const SKIP_MONITOR: Self = Self(1 << 9);
    /// Not kept in the slow log.
    pub const SKIP_SLOWLOG: Self = Self(1 << 10);
    /// Constant or logarithmic cost.
    pub const FAST: Self = Self(1 << 11);
    /// Allowed before authentication.
    pub const NO_AUTH: Self = Self(1 << 12);
    /// Allowed while busy.
    pub const ALLOW_BUSY: Self = Self(1 << 13);
    /// Its key positions need a look at the arguments.
    pub const MOVABLE_KEYS: Self = Self(1 << 14);
    /// Refused inside `MULTI`.
    pub const NO_MULTI: Self = Self(1 << 15);
    /// Runs at once inside `MULTI` instead of being queued (EXEC, DISCARD, MULTI, WATCH, QUIT, RESET).
    pub const IMMEDIATE: Self = Self(1 << 16);
    /// Works on keys that [`Spec::keys`] and the selected database do not tell: on all of them
    /// (KEYS, SCAN, FLUSHALL, SWAPDB) or on some of another database (MOVE, COPY). `EXEC` then locks
    /// everything.
    pub const ALL_KEYS: Self = Self(1 << 17);

    /// Allowed to a RESP2 connection that subscribes to something (SUBSCRIBE and its like, PING, QUIT,
    /// RESET).
    pub const SUBSCRIBED: Self = Self(1 << 18);

    /// The requests behind it need not wait for its reply, if that comes later.
    pub const PIPELINED: Self = Self(1 << 19);

    /// Costs the same for every call, whatever its arguments and the values it works on, apart from
    /// receiving the request and sending the reply.
    ///
    /// The first 10,000 calls of such a command are timed, and later ones of 128 one, chosen at
    /// random: reading the clock twice costs more than a `GET`. Hence a later call that is slow after
    /// all (a handler that waited for a lock, a page that was swapped out) is in the slow log with a
    /// probability of 1/128. A `slowlog-log-slower-than` below 1000, or any
    /// [layer](crate::Layer), has every call timed.
    ///
    /// No command has this flag unless it declares it, and `COMMAND` does not list it.
    /// [`Flags::FAST`] means less: Redis gives it to `MGET` and `EXISTS`, whose cost grows with the
    /// number of keys.
    pub const CONSTANT: Self = Self(1 << 20);

    /// Runs what `MULTI` queued (`EXEC`): refused, it ends the transaction.
    pub const EXEC: Self = Self(1 << 21);

    /// Both sets together, in constants.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is set.
    #[must_use]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The names `COMMAND INFO` lists, in Redis's order; Respire's own flags are not among them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const NAMES: [(Flags, &str); 16] = [
            (Flags::WRITE, "write"),
            (Flags::READONLY, "readonly"),
            (Flags::DENYOOM, "denyoom"),
            (Flags::ADMIN, "admin"),
            (Flags::PUBSUB, "pubsub"),
            (Flags::NOSCRIPT, "noscript"),
            (Flags::BLOCKING, "blocking"),
            (Flags::LOADING, "loading"),
            (Flags::STALE, "stale"),
            (Flags::SKIP_MONITOR, "skip_monitor"),
            (Flags::SKIP_SLOWLOG, "skip_slowlog"),
            (Flags::FAST, "fast"),
            (Flags::NO_AUTH, "no_auth"),
            (Flags::NO_MULTI, "no_multi"),
            (Flags::MOVABLE_KEYS, "movablekeys"),
            (Flags::ALLOW_BUSY, "allow_busy"),
        ];
        NAMES
            .into_iter()
            .filter(move |(flag, _)| self.has(*flag))
            .map(|(_, name)| name)
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

/// Where keys stand among the arguments (the name is argument 0), and what is done to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// Where the first key is looked for.
    pub begin: KeyBegin,
    /// How further keys follow it.
    pub find: KeyFind,
    /// What is done: `RO`/`RW`/`OW`/`RM`, then `access`/`update`/`insert`/`delete` and the like.
    pub flags: &'static [&'static str],
    /// Remarks, as `COMMAND INFO` shows them.
    pub notes: &'static str,
}

/// Where the first key of a [`KeySpec`] is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyBegin {
    /// At this argument.
    Index(i16),
    /// After this word, searched from argument `from` (negative: from the end, backwards).
    Keyword {
        /// The word, upper case.
        word: &'static str,
        /// Where the search begins.
        from: i16,
    },
    /// Not to be told from the position alone (`SORT`'s `STORE`).
    Unknown,
}

/// How keys follow the first one of a [`KeySpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFind {
    /// Up to `last` (relative to the first; negative: from the end of the arguments), every `step`-th.
    Range {
        /// The last key, relative to the first, or from the end when negative.
        last: i16,
        /// The distance between keys.
        step: i16,
        /// 0 or 1: no limit; n: only the first 1/n of the remaining arguments.
        limit: i16,
    },
    /// Not to be told from the position alone.
    Unknown,
}

impl KeySpec {
    /// One key, at argument `index`, read only unless said otherwise by [`KeySpec::flags`].
    #[must_use]
    pub const fn at(index: i16) -> Self {
        Self {
            begin: KeyBegin::Index(index),
            find: KeyFind::Range {
                last: 0,
                step: 1,
                limit: 0,
            },
            flags: &["RO", "access"],
            notes: "",
        }
    }

    /// Keys from argument `index` up to `last` (relative; -1: the end), every `step`-th.
    #[must_use]
    pub const fn range(index: i16, last: i16, step: i16) -> Self {
        Self {
            begin: KeyBegin::Index(index),
            find: KeyFind::Range {
                last,
                step,
                limit: 0,
            },
            flags: &["RO", "access"],
            notes: "",
        }
    }

    /// The same keys, with these flags in Redis's spelling.
    #[must_use]
    pub const fn flags(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    /// The same keys, read and changed.
    #[must_use]
    pub const fn update(self) -> Self {
        self.flags(&["RW", "access", "update"])
    }

    /// The same keys, with a remark.
    #[must_use]
    pub const fn notes(self, notes: &'static str) -> Self {
        Self { notes, ..self }
    }

    /// The positions of this spec's keys in a request of `count` arguments (the name included);
    /// none where they cannot be told from the position alone.
    pub fn positions(self, count: usize) -> impl Iterator<Item = usize> {
        let (first, last, step) = match (self.begin, self.find) {
            (KeyBegin::Index(first), KeyFind::Range { last, step, .. })
                if first > 0 && step > 0 =>
            {
                let first = first.unsigned_abs() as usize;
                let back = last.unsigned_abs() as usize;
                let last = if last >= 0 {
                    first + back
                } else {
                    count.saturating_sub(back)
                };
                (
                    first,
                    last.min(count.saturating_sub(1)),
                    step.unsigned_abs() as usize,
                )
            }
            _ => (1, 0, 1),
        };
        (first..=last).step_by(step)
    }
}

/// One argument, or a group of them, in the grammar of a command: what `COMMAND DOCS` shows.
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ArgKind,
    /// The word that precedes it, or that it consists of.
    pub token: Option<&'static str>,
    /// The summary of its own, where one is needed.
    pub summary: Option<&'static str>,
    /// Since which version.
    pub since: Option<&'static str>,
    /// Since which version another form should be used.
    pub deprecated_since: Option<&'static str>,
    /// Which [`Spec::keys`] it belongs to, for keys.
    pub key_spec: Option<u8>,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether it may be repeated.
    pub multiple: bool,
    /// Whether its token is repeated with it.
    pub multiple_token: bool,
    /// The parts of a block or the choices of a one-of.
    pub parts: &'static [Arg],
}

/// The type of an [`Arg`], as `COMMAND DOCS` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// A string.
    String,
    /// An integer.
    Integer,
    /// A floating-point number.
    Double,
    /// A key.
    Key,
    /// A glob pattern.
    Pattern,
    /// Seconds since 1970-01-01.
    UnixTime,
    /// A word that stands for itself.
    PureToken,
    /// One of the parts.
    OneOf,
    /// All parts, in order.
    Block,
}

impl ArgKind {
    /// The name `COMMAND DOCS` gives.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Double => "double",
            Self::Key => "key",
            Self::Pattern => "pattern",
            Self::UnixTime => "unix-time",
            Self::PureToken => "pure-token",
            Self::OneOf => "oneof",
            Self::Block => "block",
        }
    }
}

impl Arg {
    /// An argument of this name and kind; refine it with the methods below.
    #[must_use]
    pub const fn new(name: &'static str, kind: ArgKind) -> Self {
        Self {
            name,
            kind,
            token: None,
            summary: None,
            since: None,
            deprecated_since: None,
            key_spec: None,
            optional: false,
            multiple: false,
            multiple_token: false,
            parts: &[],
        }
    }

    /// A key, of the key spec with this index.
    #[must_use]
    pub const fn key(name: &'static str, key_spec: u8) -> Self {
        Self {
            key_spec: Some(key_spec),
            ..Self::new(name, ArgKind::Key)
        }
    }

    /// A word that stands for itself.
    #[must_use]
    pub const fn word(name: &'static str, token: &'static str) -> Self {
        Self {
            token: Some(token),
            ..Self::new(name, ArgKind::PureToken)
        }
    }

    /// One of `parts`.
    #[must_use]
    pub const fn one_of(name: &'static str, parts: &'static [Self]) -> Self {
        Self {
            parts,
            ..Self::new(name, ArgKind::OneOf)
        }
    }

    /// All of `parts`, in order.
    #[must_use]
    pub const fn block(name: &'static str, parts: &'static [Self]) -> Self {
        Self {
            parts,
            ..Self::new(name, ArgKind::Block)
        }
    }

    /// Preceded by `token`.
    #[must_use]
    pub const fn token(self, token: &'static str) -> Self {
        Self {
            token: Some(token),
            ..self
        }
    }

    /// May be left out.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }

    /// May be repeated.
    #[must_use]
    pub const fn multiple(self) -> Self {
        Self {
            multiple: true,
            ..self
        }
    }

    /// May be repeated, its token each time.
    #[must_use]
    pub const fn multiple_token(self) -> Self {
        Self {
            multiple: true,
            multiple_token: true,
            ..self
        }
    }

    /// There since `version`.
    #[must_use]
    pub const fn since(self, version: &'static str) -> Self {
        Self {
            since: Some(version),
            ..self
        }
    }

    /// Not to be used any more since `version`.
    #[must_use]
    pub const fn deprecated(self, version: &'static str) -> Self {
        Self {
            deprecated_since: Some(version),
            ..self
        }
    }

    /// With a summary of its own.
    #[must_use]
    pub const fn summary(self, summary: &'static str) -> Self {
        Self {
            summary: Some(summary),
            ..self
        }
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
    fn key_positions_follow_range_and_step() {
        assert_eq!(KeySpec::at(1).positions(3).collect::<Vec<_>>(), [1]);
        assert_eq!(
            KeySpec::range(1, -1, 1).positions(4).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert_eq!(
            KeySpec::range(1, -1, 2).positions(5).collect::<Vec<_>>(),
            [1, 3]
        );
        assert_eq!(
            KeySpec::range(1, 1, 1).positions(3).collect::<Vec<_>>(),
            [1, 2]
        );
        assert_eq!(KeySpec::at(2).positions(2).count(), 0);
    }

    #[test]
    fn flag_names_leave_out_our_own() {
        let flags = Flags::WRITE | Flags::FAST | Flags::ALL_KEYS | Flags::CONSTANT;
        assert_eq!(flags.names().collect::<Vec<_>>(), ["write", "fast"]);
    }
}
