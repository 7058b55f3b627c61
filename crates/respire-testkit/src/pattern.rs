//! Patterns of expected replies: literal bytes, and holes for parts of which only the type is
//! known.

use crate::reply;

/// A pattern for a run of bytes.
///
/// ```
/// use respire_testkit::pattern::{Matched, Pattern};
///
/// let pattern = Pattern::parse(b":{int}\r\n");
/// assert_eq!(pattern.matches(b":42\r\n+OK\r\n"), Matched::Whole(5));
/// assert_eq!(pattern.matches(b":4"), Matched::SoFar);
/// assert_eq!(pattern.matches(b"+OK\r\n"), Matched::Not);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    /// `{int}`: an integer.
    Int,
    /// `{line}`: anything up to the end of the line.
    Line,
    /// `{reply}`: one whole reply of any shape.
    Reply,
}

/// The result of comparing bytes with a [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    /// The first so many bytes match the whole pattern.
    Whole(usize),
    /// The bytes match so far, and more must follow.
    SoFar,
    /// The bytes do not match.
    Not,
}

const HOLES: [(&[u8], Piece); 3] = [
    (b"{int}", Piece::Int),
    (b"{line}", Piece::Line),
    (b"{reply}", Piece::Reply),
];

impl Pattern {
    /// Parses literal bytes with the holes `{int}`, `{line}` and `{reply}`.
    #[must_use]
    pub fn parse(text: &[u8]) -> Self {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some((word, hole)) = HOLES.iter().find(|(word, _)| rest.starts_with(word)) {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(hole.clone());
                rest = &rest[word.len()..];
            } else {
                literal.push(rest[0]);
                rest = &rest[1..];
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Self(pieces)
    }

    /// Compares the pattern with the beginning of `bytes`.
    #[must_use]
    pub fn matches(&self, bytes: &[u8]) -> Matched {
        let mut at = 0;
        for piece in &self.0 {
            match piece.matches(&bytes[at..]) {
                Matched::Whole(len) => at += len,
                other => return other,
            }
        }
        Matched::Whole(at)
    }
}

impl Piece {
    fn matches(&self, bytes: &[u8]) -> Matched {
        match self {
            Self::Literal(literal) if bytes.starts_with(literal) => Matched::Whole(literal.len()),
            Self::Literal(literal) if literal.starts_with(bytes) => Matched::SoFar,
            Self::Literal(_) => Matched::Not,
            Self::Int => {
                let sign = usize::from(bytes.first() == Some(&b'-'));
                let digits = bytes[sign..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                match (sign + digits == bytes.len(), digits) {
                    (true, _) => Matched::SoFar,
                    (false, 0) => Matched::Not,
                    (false, _) => Matched::Whole(sign + digits),
                }
            }
            Self::Line => bytes
                .iter()
                .position(|byte| *byte == b'\r')
                .map_or(Matched::SoFar, Matched::Whole),
            Self::Reply => match reply::parse(bytes) {
                Ok(Some((_, len))) => Matched::Whole(len),
                Ok(None) => Matched::SoFar,
                Err(_) => Matched::Not,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &[u8], bytes: &[u8], expected: Matched) {
        assert_eq!(
            Pattern::parse(pattern).matches(bytes),
            expected,
            "{}",
            bytes.escape_ascii()
        );
    }

    #[test]
    fn literal_matches_only_itself() {
        check(b"+OK\r\n", b"+OK\r\n", Matched::Whole(5));
        check(b"+OK\r\n", b"+OK", Matched::SoFar);
        check(b"+OK\r\n", b"+OX", Matched::Not);
        check(b"", b"+OK\r\n", Matched::Whole(0));
    }

    #[test]
    fn holes_match_their_shape() {
        check(b":{int}\r\n", b":-12\r\n", Matched::Whole(6));
        check(b":{int}\r\n", b":-\r\n", Matched::Not);
        check(b"-ERR {line}\r\n", b"-ERR any\r\n", Matched::Whole(10));
        check(
            b"{reply}+OK\r\n",
            b"*1\r\n:1\r\n+OK\r\n",
            Matched::Whole(13),
        );
        check(b"{reply}", b"*1\r\n:1", Matched::SoFar);
    }
}
