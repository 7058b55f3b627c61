//! Replies with members and scores.

use respire_engine::{Proto, Reply};
use respire_store::packed::listpack::Element;
use respire_store::{ScoreText, Scored};

/// Whether a reply has scores behind its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Members,
    /// In RESP2 scores stand between the members; elsewhere a member and its score are an array.
    WithScores,
}

impl Form {
    /// The bytes of an element in a usual reply.
    pub(super) const BYTES_GUESSED: usize = 30;

    pub(super) fn new(with_scores: bool) -> Self {
        if with_scores {
            Self::WithScores
        } else {
            Self::Members
        }
    }

    /// Begins a reply of this many elements.
    pub(super) fn begin(self, reply: &mut Reply<'_>, len: usize) {
        let is_flat = self == Self::WithScores && !has_pairs(reply);
        reply.array(if is_flat { 2 * len } else { len });
    }

    pub(super) fn element(self, reply: &mut Reply<'_>, (name, points): Scored<'_>) {
        if self == Self::Members {
            return member(reply, name);
        }
        if has_pairs(reply) {
            reply.array(2);
        }
        member(reply, name);
        score(reply, points);
    }
}

/// Whether members and scores stand in arrays of their own.
pub(super) fn has_pairs(reply: &Reply<'_>) -> bool {
    matches!(reply.proto(), Proto::Resp3 | Proto::Binary)
}

pub(crate) fn member(reply: &mut Reply<'_>, member: Element<'_>) {
    match member {
        Element::Bytes(bytes) => reply.bulk(bytes),
        Element::Int(number) => reply.bulk_int(number),
    }
}

/// Writes a score with 17 digits, as Redis 7.0 does.
pub(super) fn score(reply: &mut Reply<'_>, score: f64) {
    reply.double_text(score, ScoreText::new(score).as_bytes());
}

pub(super) fn score_or_null(reply: &mut Reply<'_>, found: Option<f64>) {
    match found {
        Some(found) => score(reply, found),
        None => reply.null(),
    }
}
