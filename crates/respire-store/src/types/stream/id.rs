//! The IDs of entries.

use core::fmt;

/// The ID of an entry: a time in unix milliseconds, and a number among the entries of that time.
///
/// ```
/// use respire_store::StreamId;
///
/// let id = StreamId { ms: 1, seq: u64::MAX };
/// assert_eq!(id.next(), Some(StreamId { ms: 2, seq: 0 }));
/// assert_eq!(id.to_string(), "1-18446744073709551615");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// The time in milliseconds.
    pub ms: u64,
    /// The number among the entries of this time.
    pub seq: u64,
}

impl StreamId {
    /// The smallest ID, which no entry has.
    pub const MIN: StreamId = StreamId { ms: 0, seq: 0 };

    /// The largest ID.
    pub const MAX: StreamId = StreamId {
        ms: u64::MAX,
        seq: u64::MAX,
    };

    /// Returns the ID after this one; `None` for the largest.
    #[must_use]
    pub fn next(self) -> Option<StreamId> {
        let StreamId { ms, seq } = self;
        match seq.checked_add(1) {
            Some(seq) => Some(StreamId { ms, seq }),
            None => ms.checked_add(1).map(|ms| StreamId { ms, seq: 0 }),
        }
    }

    /// Returns the ID before this one; `None` for the smallest.
    #[must_use]
    pub fn before(self) -> Option<StreamId> {
        let StreamId { ms, seq } = self;
        match seq.checked_sub(1) {
            Some(seq) => Some(StreamId { ms, seq }),
            None => ms.checked_sub(1).map(|ms| StreamId { ms, seq: u64::MAX }),
        }
    }

    /// Returns the differences from `master`, as a block keeps them.
    pub(super) fn minus(self, master: StreamId) -> (i64, i64) {
        let ms = self.ms.wrapping_sub(master.ms).cast_signed();
        (ms, self.seq.wrapping_sub(master.seq).cast_signed())
    }

    /// Returns the ID with these differences from this one.
    pub(super) fn plus(self, ms: i64, seq: i64) -> StreamId {
        StreamId {
            ms: self.ms.wrapping_add_signed(ms),
            seq: self.seq.wrapping_add_signed(seq),
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}
