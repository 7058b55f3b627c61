//! The grammar of a command's arguments.

/// One argument, or a group of them, in the grammar of a command, as `COMMAND DOCS` shows it.
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    /// The name of the argument.
    pub name: &'static str,
    /// The type of the argument.
    pub kind: ArgKind,
    /// The word before it, or the word that it consists of.
    pub token: Option<&'static str>,
    /// Its own summary, if it needs one.
    pub summary: Option<&'static str>,
    /// The version that introduced it.
    pub since: Option<&'static str>,
    /// The version since which it is deprecated.
    pub deprecated_since: Option<&'static str>,
    /// For keys, the index of its spec in [`Spec::keys`](crate::Spec::keys).
    pub key_spec: Option<u8>,
    /// Whether it is optional.
    pub optional: bool,
    /// Whether it may be repeated.
    pub multiple: bool,
    /// Whether its token is repeated with it.
    pub multiple_token: bool,
    /// The parts of a block or the choices of a one-of.
    pub parts: &'static [Arg],
}

/// The type of an [`Arg`], as `COMMAND DOCS` names it.
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
    /// A word without a value.
    PureToken,
    /// One of the parts.
    OneOf,
    /// All parts, in order.
    Block,
}

impl ArgKind {
    /// The name in `COMMAND DOCS`.
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
    /// An argument with this name and kind; the methods below refine it.
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

    /// A key of the key spec with this index.
    #[must_use]
    pub const fn key(name: &'static str, key_spec: u8) -> Self {
        Self {
            key_spec: Some(key_spec),
            ..Self::new(name, ArgKind::Key)
        }
    }

    /// A word without a value.
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

    /// Puts `token` before it.
    #[must_use]
    pub const fn token(self, token: &'static str) -> Self {
        Self {
            token: Some(token),
            ..self
        }
    }

    /// Makes it optional.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }

    /// Lets it be repeated.
    #[must_use]
    pub const fn multiple(self) -> Self {
        Self {
            multiple: true,
            ..self
        }
    }

    /// Lets it be repeated, with its token each time.
    #[must_use]
    pub const fn multiple_token(self) -> Self {
        Self {
            multiple: true,
            multiple_token: true,
            ..self
        }
    }

    /// Sets the version that introduced it.
    #[must_use]
    pub const fn since(self, version: &'static str) -> Self {
        Self {
            since: Some(version),
            ..self
        }
    }

    /// Sets the version since which it is deprecated.
    #[must_use]
    pub const fn deprecated(self, version: &'static str) -> Self {
        Self {
            deprecated_since: Some(version),
            ..self
        }
    }

    /// Sets its own summary.
    #[must_use]
    pub const fn summary(self, summary: &'static str) -> Self {
        Self {
            summary: Some(summary),
            ..self
        }
    }
}
