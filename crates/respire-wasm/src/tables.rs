//! The numbers in the rows that the page gets, and their meanings. Only this file assigns them;
//! `web/src/generated/tables.ts` is generated from it.

use resp_codec::annotate::Role;
use resp_codec::{ErrorKind, Kind};

/// The meaning of a number, in words.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    /// A name for programs.
    pub id: &'static str,
    /// A name for people.
    pub label: &'static str,
    /// One letter, so that no meaning depends on colour alone; the type byte of a kind.
    pub letter: &'static str,
    /// A few words of explanation.
    pub what: &'static str,
}

const fn meaning(
    id: &'static str,
    label: &'static str,
    letter: &'static str,
    what: &'static str,
) -> Meaning {
    Meaning {
        id,
        label,
        letter,
        what,
    }
}

/// The roles of marks, by number.
pub const ROLES: [Meaning; 17] = [
    meaning("type", "type", "T", "says what kind of value follows"),
    meaning("sign", "sign", "S", "the sign of a number"),
    meaning("len", "length", "L", "how many bytes or elements follow"),
    meaning("digits", "digits", "N", "the digits of a number"),
    meaning("crlf", "line end", "E", "CR and LF end a line or a payload"),
    meaning("payload", "payload", "P", "the value itself"),
    meaning("format", "format", "F", "the format of a verbatim string"),
    meaning("colon", "colon", "C", "ends the format"),
    meaning("stream", "stream", "?", "the length is not announced"),
    meaning("end", "end", ".", "ends a streamed value"),
    meaning("word", "word", "W", "a word of an inline request"),
    meaning("space", "blank", "_", "separates words"),
    meaning("quote", "quote", "Q", "holds a word together"),
    meaning("escape", "escape", "X", "stands for another byte"),
    meaning("field", "field", "B", "a number in binary"),
    meaning("bad", "wrong", "!", "cannot be read"),
    meaning("missing", "missing", "…", "has not arrived"),
];

/// The number of a role.
pub(crate) fn role_number(role: Role) -> u32 {
    match role {
        Role::Type => 0,
        Role::Sign => 1,
        Role::Length => 2,
        Role::Digits => 3,
        Role::Crlf => 4,
        Role::Payload => 5,
        Role::Format => 6,
        Role::Colon => 7,
        Role::StreamOpen => 8,
        Role::StreamEnd => 9,
        Role::InlineArg => 10,
        Role::Space => 11,
        Role::Quote => 12,
        Role::Escape => 13,
        Role::Field => 14,
        Role::Missing => 16,
        // `Role` may get new variants; they are shown as errors until they have a number here.
        _ => 15,
    }
}

/// The number of an error's kind: its index in [`ERRORS`] + 1, or 0 for no error.
pub(crate) fn error_number(kind: ErrorKind) -> u32 {
    let same = |other: &ErrorKind| std::mem::discriminant(other) == std::mem::discriminant(&kind);
    ERRORS.iter().position(same).map_or(0, |at| at as u32 + 1)
}

/// The kinds of errors, by number from 1.
pub const ERRORS: [ErrorKind; 27] = [
    ErrorKind::InvalidMultibulkLength,
    ErrorKind::InvalidBulkLength,
    ErrorKind::UnauthenticatedMultibulkLength,
    ErrorKind::UnauthenticatedBulkLength,
    ErrorKind::ExpectedBulk(b'?'),
    ErrorKind::InlineTooBig,
    ErrorKind::UnbalancedQuotes,
    ErrorKind::FrameTooBig,
    ErrorKind::UnknownType(b'?'),
    ErrorKind::InvalidLine,
    ErrorKind::LineTooBig,
    ErrorKind::InvalidInteger,
    ErrorKind::InvalidDouble,
    ErrorKind::InvalidBigNumber,
    ErrorKind::InvalidBoolean,
    ErrorKind::InvalidVerbatim,
    ErrorKind::InvalidPush,
    ErrorKind::NestedPush,
    ErrorKind::ExpectedChunk,
    ErrorKind::StrayChunk,
    ErrorKind::StrayEnd,
    ErrorKind::OddMap,
    ErrorKind::TooDeep,
    ErrorKind::TooManyNodes,
    ErrorKind::UnknownTag(b'?'),
    ErrorKind::UnknownOp(b'?'),
    ErrorKind::Poisoned,
];

/// The kind of a node in a frame's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeKind {
    /// `+`
    Simple,
    /// `-`
    Error,
    /// `:`
    Int,
    /// `_`, `$-1`, `*-1`
    Null,
    /// `#`
    Bool,
    /// `,`
    Double,
    /// `(`
    BigNumber,
    /// `$`
    Bulk,
    /// `!`
    BlobError,
    /// `=`
    Verbatim,
    /// `*`
    Array,
    /// `%`
    Map,
    /// `~`
    Set,
    /// `>`
    Push,
    /// `|`
    Attribute,
    /// `;`, a piece of a streamed string
    Chunk,
    /// `.`, the end of a streamed aggregate
    End,
    /// A request: its header, or its operation.
    Command,
    /// An argument of a request.
    Arg,
    /// Incomplete or invalid before its kind is known.
    Unknown,
}

/// The kinds of nodes, by number.
pub const KINDS: [Meaning; 20] = [
    meaning("simple", "simple string", "+", "a line of text"),
    meaning(
        "error",
        "error",
        "-",
        "a line that begins with an error code",
    ),
    meaning("int", "integer", ":", "a signed 64-bit number"),
    meaning("null", "null", "_", "no value"),
    meaning("bool", "boolean", "#", "true or false"),
    meaning("double", "double", ",", "a floating-point number"),
    meaning("bigNumber", "big number", "(", "an integer of any size"),
    meaning(
        "bulk",
        "bulk string",
        "$",
        "any bytes, their length in front",
    ),
    meaning("blobError", "blob error", "!", "an error of any bytes"),
    meaning("verbatim", "verbatim string", "=", "text with its format"),
    meaning("array", "array", "*", "values in order"),
    meaning("map", "map", "%", "pairs of key and value"),
    meaning("set", "set", "~", "values without an order"),
    meaning("push", "push", ">", "sent without being asked for"),
    meaning(
        "attribute",
        "attribute",
        "|",
        "pairs that describe the next value",
    ),
    meaning("chunk", "chunk", ";", "a piece of a streamed string"),
    meaning("end", "end", ".", "ends a streamed aggregate"),
    meaning("command", "request", "*", "a command and its arguments"),
    meaning("arg", "argument", "$", "an argument of a request"),
    meaning(
        "unknown",
        "unknown",
        "?",
        "its type has not arrived, or is none",
    ),
];

impl NodeKind {
    /// The kind of a value that begins with this byte.
    pub(crate) fn of_type_byte(byte: u8) -> Self {
        match byte {
            b'+' => Self::Simple,
            b'-' => Self::Error,
            b':' => Self::Int,
            b'_' => Self::Null,
            b'#' => Self::Bool,
            b',' => Self::Double,
            b'(' => Self::BigNumber,
            b'$' => Self::Bulk,
            b'!' => Self::BlobError,
            b'=' => Self::Verbatim,
            b'*' => Self::Array,
            b'%' => Self::Map,
            b'~' => Self::Set,
            b'>' => Self::Push,
            b'|' => Self::Attribute,
            b';' => Self::Chunk,
            b'.' => Self::End,
            _ => Self::Unknown,
        }
    }

    /// Whether values of this kind contain other values.
    pub(crate) const fn is_aggregate(self) -> bool {
        matches!(
            self,
            Self::Array | Self::Map | Self::Set | Self::Push | Self::Attribute | Self::Command
        )
    }

    /// Whether the values within come in pairs.
    pub(crate) const fn is_paired(self) -> bool {
        matches!(self, Self::Map | Self::Attribute)
    }

    /// Its names and explanation.
    pub(crate) const fn meaning(self) -> &'static Meaning {
        &KINDS[self as usize]
    }
}

impl From<Kind> for NodeKind {
    fn from(kind: Kind) -> Self {
        Self::of_type_byte(kind.type_byte())
    }
}

/// The result of decoding a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameStatus {
    /// The frame is complete.
    Whole,
    /// The frame has an error, and extends to where the next frame seems to begin.
    Bad,
    /// The document ends within the frame.
    Torn,
    /// Empty requests: blank lines, `*0`.
    Blank,
}

/// A protocol in which requests and replies are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Wire {
    /// RESP2.
    Resp2,
    /// RESP3.
    Resp3,
    /// The binary protocol; for requests, those that name a command.
    Binary,
    /// A request as a line of text.
    Inline,
    /// A request of the binary protocol that is its own operation.
    Operation,
}

impl Wire {
    /// The protocol with this number.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(number: u32) -> Result<Self, String> {
        let all = [
            Self::Resp2,
            Self::Resp3,
            Self::Binary,
            Self::Inline,
            Self::Operation,
        ];
        let found = all.get(number as usize);
        found
            .copied()
            .ok_or_else(|| format!("there is no wire {number}"))
    }

    /// Its name.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Resp2 => "RESP2",
            Self::Resp3 => "RESP3",
            Self::Binary => "binary",
            Self::Inline => "inline",
            Self::Operation => "binary operation",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_codec_has_a_unique_number() {
        let kinds = [
            Kind::Simple,
            Kind::Error,
            Kind::Int,
            Kind::Null,
            Kind::Bool,
            Kind::Double,
            Kind::BigNumber,
            Kind::Bulk,
            Kind::BlobError,
            Kind::Verbatim,
            Kind::Array,
            Kind::Map,
            Kind::Set,
            Kind::Push,
            Kind::Attribute,
        ];
        for (number, kind) in kinds.into_iter().enumerate() {
            assert_eq!(NodeKind::from(kind) as usize, number, "{kind:?}");
            let letter = char::from(kind.type_byte()).to_string();
            assert_eq!(KINDS[number].letter, letter);
        }
    }

    #[test]
    fn letters_and_names_of_roles_are_unique() {
        for (at, role) in ROLES.iter().enumerate() {
            for other in &ROLES[..at] {
                assert!(role.id != other.id && role.letter != other.letter);
            }
        }
    }

    #[test]
    fn number_of_an_error_does_not_depend_on_its_byte() {
        assert_eq!(error_number(ErrorKind::ExpectedBulk(b'x')), 5);
        for (at, kind) in ERRORS.into_iter().enumerate() {
            assert_eq!(error_number(kind) as usize, at + 1);
        }
    }
}
