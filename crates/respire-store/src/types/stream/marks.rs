//! What a stream knows of its entries as a whole, and what follows from it for its consumer groups.

use super::StreamId;

/// What a stream knows of its entries as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamMarks {
    /// The number of entries.
    pub length: u64,
    /// The ID of the first entry; [`StreamId::MIN`] if there is none.
    pub first_id: StreamId,
    /// The largest ID that an entry had.
    pub last_id: StreamId,
    /// The largest ID of an entry that was deleted one by one, not by trimming.
    pub max_deleted_id: StreamId,
    /// The number of entries that were ever added.
    pub entries_added: u64,
}

impl StreamMarks {
    /// Returns whether an entry was deleted that has this ID or a later one.
    #[must_use]
    pub(super) fn is_deleted_from(&self, id: StreamId) -> bool {
        self.length > 0
            && self.max_deleted_id != StreamId::MIN
            && self.first_id <= self.max_deleted_id
            && id <= self.max_deleted_id
    }

    /// Returns how many entries were added up to this ID; `None` if that is not known, because the ID is among the
    /// entries, or entries were deleted.
    #[must_use]
    pub fn entries_up_to(&self, id: StreamId) -> Option<i64> {
        let added = self.entries_added.cast_signed();
        let length = self.length.cast_signed();
        if self.entries_added == 0 {
            return Some(0);
        }
        if id == self.last_id || self.length == 0 && id < self.last_id {
            return Some(added);
        }
        if id > self.last_id {
            return None;
        }
        let is_whole = self.max_deleted_id == StreamId::MIN || self.max_deleted_id < self.first_id;
        match id.cmp(&self.first_id) {
            core::cmp::Ordering::Less if is_whole => Some(added.wrapping_sub(length)),
            core::cmp::Ordering::Equal if is_whole => {
                Some(added.wrapping_sub(length).wrapping_add(1))
            }
            _ => None,
        }
    }

    /// Returns how many entries a group has not read yet, from its last ID and its number of entries that it has read;
    /// `None` if that is not known.
    #[must_use]
    pub fn lag(&self, last_id: StreamId, entries_read: Option<i64>) -> Option<i64> {
        if self.entries_added == 0 {
            return Some(0);
        }
        let read = match entries_read {
            Some(read) if !self.is_deleted_from(last_id) => read,
            _ => self.entries_up_to(last_id)?,
        };
        Some(self.entries_added.cast_signed().wrapping_sub(read))
    }
}
