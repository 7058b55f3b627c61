//! References of consumer groups to entries that are deleted.

use super::{Stream, StreamId};
use crate::types::changes::is_noted;

/// What becomes of the references that consumer groups have to an entry when it is deleted. An entry is pending in a
/// group until a consumer acknowledges it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum References {
    /// They stay: the entry is deleted and still pending.
    #[default]
    Keep,
    /// They are deleted too.
    Delete,
    /// An entry that a group has not read yet, or in which it is pending, is not deleted.
    Respect,
}

/// What was done to an entry, by [`Stream::delete_with`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// It is deleted.
    Deleted,
    /// There is no such entry.
    Missing {
        /// Whether references to it were deleted.
        is_changed: bool,
    },
    /// A group needs it.
    Referenced,
}

impl Stream {
    /// Returns whether a group needs an entry: has not read that far yet, or has it pending. O(groups), and O(log n) each.
    #[must_use]
    pub fn is_referenced(&self, id: StreamId) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|(_, group)| group.last_id < id || group.pending_of(id).is_some())
    }

    /// Deletes an entry, unless the references to it forbid that. The cost is that of [`Stream::delete`], and of
    /// [`Stream::is_referenced`] unless references are kept.
    ///
    /// ```
    /// use respire_store::{Deletion, Kind, References, Stream, StreamGroup, StreamId};
    ///
    /// let mut stream = Stream::default();
    /// let id = StreamId { ms: 1, seq: 0 };
    /// stream.add(id, [(&b"n"[..], &b"1"[..])].into_iter(), &Stream::LIMITS);
    /// stream.add_group(b"g", StreamGroup::new(StreamId::MIN, None));
    /// assert_eq!(stream.delete_with(id, References::Respect), Deletion::Referenced);
    /// assert_eq!(stream.delete_with(id, References::Keep), Deletion::Deleted);
    /// ```
    pub fn delete_with(&mut self, id: StreamId, references: References) -> Deletion {
        if references == References::Respect && self.is_referenced(id) {
            return Deletion::Referenced;
        }
        let is_noted = is_noted(self);
        let is_changed = references == References::Delete && self.groups.forget(id, is_noted);
        match self.delete(id) {
            true => Deletion::Deleted,
            false => Deletion::Missing { is_changed },
        }
    }
}
